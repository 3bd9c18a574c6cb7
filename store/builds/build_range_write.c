/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_write.c - see the header.
 */
#include "store/builds/build_range_write.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "store/builds/build_range_owners.h"
#include "store/entities/entry_rows.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

/* ---- plan ---- */

static bool is_violated(const struct walk_key *key)
{
    const struct table *table = key->source.table;

    for (size_t i = 0; i < key->source.plan.violation_count; i++)
        for (size_t k = 0; k < table->index_count; k++)
            if (table->indexes[k]->state == INDEX_BUILDING &&
                table->indexes[k]->index_id == key->source.plan.violations[i].index_id)
                return true;
    return false;
}

/* Whether the plan changes or deletes an entry that exists. */
static bool replaces(const struct source_key *key)
{
    for (size_t i = 0; i < key->plan.upsert_count; i++)
        for (size_t k = 0; k < key->stored.count; k++)
            if (key->stored.items[k].index_id == key->plan.upserts[i].index_id)
                return true;
    return false;
}

/* Whether it asks for an entry whose owner is not decided here. */
static bool is_owned_elsewhere(const struct build_range *range, const struct source_key *key)
{
    for (size_t i = 0; i < key->plan.upsert_count; i++)
        if (!build_range_owners_may_plan(range, key->plan.upserts[i].index_id))
            return true;
    return false;
}

static enum walk_disposition disposition_of(
    const struct build_range *range, struct walk_key *key, struct arena *arena)
{
    struct source_key *source = &key->source;
    bool has_state = source->ctid.len > 0;

    source_keys_plan(source, arena, &source->plan);
    key->manifest = manifest_encode(&source->plan.manifest, arena);
    if (is_violated(key) || is_owned_elsewhere(range, source))
        return KEY_OTHER;
    if (!has_state)
        return source->plan.manifest.count > 0 ? KEY_CREATED : KEY_LEFT;
    if (str_equal(key->manifest, key->was))
        return KEY_LEFT;
    if (source->plan.manifest.count == 0 || source->plan.delete_count > 0 || replaces(source))
        return KEY_OTHER;
    return KEY_CHANGED;
}

void build_range_write_plan(struct build_range *range, struct arena *arena)
{
    build_range_owners_note(range, arena);
    for (size_t i = 0; i < range->count; i++) {
        struct walk_key *key = &range->keys[i];

        if (key->disposition != KEY_OTHER)
            key->disposition = key->source.is_undecodable ? KEY_OTHER : disposition_of(range, key, arena);
    }
}

/* ---- flight 3 ---- */

static bool has_disposition(const struct build_range *range, enum walk_disposition disposition)
{
    for (size_t i = 0; i < range->count; i++)
        if (range->keys[i].disposition == disposition)
            return true;
    return false;
}

/* Changed rows come first, then new ones: the same order of locks as in a reconcile. */
static enum status send_changed(struct session *session, const struct build_range *range, struct error *err)
{
    struct pg_array ctids, partitions, rows, was_applied, was, applied, manifests;
    struct pg_params params;

    pg_array_init(&ctids, &session->arena, PG_TID);
    pg_array_init(&partitions, &session->arena, PG_TEXT);
    pg_array_init(&rows, &session->arena, PG_TEXT);
    pg_array_init(&was_applied, &session->arena, PG_INT8);
    pg_array_init(&was, &session->arena, PG_BYTEA);
    pg_array_init(&applied, &session->arena, PG_INT8);
    pg_array_init(&manifests, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < range->count; i++) {
        const struct walk_key *key = &range->keys[i];

        if (key->disposition != KEY_CHANGED)
            continue;
        pg_array_bytes(&ctids, key->source.ctid);
        pg_array_bytes(&partitions, key->source.key.partition);
        pg_array_bytes(&rows, key->source.key.row);
        pg_array_int8(&was_applied, key->source.applied);
        pg_array_bytes(&was, key->was);
        pg_array_int8(&applied, key->source.source.version);
        pg_array_bytes(&manifests, key->manifest);
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &ctids);
    pg_add_array(&params, &partitions);
    pg_add_array(&params, &rows);
    pg_add_array(&params, &was_applied);
    pg_add_array(&params, &was);
    pg_add_array(&params, &applied);
    pg_add_array(&params, &manifests);
    pg_add_int8(&params, range->table->table_id);
    return pg_send(&session->pg, &sql_walk_state_update, &params, err);
}

