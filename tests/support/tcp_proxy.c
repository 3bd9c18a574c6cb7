/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_proxy.c - see the header. Every connection is a pair of sockets; messages of the caller are forwarded
 * whole, one at a time, so that a cut falls exactly between two of them.
 */
#include "tests/support/tcp_proxy.h"

#include <arpa/inet.h>
#include <check.h>
#include <libpq-fe.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tests/support/temporary.h"

enum { MAX_LINKS = 64, NAME_BYTES = 64 };

struct link {
    int caller, server;  /* -1: closed */
    struct buf asked;    /* from the caller, not yet forwarded */
    struct buf answered; /* from the server, not yet forwarded */
    bool started;        /* the start-up message, which has no type, has passed */
    int owed, given;     /* ReadyForQuery messages: expected, seen */
    int dropped_from;    /* answers after this many are dropped; -1: none are */
    bool cut_when_done;  /* CUT_AFTER: close once all expected answers have passed */
    bool held;           /* CUT_LATE: waits for tcp_proxy_release */
};

struct tcp_proxy {
    pthread_t thread;
    pthread_mutex_t mutex; /* of all members below */
    int listener, wake[2];
    struct sockaddr_storage target;
    socklen_t target_len;
    char folder[MAX_TEMPORARY_PATH];
    char *conninfo;
    struct link links[MAX_LINKS];

    char cut_at[NAME_BYTES], mute_at[NAME_BYTES];
    enum tcp_proxy_cut how;
    int times, cuts;
    bool stopping, down, refuse_after_cut;
};

/* ---- sockets ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_link(struct link *link)
{
    close_fd(&link->caller);
    close_fd(&link->server);
    buf_cleanup(&link->asked);
    buf_cleanup(&link->answered);
    *link = (struct link){ .caller = -1, .server = -1, .dropped_from = -1 };
}

/* false: the other side is gone. */
static bool send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        data += sent;
        len -= (size_t)sent;
    }
    return true;
}

static bool receive(int fd, struct buf *into)
{
    enum { CHUNK = 65536 };
    ssize_t got = recv(fd, buf_reserve(into, CHUNK), CHUNK, 0);

    if (got <= 0)
        return false;
    into->len += (size_t)got;
    return true;
}

static void drop_front(struct buf *buf, size_t len)
{
    memmove(buf->data, buf->data + len, buf->len - len);
    buf->len -= len;
}

/* ---- the wire protocol, as far as the proxy needs it ---- */

/* The length of the message at the front of the buffer; 0: it is not complete. */
static size_t message_length(const struct buf *buf, bool typed)
{
    uint32_t big;
    size_t len;

    if (buf->len < (typed ? 5u : 4u))
        return 0;
    memcpy(&big, buf->data + (typed ? 1 : 0), sizeof(big));
    len = ntohl(big) + (typed ? 1u : 0u);
    return len <= buf->len ? len : 0;
}

/* Whether this Bind message executes the statement. Its first string is the portal's name, which is empty. */
static bool binds(const char *message, const char *statement)
{
    return message[0] == 'B' && *statement && strcmp(message + 6, statement) == 0;
}

/* ---- cutting ---- */

static void cut(struct tcp_proxy *proxy, struct link *link)
{
    proxy->cuts++;
    if (--proxy->times == 0)
        proxy->cut_at[0] = '\0';
    if (proxy->refuse_after_cut)
        proxy->down = true;
    switch (proxy->how) {
    case CUT_BEFORE:
        close_link(link);
        break;
    case CUT_AFTER:
        if (link->dropped_from < 0)
            link->dropped_from = link->owed;
        link->cut_when_done = true;
        break;
    case CUT_LATE:
        link->held = true;
        close_fd(&link->caller);
        break;
    }
}

/* Forward the requests of the caller, message by message. */
static void forward_asked(struct tcp_proxy *proxy, struct link *link)
{
    size_t len;

    while (link->server >= 0 && !link->held && (len = message_length(&link->asked, link->started)) > 0) {
        const char *message = link->asked.data;

        if (link->started && !link->cut_when_done && binds(message, proxy->cut_at)) {
            cut(proxy, link);
            if (link->server < 0 || link->held)
                return;
        }
        if (link->started && binds(message, proxy->mute_at)) {
            link->dropped_from = link->owed;
            proxy->mute_at[0] = '\0';
        }
        if (!link->started || message[0] == 'S' || message[0] == 'Q')
            link->owed++;
        link->started = true;
        if (!send_all(link->server, message, len)) {
            close_link(link);
            return;
        }
        drop_front(&link->asked, len);
    }
}

