/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.c - see the header.
 */
#include "workers/gauges.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/metrics.h"
#include "workers/steps/steps.h"

enum { LABELS_BYTES = 256 };

static const char *const states[] = { "dead", "retrying", "discarded" };

_Static_assert(ARRAY_LEN(states) == GAUGE_DEAD_LETTERS, "every state has a name");

void told_gauges_init(struct told_gauges *told)
{
    pthread_mutex_init(&told->mutex, NULL);
}

void told_gauges_cleanup(struct told_gauges *told)
{
    pthread_mutex_destroy(&told->mutex);
}

void told_gauges_pass(struct worker_ctx *ctx)
{
    struct told_gauges *told = &ctx->shared->gauges;
    bool is_mine = atomic_load(&ctx->shared->held[0]), found = false;
    struct gauges *fresh = xcalloc(1, sizeof(*fresh));
    struct error err = { 0 };

    if (is_mine) {
        found = gauges_read(ctx->store, fresh, &err) == STATUS_OK;
        if (found)
            outage_worked(&ctx->outages.gauges, "gauges", ctx->now_us());
        else
            outage_failed(&ctx->outages.gauges, "gauges", &err, ctx->now_us());
    }
    pthread_mutex_lock(&told->mutex);
    told->known = is_mine && (found || told->known);
    if (found)
        told->gauges = *fresh;
    pthread_mutex_unlock(&told->mutex);
    free(fresh);
}

/*
 * A name has only letters and digits, so nothing is escaped. The gauge of the indexes without
 * labels of their own is "other".
 */
static void index_labels(const struct index_gauge *gauge, const char *more, char out[LABELS_BYTES])
{
    snprintf(out, LABELS_BYTES, "account=\"%s\",index=\"%s\"%s", gauge->account,
        gauge->name[0] ? gauge->name : "other", more);
}

static void collect_indexes(const struct gauges *gauges, size_t count, struct buf *out)
{
    char labels[LABELS_BYTES], more[64];

    metrics_family(out, "tavola_index_lag_seconds", "gauge", "Age of the oldest open intent of the index.");
    for (size_t i = 0; i < count; i++) {
        index_labels(&gauges->indexes[i], "", labels);
        metrics_value(out, "tavola_index_lag_seconds", labels, (double)gauges->indexes[i].lag_us / 1e6);
    }
    metrics_family(out, "tavola_index_dead_letters", "gauge", "Entities the index may be wrong about.");
    for (size_t i = 0; i < count; i++)
        for (int state = 0; state < GAUGE_DEAD_LETTERS; state++) {
            if (state == GAUGE_RETRYING)
                continue;
            snprintf(more, sizeof(more), ",state=\"%s\"", states[state]);
            index_labels(&gauges->indexes[i], more, labels);
            metrics_value(
                out, "tavola_index_dead_letters", labels, (double)gauges->indexes[i].dead_letters[state]);
        }
}

static void collect_proofs(const struct gauges *gauges, size_t count, struct buf *out)
{
    char labels[LABELS_BYTES];

    metrics_family(out, "tavola_index_proven_timestamp_seconds", "gauge",
        "When the index was last seen to equal its source, since 1970; 0: never.");
    for (size_t i = 0; i < count; i++) {
        index_labels(&gauges->indexes[i], "", labels);
        metrics_value(out, "tavola_index_proven_timestamp_seconds", labels,
            (double)(gauges->indexes[i].proven_us / 1000000));
    }
    metrics_family(out, "tavola_index_differences", "gauge",
        "Differences between the index and its source that the last verification has found.");
    for (size_t i = 0; i < count; i++) {
        index_labels(&gauges->indexes[i], "", labels);
        metrics_value(out, "tavola_index_differences", labels, (double)gauges->indexes[i].differences);
    }
}

static void collect_dead_letters(const struct gauges *gauges, bool known, struct buf *out)
{
    char labels[LABELS_BYTES];

    metrics_family(out, "tavola_dead_letters", "gauge", "Pieces of work that were given up, or fail.");
    for (int kind = 0; known && kind < WORK_KINDS; kind++)
        for (int state = 0; state < GAUGE_DEAD_LETTERS; state++) {
            snprintf(
                labels, sizeof(labels), "kind=\"%s\",state=\"%s\"", step_find(kind + 1)->name, states[state]);
            metrics_value(out, "tavola_dead_letters", labels, (double)gauges->dead_letters[kind][state]);
        }
}

static void collect_blobs(const struct blob_backlog *blobs, bool known, struct buf *out)
{
    metrics_family(out, "tavola_blob_backlog", "gauge",
        "What no blob needs and the collector has not removed yet; more than 10,000 count as 10,000.");
    if (known) {
        metrics_value(out, "tavola_blob_backlog", "kind=\"contents\"", (double)blobs->contents);
        metrics_value(out, "tavola_blob_backlog", "kind=\"chunks\"", (double)blobs->chunks);
        metrics_value(out, "tavola_blob_backlog", "kind=\"strays\"", (double)blobs->strays);
    }
    metrics_family(out, "tavola_blob_backlog_seconds", "gauge",
        "For how long the oldest of these contents could have been removed.");
    if (known)
        metrics_value(out, "tavola_blob_backlog_seconds", "", (double)blobs->oldest_us / 1e6);
}

void told_gauges_collect(struct told_gauges *told, struct buf *out)
{
    pthread_mutex_lock(&told->mutex);
    collect_indexes(&told->gauges, told->known ? told->gauges.index_count : 0, out);
    collect_proofs(&told->gauges, told->known ? told->gauges.index_count : 0, out);
    collect_dead_letters(&told->gauges, told->known, out);
    collect_blobs(&told->gauges.blobs, told->known, out);
    pthread_mutex_unlock(&told->mutex);
}
