/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.c - see the header.
 */
#include "store/intents/lag.h"

#include "domain/ticks.h"
#include "store/sql.h"

enum status lag_read(struct session *session, struct lag *out, struct error *err)
{
    PG_RESULT result = NULL;
    int64_t now;

    TRY(pg_query(&session->pg, &sql_watermark_read, NULL, &result, err));
    now = ticks_from_unix_us(pg_int8(result, 0, 2));
    *out = (struct lag){
        .as_of = pg_int8(result, 0, 0), .open_intents = pg_int8(result, 0, 1), .per_second = -1
    };
    if (out->as_of > 0)
        out->age_us = (now - out->as_of) / 10;
    return STATUS_OK;
}
