/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advisor.h - counts the query shapes of tables with the setting sample_queries, for AdviseIndexes. Values
 * are never kept.
 *
 * Bounded to MAX_ADVISED_TABLES tables, of which one account has at most half. If a new table needs room, the
 * table with fewest queries is dropped.
 */
#ifndef SERVICE_SAMPLING_ADVISOR_H
#define SERVICE_SAMPLING_ADVISOR_H

#include <stdatomic.h>

#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"

enum { MAX_ADVISED_TABLES = 32 };

struct advisor_memory;

struct advisor {
    atomic_bool is_asked; /* some table has the setting: otherwise operations are not looked at */
    struct advisor_memory *memory;
};

void advisor_init(struct advisor *advisor);
void advisor_cleanup(struct advisor *advisor);

/* Call it about twice a second with the present catalogue. */
void advisor_look(struct advisor *advisor, const struct catalogue *catalogue);

/*
 * Count an operation that has succeeded. A page of a query or a look-up counts once; a write counts `weight`
 * times if it is a sample. Any thread may call it; if another thread is counting, the operation is not
 * counted.
 */
void advisor_note(struct advisor *advisor, const struct catalogue *catalogue,
    const struct operation *operation, int64_t weight);

/*
 * Move the counts into out->reports, which must have room for MAX_ADVISED_TABLES more: those of all tables,
 * or with only_table_id of that table alone. In the arena.
 */
void advisor_take(struct advisor *advisor, int64_t now_us, int64_t only_table_id, struct arena *arena,
    struct operation_samples *out);

#endif
