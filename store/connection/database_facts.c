/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_facts.c - see the header.
 */
#include "store/connection/database_facts.h"

#include "store/sql.h"

enum { FACT_NAME, FACT_VALUE };

enum status database_facts_read(struct pg *pg, struct arena *arena, struct facts *out, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(pg_ensure(pg, err));
    TRY(pg_query(pg, &sql_database_facts, NULL, &rows, err));
    out->count = (size_t)PQntuples(rows);
    out->items = ARENA_ARRAY(arena, struct fact, out->count);
    for (size_t i = 0; i < out->count; i++) {
        out->items[i].name = arena_copy(arena, pg_bytes(rows, (int)i, FACT_NAME));
        out->items[i].value = arena_copy(arena, pg_bytes(rows, (int)i, FACT_VALUE));
    }
    return STATUS_OK;
}
