/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_rows.c - see the header.
 */
#include "store/entities/part_rows.h"

#include "domain/blobs/blob_reference.h"
#include "domain/filter/filter.h"
#include "domain/indexes/index_names.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

/* Of a part in a list, beside its name: in the reply of the database, and as a struct property_part. */
enum { LISTED_BYTES = 128 };

/* ---- reading ---- */

static int64_t max_listed(const struct write_set *set)
{
    return set->row_count > 1 ? LIMIT_PART_LIST_BYTES : INT64_MAX;
}

enum status part_rows_send_list(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_params params;

    if (!set->is_wide)
        return STATUS_OK;
    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        key_arrays_put(&keys, set->rows[i].table->table_id, &set->rows[i].key, set->rows[i].bucket);
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_int8(&params, max_listed(set));
    pg_add_int4(&params, LISTED_BYTES);
    return pg_send(&session->pg, &sql_part_list, &params, err);
}

enum list_column { LIST_N, LIST_FIRST_NAME, LIST_BYTES, LIST_COUNT, LIST_CONTENTS };

static size_t row_of(const PGresult *list, int i)
{
    return (size_t)pg_int8(list, i, LIST_N) - 1;
}

static int count_parts(const PGresult *list, int from)
{
    int to = from;

    while (to < PQntuples(list) && row_of(list, to) == row_of(list, from))
        to++;
    return to - from;
}

static void fill_parts(
    struct property_parts *parts, const PGresult *list, int from, int count, struct arena *arena)
{
    parts->items = ARENA_ARRAY(arena, struct property_part, (size_t)count);
    parts->count = (size_t)count;
    for (int i = 0; i < count; i++)
        parts->items[i] = (struct property_part){
            .first_name = arena_copy(arena, pg_bytes(list, from + i, LIST_FIRST_NAME)),
            .bytes = (size_t)pg_int8(list, from + i, LIST_BYTES),
            .count = (size_t)pg_int8(list, from + i, LIST_COUNT),
            .contents = arena_copy(arena, pg_bytes(list, from + i, LIST_CONTENTS)),
        };
}

enum status part_rows_take_list(struct session *session, struct write_set *set, struct error *err)
{
    PG_RESULT list = NULL;

    if (!set->is_wide)
        return STATUS_OK;
    TRY(pg_next(&session->pg, &list, err));
    for (int from = 0, count; from < PQntuples(list); from += count) {
        count = count_parts(list, from);
        fill_parts(&set->rows[row_of(list, from)].parts, list, from, count, &session->arena);
    }
    return STATUS_OK;
}

/* Mark the parts to which the properties of the write and of its condition belong. */
static void want_for(struct plan_row *row, const struct write *write, struct arena *arena)
{
    const struct str *tested;
    size_t count = filter_names(write->condition.filter, arena, &tested);

    if (write_plan_merges(write->kind))
        property_parts_want(&row->parts, write->properties);
    for (size_t i = 0; i < count; i++)
        property_parts_want_name(&row->parts, tested[i]);
}

/* Mark the parts from which entries are made. The rows are sorted by table. */
static void want_for_indexes(struct write_set *set, struct arena *arena)
{
    const struct table *table = NULL;
    const struct str *names = NULL;
    size_t count = 0;

    for (size_t i = 0; i < set->row_count; i++) {
        struct plan_row *row = &set->rows[i];

        if (row->parts.count == 0)
            continue;
        if (row->table != table)
            count = index_names_of_table(row->table, arena, &names);
        table = row->table;
        for (size_t k = 0; k < count; k++)
            property_parts_want_name(&row->parts, names[k]);
    }
}

static size_t read_bytes(const struct plan_row *row)
{
    size_t bytes = row->stored.properties.bytes.len;

    for (size_t i = 0; i < row->parts.count; i++)
        bytes += row->parts.items[i].is_read ? row->parts.items[i].bytes : 0;
    return bytes;
}

static size_t bytes_of(const struct property_parts *parts)
{
    size_t bytes = 0;

    for (size_t i = 0; i < parts->count; i++)
        bytes += parts->items[i].bytes;
    return bytes;
}

/* Mark all parts of entities that have many short ones and are written, as far as the batch may read them. */
static void want_scattered(struct write_set *set)
{
    size_t bytes = 0;

    for (size_t i = 0; i < set->row_count; i++)
        bytes += read_bytes(&set->rows[i]);
    for (size_t i = 0; i < set->row_count && set->planned_count > 0; i++) {
        struct property_parts *parts = &set->rows[i].parts;
        size_t more = bytes_of(parts) - read_bytes(&set->rows[i]);

        if (!property_parts_are_scattered(parts) || bytes + more > LIMIT_WIDE_BYTES)
            continue;
        property_parts_want_all(parts);
        bytes += more;
    }
}

