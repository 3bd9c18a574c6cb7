/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing.h - the server's part of traces: a span for each traced call, which the intents of its
 * writes carry on. A call is traced if its caller asks for it (a `traceparent` with the flag
 * "sampled"), or, of the callers without a trace, by chance. Callers of one account are traced up to
 * a rate, so that an account that samples all its calls leaves room for the spans of others.
 */
#ifndef SERVICE_TRACING_TRACING_H
#define SERVICE_TRACING_TRACING_H

#include "api/codec_span.h"
#include "base/error.h"
#include "domain/operations/operation.h"
#include "http/exporter.h"
#include "rpc/server.h"
#include "service/admission/rates.h"

struct tracing {
    struct exporter *exporter; /* NULL: nothing is traced */
    int64_t per_million;       /* of the calls without a trace, how many begin one */
    struct rates *rates;       /* of the traces that callers of an account begin; borrowed */
    struct codec_span_source source;
};

/*
 * Trace from now on, if the settings name a collector: see exporter_start. The other members are
 * set. name: of the program's address, to tell servers apart; borrowed, as the settings are.
 */
MUST_USE enum status tracing_start(
    struct tracing *tracing, const struct trace_settings *settings, const char *name, struct error *err);

void tracing_stop(struct tracing *tracing);

/* A call that is traced: the trace with the id of the call's span, and the caller's span. */
struct call_trace {
    struct trace_context context;
    unsigned char parent_id[SPAN_ID_BYTES];
};

/*
 * What begins with the call, in its arena; NULL: the call is not traced. account: the caller's;
 * empty: it is not known, and all such callers share one rate.
 */
const struct call_trace *tracing_begin_call(
    const struct tracing *tracing, struct rpc_call *call, struct str account);

/* What is told of a call when it ends, or of an operation of a stream. */
struct call_end {
    struct rpc_call *call;
    int64_t begun_us; /* of the operation, by clock_monotonic_us; 0: the call's beginning counts */
    const char *path; /* of the method */
    struct str account;
    const struct operation *operation; /* NULL: the request was refused before it became one */
    const char *failure;               /* the error's reason; NULL: the call succeeded */
    bool awaits_event;                 /* it lasts as long as its caller asks, so it is not slow */
};

/* Send the span of a traced call. */
void tracing_end_call(
    const struct tracing *tracing, const struct call_trace *trace, const struct call_end *end);

#endif
