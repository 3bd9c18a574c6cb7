/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.c - see the header.
 */
#include "store/intents/lag.h"

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