/* Forward the answers of the server, or drop them. */
static void forward_answered(struct link *link)
{
    size_t len;

    while (link->server >= 0 && (len = message_length(&link->answered, true)) > 0) {
        bool drop = link->caller < 0 || (link->dropped_from >= 0 && link->given >= link->dropped_from);

        if (link->answered.data[0] == 'Z')
            link->given++;
        if (!drop && !send_all(link->caller, link->answered.data, len)) {
            close_link(link);
            return;
        }
        drop_front(&link->answered, len);
        /* The Sync that ends the segment of the cut statement has been forwarded and answered. */
        if (link->cut_when_done && link->given == link->owed && link->given > link->dropped_from &&
            link->asked.len == 0)
            close_link(link);
    }
}

/* ---- the loop ---- */

static void accept_link(struct tcp_proxy *proxy)
{
    int caller = accept(proxy->listener, NULL, NULL), server = -1;

    for (size_t i = 0; caller >= 0 && !proxy->down && i < MAX_LINKS; i++) {
        struct link *link = &proxy->links[i];

        if (link->server >= 0)
            continue;
        server = socket(proxy->target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (server < 0 || connect(server, (struct sockaddr *)&proxy->target, proxy->target_len) != 0)
            break;
        link->caller = caller;
        link->server = server;
        return;
    }
    close_fd(&caller);
    close_fd(&server);
}

static void serve_link(struct tcp_proxy *proxy, struct link *link, short caller_events, short server_events)
{
    if (caller_events && link->caller >= 0) {
        if (receive(link->caller, &link->asked))
            forward_asked(proxy, link);
        else
            close_link(link);
    }
    if (server_events && link->server >= 0) {
        if (receive(link->server, &link->answered))
            forward_answered(link);
        else
            close_link(link);
    }
}

static void *serve(void *argument)
{
    struct tcp_proxy *proxy = argument;

    for (;;) {
        struct pollfd fds[2 + 2 * MAX_LINKS];
        char ignored[64];

        pthread_mutex_lock(&proxy->mutex);
        fds[0] = (struct pollfd){ .fd = proxy->wake[0], .events = POLLIN };
        fds[1] = (struct pollfd){ .fd = proxy->listener, .events = POLLIN };
        for (size_t i = 0; i < MAX_LINKS; i++) {
            fds[2 + 2 * i] = (struct pollfd){ .fd = proxy->links[i].caller, .events = POLLIN };
            fds[3 + 2 * i] = (struct pollfd){ .fd = proxy->links[i].server, .events = POLLIN };
        }
        pthread_mutex_unlock(&proxy->mutex);
        if (poll(fds, 2 + 2 * MAX_LINKS, -1) < 0)
            continue;
        pthread_mutex_lock(&proxy->mutex);
        if (fds[0].revents && read(proxy->wake[0], ignored, sizeof(ignored)) > 0 && proxy->stopping) {
            pthread_mutex_unlock(&proxy->mutex);
            return NULL;
        }
        for (size_t i = 0; i < MAX_LINKS; i++)
            if (fds[2 + 2 * i].fd == proxy->links[i].caller && fds[3 + 2 * i].fd == proxy->links[i].server)
                serve_link(proxy, &proxy->links[i], fds[2 + 2 * i].revents, fds[3 + 2 * i].revents);
        if (fds[1].revents)
            accept_link(proxy);
        pthread_mutex_unlock(&proxy->mutex);
    }
}

/* ---- starting and telling ---- */

static struct sockaddr_un socket_in(const char *folder, const char *port)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.%s", folder, port);

    ck_assert_int_lt(len, (int)sizeof(address.sun_path));
    return address;
}

static void find_target(struct tcp_proxy *proxy, const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    const char *host = PQhost(conn), *port = PQport(conn);

    ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
    if (host[0] == '/') {
        struct sockaddr_un address = socket_in(host, port);

        memcpy(&proxy->target, &address, sizeof(address));
        proxy->target_len = sizeof(address);
    } else {
        struct addrinfo *found = NULL, hints = { .ai_socktype = SOCK_STREAM };

        ck_assert_int_eq(getaddrinfo(host, port, &hints, &found), 0);
        memcpy(&proxy->target, found->ai_addr, found->ai_addrlen);
        proxy->target_len = found->ai_addrlen;
        freeaddrinfo(found);
    }
    PQfinish(conn);
}

