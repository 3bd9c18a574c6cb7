/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_parts.h - shared by the files of the server: a connection, an exchange. Other files must not include it.
 *
 *   server.c       start, the thread, stop
 *   connection.c   beginning and end of connections; their limits
 *   exchange.c     an exchange: from its request to its end, and the functions that its owner calls
 *   response.c     hands replies to the library
 *
 * Everything happens in the server's thread, but for the functions that an owner calls: they note a wish, and wake the
 * thread if the exchange is asleep. The lock guards wishes and what they carry.
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
    CONNECTION_IDLE,    /* waits for a request, or for the rest of its headers */
    CONNECTION_BODY,    /* waits for the rest of a body */
    CONNECTION_WORKING, /* its owner works on the exchange */
    CONNECTION_SENDING,
};

struct connection {
    struct http_server *server;
    struct MHD_Connection *library;
    struct exchange *exchange; /* NULL: idle */
    int fd;
    struct http_address address;
    enum connection_phase phase;
    int64_t deadline_us; /* clock_monotonic_us; INT64_MAX: none */
    char *target;        /* of the request whose headers are being read */
    bool authenticated;
    bool watched; /* suspended, and in the server's epoll: so its client's end is noticed */
    bool hung_up;
    bool is_admitted;                   /* with TLS: its certificate has been checked */
    struct connection *previous, *next; /* of its list: idle or busy */
};

/* In the order of their age in the list, the oldest first. */
struct connection_list {
    struct connection *first, *last;
    int count;
};

enum exchange_state {
    EXCHANGE_BEGUN,      /* the owner has the headers */
    EXCHANGE_READING,    /* the body is on its way */
    EXCHANGE_DISCARDING, /* the same, but the reply is known */
    EXCHANGE_TOLD,       /* the owner has the body */
    EXCHANGE_ANSWERING,  /* the library has the reply, or its beginning */
};

enum exchange_wish { WISH_READ = 1, WISH_REPLY = 2, WISH_SEND = 4, WISH_END = 8 };

struct exchange {
    struct http_exchange base; /* first: what owners see */
    struct http_server *server;
    struct connection *connection; /* NULL: it is gone */
    enum exchange_state state;
    struct buf body;        /* as it came; on the heap */
    size_t discarded_bytes; /* of a body that is too large */
    bool told_gone;

    /* Under the lock. */
    unsigned wishes; /* bits of enum exchange_wish, not looked at yet */
    bool asleep;     /* the connection is suspended, or gone: a wish wakes the thread */
    bool is_over;    /* the owner has replied, or ended the body */
    bool is_authenticated;
    bool is_stream;      /* by http_exchange_send */
    struct buf outgoing; /* of a stream; on the heap */
    size_t taken_bytes;  /* of these, by the library */
    bool sent_is_due;    /* the owner waits for `sent` */

    struct exchange *next_woken;
    struct exchange *next_sent; /* of the server's list, in the thread */
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct http_options options; /* with limits filled in */
    struct tls_identity *tls;    /* NULL: plain text */
    pthread_t thread;
    int port;
    int epoll; /* of the thread: the library's, the wake-up, and watched connections */
    int wake;  /* an eventfd */
    struct connection_list idle, busy;
    struct address_counts addresses;
    int64_t next_idle_check_us, next_busy_check_us; /* INT64_MAX: never */
    pthread_t self;                                 /* of the thread that runs it */
    struct exchange *sent;                          /* their owners have not been told yet */
    int exchanges;                                  /* that have begun and not ended */
    bool is_fed;        /* owners were told of something since they were drained */
    int64_t stop_at_us; /* as the thread knows it; 0: the server does not stop */

    pthread_mutex_t lock;
    struct exchange *woken;
    struct exchange **last_woken;
    struct http_connections numbers;
    int shed;                 /* idle connections to close */
    bool sheds_all;           /* and others */
    int64_t asked_stop_at_us; /* 0: it does not stop; then the grace ends here */
};

/* ---- connection.c ---- */

/* Callbacks of the library. */
void connection_notify(
    void *context, struct MHD_Connection *library, void **state, enum MHD_ConnectionNotificationCode code);
void *connection_note_target(void *context, const char *target, struct MHD_Connection *library);

int connection_show_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
    int authority_count, const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
    gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key);

/* Whether its client has shown the certificate that the server asks for, if it asks for one. */
bool connection_admits_client(struct connection *connection);

struct connection *connection_of(struct MHD_Connection *library);

/* Enter a phase, which sets the deadline. bytes: of the reply, if one is sent. */
void connection_enter(struct connection *connection, enum connection_phase phase, size_t bytes);

/* Shut the socket down; the library then closes it. */
void connection_hang_up(struct connection *connection, enum http_reason reason);

/* The library closes it, for this reason. */
void connection_count_closed(struct connection *connection, enum http_reason reason);

/* Close at most that many idle connections, the longest idle first. */
void connection_close_idle(struct http_server *server, int count, enum http_reason reason);

/* Close at most that many on which a body is on its way, the oldest request first. */
void connection_close_reading(struct http_server *server, int count, enum http_reason reason);

/* Hang up on those whose deadline has passed; watch those whose owner works for long. Milliseconds until the next look; -1: none. */
int connection_check_deadlines(struct http_server *server);

/* ---- exchange.c ---- */

/* Callbacks of the library: its access handler, and the end of a request. */
enum MHD_Result exchange_handle(void *context, struct MHD_Connection *library, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_size, void **state);
void exchange_completed(
    void *context, struct MHD_Connection *library, void **state, enum MHD_RequestTerminationCode code);

/* Tell the owner, once for each absence that matters, that the client has gone. */
void exchange_tell_gone(struct exchange *exchange, enum http_absence absence);

/* In the thread: go on with the exchanges that were woken. false: there was none. */
bool exchange_run_woken(struct http_server *server);

/* In the thread: tell the owners whose bytes have left. false: there was none. */
bool exchange_tell_sent(struct http_server *server);

/* ---- response.c ---- */

/* Hand the reply of an exchange to the library: the whole, or the beginning of a stream. MHD_NO: it failed. */
enum MHD_Result exchange_answer(struct exchange *exchange);

#endif
