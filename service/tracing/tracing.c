/* SPDX-License-Identifier: Apache-2.0 */
/* tracing.c - see the header. */
#include "service/tracing/tracing.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "domain/account_id.h"
#include "service/tracing/call_parts.h"

enum { TICKS_PER_US = 10 };

enum status tracing_start(
    struct tracing *tracing, const struct trace_settings *settings, const char *name, struct error *err)
{
    tracing->source = (struct codec_span_source){ "tavolad", TAVOLA_VERSION, name };
    return exporter_start(&(struct exporter_options){ settings, codec_span_write_request, &tracing->source },
        &tracing->exporter, err);
}

void tracing_stop(struct tracing *tracing)
{
    exporter_stop(tracing->exporter);
    tracing->exporter = NULL;
}

static void new_span_id(unsigned char out[SPAN_ID_BYTES])
{
    uint64_t bits = random_bits() | 1;

    memcpy(out, &bits, SPAN_ID_BYTES);
}

static struct call_trace *new_trace(struct rpc_call *call, const struct trace_context *context)
{
    struct call_trace *trace = ARENA_NEW(rpc_call_arena(call), struct call_trace);

    trace->context = *context;
    return trace;
}

/* The caller's own trace. NULL: it is not sampled, or the account has used up its rate of traced calls. */
static struct call_trace *follow_trace(const struct tracing *tracing, struct rpc_call *call,
    struct str account, const struct trace_context *context)
{
    struct call_trace *trace;

    if (!context->is_sampled || !rates_admit_traced(tracing->rates, account, clock_monotonic_us()))
        return NULL;
    trace = new_trace(call, context);
    memcpy(trace->parent_id, context->span_id, SPAN_ID_BYTES);
    new_span_id(trace->context.span_id);
    return trace;
}

const struct call_trace *tracing_begin_call(
    const struct tracing *tracing, struct rpc_call *call, struct str account)
{
    struct trace_context context;

    if (!tracing->exporter)
        return NULL;
    if (trace_context_parse(rpc_call_metadata(call, "traceparent"), &context))
        return follow_trace(tracing, call, account, &context);
    if (tracing->per_million == 0)
        return NULL;
    context = trace_context_begin(
        (const uint64_t[]){ random_bits(), random_bits(), random_bits() }, tracing->per_million);
    return context.is_sampled ? new_trace(call, &context) : NULL;
}

void tracing_end_call(
    const struct tracing *tracing, const struct call_trace *trace, const struct call_end *end)
{
    struct call_parts parts;
    struct span span = { .context = trace->context, .name = end->path + 1, .kind = SPAN_SERVER };
    struct arena arena;
    struct buf bytes;

    call_parts_read(end, &parts);
    memcpy(span.parent_id, trace->parent_id, SPAN_ID_BYTES);
    span.ended_ticks = clock_ticks();
    span.begun_ticks = span.ended_ticks - parts.duration_us * TICKS_PER_US;
    span.failure = end->failure;
    span_add_text(&span, "tavola.account", account_id_name(end->account));
    span_add_text(&span, "tavola.table", parts.table);
    if (parts.ran) {
        span_add_number(&span, "tavola.queue_us", parts.queue_us);
        span_add_number(&span, "tavola.database_us", parts.database_us);
    }
    if (parts.access_path) {
        span_add_text(&span, "tavola.access_path", str_of(parts.access_path));
        span_add_number(&span, "tavola.rows_examined", parts.rows_examined);
    }
    arena_init(&arena);
    buf_init(&bytes, &arena);
    codec_span_encode(&span, &bytes);
    exporter_add(tracing->exporter, buf_str(&bytes));
    arena_cleanup(&arena);
}
