/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_link.c - a socket that never blocks, poll() against the deadline, hiredis' formatter and
 * reader. TLS is OpenSSL's on the same socket.
 *
 * hiredis 0.14, which Debian 12 has, speaks no TLS. Once the oldest supported system has hiredis
 * 1.0, its redisConnectWithOptions() with REDIS_OPT_NONBLOCK and its redisBufferWrite() and
 * redisBufferRead(), which also work over TLS, replace the opening, sending and reading here; only
 * the poll() against one deadline for a whole exchange stays, because hiredis has time limits for
 * each read alone.
 */
#include "queue/redis_link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "queue/redis_tls.h"

enum { READ_BYTES = 16384 };

struct redis_link {
    int fd;
    SSL *ssl; /* NULL: plain */
    redisReader *reader;
};

/* ---- waiting ---- */

static enum status connection_failed(struct error *err, const char *what, const char *why)
{
    return error_set(err, STATUS_UNAVAILABLE, "Redis: %s: %s", what, why);
}

static enum status wait_for(int fd, short events, int64_t deadline_us, const char *what, struct error *err)
{
    struct pollfd polled = { .fd = fd, .events = events };

    for (;;) {
        int64_t left_us = deadline_us - clock_monotonic_us();
        int ready;

        if (left_us <= 0)
            return connection_failed(err, what, "no answer within the time limit");
        ready = poll(&polled, 1, (int)(left_us / 1000) + 1);
        if (ready > 0)
            return STATUS_OK;
        if (ready < 0 && errno != EINTR)
            return connection_failed(err, what, strerror(errno));
    }
}

/* ---- connecting ---- */

static enum status connect_to(struct redis_link *link, const struct sockaddr *address, socklen_t len,
    int64_t deadline_us, struct error *err)
{
    const int on = 1;
    int failure = 0;
    socklen_t failure_len = sizeof(failure);

    link->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0)
        return connection_failed(err, "connect", strerror(errno));
    if (address->sa_family != AF_UNIX)
        setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(link->fd, address, len) == 0)
        return STATUS_OK;
    if (errno != EINPROGRESS)
        return connection_failed(err, "connect", strerror(errno));
    TRY(wait_for(link->fd, POLLOUT, deadline_us, "connect", err));
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &failure, &failure_len) != 0)
        failure = errno;
    return failure == 0 ? STATUS_OK : connection_failed(err, "connect", strerror(failure));
}

static enum status connect_path(
    struct redis_link *link, const char *path, int64_t deadline_us, struct error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof(address.sun_path))
        return connection_failed(err, "connect", "the path of the socket is too long");
    memcpy(address.sun_path, path, strlen(path) + 1);
    return connect_to(link, (struct sockaddr *)&address, sizeof(address), deadline_us, err);
}

/*
 * Try every address of the name. Each gets its share of the time, so a dead one leaves time for the
 * next.
 */
static enum status connect_host(struct redis_link *link, const struct redis_link_address *endpoint,
    int64_t deadline_us, struct error *err)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    enum status status = STATUS_UNAVAILABLE;
    struct addrinfo *found = NULL;
    int64_t left = 0;
    char port[16];
    int failure;

    snprintf(port, sizeof(port), "%d", endpoint->port);
    failure = getaddrinfo(endpoint->host, port, &hints, &found);
    if (failure != 0)
        return connection_failed(err, "look the host up", gai_strerror(failure));
    for (const struct addrinfo *at = found; at; at = at->ai_next)
        left++;
    for (const struct addrinfo *at = found; at && status != STATUS_OK; at = at->ai_next) {
        int64_t now_us = clock_monotonic_us();

        if (link->fd >= 0)
            close(link->fd);
        status = connect_to(link, at->ai_addr, at->ai_addrlen, now_us + (deadline_us - now_us) / left--, err);
    }
    freeaddrinfo(found);
    return status;
}

/* ---- bytes ---- */

/* Wait until the socket is ready for what OpenSSL wants to do next. */
static enum status wait_for_ssl(
    struct redis_link *link, int result, int64_t deadline_us, const char *what, struct error *err)
{
    switch (SSL_get_error(link->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return wait_for(link->fd, POLLIN, deadline_us, what, err);
    case SSL_ERROR_WANT_WRITE:
        return wait_for(link->fd, POLLOUT, deadline_us, what, err);
    default:
        return redis_tls_failed(link->ssl, what, err);
    }
}

static enum status tls_handshake(
    struct redis_link *link, const struct redis_link_address *address, int64_t deadline_us, struct error *err)
{
    TRY(redis_tls_begin(address->tls, address->host, link->fd, &link->ssl, err));
    for (;;) {
        int result = SSL_connect(link->ssl);

        if (result == 1)
            return STATUS_OK;
        TRY(wait_for_ssl(link, result, deadline_us, "TLS", err));
    }
}

static enum status send_some(
    struct redis_link *link, struct str bytes, int64_t deadline_us, size_t *sent, struct error *err)
{
    ssize_t result;

