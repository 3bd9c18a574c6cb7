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

/* Counters for calls by method and code, and their durations. */
struct counters *metrics_calls_new(const struct service *service);

/* Count a call that has ended. */
void metrics_count_call(struct counters *calls, struct rpc_call *call);

/* Calls that have ended since the start. */
struct metrics_calls {
    uint64_t ended, failed;                 /* failed: with another status than OK */
    uint64_t durations[METRICS_BOUNDS + 1]; /* of those that do not wait or stream as long as their callers ask */
};

void metrics_read_calls(const struct service *service, struct metrics_calls *out);

/* The parts of the server whose metrics the text has. */
struct metrics_sources {
    struct service *service;
    const struct publisher *publisher;
    struct rpc_server *rpc;
    struct http_server *http; /* NULL: nothing is served over HTTP */
    int64_t memory_limit_bytes;
};

/* A metrics_collect_fn; context: a struct metrics_sources. */
void metrics_collect(void *context, struct buf *out);

#endif
