/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - the counters of the server, and the text of its metrics. docs/operations.md explains each metric.
 */
#ifndef SERVICE_PROBES_METRICS_H
#define SERVICE_PROBES_METRICS_H

#include "base/metrics.h"
#include "http/server.h"
#include "rpc/server.h"
#include "service/publisher.h"
#include "service/service.h"

/* Make the counters of calls, by method and status code, and the histograms of their durations. */
struct counters *metrics_calls_new(const struct service *service);

/* Count a call that has ended. */
void metrics_count_call(struct counters *calls, struct rpc_call *call);

/* Calls that have ended since the start. */
struct metrics_calls {
    uint64_t ended, failed; /* failed: ended with another status than OK */
    /* of calls that do not wait or stream as long as their callers ask */
    uint64_t durations[METRICS_BOUNDS + 1];
};

void metrics_read_calls(const struct service *service, struct metrics_calls *out);

/* Of one method, by its position in methods_at, whether it waits or not. */
void metrics_read_method(const struct service *service, size_t method, struct metrics_calls *out);

/* The parts of the server that have metrics. */
struct metrics_sources {
    struct service *service;
    const struct publisher *publisher;
    struct rpc_server *rpc;
    struct http_server *http; /* NULL: no listener for HTTP */
    int64_t memory_limit_bytes;
};

/* Append all metrics; a metrics_collect_fn whose context is a struct metrics_sources. */
void metrics_collect(void *context, struct buf *out);

#endif
