/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses.h - the partitions that an operation has read or written, of its table and of the table's indexes.
 */
#ifndef SERVICE_SAMPLING_ACCESSES_H
#define SERVICE_SAMPLING_ACCESSES_H

#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"
#include "domain/sampling/key_sketch.h"

enum { MAX_SAMPLED_KEYS = 16 }; /* of one operation; of more, every n-th stands for n */

struct sampled_access {
    const struct table *table; /* of an index: that of its entries */
    struct key_access key;     /* borrows the operation, or lies in its arena */
};

/*
 * The accesses of an operation that has succeeded, of which `weight` are like this one. Reads and writes of single keys, queries
 * and look-ups of one partition; the entries that a write makes in each index of the table, as far as the write alone says
 * where they lie: not those of merges and deletes. In the operation's arena.
 */
void accesses_of(const struct operation *operation, const struct catalogue *catalogue, int64_t weight,
    struct sampled_access **out, size_t *count);

#endif
