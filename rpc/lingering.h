/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lingering.h - connections that the server has ended, and whose clients have not hung up yet. Internal to rpc/.
 *
 * When a server closes a connection, the next send of the client fails, for example that of a WINDOW_UPDATE. The
 * libraries of gRPC then end the calls of the connection at once. What has arrived and was not read yet is lost: the
 * last messages, and the status with the reason. So a server that stops only shuts down its own direction (SHUT_WR).
 * The client reads to the end and hangs up. Then the server closes the socket.
 */
#ifndef RPC_LINGERING_H
#define RPC_LINGERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All members zero: no socket. */
struct lingering {
    int *sockets;
    size_t count, room;
};

/* Whether the client has not hung up. Bytes that it has sent are dropped. */
bool lingering_has_client(int socket);

/* The list owns the socket from now on. */
void lingering_add(struct lingering *lingering, int socket);

/* Wait until all clients have hung up, at most until the deadline (clock_monotonic_us). Then close all sockets. */
void lingering_end(struct lingering *lingering, int64_t deadline_us);

#endif
