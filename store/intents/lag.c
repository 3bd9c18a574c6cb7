/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.c - see the header.
 */
#include "store/intents/lag.h"

#include "base/numbers.h"
#include "domain/catalogue/table_name.h"
#include "domain/ticks.h"
#include "store/session/session.h"
#include "store/sql.h"

enum watermark_column { WATERMARK_AS_OF, WATERMARK_OPEN, WATERMARK_NOW_US };

enum status lag_send(struct session *session, struct error *err)
{
    return pg_send(&session->pg, &sql_watermark_read, NULL, err);
}

enum status lag_take(struct session *session, struct lag_seen *out, struct error *err)
{
    PG_RESULT result = NULL;
    int64_t now;

    TRY(pg_next(&session->pg, &result, err));
    now = ticks_from_unix_us(pg_int8(result, 0, WATERMARK_NOW_US));
    out->strong = (struct lag){ .as_of = now, .per_second = -1 };
    out->behind = (struct lag){ .as_of = pg_int8(result, 0, WATERMARK_AS_OF),
        .open_intents = pg_int8(result, 0, WATERMARK_OPEN),
        .per_second = -1 };
    if (out->behind.as_of > 0)
        out->behind.age_us = (now - out->behind.as_of) / 10;
    return STATUS_OK;
}

enum status lag_read(struct session *session, struct lag_seen *out, struct error *err)
{
    TRY(lag_send(session, err));
    TRY(pg_sync(&session->pg, err));
    TRY(lag_take(session, out, err));
    return pg_end(&session->pg, err);
}

/* ---- single indexes ---- */

enum table_lag_column {
    TABLE_LAG_N,
    TABLE_LAG_OPEN,
    TABLE_LAG_OLDEST_US,
    TABLE_LAG_NEWEST_US,
    TABLE_LAG_NOW_US
};

/* Every write that was acknowledged before the statement has its intents in the statement's snapshot. */
static struct lag read_table_lag(const PGresult *found, int row)
{
    struct lag lag = { .open_intents = pg_int8(found, row, TABLE_LAG_OPEN), .per_second = -1 };
    int64_t now_us = pg_int8(found, row, TABLE_LAG_NOW_US), as_of_us = now_us;

    if (lag.open_intents > 0)
        as_of_us = numbers_min(now_us, pg_int8(found, row, TABLE_LAG_OLDEST_US));
    if (lag.open_intents > LAG_MAX_OPEN ||
        (lag.open_intents > 0 && pg_int8(found, row, TABLE_LAG_NEWEST_US) > now_us))
        return lag;
    lag.as_of = ticks_from_unix_us(as_of_us);
    lag.age_us = now_us - as_of_us;
    return lag;
}

enum status lag_of_indexes(struct session *session, const struct operation *const *operations, size_t count,
    struct lag *out, struct error *err)
{
    struct pg_array accounts, names;
    struct pg_params params;
    PG_RESULT found = NULL;

    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&names, &session->arena, PG_TEXT);
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct lag){ .per_second = -1 };
        pg_array_bytes(&accounts, operations[i]->account);
        pg_array_bytes(&names, table_name_fold(operations[i]->table, &session->arena));
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &accounts);
    pg_add_array(&params, &names);
    pg_add_int8(&params, LAG_MAX_OPEN + 1);
    TRY(pg_query(&session->pg, &sql_table_lags, &params, &found, err));
    for (int row = 0; row < PQntuples(found); row++)
        out[pg_int8(found, row, TABLE_LAG_N) - 1] = read_table_lag(found, row);
    return STATUS_OK;
}
