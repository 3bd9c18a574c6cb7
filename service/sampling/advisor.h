/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advisor.h - the shapes of the queries of tables that ask for it (sample_queries), for AdviseIndexes. Values are never kept.
 *
 * Bounded: MAX_ADVISED_TABLES tables, half of them of one account at most; the table with fewest queries gives its room to a new one.
 */
#ifndef SERVICE_SAMPLING_ADVISOR_H
#define SERVICE_SAMPLING_ADVISOR_H

#include <stdatomic.h>

#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"

enum { MAX_ADVISED_TABLES = 32 };

struct advisor_memory;

struct advisor {
    atomic_bool is_asked; /* there is such a table: else nothing is looked at */
    struct advisor_memory *memory;
};

void advisor_init(struct advisor *advisor);
void advisor_cleanup(struct advisor *advisor);

/* Called about twice a second with the tables as they are. */
void advisor_look(struct advisor *advisor, const struct catalogue *catalogue);

/*
 * Count an operation that has succeeded: a page of a query or a look-up as itself, a write, if it stands for `weight`, as many.
 * From any thread; while another thread counts, the call is dropped.
 */
void advisor_note(struct advisor *advisor, const struct catalogue *catalogue,
    const struct operation *operation, int64_t weight);

/*
 * Append what was counted to out->reports, which has room for MAX_ADVISED_TABLES more: of all tables and, with only_table_id, of that
 * one. In the arena.
 */
void advisor_take(struct advisor *advisor, int64_t now_us, int64_t only_table_id, struct arena *arena,
    struct operation_samples *out);

#endif
