/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide_read.c - see the header.
 */
#include "store/entities/wide_read.h"

#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

enum {
    STATEMENT_KEYS =
        8,        /* each with LIMIT_REPLY_BYTES at most or, with a selection, with the parts of 255 names */
    NO_TABLE = 0, /* the id of no table */
};

/* As in read_batch.c: a key that the caller may not see is searched where nothing is. */
static int64_t table_of(
    const struct table *table, const struct operation *operation, const struct entity_key *key)
{
    return operation->within && !key_range_contains(operation->within, key) ? NO_TABLE : table->table_id;
}

static enum status send_keys(struct session *session, const struct table *table,
    const struct operation *operation, size_t from, size_t count, struct error *err)
{
    const struct operation_get *in = &operation->in.get;
    struct key_arrays keys;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = from; i < from + count; i++)
        key_arrays_put(&keys, table_of(table, operation, &in->keys[i]), &in->keys[i],
            index_plan_bucket(table, in->keys[i].partition));
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_int4(&params, in->select_count > 0 ? INT32_MAX : LIMIT_REPLY_BYTES);
    pg_add_names(&params, in->select, in->select_count, in->select_count > 0);
    TRY(pg_send(&session->pg, &sql_entity_get_wide, &params, err));
    return pg_sync(&session->pg, err);
}

enum column {
    COLUMN_N,
    COLUMN_CATALOGUE,
    COLUMN_VERSION,
    COLUMN_TS,
    COLUMN_PROPERTIES,
    COLUMN_EXPIRES,
    COLUMN_BYTES,
};

static enum status refuse_entity(
    const struct operation *operation, size_t k, int64_t bytes, struct error *err)
{
    const struct operation_get *in = &operation->in.get;

    reason_set(err, REASON_ENTITY_TOO_LARGE,
        in->select_count > 0
            ? "the selected properties of the entity have %lld bytes, a read returns at most %d: select fewer"
            : "the properties of the entity have %lld bytes, a read returns at most %d: name those that are "
              "needed in select",
        (long long)bytes, LIMIT_REPLY_BYTES);
    error_add_meta(err, "partition_key", in->keys[k].partition);
    error_add_meta(err, "row_key", in->keys[k].row);
    error_add_meta_int(err, "limit", LIMIT_REPLY_BYTES);
    error_add_meta_int(err, "actual", bytes);
    return err->status;
}

static enum status fill_key(const struct table *table, struct operation *operation, const PGresult *result,
    int row, struct error *err)
{
    const struct operation_get *in = &operation->in.get;
    struct outcome_get *out = &operation->out.get;
    size_t k = out->count;
    struct property_list list;

    out->found[k] = !PQgetisnull(result, row, COLUMN_VERSION);
    if (!out->found[k])
        return STATUS_OK;
    if (PQgetisnull(result, row, COLUMN_PROPERTIES))
        return refuse_entity(operation, k, pg_int8(result, row, COLUMN_BYTES), err);
    list.bytes = pg_bytes(result, row, COLUMN_PROPERTIES);
    if (in->select_count > 0)
        list = property_list_select(list, in->select, in->select_count, operation->arena);
    else
        list.bytes = arena_copy(operation->arena, list.bytes);
    if (list.bytes.len > LIMIT_REPLY_BYTES)
        return refuse_entity(operation, k, (int64_t)list.bytes.len, err);
    out->entities[k] = (struct entity){
        .key = in->keys[k],
        .etag = { .table_id = table->table_id, .version = pg_int8(result, row, COLUMN_VERSION) },
        .timestamp = pg_int8(result, row, COLUMN_TS),
        .expires = PQgetisnull(result, row, COLUMN_EXPIRES) ? 0 : pg_int8(result, row, COLUMN_EXPIRES),
        .properties = list,
    };
    return STATUS_OK;
}

static enum status take_keys(struct session *session, size_t count, PGresult **out, struct error *err)
{
    TRY(pg_next(&session->pg, out, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(*out) != (int)count)
        return error_set(err, STATUS_INTERNAL, "a read of %zu keys returned %d rows", count, PQntuples(*out));
    if (pg_int8(*out, 0, COLUMN_CATALOGUE) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    session_note_confirmed(session);
    return STATUS_OK;
}

/* Read the next keys; *is_full: as many bytes are read as the caller wants. */
static enum status read_some(struct session *session, const struct table *table, struct operation *operation,
    bool *is_full, struct error *refusal, struct error *err)
{
    const struct operation_get *in = &operation->in.get;
    struct outcome_get *out = &operation->out.get;
    size_t from = out->count, left = in->count - from;
    size_t count = left < STATEMENT_KEYS ? left : STATEMENT_KEYS;
    PG_RESULT result = NULL;
    size_t bytes = 0;

    TRY(send_keys(session, table, operation, from, count, err));
    TRY(take_keys(session, count, &result, err));
    for (size_t i = 0; i < from; i++)
        bytes += out->entities[i].properties.bytes.len;
    for (size_t i = 0; i < count && !*is_full; i++) {
        if (fill_key(table, operation, result, (int)i, refusal) != STATUS_OK)
            return STATUS_OK;
        bytes += out->entities[out->count++].properties.bytes.len;
        *is_full = in->enough_bytes > 0 && bytes > in->enough_bytes;
    }
    return STATUS_OK;
}

enum status wide_read_run(
    struct session *session, const struct table *table, struct operation *operation, struct error *err)
{
    const struct operation_get *in = &operation->in.get;
    struct error refusal = { 0 };
    bool is_full = false;

    operation->out.get = (struct outcome_get){
        .entities = ARENA_ARRAY(operation->arena, struct entity, in->count),
        .found = ARENA_ARRAY(operation->arena, bool, in->count),
    };
    operation->status = STATUS_OK;
    operation->error = NULL;
    if (in->count > STATEMENT_KEYS && !session_in_snapshot(session))
        TRY(session_begin_snapshot(session, err));
    while (operation->out.get.count < in->count && !is_full && refusal.status == STATUS_OK)
        TRY(read_some(session, table, operation, &is_full, &refusal, err));
    if (refusal.status != STATUS_OK)
        operation_fail(operation, &refusal);
    return STATUS_OK;
}
