/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_server.h - an HTTP listener that answers GET /metrics and nothing else; or one for probes, with GET /live
 * and GET /ready.
 */
#ifndef BASE_METRICS_SERVER_H
#define BASE_METRICS_SERVER_H

#include "base/buf.h"
#include "base/error.h"

struct metrics_server;

/* Append the text of all metrics; called from the listener's thread, once at a time. */
typedef void metrics_collect_fn(void *context, struct buf *out);

/*
 * address: as config_is_address takes it. The log says where it listens.
 * STATUS_UNAVAILABLE: the address cannot be used; the message says why.
 */
MUST_USE enum status metrics_server_start(const char *address, metrics_collect_fn *collect, void *context,
    struct metrics_server **out, struct error *err);

/* Whether the program can do its work now; called from the listener's thread. */
typedef bool probe_ready_fn(void *context);

/*
 * The same for probes: /live answers 200 for as long as the program answers at all, /ready 200 or 503. Stopped by
 * metrics_server_stop.
 */
MUST_USE enum status metrics_server_start_probes(const char *address, probe_ready_fn *ready, void *context,
    struct metrics_server **out, struct error *err);

/* Accepts NULL. */
void metrics_server_stop(struct metrics_server *server);

#endif
