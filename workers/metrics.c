/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - see the header.
 */
#include "workers/metrics.h"

#include <stdio.h>

#include "store/intents/lease_work.h"
#include "store/intents/scan_reach.h"
#include "workers/steps/steps.h"

static const struct row {
    const char *name, *labels, *help;
} rows[] = {
    [WORKER_CLAIMED] = { "tavola_worker_claimed_total", "source=\"queue\"", "Messages and intents taken." },
    [WORKER_POLLED] = { "tavola_worker_claimed_total", "source=\"database\"", NULL },
    [WORKER_RECONCILED] = { "tavola_worker_completed_total", "kind=\"reconcile\"",
        "Pieces of work brought to an end." },
    [WORKER_STEPPED] = { "tavola_worker_completed_total", "kind=\"transaction\"", NULL },
    [WORKER_COPY_CHECKED] = { "tavola_worker_completed_total", "kind=\"copy\"", NULL },
    [WORKER_VISITED] = { "tavola_worker_completed_total", "kind=\"visit\"", NULL },
    [WORKER_COPIED] = { "tavola_worker_copies_total", "",
        "Entities that were written because their copies differed." },
    [WORKER_RETRIED] = { "tavola_worker_retries_total", "", "Failures counted, to be tried again later." },
    [WORKER_BURIED] = { "tavola_worker_dead_letters_total", "", "Pieces of work given up as dead letters." },
    [WORKER_RELEASED] = { "tavola_worker_released_total", "",
        "Pieces of work released without a result: the database was away, the worker stops, or new messages "
        "wait behind many that fail, or behind work that takes long." },
    [WORKER_RELAYED] = { "tavola_relay_published_total", "", "Intents published that the server had not." },
    [WORKER_EFFECTS_DONE] = { "tavola_worker_effects_total", "result=\"done\"",
        "Attempts at effects of steps outside the database." },
    [WORKER_EFFECTS_FAILED] = { "tavola_worker_effects_total", "result=\"failed\"", NULL },
    [WORKER_CHUNKS_REMOVED] = { "tavola_blob_chunks_removed_total", "",
        "Chunks of blobs that the collector has removed." },
    [WORKER_STRAYS_REMOVED] = { "tavola_blob_strays_total", "result=\"removed\"",
        "Removals of bytes that no chunk names from stores outside of the database." },
    [WORKER_STRAYS_FAILED] = { "tavola_blob_strays_total", "result=\"failed\"", NULL },
};

_Static_assert(ARRAY_LEN(rows) == WORKER_COUNTERS, "a row for every counter");

void metrics_count(struct worker_shared *shared, enum worker_counter counter, size_t more)
{
    counters_add(shared->counters, counter, more);
}

static int64_t counter_value(const struct worker_shared *shared, enum worker_counter counter)
{
    return (int64_t)counters_read(shared->counters, counter);
}

void metrics_report(struct worker_shared *shared, struct worker_report *out)
{
    *out = (struct worker_report){ .threads = (int)shared->config->threads,
        .reconciled = counter_value(shared, WORKER_RECONCILED),
        .stepped = counter_value(shared, WORKER_STEPPED),
        .retried = counter_value(shared, WORKER_RETRIED),
        .buried = counter_value(shared, WORKER_BURIED) };
    for (int range = 0; range < LEASE_RANGES; range++)
        out->leases += atomic_load(&shared->held[range]);
    for (int i = 0; i < out->threads; i++)
        out->claimed_keys += (int)claim_count(&shared->claims[i]);
}

static void write_gauge(struct buf *out, const char *name, const char *help, double value)
{
    metrics_family(out, name, "gauge", help);
    metrics_value(out, name, "", value);
}

static double as_is(long long value)
{
    return (double)value;
}

static double as_seconds(long long us)
{
    return (double)us / 1e6;
}

static double as_held(long long intents_before_us)
{
    return intents_before_us != INT64_MAX;
}

/* A metric with one value for each kind of work of each queue. */
struct queue_metric {
    const char *name, *type, *help;
    const atomic_llong *values;
    double (*as)(long long value);
};

static void collect_queue_metric(
    struct buf *out, const struct queues *queues, const struct queue_metric *metric)
{
    char labels[64];

    metrics_family(out, metric->name, metric->type, metric->help);
    for (int slot = 0; slot < atomic_load(&queues->count) * WORK_KINDS; slot++) {
        snprintf(labels, sizeof(labels), "queue=\"q%d\",kind=\"%s\"", slot / WORK_KINDS,
            step_find(slot % WORK_KINDS + 1)->name);
        metrics_value(out, metric->name, labels, metric->as(atomic_load(&metric->values[slot])));
    }
}

static void collect_queues(struct buf *out, const struct queues *queues)
{
    const struct queue_metric metrics[] = {
        { "tavola_queue_open_intents", "gauge",
            "Open intents of the queue in the bucket ranges that this worker holds.", queues->open_intents,
            as_is },
        { "tavola_queue_lag_seconds", "gauge", "Age of the oldest of them.", queues->lag_us, as_seconds },
        { "tavola_queue_applied_total", "counter", "Intents of the queue applied.", queues->applied_total,
            as_is },
        { "tavola_queue_paused", "gauge", "1 while the queue is paused or being drained.",
            queues->intents_before_us, as_held },
        { "tavola_queue_rate_limit_per_second", "gauge",
            "The most intents a second the queue may do; 0: no limit.", queues->rates, as_is },
    };

    for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
        collect_queue_metric(out, queues, &metrics[i]);
}

void metrics_collect_worker(void *context, struct buf *out)
{
    struct worker_shared *shared = context;
    int leases = 0;

    metrics_process(out, TAVOLA_VERSION);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].help)
            metrics_family(out, rows[i].name, "counter", rows[i].help);
        metrics_value(out, rows[i].name, rows[i].labels, (double)counters_read(shared->counters, i));
    }
    for (int i = 0; i < LEASE_RANGES; i++)
        leases += atomic_load(&shared->held[i]);
    write_gauge(out, "tavola_worker_lag_seconds",
        "Age of the oldest open intent in the bucket ranges that this worker holds.",
        (double)atomic_load(&shared->lag_us) / 1e6);
    write_gauge(out, "tavola_worker_open_intents",
        "Open intents in the bucket ranges that this worker holds.",
        (double)atomic_load(&shared->open_intents));
    write_gauge(out, "tavola_worker_leases", "Bucket ranges this worker holds.", leases);
    write_gauge(out, "tavola_worker_streaming", "1 while work comes through Redis, 0 while it is polled.",
        atomic_load(&shared->streaming));
    write_gauge(out, "tavola_database_available", "1 while PostgreSQL answers.",
        atomic_load(&shared->store_available));
    collect_queues(out, &shared->queues);
    exporter_collect(shared->tracing.exporter, out);
    told_gauges_collect(&shared->gauges, out);
}
