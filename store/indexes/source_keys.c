/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_keys.c - see the header.
 */
#include "store/indexes/source_keys.h"

#include <stdlib.h>

#include "domain/indexes/index_names.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

/*
 * Two rounds are nearly always enough. More are needed if other transactions keep deleting and
 * inserting the state rows of keys without entries.
 */
enum { MAX_ROUNDS = 16 };

static int by_key(const void *a, const void *b)
{
    const struct source_key *x = a, *y = b;

    if (x->table_id != y->table_id)
        return x->table_id < y->table_id ? -1 : 1;
    return entity_key_compare(&x->key, &y->key);
}

/*
 * Keys are sorted by table, so a key mostly has the table of the key before it, which saves a
 * search.
 */
static void find_tables(struct source_keys *keys, const struct catalogue *catalogue)
{
    for (size_t i = 0; i < keys->count; i++) {
        struct source_key *key = &keys->keys[i];

        if (i > 0 && key[-1].table_id == key->table_id)
            key->table = key[-1].table;
        else
            key->table = catalogue_find_id(catalogue, key->table_id);
    }
}

void source_keys_plan(const struct source_key *key, struct arena *arena, struct reconcile_plan *out)
{
    const struct reconcile_case facts = { .table = key->table,
        .key = &key->key,
        .source = &key->source,
        .stored = &key->stored,
        .unowned = key->unowned };

    reconcile_plan(&facts, arena, out);
}

void source_keys_build(struct source_keys *keys, const struct session *session, struct arena *arena,
    const struct intent *intents, size_t count)
{
    size_t total = 0, unique = 0;

    keys->keys = ARENA_ARRAY(arena, struct source_key, count);
    for (size_t i = 0; i < count; i++) {
        if (intents[i].kind != INTENT_RECONCILE)
            continue;
        /*
         * The bucket is computed, not taken from the intent: a state row in another bucket would be
         * another lock.
         */
        keys->keys[total++] = (struct source_key){ .table_id = intents[i].table_id,
            .bucket = entity_key_bucket(intents[i].table_id, intents[i].key.partition),
            .key = intents[i].key,
            .ctids = intents[i].ctids };
    }
    if (total > 1)
        qsort(keys->keys, total, sizeof(keys->keys[0]), by_key);
    for (size_t i = 0; i < total; i++) {
        if (unique == 0 || by_key(&keys->keys[unique - 1], &keys->keys[i]) != 0)
            keys->keys[unique++] = keys->keys[i];
        else /* they would be those of one intent of several: a search by key finds all */
            keys->keys[unique - 1].ctids = (struct intent_ctids){ 0 };
    }
    keys->count = unique;
    find_tables(keys, session->catalogue);
}

static bool is_missing(const struct source_key *key)
{
    return key->ctid.len == 0;
}

struct key_list source_keys_list(
    const struct source_keys *keys, bool (*is_wanted)(const struct source_key *key), struct arena *arena)
{
    struct key_list list = { ARENA_ARRAY(arena, struct source_key *, keys->count), 0 };

    for (size_t i = 0; i < keys->count; i++)
        if (!is_wanted || is_wanted(&keys->keys[i]))
            list.keys[list.count++] = &keys->keys[i];
    return list;
}

void source_keys_list_params(struct key_list list, struct arena *arena, struct pg_params *params)
{
    struct key_arrays arrays;

    key_arrays_init(&arrays, arena);
    for (size_t i = 0; i < list.count; i++)
        key_arrays_put(&arrays, list.keys[i]->table_id, &list.keys[i]->key, list.keys[i]->bucket);
    pg_params_init(params, arena);
    key_arrays_add(&arrays, params);
}

void source_keys_params(const struct source_keys *keys, struct arena *arena, struct pg_params *params)
{
    source_keys_list_params(source_keys_list(keys, NULL, arena), arena, params);
}

void source_keys_add_names(const struct source_keys *keys, struct arena *arena, struct pg_params *params)
{
    const struct table *last = NULL;
    struct name_arrays arrays;

    name_arrays_init(&arrays, arena);
    for (size_t i = 0; i < keys->count; i++) {
        const struct table *table = keys->keys[i].table;
        const struct str *names;

        if (table && table != last && table->is_wide) {
            size_t count = index_names_of_table(table, arena, &names);

            name_arrays_put(&arrays, table->table_id, names, count);
        }
        last = table;
    }
    name_arrays_add(&arrays, params);
}

/* ---- the lock ---- */

enum state_column { STATE_N, STATE_APPLIED, STATE_MANIFEST, STATE_CTID, STATE_ENTRY_CTIDS };

