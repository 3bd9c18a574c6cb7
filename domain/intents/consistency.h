/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.h - consistency tokens as values: the intents that a write has left open, and the
 * freshness that a read requires.
 *
 * The intents of a write are named one by one, by their buckets and by the ids that the write's
 * transaction had reserved. A waiting read searches for these rows and never compares positions in
 * a sequence: ids are made before commits, and commits overtake each other. A reserved id need not
 * have become a row.
 *
 * Pure: no I/O, no clock.
 */
#ifndef DOMAIN_INTENTS_CONSISTENCY_H
#define DOMAIN_INTENTS_CONSISTENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "domain/intents/intent_id.h"
#include "domain/transactions/transaction.h"

/*
 * Ids that one database transaction has reserved: its time and origin, and a range of its counter;
 * in any of the buckets.
 */
struct intent_block {
    int64_t us;
    uint32_t origin; /* the session's random number */
    uint32_t first, last;
    int16_t *buckets; /* ascending, each once */
    size_t bucket_count;
};

/* The work after which a write, or a transaction with all its steps, is visible in every index. */
struct consistency {
    int64_t epoch;          /* in which the blocks' ids were made */
    int64_t table_id;       /* the table written to; 0: several */
    struct str account, id; /* the transaction, if it has not ended; else empty */
    struct intent_block *blocks;
    size_t block_count;
};

/* The freshness that a read requires: everything that is set must hold. */
struct freshness {
    struct consistency *at_least;
    size_t at_least_count;
    bool has_max_staleness;
    int64_t max_staleness_us;
    bool latest;
    bool was_strong; /* the index was strong, so nothing was waited for; set by freshness_ask */
};

/* How many keys are searched for open intents: one for each bucket of each block. */
size_t freshness_probes(const struct freshness *freshness);

static inline bool freshness_is_set(const struct freshness *freshness)
{
    return freshness->at_least_count > 0 || freshness->has_max_staleness || freshness->latest;
}

/* The id with this counter, which is between first and last. */
static inline struct intent_id intent_block_id(const struct intent_block *block, uint32_t counter)
{
    return intent_id_of(block->us, block->origin, counter);
}

/*
 * Both together. With two tables the sum names none. The oldest epoch counts, so that the token is refused after a
 * later fail-over. Neither may name a transaction. The sum borrows the buckets.
 */
struct consistency consistency_add(
    const struct consistency *a, const struct consistency *b, struct arena *arena);

/*
 * The stored form; equal values have equal bytes. Decoding borrows the bytes; false: they are not
 * of this form.
 */
struct str consistency_encode(const struct consistency *consistency, struct arena *arena);
bool consistency_decode(struct str bytes, struct arena *arena, struct consistency *out);

/*
 * What a read must wait for to see a transaction: the transaction itself while it has not ended,
 * then the intents of its steps. A transaction that was given up is still waited for, because an
 * operator may redrive it. false: there is nothing to wait for.
 */
bool consistency_of_transaction(
    const struct transaction *transaction, struct arena *arena, struct consistency *out);

#endif
