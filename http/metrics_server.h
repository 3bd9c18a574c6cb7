/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_server.h - an HTTP listener for metrics, which answers GET /metrics and nothing else, or for
 * probes, which answers GET /live and GET /ready.
 */
#ifndef HTTP_METRICS_SERVER_H
#define HTTP_METRICS_SERVER_H

#include "base/buf.h"
#include "base/error.h"

struct metrics_server;

/* Append the text of all metrics. The listener's thread calls it; calls do not overlap. */
typedef void metrics_collect_fn(void *context, struct buf *out);

/*
 * Start a listener for metrics. The address in use is logged. address: in a form that config_is_address
 * accepts.
 *
 * STATUS_UNAVAILABLE  the address cannot be used; the message says why
 */
MUST_USE enum status metrics_server_start(const char *address, metrics_collect_fn *collect, void *context,
    struct metrics_server **out, struct error *err);

/* Whether the program can do its work now. The listener's thread calls it; calls do not overlap. */
typedef bool probe_ready_fn(void *context);

/*
 * Start a listener for probes: /live always answers 200, /ready answers 200 or 503. Stop it with
 * metrics_server_stop.
 */
MUST_USE enum status metrics_server_start_probes(const char *address, probe_ready_fn *ready, void *context,
    struct metrics_server **out, struct error *err);

/* Accepts NULL. */
void metrics_server_stop(struct metrics_server *server);

#endif