static enum status send_created(struct session *session, const struct build_range *range, struct error *err)
{
    struct key_arrays keys;
    struct pg_array applied, manifests;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    pg_array_init(&applied, &session->arena, PG_INT8);
    pg_array_init(&manifests, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < range->count; i++) {
        const struct walk_key *key = &range->keys[i];

        if (key->disposition != KEY_CREATED)
            continue;
        key_arrays_put(&keys, key->source.table_id, &key->source.key, key->source.bucket);
        pg_array_int8(&applied, key->source.source.version);
        pg_array_bytes(&manifests, key->manifest);
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_array(&params, &applied);
    pg_add_array(&params, &manifests);
    return pg_send(&session->pg, &sql_walk_state_insert, &params, err);
}

enum changed_column { CHANGED_N, CHANGED_CTID };

static void take_changed(struct build_range *range, const PGresult *rows, struct arena *arena)
{
    struct walk_key **changed = ARENA_ARRAY(arena, struct walk_key *, range->count);
    size_t count = 0;

    for (size_t i = 0; i < range->count; i++)
        if (range->keys[i].disposition == KEY_CHANGED)
            changed[count++] = &range->keys[i];
    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = changed[pg_int8(rows, i, CHANGED_N) - 1];

        key->is_held = true;
        key->source.ctid = arena_copy(arena, pg_bytes(rows, i, CHANGED_CTID));
    }
}

static void take_created(struct build_range *range, const PGresult *rows)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = build_range_find_key(range, &next, rows, i);

        if (key)
            key->is_held = true;
    }
}

static void take_versions(struct build_range *range, const PGresult *rows)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = build_range_find_key(range, &next, rows, i);

        if (key)
            key->is_unchanged = pg_int8(rows, i, ROW_VERSION) == key->source.source.version;
    }
}

static bool is_written(const struct walk_key *key)
{
    return key->disposition == KEY_CREATED || key->disposition == KEY_CHANGED;
}

/* The plan holds: it was made from the entity as it is (guard G8), which owns its values. */
static bool is_right(const struct walk_key *key)
{
    return key->is_unchanged && !key->is_unowned && !key->has_letter;
}

static bool is_done(const struct walk_key *key)
{
    return is_written(key) && key->is_held && is_right(key);
}

static enum status lock_states(struct session *session, struct build_range *range, struct error *err)
{
    bool changes = has_disposition(range, KEY_CHANGED), creates = has_disposition(range, KEY_CREATED);
    PG_RESULT changed = NULL;
    PG_RESULT created = NULL;

    if (changes)
        TRY(send_changed(session, range, err));
    if (creates)
        TRY(send_created(session, range, err));
    TRY(pg_sync(&session->pg, err));
    if (changes)
        TRY(pg_next(&session->pg, &changed, err));
    if (creates)
        TRY(pg_next(&session->pg, &created, err));
    TRY(pg_end(&session->pg, err));
    if (changes)
        take_changed(range, changed, &session->arena);
    if (creates)
        take_created(range, created);
    return STATUS_OK;
}

static void take_letters(struct build_range *range, const PGresult *rows)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = build_range_find_key(range, &next, rows, i);

        if (key)
            key->has_letter = true;
    }
}

/*
 * A reconcile that found no owner yet has noted a violation, in a dead letter that may have come since the letters were
 * read. None comes any more: its key's state row is locked.
 */
static enum status reread(struct session *session, struct build_range *range, struct error *err)
{
    bool asks_letters = range->unique_count > 0;
    struct pg_params params;
    PG_RESULT versions = NULL;
    PG_RESULT letters = NULL;

    build_range_params(range, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_walk_versions, &params, err));
    if (asks_letters)
        TRY(build_range_send_letters(session, range, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &versions, err));
    if (asks_letters)
        TRY(pg_next(&session->pg, &letters, err));
    TRY(pg_end(&session->pg, err));
    take_versions(range, versions);
    if (asks_letters)
        take_letters(range, letters);
    return STATUS_OK;
}

static enum status lock_and_reread(struct session *session, struct build_range *range, struct error *err)
{
    TRY(lock_states(session, range, err));
    TRY(build_range_owners_lock(session, range, err));
    TRY(reread(session, range, err));
    build_range_owners_decide(range);
    if (range->unique_count > 0)
        FAILPOINT_TRY("build_walk.after_owners", err);
    return STATUS_OK;
}

