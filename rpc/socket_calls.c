/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_calls.c - this program's own accept4, listen, epoll_ctl, recvmsg, shutdown, close and SSL_read: see door.h;
 * and its own epoll_wait.
 *
 * The core calls these functions as it would call those of the C library and OpenSSL. If no door knows the
 * socket, the original is called. With TLS the core passes the bytes of one connection at a time to OpenSSL,
 * in the thread that has read them. So the socket from which a thread has read last is the one whose bytes
 * the thread's next SSL_read returns; the SSL session stores this connection once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rpc/door.h"

enum { MAX_POLL_MS = 100, DAY_MS = 86400000 };

static _Thread_local int last_read = -1;

/* ---- accepting ---- */

int listen(int socket, int backlog)
{
    long result = syscall(SYS_listen, socket, backlog);

    if (result == 0)
        door_note_listener(socket);
    return (int)result;
}

/*
 * The core takes every error but EAGAIN for the end of the listener. It is told only once that connections
 * wait, and calls accept4 until it gets EAGAIN.
 */
static int accept_through(
    struct door *door, int listener, struct sockaddr *address, socklen_t *size, int flags)
{
    const socklen_t room = *size;

    for (;;) {
        int socket;

        *size = room;
        socket = (int)syscall(SYS_accept4, listener, address, size, flags);
        if (socket >= 0) {
            if (door_admit(door, socket, address))
                return socket;
            close(socket);
        } else if (door_is_short_of_files(errno)) {
            if (!door_turn_away(door, listener)) {
                errno = EAGAIN;
                return -1;
            }
        } else if (errno == EAGAIN || errno == EBADF || errno == EINVAL || errno == ENOTSOCK) {
            return -1;
        }
        /* Any other error concerned one connection, which is gone. */
    }
}

int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags)
{
    struct door *door = address && size ? door_of_listener(socket) : NULL;

    if (door)
        return accept_through(door, socket, address, size, flags);
    return (int)syscall(SYS_accept4, socket, address, size, flags);
}

int epoll_ctl(int poller, int operation, int socket, struct epoll_event *event)
{
    struct door_connection *connection = operation == EPOLL_CTL_ADD ? door_of_socket(socket) : NULL;

    if (connection)
        door_note_poller(connection, poller);
    return (int)syscall(SYS_epoll_ctl, poller, operation, socket, event);
}

/*
 * While a send waits for its client, the core has a thread that polls for ten seconds at a time. grpc_shutdown joins
 * this thread, and nothing wakes it: a server that had sent much stopped up to ten seconds late. So no such poll lasts
 * long; a caller that has more time polls again. The core wakes the thread that polls for a day.
 */
int epoll_wait(int poller, struct epoll_event *events, int room, int wait_ms)
{
    if (wait_ms > MAX_POLL_MS && wait_ms < DAY_MS)
        wait_ms = MAX_POLL_MS;
    return (int)syscall(SYS_epoll_pwait, poller, events, room, wait_ms, NULL, 0);
}

/* ---- ending ---- */

int shutdown(int socket, int how)
{
    struct door_connection *connection = how == SHUT_RDWR ? door_of_socket(socket) : NULL;

    return (int)syscall(SYS_shutdown, socket, connection && door_lets_linger(connection) ? SHUT_WR : how);
}

int close(int socket)
{
    struct door_connection *connection = door_of_socket(socket);

    if (connection && door_forget(connection))
        return 0;
    return (int)syscall(SYS_close, socket);
}

/* ---- reading ---- */

static bool look_at(struct door_connection *connection, const struct msghdr *message, size_t length)
{
    for (size_t i = 0; i < message->msg_iovlen && length > 0; i++) {
        const struct iovec *piece = &message->msg_iov[i];
        size_t size = piece->iov_len < length ? piece->iov_len : length;

        if (!door_look(connection, piece->iov_base, size))
            return false;
        length -= size;
    }
    return true;
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
    struct door_connection *connection = door_of_socket(socket);
    ssize_t length;

    if (connection && door_has_hung_up(connection)) {
        errno = ECONNRESET;
        return -1;
    }
    length = syscall(SYS_recvmsg, socket, message, flags);
    if (!connection || length <= 0)
        return length;
    last_read = socket;
    if (door_is_tls(connection) || look_at(connection, message, (size_t)length))
        return length;
    errno = ECONNRESET;
    return -1;
}

/* ---- reading through TLS ---- */

typedef int ssl_read_fn(SSL *session, void *bytes, int size);

static struct {
    pthread_once_t once;
    ssl_read_fn *read; /* OpenSSL's own function */
    int index;         /* of the connection in the extra data of an SSL session */
} tls = { .once = PTHREAD_ONCE_INIT };

static void find_tls(void)
{
    void *found = dlsym(RTLD_NEXT, "SSL_read");

    tls.read = *(ssl_read_fn **)&found;
    tls.index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static struct door_connection *connection_of(SSL *session)
{
    struct door_connection *connection = SSL_get_ex_data(session, tls.index);

    if (connection)
        return connection;
    connection = SSL_is_server(session) ? door_of_socket(last_read) : NULL;
    if (connection && door_is_tls(connection))
        SSL_set_ex_data(session, tls.index, connection);
    return connection;
}

int SSL_read(SSL *session, void *bytes, int size)
{
    struct door_connection *connection;
    int length;

    pthread_once(&tls.once, find_tls);
    length = tls.read(session, bytes, size);
    if (length <= 0)
        return length;
    connection = connection_of(session);
    if (!connection || !door_is_tls(connection) || door_look(connection, bytes, (size_t)length))
        return length;
    return -1;
}
