/* SPDX-License-Identifier: Apache-2.0 */
/* tracing.c - see the header. */
#include "service/tracing/tracing.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "domain/account_id.h"
#include "service/tracing/call_parts.h"

enum { URL_BYTES = 512, TICKS_PER_US = 10 };

enum status tracing_start(
    struct tracing *tracing, const char *endpoint, int64_t per_million, const char *name, struct error *err)
{
    char url[URL_BYTES];
    struct exporter_options options = { .url = url,
        .content_type = "application/x-protobuf",
        .name = "spans",
        .write_body = codec_span_write_request,
        .context = &tracing->source };

    if (!endpoint)
        return STATUS_OK;
    tracing->per_million = per_million;
    tracing->source = (struct codec_span_source){ "tavolad", TAVOLA_VERSION, name };
    codec_span_url(endpoint, url, sizeof(url));
    return exporter_start(&options, &tracing->exporter, err);
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

const struct call_trace *tracing_begin_call(const struct tracing *tracing, struct rpc_call *call)
{
    struct trace_context context;
    struct call_trace *trace;

    if (trace_context_parse(rpc_call_metadata(call, "traceparent"), &context)) {
        if (!context.is_sampled)
            return NULL;
        trace = new_trace(call, &context);
        memcpy(trace->parent_id, context.span_id, SPAN_ID_BYTES);
        new_span_id(trace->context.span_id);
        return trace;
    }
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
