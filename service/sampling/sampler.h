/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - counts which partitions this server reads and writes most, from samples of its operations.
 *
 * Everything is bounded: MAX_SAMPLED_TABLES tables and indexes have sketches, of which one account has at
 * most half. If a new table needs a sketch, the table with fewest accesses loses its own. At a low rate every
 * operation is a sample; at higher rates one of 2, 4, 8 and so on, about a thousand per second, and a sample
 * counts for those left out. Sampling never waits: if another thread uses the sketches, the sample is
 * dropped.
 *
 * The counts are stored every ten seconds. So any server can answer for all servers, and a restart loses
 * little.
 */
#ifndef SERVICE_SAMPLING_SAMPLER_H
#define SERVICE_SAMPLING_SAMPLER_H

#include <stdatomic.h>

#include "base/buf.h"
#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"

enum {
    MAX_SAMPLED_TABLES = 64,
    SAMPLED_KEYS = 16,
    SAMPLER_SPANS = 2,
    MAX_SAMPLER_REPORTS = MAX_SAMPLED_TABLES * SAMPLER_SPANS
};

struct sampler_memory;

struct sampler {
    atomic_int shift; /* one of 2^shift operations is a sample */
    struct sampler_memory *memory;
};

void sampler_init(struct sampler *sampler);
void sampler_cleanup(struct sampler *sampler);

/*
 * Whether an operation that arrived at this time is a sample: returns the number of operations that it stands
 * for, or 0. The lowest bits of the time decide, so that threads share no counter.
 */
static inline int64_t sampler_weight(struct sampler *sampler, int64_t arrived_us)
{
    int shift = atomic_load_explicit(&sampler->shift, memory_order_relaxed);

    if (shift > 0 && ((uint64_t)arrived_us * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - shift) != 0)
        return 0;
    return INT64_C(1) << shift;
}

/*
 * Count the accesses of an operation that has succeeded. weight: the number of operations that it stands for.
 * Any thread may call it.
 */
void sampler_note(struct sampler *sampler, const struct catalogue *catalogue,
    const struct operation *operation, int64_t weight);

/* Call it about twice a second. true: the counts have to be stored now. */
bool sampler_tick(struct sampler *sampler, int64_t now_us);

/*
 * Move the counts into the input of an operation: sets the server, and appends to out->reports, which must
 * have room for MAX_SAMPLER_REPORTS more. In the arena.
 */
void sampler_take(
    struct sampler *sampler, int64_t now_us, struct arena *arena, struct operation_samples *out);

/* The number of this server in reports. */
int64_t sampler_server(const struct sampler *sampler);

/* Append the metrics: counts only, no keys. */
void sampler_collect(struct sampler *sampler, struct buf *out);

#endif
