/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_rows.c - see the header.
 */
#include "store/session/intent_rows.h"

#include "domain/tracing/trace_context.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

static bool any_is_traced(const struct intent *intents, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (intents[i].trace)
            return true;
    return false;
}

static void add_traces(
    struct session *session, const struct intent *intents, size_t count, struct pg_params *params)
{
    struct pg_array traces;
    char stored[TRACE_STORED_BYTES];

    pg_array_init(&traces, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < count; i++) {
        if (!intents[i].trace) {
            pg_array_null(&traces);
            continue;
        }
        trace_context_store(intents[i].trace, stored);
        pg_array_bytes(&traces, str_of_bytes(stored, sizeof(stored)));
    }
    pg_add_array(params, &traces);
}

enum status intent_rows_send(
    struct session *session, const struct intent *intents, size_t count, struct error *err)
{
    struct key_arrays keys;
    struct pg_array ids, kinds, versions;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    pg_array_init(&ids, &session->arena, PG_UUID);
    pg_array_init(&kinds, &session->arena, PG_INT2);
    pg_array_init(&versions, &session->arena, PG_INT8);
    for (size_t i = 0; i < count; i++) {
        key_arrays_put(&keys, intents[i].table_id, &intents[i].key, intents[i].bucket);
        pg_array_intent_id(&ids, intents[i].id);
        pg_array_int2(&kinds, intents[i].kind);
        pg_array_int8(&versions, intents[i].version);
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_array(&params, &ids);
    pg_add_array(&params, &kinds);
    pg_add_array(&params, &versions);
    if (!any_is_traced(intents, count))
        return pg_send(&session->pg, &sql_intent_insert, &params, err);
    add_traces(session, intents, count, &params);
    return pg_send(&session->pg, &sql_intent_insert_traced, &params, err);
}

enum status intent_rows_take(struct session *session, struct intent *intents, size_t count, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(pg_next(&session->pg, &rows, err));
    for (size_t i = 0; i < count; i++)
        intents[i].ctids.intent = row_ctid_of(pg_bytes(rows, (int)i, PG_ONLY_COLUMN));
    return STATUS_OK;
}
