/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener_probe.h - checks whether callers can reach the server: a thread connects to the server's own
 * address.
 *
 * Calls of the health methods come over connections that are already open. This thread checks the rest: that
 * the listener accepts new connections and that a thread reads from them. If the server closes a connection
 * at once, it counts as accepted. After LISTENER_PROBE_FAILURES attempts in a row without an answer the
 * health service reports NOT_SERVING, also for HEALTH_LIVENESS, until an attempt succeeds.
 */
#ifndef SERVICE_PROBES_LISTENER_PROBE_H
#define SERVICE_PROBES_LISTENER_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "service/probes/health.h"

enum { LISTENER_PROBE_PERIOD_MS = 5000, LISTENER_PROBE_TIMEOUT_MS = 5000, LISTENER_PROBE_FAILURES = 3 };

/*
 * Connect, send the hello of an HTTP/2 client, and wait until the server sends something or closes the
 * connection. false: nothing happened within timeout_ms.
 *
 * address  "host:port", "[ipv6]:port", "unix:/path"; for "0.0.0.0" and "[::]" the probe uses loopback
 * port     used instead of the address's port, unless 0
 */
bool listener_probe_once(const char *address, int port, int timeout_ms);

struct listener_probe;

/*
 * Start the thread, which tries every period_ms (LISTENER_PROBE_PERIOD_MS; tests have less time). health and
 * address must outlive it.
 */
struct listener_probe *listener_probe_start(
    const char *address, int port, int period_ms, struct health *health);

/* Stop the thread; waits for an attempt that is under way. Accepts NULL. */
void listener_probe_stop(struct listener_probe *probe);

#endif
