/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_parts.h - shared by the files of the server: a connection, an exchange. Other files must not include
 * it.
 *
 *   server.c       start, the thread, stop
 *   connection.c   beginning and end of connections; their limits
 *   exchange.c     an exchange: from its request to its end, and the functions that its owner calls
 *   response.c     hands replies to the library
 *
 * Everything happens in the server's thread, except the functions that an owner calls. These add a wish (what
 * the owner asks for), and wake the thread if the exchange is asleep. The lock guards wishes and their data.
 */
#ifndef HTTP_SERVER_PARTS_H
#define HTTP_SERVER_PARTS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "http/address_counts.h"
#include "http/server.h"
#include "http/tls.h"

enum connection_phase {
    CONNECTION_IDLE,    /* waits for a request, or for the rest of a request's headers */
    CONNECTION_BODY,    /* waits for the rest of a body */
    CONNECTION_WORKING, /* the owner works on the exchange */
    CONNECTION_SENDING,
};

enum { CONNECTION_PEER_BYTES = 64 };

struct connection {
    struct http_server *server;
    struct MHD_Connection *library;
    struct exchange *exchange; /* NULL: the connection is idle */
    int fd;
    struct http_address address;
    char peer[CONNECTION_PEER_BYTES]; /* as in http_request */
    enum connection_phase phase;
    int64_t deadline_us; /* clock_monotonic_us; INT64_MAX: none */
    char *target;        /* target of the request whose headers are being read */
    bool authenticated;
    /* the connection is suspended and in the server's epoll, which notices if the client goes away */
    bool watched;
    bool hung_up;
    bool is_admitted;                   /* with TLS: the client's certificate has been checked */
    struct connection *previous, *next; /* neighbours in its list: idle or busy */
};

/* Sorted by the time at which a connection has joined the list; the oldest is the first. */
struct connection_list {
    struct connection *first, *last;
    int count;
};

enum exchange_state {
    EXCHANGE_BEGUN,      /* the owner has the headers */
    EXCHANGE_READING,    /* the body is arriving */
    EXCHANGE_DISCARDING, /* the body is arriving and is dropped, since the reply is known */
    EXCHANGE_TOLD,       /* the owner has the body */
    EXCHANGE_ANSWERING,  /* the library has the reply, or its beginning */
};

enum exchange_wish { WISH_READ = 1, WISH_REPLY = 2, WISH_SEND = 4, WISH_END = 8 };

struct exchange {
    struct http_exchange base; /* the first member: the part that owners see */
    struct http_server *server;
    struct connection *connection; /* NULL: the connection is gone */
    enum exchange_state state;
    struct buf body;        /* as received; on the heap */
    size_t discarded_bytes; /* received bytes of a body that is too large */
    bool told_gone;
    bool has_lingered; /* the library has been left to ask for the reply in a further round */

    /* bits of enum exchange_wish that have not been taken yet; guarded by the lock, like the members below */
    unsigned wishes; /* bits of enum exchange_wish, not looked at yet */
    bool asleep;     /* the connection is suspended, or gone: a new wish wakes the thread */
    bool is_over;    /* the owner has replied, or ended the body */
    bool is_authenticated;
    bool is_stream;      /* the body is sent with http_exchange_send */
    struct buf outgoing; /* bytes of a stream that wait to be sent; on the heap */
    size_t taken_bytes;  /* those of them that the library has taken */
    bool sent_is_due;    /* the owner has to be told with `sent` */

    struct exchange *next_woken;
    struct exchange *next_sent; /* the next in the server's list `sent`; used by the thread */
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct http_options options; /* a copy whose limits have no zeros */
    struct tls_identity *tls;    /* NULL: plain text */
    pthread_t thread;
    size_t memory_bytes; /* that the library has for the headers of a request and its reply */
    int port;
    int epoll; /* of the thread: has the library's epoll, the wake-up, and watched connections */
    int wake;  /* an eventfd */
    struct connection_list idle, busy;
    struct address_counts addresses;
    int64_t next_idle_check_us, next_busy_check_us; /* clock_monotonic_us; INT64_MAX: never */
    pthread_t self;                                 /* the thread that runs the server */
    bool has_lingering;                             /* the library asks for replies again in the next round */
    struct exchange *sent;                          /* exchanges whose owners have to be told with `sent` */
    /* the number of exchanges that have begun and not ended */
    int exchanges;
    bool is_fed;        /* an owner got an event since the last `drained` */
    int64_t stop_at_us; /* the thread's copy of asked_stop_at_us; 0: the server does not stop */

    pthread_mutex_t lock;
    struct exchange *woken;
    struct exchange **last_woken;
    struct http_connections numbers;
    int shed;       /* the number of idle connections to close */
    bool sheds_all; /* close also connections whose bodies are arriving */
    /* clock_monotonic_us of the end of the stop's grace; 0: the server does not stop */
    int64_t asked_stop_at_us;
};

/* ---- connection.c ---- */

/* Callbacks of the library: a connection begins or ends, and a request line has been read. */
void connection_notify(
    void *context, struct MHD_Connection *library, void **state, enum MHD_ConnectionNotificationCode code);
void *connection_note_target(void *context, const char *target, struct MHD_Connection *library);

int connection_show_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
    int authority_count, const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
    gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key);

/* Whether the client has presented a valid certificate, or needs none. */
bool connection_admits_client(struct connection *connection);

struct connection *connection_of(struct MHD_Connection *library);

/* Enter a phase, which sets the deadline. bytes: the size of the reply that is sent; 0: none. */
void connection_enter(struct connection *connection, enum connection_phase phase, size_t bytes);

/* Shut the socket down. The library then closes the connection. */
void connection_hang_up(struct connection *connection, enum http_reason reason);

/* Count a connection that the library closes, with the reason. */
void connection_count_closed(struct connection *connection, enum http_reason reason);

/* Close at most `count` idle connections, those that have been idle for the longest time first. */
void connection_close_idle(struct http_server *server, int count, enum http_reason reason);

/* Close at most `count` connections whose bodies are arriving, the oldest request first. */
void connection_close_reading(struct http_server *server, int count, enum http_reason reason);

/*
 * Hang up on connections whose deadline has passed, and watch those whose owners work for long. Returns
 * milliseconds until the next check; -1: no check is due.
 */
int connection_check_deadlines(struct http_server *server);

/* ---- exchange.c ---- */

/*
 * Callbacks of the library: a request has headers, a part of its body, or its end; and a request has been
 * completed.
 */
enum MHD_Result exchange_handle(void *context, struct MHD_Connection *library, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_size, void **state);
void exchange_completed(
    void *context, struct MHD_Connection *library, void **state, enum MHD_RequestTerminationCode code);

/* Tell the owner that the client has gone, at most once, unless the owner has ended the exchange. */
void exchange_tell_gone(struct exchange *exchange, enum http_absence absence);

/* Carry on the exchanges that were woken; in the server's thread. false: there was none. */
bool exchange_run_woken(struct http_server *server);

/* Call `sent` for the owners whose bytes have left; in the server's thread. false: there was none. */
bool exchange_tell_sent(struct http_server *server);

/* ---- response.c ---- */

/*
 * Pass the reply of an exchange to the library: the whole reply, or the beginning of a stream. MHD_NO: the
 * library has refused it.
 */
enum MHD_Result exchange_answer(struct exchange *exchange);

#endif
