/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_rows.c - see the header.
 */
#include "store/entities/owner_rows.h"

#include <string.h>

#include "store/session/session.h"
#include "store/sql.h"

/* Index ids and values; for statements that write owners, the owners' keys too. */
struct owner_arrays {
    struct pg_array indexes, values, partitions, rows;
};

static void arrays_init(struct owner_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->indexes, arena, PG_INT8);
    pg_array_init(&arrays->values, arena, PG_BYTEA);
    pg_array_init(&arrays->partitions, arena, PG_TEXT);
    pg_array_init(&arrays->rows, arena, PG_TEXT);
}

static void put_value(
    struct owner_arrays *arrays, const struct index *index, const struct unique_value *value)
{
    pg_array_int8(&arrays->indexes, index->index_id);
    pg_array_bytes(&arrays->values, str_of_bytes((const char *)value->bytes, sizeof(value->bytes)));
}

static void put_key(struct owner_arrays *arrays, const struct entity_key *key)
{
    pg_array_bytes(&arrays->partitions, key->partition);
    pg_array_bytes(&arrays->rows, key->row);
}

static void add_values(struct pg_params *params, struct owner_arrays *arrays, struct arena *arena)
{
    pg_params_init(params, arena);
    pg_add_array(params, &arrays->indexes);
    pg_add_array(params, &arrays->values);
}

static void add_keys(struct pg_params *params, struct owner_arrays *arrays)
{
    pg_add_array(params, &arrays->partitions);
    pg_add_array(params, &arrays->rows);
}

/* ---- locking ---- */

enum created_column { CREATED_INDEX, CREATED_VALUE };
enum owner_column { OWNER_N, OWNER_PARTITION, OWNER_ROW };

/* The parameters of owner_lock. */
static void put_offers(const struct unique_owners *owners, struct arena *arena, struct owner_arrays *arrays,
    struct pg_params *params)
{
    arrays_init(arrays, arena);
    for (size_t i = 0; i < owners->count; i++) {
        put_value(arrays, owners->slots[i].index, &owners->slots[i].value);
        put_key(arrays, &owners->slots[i].offered);
    }
    add_values(params, arrays, arena);
    add_keys(params, arrays);
}

static enum status send_lock(struct session *session, const struct unique_owners *owners, struct error *err)
{
    struct owner_arrays arrays;
    struct pg_params params;

    put_offers(owners, &session->arena, &arrays, &params);
    return pg_send(&session->pg, &sql_owner_lock, &params, err);
}

static enum status send_locks(struct session *session, const struct unique_owners *owners, struct error *err)
{
    struct owner_arrays arrays;
    struct pg_params params;

    put_offers(owners, &session->arena, &arrays, &params);
    TRY(pg_send(&session->pg, &sql_owner_lock, &params, err));
    add_values(&params, &arrays, &session->arena);
    TRY(pg_send(&session->pg, &sql_owner_get, &params, err));
    return pg_sync(&session->pg, err);
}

/* Mark the owners that did not exist: the statement returns them in the order of their slots. */
static void mark_created(struct unique_owners *owners, const PGresult *created)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(created); i++) {
        int64_t index_id = pg_int8(created, i, CREATED_INDEX);
        struct str value = pg_bytes(created, i, CREATED_VALUE);

        while (
            next < owners->count && (owners->slots[next].index->index_id != index_id ||
                                        memcmp(owners->slots[next].value.bytes, value.data, value.len) != 0))
            next++;
        if (next < owners->count)
            owners->slots[next++].is_created = true;
    }
}

static void fill_owner(struct unique_slot *slot, const PGresult *stored, int row, struct arena *arena)
{
    slot->was_owned = true;
    slot->before = (struct entity_key){ arena_copy(arena, pg_bytes(stored, row, OWNER_PARTITION)),
        arena_copy(arena, pg_bytes(stored, row, OWNER_ROW)) };
}

static void fill_before(struct unique_owners *owners, const PGresult *stored, struct arena *arena)
{
    for (int i = 0; i < PQntuples(stored); i++) {
        struct unique_slot *slot = &owners->slots[pg_int8(stored, i, OWNER_N) - 1];

        if (!slot->is_created)
            fill_owner(slot, stored, i, arena);
    }
}

enum status owner_rows_lock(struct session *session, struct unique_owners *owners, struct error *err)
{
    PG_RESULT created = NULL;
    PG_RESULT stored = NULL;

