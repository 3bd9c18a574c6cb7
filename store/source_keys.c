/*
 * source_keys.c - see the header.
 */
#include "store/source_keys.h"

#include <stdlib.h>

#include "store/sql.h"

static int by_key(const void *a, const void *b)
{
    const struct source_key *x = a, *y = b;

    if (x->table_id != y->table_id)
        return x->table_id < y->table_id ? -1 : 1;
    return entity_key_compare(&x->key, &y->key);
}

/* Neighbours mostly share a table; looking one up by id is slow. */
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

void source_keys_build(struct source_keys *keys, const struct session *session, struct arena *arena,
    const struct intent *intents, size_t count)
{
    size_t total = 0, unique = 0;

    keys->keys = ARENA_ARRAY(arena, struct source_key, count);
    for (size_t i = 0; i < count; i++) {
        if (intents[i].kind != INTENT_RECONCILE)
            continue;
        /* The bucket is computed: a state row under another one would be another lock. */
        keys->keys[total++] = (struct source_key){ .table_id = intents[i].table_id,
            .bucket = bucket_of(intents[i].table_id, intents[i].key.partition),
            .key = intents[i].key };
    }
    if (total > 1)
        qsort(keys->keys, total, sizeof(keys->keys[0]), by_key);
    for (size_t i = 0; i < total; i++)
        if (unique == 0 || by_key(&keys->keys[unique - 1], &keys->keys[i]) != 0)
            keys->keys[unique++] = keys->keys[i];
    keys->count = unique;
    find_tables(keys, session->catalogue);
}

void source_keys_params(const struct source_keys *keys, struct arena *arena, struct pg_params *params)
{
    struct key_arrays arrays;

    key_arrays_init(&arrays, arena);
    for (size_t i = 0; i < keys->count; i++)
        key_arrays_put(&arrays, keys->keys[i].table_id, &keys->keys[i].key, keys->keys[i].bucket);
    pg_params_init(params, arena);
    key_arrays_add(&arrays, params);
}

enum status source_keys_send_lock(struct session *session, const struct source_keys *keys,
    const struct embedded *intents, struct error *err)
{
    struct pg_params params;

    source_keys_params(keys, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_state_lock, &params, err));
    pg_add_int2(&params, INTENT_RECONCILE);
    return pg_send(&session->pg, intents, &params, err);
}

void source_keys_mark_open(struct source_keys *keys, const PGresult *intents)
{
    for (int i = 0; i < PQntuples(intents); i++)
        keys->keys[pg_int8(intents, i, 0) - 1].is_open = true;
}

enum status source_keys_send_state_delete(struct session *session, const struct source_keys *keys,
    bool (*is_wanted)(const struct source_key *key), int *statements, struct error *err)
{
    struct key_arrays arrays;
    struct pg_params params;
    size_t count = 0;

    key_arrays_init(&arrays, &session->arena);
    for (size_t i = 0; i < keys->count; i++) {
        if (!is_wanted(&keys->keys[i]))
            continue;
        key_arrays_put(&arrays, keys->keys[i].table_id, &keys->keys[i].key, keys->keys[i].bucket);
        count++;
    }
    if (count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&arrays, &params);
    (*statements)++;
    return pg_send(&session->pg, &sql_state_delete, &params, err);
}
