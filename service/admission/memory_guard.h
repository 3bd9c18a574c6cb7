/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_guard.h - closes connections when the process is close to its memory bound.
 *
 * A thread reads the resident memory forty times a second. From three quarters of the bound on, the server
 * hangs up on connections on which no call has been admitted, in the order of their cost. From seven eighths
 * on, it hangs up on the others too, in the same order. The listener for HTTP closes idle connections from
 * three quarters on, and from seven eighths on also those whose bodies are arriving. Freed memory is given
 * back to the system.
 */
#ifndef SERVICE_ADMISSION_MEMORY_GUARD_H
#define SERVICE_ADMISSION_MEMORY_GUARD_H

#include "service/admission/memory_bound.h"

struct memory_guard;

struct http_server;

/* Start the guard. Both servers must outlive it; http may be NULL. */
struct memory_guard *memory_guard_start(
    const struct memory_bound *bound, struct rpc_server *server, struct http_server *http);

/*
 * When to look again (clock_monotonic_us), after a look that was due at due_us and has ended at now_us. After a stall
 * the guard looks once; it does not repeat the looks that it missed.
 */
int64_t memory_guard_next_look(int64_t due_us, int64_t now_us);

/* Stop and free the guard. Accepts NULL. */
void memory_guard_stop(struct memory_guard *guard);

#endif