    if (owners->count > 0) {
        TRY(send_locks(session, owners, err));
        TRY(pg_next(&session->pg, &created, err));
        TRY(pg_next(&session->pg, &stored, err));
        TRY(pg_end(&session->pg, err));
        mark_created(owners, created);
        fill_before(owners, stored, &session->arena);
    }
    unique_owners_start(owners);
    return STATUS_OK;
}

/* Read the owners of the slots that were not created. */
static enum status read_existing(struct session *session, struct unique_owners *owners, struct error *err)
{
    struct unique_slot **existing = ARENA_ARRAY(&session->arena, struct unique_slot *, owners->count);
    struct owner_arrays arrays;
    struct pg_params params;
    PG_RESULT stored = NULL;
    size_t count = 0;

    arrays_init(&arrays, &session->arena);
    for (size_t i = 0; i < owners->count; i++) {
        if (owners->slots[i].is_created)
            continue;
        put_value(&arrays, owners->slots[i].index, &owners->slots[i].value);
        existing[count++] = &owners->slots[i];
    }
    if (count == 0)
        return STATUS_OK;
    add_values(&params, &arrays, &session->arena);
    TRY(pg_query(&session->pg, &sql_owner_get, &params, &stored, err));
    for (int i = 0; i < PQntuples(stored); i++)
        fill_owner(existing[pg_int8(stored, i, OWNER_N) - 1], stored, i, &session->arena);
    return STATUS_OK;
}

enum status owner_rows_lock_new(struct session *session, struct unique_owners *owners, struct error *err)
{
    PG_RESULT created = NULL;

    if (owners->count > 0) {
        TRY(send_lock(session, owners, err));
        TRY(pg_sync(&session->pg, err));
        TRY(pg_next(&session->pg, &created, err));
        TRY(pg_end(&session->pg, err));
        mark_created(owners, created);
        TRY(read_existing(session, owners, err));
    }
    unique_owners_start(owners);
    return STATUS_OK;
}

/* ---- writing the plan's result ---- */

static bool is_handed_on(const struct unique_slot *slot)
{
    const struct entity_key *stands = slot->is_created ? &slot->offered : &slot->before;

    return slot->is_owned && entity_key_compare(&slot->owner, stands) != 0;
}

enum status owner_rows_send(struct session *session, const struct unique_owners *owners, struct error *err)
{
    struct owner_arrays updates, deletes;
    struct pg_params params;

    arrays_init(&updates, &session->arena);
    arrays_init(&deletes, &session->arena);
    for (size_t i = 0; i < owners->count; i++) {
        const struct unique_slot *slot = &owners->slots[i];

        if (!slot->is_owned) {
            put_value(&deletes, slot->index, &slot->value);
        } else if (is_handed_on(slot)) {
            put_value(&updates, slot->index, &slot->value);
            put_key(&updates, &slot->owner);
        }
    }
    if (updates.indexes.count > 0) {
        add_values(&params, &updates, &session->arena);
        add_keys(&params, &updates);
        TRY(pg_send(&session->pg, &sql_owner_update, &params, err));
    }
    if (deletes.indexes.count == 0)
        return STATUS_OK;
    add_values(&params, &deletes, &session->arena);
    return pg_send(&session->pg, &sql_owner_delete, &params, err);
}

/* ---- reading without locks ---- */

struct owner_question owner_rows_question(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena)
{
    struct owner_question question = { .key = *key };

    if (index->is_unique && unique_value_of(index, key, state, arena, &question.value))
        question.index = index;
    return question;
}

enum status owner_rows_ask(
    struct session *session, struct owner_question *questions, size_t count, struct error *err)
{
    size_t *asked = ARENA_ARRAY(&session->arena, size_t, count), asked_count = 0;
    struct owner_arrays arrays;
    struct pg_params params;
    PG_RESULT found = NULL;

    arrays_init(&arrays, &session->arena);
    for (size_t i = 0; i < count; i++) {
        questions[i].is_owner = false;
        if (!questions[i].index)
            continue;
        put_value(&arrays, questions[i].index, &questions[i].value);
        asked[asked_count++] = i;
    }
    if (asked_count == 0)
        return STATUS_OK;
    add_values(&params, &arrays, &session->arena);
    TRY(pg_query(&session->pg, &sql_owner_get, &params, &found, err));
    for (int row = 0; row < PQntuples(found); row++) {
        struct owner_question *question = &questions[asked[pg_int8(found, row, OWNER_N) - 1]];
        const struct entity_key owner = { pg_bytes(found, row, OWNER_PARTITION),
            pg_bytes(found, row, OWNER_ROW) };

        question->is_owner = entity_key_compare(&owner, &question->key) == 0;
    }
    return STATUS_OK;
}