void source_keys_take_states(struct source_keys *keys, const PGresult *states, struct arena *arena)
{
    for (int i = 0; i < PQntuples(states) && !PQgetisnull(states, i, STATE_N); i++) {
        struct source_key *key = &keys->keys[pg_int8(states, i, STATE_N) - 1];

        key->applied = pg_int8(states, i, STATE_APPLIED);
        key->ctid = arena_copy(arena, pg_bytes(states, i, STATE_CTID));
        key->is_undecodable =
            !manifest_decode(arena_copy(arena, pg_bytes(states, i, STATE_MANIFEST)), arena, &key->stored);
        if (!key->is_undecodable)
            manifest_ctids_decode(pg_bytes(states, i, STATE_ENTRY_CTIDS), &key->stored);
    }
}

enum status source_keys_check(const struct source_keys *keys, struct error *err)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->keys[i].is_undecodable)
            return error_set(err, STATUS_INTERNAL,
                "the manifest of a source key of table id %lld cannot be decoded",
                (long long)keys->keys[i].table_id);
    return STATUS_OK;
}

/*
 * Take the ctids of the rows that were inserted, which follow those that existed. false: some rows of the result are
 * missing, because another transaction has inserted state rows since the statement began.
 */
static bool take_inserted(struct session *session, const struct source_keys *keys, const PGresult *states)
{
    struct key_list missing = source_keys_list(keys, is_missing, &session->arena);
    size_t held = keys->count - missing.count;

    if ((size_t)PQntuples(states) != keys->count)
        return false;
    for (size_t i = 0; i < missing.count; i++)
        missing.keys[i]->ctid = arena_copy(&session->arena, pg_bytes(states, (int)(held + i), STATE_CTID));
    return true;
}

/* *is_done: all state rows are locked. */
static enum status lock_states(struct session *session, struct source_keys *keys,
    const struct source_flight *behind, bool *is_done, struct error *err)
{
    struct pg_params params;
    PG_RESULT states = NULL;
    int64_t now_us = 0;

    TRY(session_send_begin(session, err));
    source_keys_params(keys, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_state_lock_or_create, &params, err));
    if (behind)
        TRY(behind->send(session, behind->context, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &now_us, err));
    TRY(pg_next(&session->pg, &states, err));
    if (behind)
        TRY(behind->take(session, behind->context, err));
    TRY(pg_end(&session->pg, err));
    source_keys_take_states(keys, states, &session->arena);
    *is_done = take_inserted(session, keys, states);
    return STATUS_OK;
}

/*
 * Another transaction has inserted a state row since the statement began. This one must not wait for that row while it
 * holds locks, since the other transaction may wait for one of these. So it rolls back, drops what it has read, and
 * begins again.
 */
static void release_locks(struct session *session, struct source_keys *keys)
{
    pg_recover(&session->pg);
    for (size_t i = 0; i < keys->count; i++) {
        struct source_key *key = &keys->keys[i];

        key->applied = 0;
        key->ctid = STR_EMPTY;
        key->stored = (struct manifest){ 0 };
        key->is_undecodable = key->is_open = key->is_read = false;
        key->source = (struct row_state){ 0 };
    }
}

enum status source_keys_begin(
    struct session *session, struct source_keys *keys, const struct source_flight *behind, struct error *err)
{
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool is_done;

        TRY(lock_states(session, keys, behind, &is_done, err));
        if (is_done)
            return STATUS_OK;
        release_locks(session, keys);
    }
    return error_set(
        err, STATUS_TIMEOUT, "other transactions kept inserting the state rows of the same keys; try again");
}

/* ---- intents of the keys ---- */

enum status source_keys_send_intents(
    struct session *session, struct key_list list, const struct embedded *sql, struct error *err)
{
    struct pg_params params;

    source_keys_list_params(list, &session->arena, &params);
    pg_add_int2(&params, INTENT_RECONCILE);
    return pg_send(&session->pg, sql, &params, err);
}

void source_keys_mark_open(struct key_list list, const PGresult *intents)
{
    for (int i = 0; i < PQntuples(intents); i++)
        list.keys[pg_int8(intents, i, OPEN_INTENT_N) - 1]->is_open = true;
}

enum status source_keys_send_state_delete(struct session *session, const struct source_keys *keys,
    bool (*is_wanted)(const struct source_key *key), struct error *err)
{
    struct key_list list = source_keys_list(keys, is_wanted, &session->arena);
    struct pg_params params;

    if (list.count == 0)
        return STATUS_OK;
    source_keys_list_params(list, &session->arena, &params);
    return pg_send(&session->pg, &sql_state_delete, &params, err);
}
