/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stalled_sessions.c - see the header.
 */
#include "store/connection/stalled_sessions.h"

#include <stdio.h>

#include "store/connection/pg.h"
#include "store/sql.h"

enum column { COLUMN_PID, COLUMN_PROGRAM, COLUMN_EVENT, COLUMN_MS };

static void describe(const PGresult *rows, int row, struct stalled_sessions *out)
{
    snprintf(out->example, sizeof(out->example), "%.40s pid=%lld event=%.20s for_ms=%lld",
        PQgetvalue(rows, row, COLUMN_PROGRAM), (long long)pg_int8(rows, row, COLUMN_PID),
        PQgetvalue(rows, row, COLUMN_EVENT), (long long)pg_int8(rows, row, COLUMN_MS));
}

enum status stalled_sessions_end(
    struct pg *pg, int64_t stalled_ms, struct stalled_sessions *out, struct error *err)
{
    struct arena arena;
    struct pg_params params;
    PG_RESULT rows = NULL;
    enum status status;

    arena_init(&arena);
    pg_params_init(&params, &arena);
    pg_add_int8(&params, stalled_ms);
    status = pg_query(pg, &sql_stalled_sessions_end, &params, &rows, err);
    arena_cleanup(&arena);
    if (status != STATUS_OK)
        return status;
    *out = (struct stalled_sessions){ .count = PQntuples(rows) };
    if (out->count > 0)
        describe(rows, 0, out);
    return STATUS_OK;
}
