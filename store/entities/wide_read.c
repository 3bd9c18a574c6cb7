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
    /* each with at most LIMIT_REPLY_BYTES; a key with more, of which a selection may be less, is read alone */
    STATEMENT_KEYS = 8,
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
    pg_add_int4(&params, in->select_count > 0 && count == 1 ? INT32_MAX : LIMIT_REPLY_BYTES);
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
    if (list.bytes.len > LIMIT_REPLY_BYTES && !in->may_be_large)
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

/* With a selection the key may be read alone. */
static bool is_cut(const PGresult *result, int row)
{
    return !PQgetisnull(result, row, COLUMN_VERSION) && PQgetisnull(result, row, COLUMN_PROPERTIES);
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

struct reading {
    const struct table *table;
    struct operation *operation;
    bool is_full;  /* as many bytes are read as the caller wants */
    bool is_alone; /* the next key is too large to be read with others */
    struct error refusal;
};

static void fill_keys(struct reading *reading, const PGresult *result)
{
    const struct operation_get *in = &reading->operation->in.get;
    struct outcome_get *out = &reading->operation->out.get;
    size_t bytes = 0;

    reading->is_alone = false;
    for (size_t i = 0; i < out->count; i++)
        bytes += out->entities[i].properties.bytes.len;
    for (int row = 0; row < PQntuples(result) && !reading->is_full; row++) {
        reading->is_alone = in->select_count > 0 && PQntuples(result) > 1 && is_cut(result, row);
        if (reading->is_alone ||
            fill_key(reading->table, reading->operation, result, row, &reading->refusal) != STATUS_OK)
            return;
        bytes += out->entities[out->count++].properties.bytes.len;
        reading->is_full = in->enough_bytes > 0 && bytes > in->enough_bytes;
    }
}

static enum status read_some(struct session *session, struct reading *reading, struct error *err)
{
    size_t from = reading->operation->out.get.count, left = reading->operation->in.get.count - from;
    size_t max = reading->is_alone ? 1 : STATEMENT_KEYS, count = left < max ? left : max;
    PG_RESULT result = NULL;

    TRY(send_keys(session, reading->table, reading->operation, from, count, err));
    TRY(take_keys(session, count, &result, err));
    fill_keys(reading, result);
    return STATUS_OK;
}

enum status wide_read_run(
    struct session *session, const struct table *table, struct operation *operation, struct error *err)
{
    const struct operation_get *in = &operation->in.get;
    struct reading reading = { table, operation, false, false, { 0 } };
    bool may_go_on = in->count > STATEMENT_KEYS || (in->select_count > 0 && in->count > 1);

    operation->out.get = (struct outcome_get){
        .entities = ARENA_ARRAY(operation->arena, struct entity, in->count),
        .found = ARENA_ARRAY(operation->arena, bool, in->count),
    };
    operation->status = STATUS_OK;
    operation->error = NULL;
    if (may_go_on && !session_in_snapshot(session))
        TRY(session_begin_snapshot(session, err));
    while (operation->out.get.count < in->count && !reading.is_full && reading.refusal.status == STATUS_OK)
        TRY(read_some(session, &reading, err));
    if (reading.refusal.status != STATUS_OK)
        operation_fail(operation, &reading.refusal);
    return STATUS_OK;
}
