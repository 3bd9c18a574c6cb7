/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses.h - finds the partitions that an operation has read or written, in its table and in the table's
 * indexes.
 */
#ifndef SERVICE_SAMPLING_ACCESSES_H
#define SERVICE_SAMPLING_ACCESSES_H

#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"
#include "domain/sampling/key_sketch.h"

/* samples of one operation; if it has more keys, every n-th key counts n times */
enum { MAX_SAMPLED_KEYS = 16 };

struct sampled_access {
    const struct table *table; /* for an index: the table of its entries */
    struct key_access key;     /* borrows the operation, or is in its arena */
};

/*
 * The accesses of an operation that has succeeded. The operation is a sample that stands for `weight`
 * operations. Reads and writes of single keys, and queries and look-ups in one partition, count in their
 * table. The entries of a write count in each index whose entry the write alone determines; merges and
 * deletes do not determine entries. The result is in the operation's arena.
 */
void accesses_of(const struct operation *operation, const struct catalogue *catalogue, int64_t weight,
    struct sampled_access **out, size_t *count);

#endif
