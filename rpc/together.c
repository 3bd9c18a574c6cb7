/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.c - see the header.
 *
 * The core has no such option and keeps its sockets to itself, so this program has a sendmsg of its own, which the
 * dynamic linker prefers: it adds MSG_MORE while the thread is between begin and end, and notes the socket. Setting
 * TCP_NODELAY, which the core has set already, pushes out what waits. On a socket that was closed meanwhile, and
 * whose number is another's now, that changes nothing.
 */
#include "rpc/together.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rpc/call.h"

enum {
    MAX_SOCKETS = 32,
    /* So many replies leave at once: a caller with many calls open works on the first while the last are made. */
    MAX_TOGETHER = 8,
};

static _Thread_local bool serves_queue;

static _Thread_local struct {
    bool active;
    int count;
    struct held_socket {
        int number;
        int replies;
    } sockets[MAX_SOCKETS];
} held;

/* NULL: there are too many already. */
static struct held_socket *note(int socket)
{
    for (int i = 0; i < held.count; i++)
        if (held.sockets[i].number == socket)
            return &held.sockets[i];
    if (held.count == MAX_SOCKETS)
        return NULL;
    held.sockets[held.count] = (struct held_socket){ .number = socket };
    return &held.sockets[held.count++];
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    struct held_socket *noted = held.active ? note(socket) : NULL;

    if (noted && ++noted->replies % MAX_TOGETHER != 0)
        flags |= MSG_MORE;
    return syscall(SYS_sendmsg, socket, message, flags);
}

static void hold(bool begins)
{
    const int yes = 1;

    for (int i = 0; i < held.count; i++)
        (void)setsockopt(held.sockets[i].number, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    held.count = 0;
    held.active = begins;
}

void together_serve_queue(void)
{
    serves_queue = true;
}

void rpc_together(bool begins)
{
    if (serves_queue)
        hold(begins);
    else if (begins)
        call_keep_answers();
    else
        call_post_answers();
}
