/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener_probe.h - whether callers still get through: a thread connects to the server's own address.
 *
 * The process answers health methods on connections that are open already. This thread checks the rest: that the listener
 * accepts new connections and that a thread reads from them. A connection that the server closes at
 * once counts as accepted. After LISTENER_PROBE_FAILURES tries in a row without an answer the health service says
 * NOT_SERVING, also for HEALTH_LIVENESS, until a try succeeds.
 */
#ifndef SERVICE_PROBES_LISTENER_PROBE_H
#define SERVICE_PROBES_LISTENER_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "service/probes/health.h"

enum { LISTENER_PROBE_PERIOD_MS = 5000, LISTENER_PROBE_TIMEOUT_MS = 5000, LISTENER_PROBE_FAILURES = 3 };

/*
 * Connect, say hello as an HTTP/2 client, and wait until something comes back or the connection ends. address:
 * "host:port", "[ipv6]:port", "unix:/path"; port: the one in its place, if not 0. "0.0.0.0" and "[::]" are tried on
 * loopback. false: nothing within timeout_ms.
 */
bool listener_probe_once(const char *address, int port, int timeout_ms);

struct listener_probe;

/* health must outlive it, address too. */
struct listener_probe *listener_probe_start(const char *address, int port, struct health *health);

/* NULL is ignored. Waits for a try that is under way. */
void listener_probe_stop(struct listener_probe *probe);

#endif
