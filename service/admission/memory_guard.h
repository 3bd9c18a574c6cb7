/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_guard.h - decides which connections are closed when the process comes near its memory bound.
 *
 * A thread looks at the resident memory forty times a second. From three quarters of the bound on, the server hangs up
 * on the connections on which no call has been admitted, those that cost most first; from seven eighths on, on all,
 * likewise. On the listener for HTTP it hangs up on idle connections, and then on those whose requests are on their way.
 * What was freed is given back to the system.
 */
#ifndef SERVICE_ADMISSION_MEMORY_GUARD_H
#define SERVICE_ADMISSION_MEMORY_GUARD_H

#include "service/admission/memory_bound.h"

struct memory_guard;

struct http_server;

/* The servers must outlive it; http may be NULL. */
struct memory_guard *memory_guard_start(
    const struct memory_bound *bound, struct rpc_server *server, struct http_server *http);

/* NULL is ignored. */
void memory_guard_stop(struct memory_guard *guard);

#endif
