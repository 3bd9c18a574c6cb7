/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.h - the worker's part of traces. For each traced write that a reconcile has carried on:
 *
 *   the call (server)
 *     queue            from the write's commit to the beginning of the reconcile
 *       reconcile      the transaction, with all keys of its batch
 *         index entry  one for each index whose entries have changed
 */
#ifndef WORKERS_TRACES_H
#define WORKERS_TRACES_H

#include "api/codec_span.h"
#include "http/exporter.h"

struct worker_ctx;
struct taken_traces; /* store/indexes/taken_traces.h */

/* Of the process. */
struct worker_tracing {
    struct exporter *exporter; /* NULL: nothing is traced */
    struct codec_span_source source;
};

/*
 * Trace from now on; endpoint NULL: trace nothing. name: the worker's; borrowed.
 * STATUS_INTERNAL: the exporter cannot be started.
 */
MUST_USE enum status worker_tracing_start(
    struct worker_tracing *tracing, const char *endpoint, const char *name, struct error *err);

void worker_tracing_stop(struct worker_tracing *tracing);

/* Collect the traces of the next reconcile, in the arena of the turn; NULL: nothing is traced. */
struct taken_traces *traces_begin(struct worker_ctx *ctx);

/*
 * Send the spans of a reconcile that has committed. taken: from traces_begin; keys: of the batch;
 * begun_ticks: of the reconcile.
 */
void traces_end(struct worker_ctx *ctx, const struct taken_traces *taken, size_t keys, int64_t begun_ticks);

#endif
