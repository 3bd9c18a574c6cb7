/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.c - see the header.
 */
#include "store/intents/lag.h"

#include "domain/ticks.h"
#include "store/sql.h"

enum watermark_column { WATERMARK_AS_OF, WATERMARK_OPEN, WATERMARK_NOW_US };

enum status lag_read_strong(struct session *session, struct lag *out, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(pg_query(&session->pg, &sql_watermark_read, NULL, &result, err));
    *out =
        (struct lag){ .as_of = ticks_from_unix_us(pg_int8(result, 0, WATERMARK_NOW_US)), .per_second = -1 };
    return STATUS_OK;
}

enum status lag_read(struct session *session, struct lag *out, struct error *err)
{
    PG_RESULT result = NULL;
    int64_t now;

    TRY(pg_query(&session->pg, &sql_watermark_read, NULL, &result, err));
    now = ticks_from_unix_us(pg_int8(result, 0, WATERMARK_NOW_US));
    *out = (struct lag){ .as_of = pg_int8(result, 0, WATERMARK_AS_OF),
        .open_intents = pg_int8(result, 0, WATERMARK_OPEN),
        .per_second = -1 };
    if (out->as_of > 0)
        out->age_us = (now - out->as_of) / 10;
    return STATUS_OK;
}
