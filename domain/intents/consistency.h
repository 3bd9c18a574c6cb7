/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.h - what a write has left open, as a value: the consistency token, and what a read asks of it.
 *
 * A write's intents are named one by one - their buckets, and the ids that the write's own transaction had reserved
 * for them - so that whoever waits looks for these rows and never compares with a position in a sequence: ids
 * are made before commits, and commits overtake each other. Named ids need not have become rows.
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

/* Ids that one database transaction reserved: its time and origin, and a run of its counter; in any of the buckets. */
struct intent_block {
    int64_t us;
    uint32_t origin; /* the session's random number */
    uint32_t first, last;
    int16_t *buckets; /* ascending, each once */
    size_t bucket_count;
};

/* What must be done before a write, or a transaction with all its steps, is seen in every index. */
struct consistency {
    int64_t epoch;          /* in which the blocks' ids were made */
    int64_t table_id;       /* the table written to; 0: several */
    struct str account, id; /* of a transaction that has not ended; empty: none */
    struct intent_block *blocks;
    size_t block_count;
};

/* How fresh a read must be: all that is set must hold. */
struct freshness {
    struct consistency *at_least;
    size_t at_least_count;
    bool has_max_staleness;
    int64_t max_staleness_us;
    bool latest;
};

static inline bool freshness_is_set(const struct freshness *freshness)
{
    return freshness->at_least_count > 0 || freshness->has_max_staleness || freshness->latest;
}

/* An id of a block; counter: from first to last. */
static inline struct intent_id intent_block_id(const struct intent_block *block, uint32_t counter)
{
    return intent_id_of(block->us, block->origin, counter);
}

/* Bytes, the same for equal values; decoding borrows them. false: we did not write them. */
struct str consistency_encode(const struct consistency *consistency, struct arena *arena);
bool consistency_decode(struct str bytes, struct arena *arena, struct consistency *out);

/*
 * What a transaction leaves open: while it has not ended itself, afterwards what its steps have left open. Given
 * up, it stays what is waited for: a person may redrive it. false: nothing.
 */
bool consistency_of_transaction(
    const struct transaction *transaction, struct arena *arena, struct consistency *out);

#endif