static void listen_in_folder(struct tcp_proxy *proxy)
{
    struct sockaddr_un address;

    temporary_folder_make("tavola-proxy-", proxy->folder, sizeof(proxy->folder));
    address = socket_in(proxy->folder, "5432");
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(proxy->listener, 0);
    ck_assert_int_eq(bind(proxy->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(proxy->listener, MAX_LINKS), 0);
}

struct tcp_proxy *tcp_proxy_start(const char *conninfo)
{
    struct tcp_proxy *proxy = xcalloc(1, sizeof(*proxy));

    for (size_t i = 0; i < MAX_LINKS; i++)
        proxy->links[i] = (struct link){ .caller = -1, .server = -1, .dropped_from = -1 };
    pthread_mutex_init(&proxy->mutex, NULL);
    find_target(proxy, conninfo);
    listen_in_folder(proxy);
    ck_assert_int_ge(asprintf(&proxy->conninfo, "%s host='%s' port=5432 sslmode=disable gssencmode=disable",
                         conninfo, proxy->folder),
        0);
    ck_assert_int_eq(pipe(proxy->wake), 0);
    ck_assert_int_eq(pthread_create(&proxy->thread, NULL, serve, proxy), 0);
    return proxy;
}

/* Wake the thread after a change of the settings. Unlocks. */
static void tell(struct tcp_proxy *proxy)
{
    ck_assert_int_eq(write(proxy->wake[1], "", 1), 1);
    pthread_mutex_unlock(&proxy->mutex);
}

void tcp_proxy_stop(struct tcp_proxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->stopping = true;
    tell(proxy);
    pthread_join(proxy->thread, NULL);
    for (size_t i = 0; i < MAX_LINKS; i++)
        close_link(&proxy->links[i]);
    close_fd(&proxy->listener);
    close_fd(&proxy->wake[0]);
    close_fd(&proxy->wake[1]);
    temporary_folder_remove(proxy->folder);
    pthread_mutex_destroy(&proxy->mutex);
    free(proxy->conninfo);
    free(proxy);
}

const char *tcp_proxy_conninfo(const struct tcp_proxy *proxy)
{
    return proxy->conninfo;
}

void tcp_proxy_cut(struct tcp_proxy *proxy, const char *statement, enum tcp_proxy_cut how, int times)
{
    pthread_mutex_lock(&proxy->mutex);
    snprintf(proxy->cut_at, sizeof(proxy->cut_at), "%s", statement);
    proxy->how = how;
    proxy->times = times;
    pthread_mutex_unlock(&proxy->mutex);
}

void tcp_proxy_mute(struct tcp_proxy *proxy, const char *statement)
{
    pthread_mutex_lock(&proxy->mutex);
    snprintf(proxy->mute_at, sizeof(proxy->mute_at), "%s", statement);
    pthread_mutex_unlock(&proxy->mutex);
}

int tcp_proxy_cuts(struct tcp_proxy *proxy)
{
    int cuts;

    pthread_mutex_lock(&proxy->mutex);
    cuts = proxy->cuts;
    pthread_mutex_unlock(&proxy->mutex);
    return cuts;
}

void tcp_proxy_release(struct tcp_proxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
    for (size_t i = 0; i < MAX_LINKS; i++) {
        struct link *link = &proxy->links[i];

        if (!link->held)
            continue;
        link->held = false;
        link->cut_when_done = true;
        link->dropped_from = link->owed;
        forward_asked(proxy, link);
    }
    tell(proxy);
}

void tcp_proxy_refuse_after_cut(struct tcp_proxy *proxy, bool refuse)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->refuse_after_cut = refuse;
    if (!refuse)
        proxy->down = false;
    pthread_mutex_unlock(&proxy->mutex);
}

void tcp_proxy_down(struct tcp_proxy *proxy, bool down)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->down = down;
    for (size_t i = 0; down && i < MAX_LINKS; i++)
        close_link(&proxy->links[i]);
    tell(proxy);
}