    *sent = 0;
    if (link->ssl) {
        int written = SSL_write_ex(link->ssl, bytes.data, bytes.len, sent);

        return written == 1 ? STATUS_OK : wait_for_ssl(link, written, deadline_us, "send", err);
    }
    result = send(link->fd, bytes.data, bytes.len, MSG_NOSIGNAL);
    if (result >= 0)
        *sent = (size_t)result;
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
        return wait_for(link->fd, POLLOUT, deadline_us, "send", err);
    else if (errno != EINTR)
        return connection_failed(err, "send", strerror(errno));
    return STATUS_OK;
}

static enum status receive_some(
    struct redis_link *link, char *room, int64_t deadline_us, size_t *received, struct error *err)
{
    ssize_t result;

    *received = 0;
    if (link->ssl) {
        int read = SSL_read_ex(link->ssl, room, READ_BYTES, received);

        return read == 1 ? STATUS_OK : wait_for_ssl(link, read, deadline_us, "receive", err);
    }
    result = recv(link->fd, room, READ_BYTES, 0);
    if (result > 0)
        *received = (size_t)result;
    else if (result == 0)
        return connection_failed(err, "receive", "the server has closed the connection");
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
        return wait_for(link->fd, POLLIN, deadline_us, "receive", err);
    else if (errno != EINTR)
        return connection_failed(err, "receive", strerror(errno));
    return STATUS_OK;
}

/* ---- commands and replies ---- */

static void format_command(const struct redis_command *command, struct buf *out)
{
    char *text = NULL;
    long long len = redisFormatCommandArgv(&text, (int)command->count, command->words, command->lens);

    if (len < 0)
        abort(); /* no memory */
    buf_append(out, str_of_bytes(text, (size_t)len));
    redisFreeCommand(text);
}

static enum status send_all(struct redis_link *link, struct str bytes, int64_t deadline_us, struct error *err)
{
    while (bytes.len > 0) {
        size_t sent;

        TRY(send_some(link, bytes, deadline_us, &sent, err));
        bytes = str_from(bytes, sent);
    }
    return STATUS_OK;
}

static enum status receive_reply(
    struct redis_link *link, int64_t deadline_us, redisReply **out, struct error *err)
{
    char room[READ_BYTES];

    for (;;) {
        void *reply = NULL;
        size_t received;

        if (redisReaderGetReply(link->reader, &reply) != REDIS_OK)
            return connection_failed(err, "receive", link->reader->errstr);
        if (reply) {
            *out = reply;
            return STATUS_OK;
        }
        TRY(receive_some(link, room, deadline_us, &received, err));
        if (received > 0 && redisReaderFeed(link->reader, room, received) != REDIS_OK)
            return connection_failed(err, "receive", link->reader->errstr);
    }
}

static enum status send_and_receive(struct redis_link *link, struct redis_batch *batch, size_t first,
    size_t count, int64_t deadline_us, struct error *err)
{
    struct buf out __attribute__((cleanup(buf_cleanup)));

    buf_init(&out, NULL);
    for (size_t i = first; i < first + count; i++)
        format_command(&batch->commands[i], &out);
    TRY(send_all(link, buf_str(&out), deadline_us, err));
    for (size_t i = first; i < first + count; i++) {
        if (batch->replies[i])
            freeReplyObject(batch->replies[i]);
        batch->replies[i] = NULL;
        TRY(receive_reply(link, deadline_us, &batch->replies[i], err));
    }
    return STATUS_OK;
}

enum status redis_link_exchange(struct redis_link *link, struct redis_batch *batch, size_t first,
    size_t count, int64_t deadline_us, struct error *err)
{
    enum status status = send_and_receive(link, batch, first, count, deadline_us, err);

    if (status != STATUS_OK)
        redis_batch_drop_replies(batch);
    return status;
}

/* ---- open, close ---- */

static enum status open_link(
    struct redis_link *link, const struct redis_link_address *address, int64_t deadline_us, struct error *err)
{
    if (address->path)
        return connect_path(link, address->path, deadline_us, err);
    TRY(connect_host(link, address, deadline_us, err));
    return address->tls ? tls_handshake(link, address, deadline_us, err) : STATUS_OK;
}

enum status redis_link_open(
    const struct redis_link_address *address, int64_t deadline_us, struct redis_link **out, struct error *err)
{
    struct redis_link *link = xcalloc(1, sizeof(*link));
    enum status status;

    link->fd = -1;
    link->reader = redisReaderCreate();
    if (!link->reader)
        abort(); /* no memory */
    status = open_link(link, address, deadline_us, err);
    if (status == STATUS_OK)
        *out = link;
    else
        redis_link_close(link);
    return status;
}

void redis_link_close(struct redis_link *link)
{
    if (!link)
        return;
    SSL_free(link->ssl);
    if (link->fd >= 0)
        close(link->fd);
    redisReaderFree(link->reader);
    free(link);
}
