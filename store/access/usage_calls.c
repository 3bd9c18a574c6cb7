/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_calls.c - see the header.
 */
#include "store/access/usage_calls.h"

#include "domain/access/account_usage.h"
#include "domain/ticks.h"
#include "store/session/attempt.h"
#include "store/session/catalogue_change.h"
#include "store/sql.h"

enum usage_column {
    USAGE_TABLES,
    USAGE_INDEXES,
    USAGE_ENTITIES,
    USAGE_ENTRIES,
    USAGE_BYTES,
    USAGE_MAX_ENTITIES,
    USAGE_MAX_BYTES,
    USAGE_COUNTED_US,
};

static enum status query_usage(struct session *session, struct str account, PGresult **row, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, account);
    return pg_query(&session->pg, &sql_usage_get, &params, row, err);
}

static struct account_usage read_usage(const PGresult *row)
{
    return (struct account_usage){ .entities = pg_int8(row, 0, USAGE_ENTITIES),
        .bytes = pg_int8(row, 0, USAGE_BYTES),
        .max_entities = pg_int8(row, 0, USAGE_MAX_ENTITIES),
        .max_bytes = pg_int8(row, 0, USAGE_MAX_BYTES) };
}

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    struct outcome_usage *out = &operation->out.usage;
    struct account_usage usage;
    PG_RESULT row = NULL;
    int64_t counted_us;

    TRY(query_usage(session, operation->account, &row, err));
    usage = read_usage(row);
    counted_us = pg_int8(row, 0, USAGE_COUNTED_US);
    *out = (struct outcome_usage){
        .tables = { pg_int8(row, 0, USAGE_TABLES), catalogue_change_max_tables(session) },
        .indexes = { pg_int8(row, 0, USAGE_INDEXES), catalogue_change_max_indexes(session) },
        .entities = { usage.entities, account_usage_max_entities(&usage, &session->quotas) },
        .bytes = { usage.bytes, account_usage_max_bytes(&usage, &session->quotas) },
        .entries = pg_int8(row, 0, USAGE_ENTRIES),
        .counted = counted_us > 0 ? ticks_from_unix_us(counted_us) : 0,
    };
    return STATUS_OK;
}

void usage_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

enum status usage_calls_admit_bytes(struct session *session, struct str account, struct error *err)
{
    struct account_usage usage;
    PG_RESULT row = NULL;

    TRY(query_usage(session, account, &row, err));
    usage = read_usage(row);
    return account_usage_admit_bytes(&usage, &session->quotas, err);
}
