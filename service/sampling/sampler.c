/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.c - see the header. A table has two sketches, one per span. The periods of a span are so long that
 * an answer only has to merge a few rows per server and table.
 */
#include "service/sampling/sampler.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/metrics.h"
#include "base/random.h"
#include "domain/sampling/hot_pattern.h"
#include "domain/sampling/sample_form.h"
#include "service/sampling/accesses.h"

enum {
    MAX_OF_ACCOUNT = MAX_SAMPLED_TABLES / 2,
    SAMPLES_PER_SECOND = 1000,
    MAX_SHIFT = 16,
    LABEL_BYTES = 48,
};

static const int64_t second_us = 1000000;
static const int64_t store_every_us = 10 * 1000000;

static const struct span {
    enum sample_span span;
    int64_t period_us;
} spans[SAMPLER_SPANS] = { { SAMPLE_MINUTE, INT64_C(60) * 1000000 },
    { SAMPLE_HOUR, INT64_C(600) * 1000000 } };

struct sampled_table {
    int64_t table_id; /* 0: the slot is free */
    uint64_t account; /* a hash */
    bool is_index;
    struct key_sketch sketches[SAMPLER_SPANS];
    struct key_counter counters[SAMPLER_SPANS][SAMPLED_KEYS];
};

struct sampler_memory {
    pthread_mutex_t mutex; /* guards all members except the atomic ones */
    int64_t server;
    int64_t numbers[SAMPLER_SPANS];  /* number of each span's period */
    int64_t begun_us[SAMPLER_SPANS]; /* start of each span's period */
    int64_t next_store_us;
    int64_t ticked_us;
    long long ticked_samples;
    struct sampled_table tables[MAX_SAMPLED_TABLES];
    atomic_llong samples, dropped, replaced;
};

void sampler_init(struct sampler *sampler)
{
    struct sampler_memory *memory = xcalloc(1, sizeof(*memory));
    int64_t now_us = clock_monotonic_us();

    atomic_init(&sampler->shift, 0);
    sampler->memory = memory;
    pthread_mutex_init(&memory->mutex, NULL);
    memory->server = (int64_t)(random_bits() >> 1);
    memory->ticked_us = now_us;
    memory->next_store_us = now_us + store_every_us;
    for (int i = 0; i < SAMPLER_SPANS; i++)
        memory->begun_us[i] = now_us;
}

void sampler_cleanup(struct sampler *sampler)
{
    if (!sampler->memory)
        return;
    pthread_mutex_destroy(&sampler->memory->mutex);
    free(sampler->memory);
    sampler->memory = NULL;
}

/* ---- tables ---- */

static int64_t accesses_lately(const struct sampled_table *table)
{
    return table->sketches[0].reads + table->sketches[0].writes;
}

static void clear_sketches(struct sampled_table *table)
{
    for (int i = 0; i < SAMPLER_SPANS; i++)
        key_sketch_init(&table->sketches[i], table->counters[i], SAMPLED_KEYS);
}

/*
 * Find a slot for a table that has none: a free one, or the one with the fewest accesses. If the account has
 * many slots, one of its own.
 */
static struct sampled_table *slot_for(struct sampler_memory *memory, uint64_t account)
{
    struct sampled_table *free_slot = NULL, *smallest = NULL, *own = NULL;
    int own_count = 0;

    for (int i = 0; i < MAX_SAMPLED_TABLES; i++) {
        struct sampled_table *table = &memory->tables[i];

        if (table->table_id == 0) {
            free_slot = table;
            continue;
        }
        if (!smallest || accesses_lately(table) < accesses_lately(smallest))
            smallest = table;
        if (table->account != account)
            continue;
        own_count++;
        if (!own || accesses_lately(table) < accesses_lately(own))
            own = table;
    }
    if (own_count >= MAX_OF_ACCOUNT)
        return own;
    return free_slot ? free_slot : smallest;
}

static struct sampled_table *find_table(struct sampler_memory *memory, const struct table *wanted)
{
    uint64_t account = hash_bytes(HASH_EMPTY, wanted->account);
    struct sampled_table *slot;

    for (int i = 0; i < MAX_SAMPLED_TABLES; i++)
        if (memory->tables[i].table_id == wanted->table_id)
            return &memory->tables[i];
    slot = slot_for(memory, account);
    if (slot->table_id != 0)
        atomic_fetch_add_explicit(&memory->replaced, 1, memory_order_relaxed);
    slot->table_id = wanted->table_id;
    slot->account = account;
    slot->is_index = wanted->entries_of != NULL;
    clear_sketches(slot);
    return slot;
}

void sampler_note(struct sampler *sampler, const struct catalogue *catalogue,
    const struct operation *operation, int64_t weight)
{
    struct sampler_memory *memory = sampler->memory;
    struct sampled_access *accesses = NULL;
    size_t count;

    atomic_fetch_add_explicit(&memory->samples, 1, memory_order_relaxed);
    accesses_of(operation, catalogue, weight, &accesses, &count);
    if (count == 0)
        return;
    if (pthread_mutex_trylock(&memory->mutex) != 0) {
        atomic_fetch_add_explicit(&memory->dropped, 1, memory_order_relaxed);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct sampled_table *table = find_table(memory, accesses[i].table);

        for (int span = 0; span < SAMPLER_SPANS; span++)
            key_sketch_note(&table->sketches[span], &accesses[i].key);
    }
    pthread_mutex_unlock(&memory->mutex);
}