/* ---- flight 4 ---- */

static bool is_undone(const struct walk_key *key)
{
    return is_written(key) && key->is_held && !is_right(key);
}

/*
 * Send the statements that restore the state rows of keys whose entities have changed; no entry of
 * these keys has been written yet.
 */
static enum status send_undo(struct session *session, const struct build_range *range, struct error *err)
{
    struct key_arrays created;
    struct manifest_arrays changed;
    struct pg_params params;

    key_arrays_init(&created, &session->arena);
    manifest_arrays_init(&changed, &session->arena);
    for (size_t i = 0; i < range->count; i++) {
        const struct walk_key *key = &range->keys[i];

        if (!is_undone(key))
            continue;
        if (key->disposition == KEY_CREATED) {
            key_arrays_put(&created, key->source.table_id, &key->source.key, key->source.bucket);
            continue;
        }
        manifest_arrays_put(&changed, key->source.ctid, key->source.applied, key->was, STR_EMPTY);
    }
    if (created.tables.count > 0) {
        pg_params_init(&params, &session->arena);
        key_arrays_add(&created, &params);
        TRY(pg_send(&session->pg, &sql_state_delete, &params, err));
    }
    return manifest_arrays_send(&changed, session, err);
}

static enum status send_entries(struct session *session, const struct build_range *range, struct error *err)
{
    struct entry_change *changes =
        ARENA_ARRAY(&session->arena, struct entry_change, range->count * range->table->index_count);
    size_t count = 0;

    for (size_t i = 0; i < range->count; i++) {
        const struct walk_key *key = &range->keys[i];

        for (size_t k = 0; is_done(key) && k < key->source.plan.upsert_count; k++)
            changes[count++] =
                (struct entry_change){ .entry = key->source.plan.upserts[k], .source = &key->source.source };
    }
    if (count > 1)
        qsort(changes, count, sizeof(changes[0]), reconcile_plan_compare_entries);
    return entry_rows_send(session, ENTRY_INSERT, changes, count, err);
}

enum status build_range_write_over(
    struct session *session, struct entry_change *entries, size_t count, struct error *err)
{
    if (count == 0)
        return STATUS_OK;
    qsort(entries, count, sizeof(*entries), reconcile_plan_compare_entries);
    TRY(entry_rows_send(session, ENTRY_UPSERT, entries, count, err));
    TRY(pg_sync(&session->pg, err));
    return pg_end(&session->pg, err);
}

/* ---- flights 3 and 4 ---- */

enum status build_range_write_send(struct session *session, struct build_range *range, struct error *err)
{
    if (!has_disposition(range, KEY_CREATED) && !has_disposition(range, KEY_CHANGED))
        return STATUS_OK;
    TRY(lock_and_reread(session, range, err));
    FAILPOINT_TRY("build_walk.after_lock", err);
    TRY(send_undo(session, range, err));
    TRY(build_range_owners_send(session, range, err));
    TRY(send_entries(session, range, err));
    TRY(pg_sync(&session->pg, err));
    return pg_end(&session->pg, err);
}

static void list_unique(struct build_range *range)
{
    struct build_walk *walk = range->walk;

    walk->unique_ids = ARENA_ARRAY(walk->arena, int64_t, range->unique_count);
    walk->unique_count = range->unique_count;
    for (size_t i = 0; i < range->unique_count; i++)
        walk->unique_ids[i] = range->unique[i]->index_id;
}

void build_range_write_list_others(struct build_range *range)
{
    struct build_walk *walk = range->walk;
    struct arena *arena = walk->arena;

    list_unique(range);

    walk->others = ARENA_ARRAY(arena, struct intent, range->count);
    walk->other_count = 0;
    for (size_t i = 0; i < range->count; i++) {
        const struct source_key *key = &range->keys[i].source;

        if ((range->keys[i].disposition == KEY_LEFT && !range->keys[i].is_unowned) ||
            is_done(&range->keys[i]))
            continue;
        walk->others[walk->other_count++] = (struct intent){ .bucket = key->bucket,
            .kind = INTENT_RECONCILE,
            .table_id = key->table_id,
            .key = { arena_copy(arena, key->key.partition), arena_copy(arena, key->key.row) } };
    }
}
