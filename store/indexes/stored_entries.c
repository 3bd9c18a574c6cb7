/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_entries.c - see the header.
 */
#include "store/indexes/stored_entries.h"

#include <stdlib.h>

#include "domain/indexes/reconcile_plan.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

/* The key of an entry to look at, for one source key. */
struct stored_entry {
    const struct index *index;
    int16_t bucket;
    struct entity_key entry;
    struct source_key *of;
};

struct entry_list {
    struct stored_entry *entries;
    size_t count;
};

static int by_entry(const void *a, const void *b)
{
    const struct stored_entry *x = a, *y = b;

    if (x->index->index_id != y->index->index_id)
        return x->index->index_id < y->index->index_id ? -1 : 1;
    return entity_key_compare(&x->entry, &y->entry);
}

static const struct index *find_index(const struct table *table, int64_t index_id)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (table->indexes[i]->index_id == index_id && index_has_manifest(table->indexes[i]))
            return table->indexes[i];
    return NULL;
}

static void add_entry(
    struct entry_list *list, struct source_key *of, int64_t index_id, const struct entity_key *entry)
{
    const struct index *index = of->table ? find_index(of->table, index_id) : NULL;

    if (index)
        list->entries[list->count++] = (struct stored_entry){ .index = index,
            .bucket = entity_key_bucket(index_plan_home_table(index), entry->partition),
            .entry = *entry,
            .of = of };
}

static size_t count_entries(struct source_keys *keys, size_t suspects)
{
    size_t max = suspects;

    for (size_t i = 0; i < keys->count; i++) {
        if (keys->keys[i].is_undecodable)
            keys->keys[i].stored = (struct manifest){ 0 };
        max += keys->keys[i].stored.count + (keys->keys[i].table ? keys->keys[i].table->index_count : 0);
    }
    return max;
}

/* Add the entries that the source asks for, and those that the manifest names. */
static void add_known(struct entry_list *list, struct source_key *key, struct arena *arena)
{
    struct reconcile_plan plan;

    source_keys_plan(key, arena, &plan);
    for (size_t i = 0; i < plan.manifest.count; i++)
        add_entry(list, key, plan.manifest.items[i].index_id, &plan.manifest.items[i].key);
    for (size_t i = 0; i < key->stored.count; i++)
        add_entry(list, key, key->stored.items[i].index_id, &key->stored.items[i].key);
}

static void add_suspects(
    struct entry_list *list, struct source_key *key, const struct entry_suspect *suspects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (suspects[i].has_entry && entity_key_compare(&suspects[i].source, &key->key) == 0)
            add_entry(list, key, suspects[i].index_id, &suspects[i].entry);
}

/* List the entries of all keys, sorted, each once for its source. */
static struct entry_list list_entries(
    struct source_keys *keys, const struct entry_suspect *suspects, size_t count, struct arena *arena)
{
    struct entry_list list = { ARENA_ARRAY(arena, struct stored_entry, count_entries(keys, count)), 0 };
    size_t unique = 0;

    for (size_t i = 0; i < keys->count; i++) {
        add_known(&list, &keys->keys[i], arena);
        add_suspects(&list, &keys->keys[i], suspects, count);
    }
    if (list.count > 1)
        qsort(list.entries, list.count, sizeof(list.entries[0]), by_entry);
    for (size_t i = 0; i < list.count; i++) {
        bool is_known = false;

        for (size_t k = unique; k > 0 && by_entry(&list.entries[k - 1], &list.entries[i]) == 0; k--)
            is_known = is_known || list.entries[k - 1].of == list.entries[i].of;
        if (!is_known)
            list.entries[unique++] = list.entries[i];
    }
    list.count = unique;
    return list;
}

static enum status lock_entries(
    struct session *session, const struct entry_list *list, PGresult **out, struct error *err)
{
    struct key_arrays keys;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < list->count; i++)
        key_arrays_put(
            &keys, list->entries[i].index->index_id, &list->entries[i].entry, list->entries[i].bucket);
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    return pg_query(&session->pg, &sql_entry_hold, &params, out, err);
}

enum hold_column { HOLD_N, HOLD_PROPERTIES, HOLD_VERSION, HOLD_EXPIRES };

static void note_stored(const struct entry_list *list, const PGresult *rows)
{
    for (int i = 0; i < PQntuples(rows); i++) {
        const struct stored_entry *stored_at = &list->entries[pg_int8(rows, i, HOLD_N) - 1];
        struct str properties = pg_bytes(rows, i, HOLD_PROPERTIES);
        struct manifest *stored = &stored_at->of->stored;
        struct entity_key named;

        if (index_entry_source((struct property_list){ properties }, &named) &&
            entity_key_compare(&named, &stored_at->of->key) == 0)
            stored->items[stored->count++] = (struct manifest_item){ .index_id = stored_at->index->index_id,
                .key = stored_at->entry,
                .digest = index_plan_digest(stored_at->index, properties, pg_int8(rows, i, HOLD_VERSION),
                    pg_int8(rows, i, HOLD_EXPIRES)) };
    }
}

enum status stored_entries_read(struct session *session, struct source_keys *keys,
    const struct entry_suspect *suspects, size_t count, struct error *err)
{
    struct entry_list list = list_entries(keys, suspects, count, &session->arena);
    PG_RESULT rows = NULL;

    for (size_t i = 0; i < keys->count; i++)
        keys->keys[i].stored =
            (struct manifest){ ARENA_ARRAY(&session->arena, struct manifest_item, list.count), 0 };
    if (list.count == 0)
        return STATUS_OK;
    TRY(lock_entries(session, &list, &rows, err));
    note_stored(&list, rows);
    return STATUS_OK;
}

enum status stored_entries_hold_nameless(struct session *session, const struct index *index,
    const struct entity_key *entries, size_t count, bool *out, struct error *err)
{
    struct entry_list list = { ARENA_ARRAY(&session->arena, struct stored_entry, count), count };
    PG_RESULT rows = NULL;

    for (size_t i = 0; i < count; i++) {
        list.entries[i] = (struct stored_entry){ .index = index,
            .bucket = entity_key_bucket(index_plan_home_table(index), entries[i].partition),
            .entry = entries[i] };
        out[i] = false;
    }
    TRY(lock_entries(session, &list, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        struct entity_key named;

        out[pg_int8(rows, i, HOLD_N) - 1] =
            !index_entry_source((struct property_list){ pg_bytes(rows, i, HOLD_PROPERTIES) }, &named);
    }
    return STATUS_OK;
}