static void mark_wanted(struct write_set *set, struct arena *arena)
{
    for (size_t i = 0; i < set->planned_count; i++) {
        const struct operation_write *in = &set->planned[i].operation->in.write;

        for (size_t k = 0; k < in->count; k++)
            if (set->planned[i].rows[k]->parts.count > 0)
                want_for(set->planned[i].rows[k], &in->writes[k], arena);
    }
    want_for_indexes(set, arena);
    want_scattered(set);
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].reads_all_parts)
            property_parts_want_all(&set->rows[i].parts);
}

/* Add the parts of the row that are wanted; returns their bytes. */
static size_t want_parts(const struct plan_row *row, struct key_arrays *keys, struct pg_array *names)
{
    size_t bytes = 0;

    for (size_t i = 0; i < row->parts.count; i++) {
        if (!row->parts.items[i].is_read)
            continue;
        key_arrays_put(keys, row->table->table_id, &row->key, row->bucket);
        pg_array_bytes(names, row->parts.items[i].first_name);
        bytes += row->parts.items[i].bytes;
    }
    return bytes;
}

/*
 * The bytes of the lists that the plan makes: every merge makes a new one, of what was read and of all merges
 * before it. Many callers who write different properties of one entity together would fill the memory.
 */
static size_t planned_bytes(const struct write_set *set, struct arena *arena)
{
    size_t *now = ARENA_ARRAY(arena, size_t, set->row_count), sum = 0;

    for (size_t i = 0; i < set->row_count; i++)
        now[i] = set->rows[i].table->is_wide ? read_bytes(&set->rows[i]) : 0;
    for (size_t i = 0; i < set->planned_count; i++) {
        const struct planned *planned = &set->planned[i];

        for (size_t k = 0; k < planned->operation->in.write.count; k++) {
            const struct write *write = &planned->operation->in.write.writes[k];
            size_t row = (size_t)(planned->rows[k] - set->rows);

            if (!planned->rows[k]->table->is_wide)
                continue;
            if (write_plan_merges(write->kind))
                sum += now[row] += write->properties.bytes.len;
            else if (now[row] <
                     write->properties.bytes.len) /* may be refused, so the list may stay as long */
                now[row] = write->properties.bytes.len;
        }
    }
    return sum;
}

/* STATUS_LIMIT: as in write_batch.c and strong_build.c, the batch is to be halved. */
static enum status refuse_writes(
    const struct write_set *set, const char *what, size_t bytes, int limit, struct error *err)
{
    if (set->planned_count != 1)
        return error_set(err, STATUS_LIMIT, "the %s of these writes are too large to be read together", what);
    reason_set(err, REASON_ENTITY_TOO_LARGE,
        "the writes need %zu bytes of %s of wide entities, at most %d are allowed in one request", bytes,
        what, limit);
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", (int64_t)bytes);
    return STATUS_INVALID;
}

static enum status check_bytes(
    const struct write_set *set, size_t bytes, struct arena *arena, struct error *err)
{
    bool is_alone = set->planned_count == 1;

    if (bytes > (is_alone ? LIMIT_WIDE_READ_BYTES : LIMIT_WIDE_BYTES) ||
        (!is_alone && planned_bytes(set, arena) > 2 * LIMIT_WIDE_BYTES))
        return refuse_writes(set, "rows", bytes, LIMIT_WIDE_READ_BYTES, err);
    return STATUS_OK;
}

/* The statement ends with the part that exceeds the limit. */
static enum status check_lists(const struct write_set *set, struct error *err)
{
    size_t listed = 0;

    for (size_t i = 0; i < set->row_count; i++)
        for (size_t k = 0; k < set->rows[i].parts.count; k++)
            listed += set->rows[i].parts.items[k].first_name.len + LISTED_BYTES;
    return (int64_t)listed > max_listed(set)
               ? refuse_writes(set, "lists of the rows", listed, LIMIT_PART_LIST_BYTES, err)
               : STATUS_OK;
}

enum part_column { PART_N, PART_PROPERTIES };

/* The rows come in the order in which want_parts has added them; none is missing, since all are locked. */
static enum status fill_wanted(
    struct write_set *set, const PGresult *parts, struct arena *arena, struct error *err)
{
    int next = 0;

    for (size_t i = 0; i < set->row_count; i++) {
        struct property_parts *of = &set->rows[i].parts;

        for (size_t k = 0; k < of->count; k++) {
            if (!of->items[k].is_read)
                continue;
            if (next == PQntuples(parts) || pg_int8(parts, next, PART_N) != next + 1)
                return error_set(err, STATUS_INTERNAL, "a part of a wide entity is missing");
            of->items[k].properties.bytes = arena_copy(arena, pg_bytes(parts, next, PART_PROPERTIES));
            next++;
        }
    }
    return STATUS_OK;
}

static void fill_states(struct write_set *set, struct arena *arena)
{
    for (size_t i = 0; i < set->row_count; i++) {
        struct plan_row *row = &set->rows[i];

        if (row->parts.count == 0)
            continue;
        row->stored.properties = property_parts_join(&row->parts, arena);
        row->stored.rest = property_parts_rest(&row->parts, arena);
        if (row->now.live) {
            row->now.properties = row->stored.properties;
            row->now.rest = row->stored.rest;
        }
    }
}

