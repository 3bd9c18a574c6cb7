/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.h - replies that are made together leave together.
 *
 * The core sends one packet per reply. Between rpc_together(true) and rpc_together(false) the replies of the calling
 * thread wait for a few others, and then leave in as few packets as they fit in. They wait in the kernel, behind the
 * socket's other bytes, where order, back-pressure and encryption are as ever; whatever happens it sends them after a
 * fifth of a second at most. TCP alone knows how; other sockets send at once. Replies of threads that do not serve the
 * queue are handed to one that does, all at once, before. Who never calls this has a sendmsg that is the kernel's own.
 */
#ifndef RPC_TOGETHER_H
#define RPC_TOGETHER_H

#include <stdbool.h>

/* Never blocks. Not to be nested. */
void rpc_together(bool begins);

/* Internal to rpc/: the calling thread serves a queue. */
void together_serve_queue(void);

#endif