/* ---- how many operations are samples ---- */

/*
 * Choose the shift for the next seconds: the present rate of samples must be at most SAMPLES_PER_SECOND. If
 * the rate is below a quarter of that, the shift is reduced by one.
 */
static int next_shift(int shift, int64_t samples_per_second)
{
    while (samples_per_second > SAMPLES_PER_SECOND && shift < MAX_SHIFT) {
        samples_per_second /= 2;
        shift++;
    }
    return shift > 0 && samples_per_second < SAMPLES_PER_SECOND / 4 ? shift - 1 : shift;
}

bool sampler_tick(struct sampler *sampler, int64_t now_us)
{
    struct sampler_memory *memory = sampler->memory;
    long long samples = atomic_load(&memory->samples);
    int64_t elapsed_us = now_us - memory->ticked_us;

    if (elapsed_us >= second_us / 4) {
        atomic_store(&sampler->shift, next_shift(atomic_load(&sampler->shift),
                                          (samples - memory->ticked_samples) * second_us / elapsed_us));
        memory->ticked_us = now_us;
        memory->ticked_samples = samples;
    }
    if (now_us < memory->next_store_us)
        return false;
    memory->next_store_us = now_us + store_every_us;
    return true;
}

/* ---- storing ---- */

static void end_period(struct sampler_memory *memory, int span, int64_t now_us)
{
    if (now_us - memory->begun_us[span] < spans[span].period_us)
        return;
    memory->numbers[span]++;
    memory->begun_us[span] = now_us;
    for (int i = 0; i < MAX_SAMPLED_TABLES; i++)
        key_sketch_init(&memory->tables[i].sketches[span], memory->tables[i].counters[span], SAMPLED_KEYS);
}

static void add_report(const struct sampler_memory *memory, const struct sampled_table *table, int span,
    int64_t now_us, struct arena *arena, struct operation_samples *out)
{
    out->reports[out->report_count++] = (struct sample_report){ .table_id = table->table_id,
        .span = spans[span].span,
        .period = memory->numbers[span],
        .seconds = (int32_t)((now_us - memory->begun_us[span]) / second_us) + 1,
        .content = sample_form_write(&table->sketches[span], arena) };
}

void sampler_take(struct sampler *sampler, int64_t now_us, struct arena *arena, struct operation_samples *out)
{
    struct sampler_memory *memory = sampler->memory;

    out->server = memory->server;
    pthread_mutex_lock(&memory->mutex);
    for (int span = 0; span < SAMPLER_SPANS; span++) {
        for (int i = 0; i < MAX_SAMPLED_TABLES; i++)
            if (memory->tables[i].table_id != 0 && memory->tables[i].sketches[span].samples > 0)
                add_report(memory, &memory->tables[i], span, now_us, arena, out);
        end_period(memory, span, now_us);
    }
    pthread_mutex_unlock(&memory->mutex);
}

int64_t sampler_server(const struct sampler *sampler)
{
    return sampler->memory->server;
}

/* ---- metrics ---- */

static void count_patterns(const struct sampled_table *table, int counts[HOT_PATTERNS])
{
    const struct key_sketch *sketch = &table->sketches[0];

    for (size_t i = 0; i < sketch->count; i++)
        counts[hot_pattern_of(&(struct hot_subject){ sketch, &sketch->keys[i], table->is_index })]++;
    counts[hot_pattern_of(&(struct hot_subject){ sketch, NULL, table->is_index })]++;
}

void sampler_collect(struct sampler *sampler, struct buf *out)
{
    struct sampler_memory *memory = sampler->memory;
    int counts[HOT_PATTERNS] = { 0 };
    char labels[LABEL_BYTES];

    pthread_mutex_lock(&memory->mutex);
    for (int i = 0; i < MAX_SAMPLED_TABLES; i++)
        if (memory->tables[i].table_id != 0)
            count_patterns(&memory->tables[i], counts);
    pthread_mutex_unlock(&memory->mutex);
    metrics_family(out, "tavola_hot_partitions", "gauge",
        "Partitions of this server's last minute that look like a pattern of a hot partition.");
    for (int i = HOT_NONE + 1; i < HOT_PATTERNS; i++) {
        snprintf(labels, sizeof(labels), "pattern=\"%s\"", hot_pattern_name((enum hot_pattern)i));
        metrics_value(out, "tavola_hot_partitions", labels, counts[i]);
    }
    metrics_family(out, "tavola_samples_total", "counter", "Operations whose keys were sampled.");
    metrics_value(out, "tavola_samples_total", "", (double)atomic_load(&memory->samples));
    metrics_family(
        out, "tavola_samples_dropped_total", "counter", "Samples dropped: another one was being counted.");
    metrics_value(out, "tavola_samples_dropped_total", "", (double)atomic_load(&memory->dropped));
    metrics_family(out, "tavola_sampled_tables_replaced_total", "counter",
        "Tables that gave up their sketch to a table with more accesses.");
    metrics_value(out, "tavola_sampled_tables_replaced_total", "", (double)atomic_load(&memory->replaced));
}
