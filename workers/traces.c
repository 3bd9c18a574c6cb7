/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.c - see the header. The clock of the database, which has stamped the intent, and that of
 * the worker may differ: a queue's span never ends before it begins.
 */
#include "workers/traces.h"

#include "base/clock.h"
#include "domain/ticks.h"
#include "store/indexes/taken_traces.h"
#include "store/transactions/step_trace.h"
#include "workers/worker.h"

enum status worker_tracing_start(struct worker_tracing *tracing, const struct trace_settings *settings,
    const char *name, struct error *err)
{
    tracing->source = (struct codec_span_source){ "tavola-worker", TAVOLA_VERSION, name };
    return exporter_start(&(struct exporter_options){ settings, codec_span_write_request, &tracing->source },
        &tracing->exporter, err);
}

void worker_tracing_stop(struct worker_tracing *tracing)
{
    exporter_stop(tracing->exporter);
    tracing->exporter = NULL;
}

struct taken_traces *traces_begin(struct worker_ctx *ctx)
{
    struct taken_traces *taken;

    if (!ctx->shared->tracing.exporter)
        return NULL;
    taken = ARENA_NEW(&ctx->arena, struct taken_traces);
    taken->arena = &ctx->arena;
    worker_collect_traces(ctx->store, taken);
    return taken;
}

static void send_span(struct worker_ctx *ctx, const struct span *span)
{
    struct buf bytes;

    buf_init(&bytes, &ctx->arena);
    codec_span_encode(span, &bytes);
    exporter_add(ctx->shared->tracing.exporter, buf_str(&bytes));
}

/* From the commit of an intent to the beginning of its work. Returns the place in the trace. */
static struct trace_context send_queue_span(
    struct worker_ctx *ctx, const struct trace_context *parent, int64_t intent_us, int64_t begun_ticks)
{
    struct span queue = span_below(parent, "queue", SPAN_CONSUMER, worker_random(ctx));

    queue.begun_ticks = ticks_from_unix_us(intent_us);
    queue.ended_ticks = begun_ticks > queue.begun_ticks ? begun_ticks : queue.begun_ticks;
    send_span(ctx, &queue);
    return queue.context;
}

static void send_trace(struct worker_ctx *ctx, const struct taken_trace *trace, struct span reconcile)
{
    struct trace_context queue =
        send_queue_span(ctx, &trace->context, trace->intent_us, reconcile.begun_ticks);
    struct span next = span_below(&queue, reconcile.name, reconcile.kind, worker_random(ctx));

    next.begun_ticks = reconcile.begun_ticks;
    next.ended_ticks = reconcile.ended_ticks;
    span_add_number(&next, "tavola.keys", reconcile.attributes[0].number);
    send_span(ctx, &next);
    for (size_t i = 0; i < trace->index_count; i++) {
        struct span entry = span_below(&next.context, "index entry", SPAN_INTERNAL, worker_random(ctx));

        entry.begun_ticks = reconcile.begun_ticks;
        entry.ended_ticks = reconcile.ended_ticks;
        span_add_text(&entry, "tavola.index", trace->indexes[i].name);
        span_add_number(&entry, "tavola.written", trace->indexes[i].written);
        span_add_number(&entry, "tavola.deleted", trace->indexes[i].deleted);
        send_span(ctx, &entry);
    }
}

void traces_end(struct worker_ctx *ctx, const struct taken_traces *taken, size_t keys, int64_t begun_ticks)
{
    struct span reconcile = { .name = "reconcile", .kind = SPAN_INTERNAL, .begun_ticks = begun_ticks };

    if (!taken)
        return;
    reconcile.ended_ticks = clock_ticks();
    span_add_number(&reconcile, "tavola.keys", (int64_t)keys);
    for (size_t i = 0; i < taken->count; i++)
        send_trace(ctx, &taken->items[i], reconcile);
}

struct step_trace *traces_begin_step(struct worker_ctx *ctx)
{
    struct step_trace *trace;

    if (!ctx->shared->tracing.exporter)
        return NULL;
    trace = ARENA_NEW(&ctx->arena, struct step_trace);
    trace->arena = &ctx->arena;
    trace->random = worker_random(ctx);
    return trace;
}

void traces_end_step(struct worker_ctx *ctx, struct step_trace *trace, int64_t begun_ticks)
{
    if (!trace || !trace->is_traced)
        return;
    if (trace->is_first)
        (void)send_queue_span(ctx, &trace->submission, trace->intent_us, begun_ticks);
    trace->span.begun_ticks = begun_ticks;
    trace->span.ended_ticks = clock_ticks();
    send_span(ctx, &trace->span);
}