enum status part_rows_read(struct session *session, struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_array names;
    struct pg_params params;
    PG_RESULT parts = NULL;
    size_t bytes = 0;

    if (!set->is_wide)
        return STATUS_OK;
    TRY(check_lists(set, err));
    key_arrays_init(&keys, &session->arena);
    pg_array_init(&names, &session->arena, PG_TEXT);
    mark_wanted(set, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        bytes += want_parts(&set->rows[i], &keys, &names);
    TRY(check_bytes(set, bytes, &session->arena, err));
    if (names.count > 0) {
        pg_params_init(&params, &session->arena);
        key_arrays_add(&keys, &params);
        pg_add_array(&params, &names);
        TRY(pg_query(&session->pg, &sql_part_get, &params, &parts, err));
        TRY(fill_wanted(set, parts, &session->arena, err));
    }
    fill_states(set, &session->arena);
    return STATUS_OK;
}

/* ---- writing ---- */

/* The rows to update and the parts to write, as arrays of parameters. */
struct part_arrays {
    struct pg_array ctids, spreads;
    struct state_arrays states;
    struct key_arrays removed, put;
    struct pg_array removed_names, put_names, counts, properties, contents;
};

static void init_arrays(struct part_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->ctids, arena, PG_TID);
    pg_array_init(&arrays->spreads, arena, PG_INT8);
    state_arrays_init(&arrays->states, arena);
    key_arrays_init(&arrays->removed, arena);
    key_arrays_init(&arrays->put, arena);
    pg_array_init(&arrays->removed_names, arena, PG_TEXT);
    pg_array_init(&arrays->put_names, arena, PG_TEXT);
    pg_array_init(&arrays->counts, arena, PG_INT8);
    pg_array_init(&arrays->properties, arena, PG_BYTEA);
    pg_array_init(&arrays->contents, arena, PG_BYTEA);
}

static void put_part(struct part_arrays *arrays, const struct plan_row *row, const struct part_change *change,
    struct arena *arena)
{
    struct key_arrays *keys = change->is_removed ? &arrays->removed : &arrays->put;

    key_arrays_put(keys, row->table->table_id, &row->key, row->bucket);
    pg_array_bytes(change->is_removed ? &arrays->removed_names : &arrays->put_names, change->first_name);
    if (change->is_removed)
        return;
    pg_array_int8(&arrays->counts, (int64_t)change->count);
    pg_array_bytes(&arrays->properties, change->properties.bytes);
    pg_array_bytes(&arrays->contents, row->blobs ? blob_reference_ids(change->properties, arena) : STR_EMPTY);
}

static void put_row(
    struct part_arrays *arrays, const struct plan_row *row, struct str ctid, struct arena *arena)
{
    struct row_state now = row->now;
    struct parts_plan plan;

    property_parts_plan(
        &row->parts, now.live ? now.properties : (struct property_list){ STR_EMPTY }, now.rest, arena, &plan);
    now.properties = plan.whole;
    pg_array_bytes(&arrays->ctids, ctid);
    state_arrays_put(&arrays->states, &now);
    pg_array_int8(&arrays->spreads, plan.spread);
    for (size_t i = 0; i < plan.change_count; i++)
        put_part(arrays, row, &plan.changes[i], arena);
}

static enum status send_rows(struct session *session, struct part_arrays *arrays, struct error *err)
{
    struct pg_params params;

    if (arrays->ctids.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &arrays->ctids);
    state_arrays_add(&arrays->states, &params);
    pg_add_array(&params, &arrays->spreads);
    return pg_send(&session->pg, &sql_entity_update_wide, &params, err);
}

static enum status send_removed(struct session *session, struct part_arrays *arrays, struct error *err)
{
    struct pg_params params;

    if (arrays->removed_names.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&arrays->removed, &params);
    pg_add_array(&params, &arrays->removed_names);
    return pg_send(&session->pg, &sql_part_delete, &params, err);
}

static enum status send_put(struct session *session, struct part_arrays *arrays, struct error *err)
{
    struct pg_params params;

    if (arrays->put_names.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&arrays->put, &params);
    pg_add_array(&params, &arrays->put_names);
    pg_add_array(&params, &arrays->counts);
    pg_add_array(&params, &arrays->properties);
    pg_add_array(&params, &arrays->contents);
    return pg_send(&session->pg, &sql_part_upsert, &params, err);
}

enum status part_rows_send(struct session *session, const struct write_set *set, struct error *err)
{
    struct part_arrays arrays;

    if (!set->is_wide)
        return STATUS_OK;
    init_arrays(&arrays, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].table->is_wide && write_plan_action(&set->rows[i]) == ROW_UPDATE)
            put_row(&arrays, &set->rows[i], set->ctids[i], &session->arena);
    TRY(send_rows(session, &arrays, err));
    TRY(send_removed(session, &arrays, err));
    return send_put(session, &arrays, err);
}
