/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.h - the worker's part of traces. For each traced write that a reconcile has carried on:
 *
 *   the call (server)
 *     queue            from the write's commit to the beginning of the reconcile
 *       reconcile      the transaction, with all keys of its batch
 *         index entry  one for each index whose entries have changed
 *
 * For each step of a transaction that a traced call has submitted:
 *
 *   the call (server)
 *     queue              from the submission to the beginning of the first step
 *     transaction step   with the writes of the step below it, as those of a call above
 */
#ifndef WORKERS_TRACES_H
#define WORKERS_TRACES_H

#include "api/codec_span.h"
#include "http/exporter.h"

struct worker_ctx;
struct step_trace;   /* store/transactions/step_trace.h */
struct taken_traces; /* store/indexes/taken_traces.h */

/* Of the process. */
struct worker_tracing {
    struct exporter *exporter; /* NULL: nothing is traced */
    struct codec_span_source source;
};

/*
 * Trace from now on, if the settings name a collector: see exporter_start. name: the worker's;
 * borrowed, as the settings are.
 */
MUST_USE enum status worker_tracing_start(struct worker_tracing *tracing,
    const struct trace_settings *settings, const char *name, struct error *err);

void worker_tracing_stop(struct worker_tracing *tracing);

/* Collect the traces of the next reconcile, in the arena of the turn; NULL: nothing is traced. */
struct taken_traces *traces_begin(struct worker_ctx *ctx);

/*
 * Send the spans of a reconcile that has committed. taken: from traces_begin; keys: of the batch;
 * begun_ticks: of the reconcile.
 */
void traces_end(struct worker_ctx *ctx, const struct taken_traces *taken, size_t keys, int64_t begun_ticks);

/* Likewise for the next step of a transaction. */
struct step_trace *traces_begin_step(struct worker_ctx *ctx);
void traces_end_step(struct worker_ctx *ctx, struct step_trace *trace, int64_t begun_ticks);

#endif
