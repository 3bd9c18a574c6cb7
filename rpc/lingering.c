/* SPDX-License-Identifier: Apache-2.0 */
/* lingering.c - see the header. */
#include "rpc/lingering.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"

enum { FIRST_ROOM = 16, DROPPED_BYTES = 4096, DROPS_MAX = 64, US_PER_MS = 1000 };

bool lingering_has_client(int socket)
{
    char dropped[DROPPED_BYTES];

    for (int i = 0; i < DROPS_MAX; i++) {
        ssize_t length = recv(socket, dropped, sizeof(dropped), MSG_DONTWAIT);

        if (length == 0)
            return false;
        if (length < 0)
            return errno == EAGAIN || errno == EINTR;
    }
    return true;
}

void lingering_add(struct lingering *lingering, int socket)
{
    if (lingering->count == lingering->room) {
        lingering->room = lingering->room > 0 ? 2 * lingering->room : FIRST_ROOM;
        lingering->sockets = xrealloc(lingering->sockets, lingering->room * sizeof(*lingering->sockets));
    }
    lingering->sockets[lingering->count++] = socket;
}

void lingering_end(struct lingering *lingering, int64_t deadline_us)
{
    while (lingering->count > 0) {
        struct pollfd last = { .fd = lingering->sockets[lingering->count - 1], .events = POLLIN };
        int64_t left_us = deadline_us - clock_monotonic_us();

        if (left_us > 0 && lingering_has_client(last.fd)) {
            (void)poll(&last, 1, (int)(left_us / US_PER_MS) + 1);
            continue;
        }
        close(last.fd);
        lingering->count--;
    }
    free(lingering->sockets);
}
