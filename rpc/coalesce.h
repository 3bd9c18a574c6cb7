/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coalesce.h - replies that are ready at the same moment share packets.
 *
 * gRPC's core sends one packet per reply. Between coalesce_replies(true) and coalesce_replies(false) the replies of the
 * calling thread are held back and then leave in as few packets as they fit in:
 *
 * - A thread that serves a queue holds them in the kernel (MSG_MORE), behind the socket's other bytes. Order,
 *   back-pressure and encryption are as always. The kernel sends held bytes after 200 ms at most, whatever the thread
 *   does. Only TCP can hold bytes; other sockets send at once. This part is left out if the CMake option
 *   TAVOLA_COALESCE_REPLIES is OFF.
 * - Any other thread keeps them, and the end hands them to a thread that serves the queue, all with one event.
 */
#ifndef RPC_COALESCE_H
#define RPC_COALESCE_H

#include <stdbool.h>

/* Begin or end holding back. Never blocks. Pairs must not be nested. */
void coalesce_replies(bool begins);

/* Internal to rpc/: the calling thread serves a queue. */
void coalesce_serve_queue(void);

#endif
