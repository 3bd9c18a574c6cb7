/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_walk.c - see the header.
 *
 *   flight 1   BEGIN; fence; catalogue; entities of the next range
 *   flight 2   their state rows, dead letters
 *   plan       in C, pure: domain/reconcile_plan
 *   flight 3   change and make state rows, which locks them; versions of the entities
 *   flight 4   what flight 3 did for entities that have changed is undone; entries
 *   flight 5   marker; COMMIT, which does not wait for the disk
 *
 * The checkpoint of all chunks of a turn is a later transaction, which waits.
 *
 * A reconcile locks first and reads then. Here most keys have no state row yet, and to make one twice, empty and then with
 * its manifest, would cost more than all the rest. So the entities are read before, and what counts is the second reading,
 * after the lock (guard G8): an entity that still has its version is what the plan was made from. One that has not, or
 * whose state row another transaction has inserted or changed, is left to a reconcile.
 *
 * No intent is removed here: what is open is done by the workers, later than this. A key for which nothing is to be
 * written needs no lock: its manifest says that its entries are there, and whatever changes it from now on leaves an intent.
 */
#include "store/builds/build_walk.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "store/entities/entry_rows.h"
#include "store/indexes/source_keys.h"
#include "store/sql.h"

enum {
    CHUNK_ROWS = 2000,
    CHUNK_BYTES = 8 * 1024 * 1024, /* of properties, divided by the number of indexes that may copy them */
    SMALL_BYTES = 16 * 1024, /* of one entity, divided by the same: most chunks need no sum of their sizes */
    SIBLINGS_MS = 5000,      /* for which builds that come along are claimed */
};

/* What becomes of a key. */
enum disposition {
    KEY_LEFT,    /* its entries are there, or it has none */
    KEY_CREATED, /* its state row is to be made */
    KEY_CHANGED, /* its state row is to be changed */
    KEY_OTHER,   /* it is left to a reconcile */
};

struct walk_key {
    struct source_key source;
    enum disposition disposition;
    bool is_held;             /* its state row has been made or changed, and is locked */
    bool is_unchanged;        /* the entity, since it was read */
    struct str was, manifest; /* of the state row, before and after */
};

/* A chunk under way; memory is the session's. */
struct range {
    struct build_walk *walk;
    const struct table *table;
    struct entity_key from; /* everything up to here is done already; without such a key empty */
    bool has_bound;
    struct entity_key bound;
    struct walk_key *keys;
    size_t count;
};

static bool is_built_in_ranges(const struct index *index)
{
    return index_has_manifest(index) && !index_comes_with_write(index) && !index->is_unique;
}

/* Owners of unique values are decided key by key; who writes entries and manifests with an entity holds its lock. */
static bool is_fit(const struct table *table, const struct index *index)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *other = table->indexes[i];

        if (other->is_unique || (index_has_manifest(other) && index_comes_with_write(other)))
            return false;
    }
    return is_built_in_ranges(index);
}

/* ---- who walks along ---- */

enum sibling_column {
    SIBLING_ID,
    SIBLING_INDEX,
    SIBLING_HAS_CURSOR,
    SIBLING_PARTITION,
    SIBLING_ROW,
    SIBLING_DONE,
    SIBLING_TOTAL,
    SIBLING_DIFFERENCES,
};

static size_t list_candidates(const struct table *table, struct pg_array *out)
{
    size_t count = 0;

    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];

        if (index->state != INDEX_BUILDING || !is_built_in_ranges(index))
            continue;
        pg_array_int8(out, index->index_id);
        count++;
    }
    return count;
}

static struct job sibling_at(const PGresult *rows, int row, const struct job *leader, struct arena *arena)
{
    return (struct job){ .store = leader->store,
        .id = arena_copy(arena, pg_bytes(rows, row, SIBLING_ID)),
        .owner = leader->owner,
        .table_id = leader->table_id,
        .index_id = pg_int8(rows, row, SIBLING_INDEX),
        .state = JOB_RUNNING,
        .has_cursor = pg_bool(rows, row, SIBLING_HAS_CURSOR),
        .cursor = { arena_copy(arena, pg_bytes(rows, row, SIBLING_PARTITION)),
            arena_copy(arena, pg_bytes(rows, row, SIBLING_ROW)) },
        .done = pg_int8(rows, row, SIBLING_DONE),
        .total = pg_int8(rows, row, SIBLING_TOTAL),
        .faults = pg_int8(rows, row, SIBLING_DIFFERENCES),
        .error = STR_EMPTY };
}

/* One that is slowed down walks alone. */
static enum status claim_siblings(
    struct session *session, const struct table *table, struct build_walk_start *start, struct error *err)
{
    struct job *job = start->job;
    struct pg_array candidates;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_array_init(&candidates, &session->arena, PG_INT8);
    if (job->is_gentle || list_candidates(table, &candidates) < 2)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &candidates);
    pg_add_bytes(&params, job->id);
    pg_add_bytes(&params, job->owner);
    pg_add_int8(&params, SIBLINGS_MS);
    TRY(pg_query(&session->pg, &sql_job_siblings, &params, &rows, err));
    start->sibling_count = (size_t)PQntuples(rows);
    start->siblings = ARENA_ARRAY(&job->arena, struct job, start->sibling_count);
    for (int i = 0; i < PQntuples(rows); i++)
        start->siblings[i] = sibling_at(rows, i, job, &job->arena);
    return STATUS_OK;
}

/* The position of a walk; no cursor comes before every key. */
static int compare_positions(const struct job *job, const struct turn_position *position)
{
    if (!job->has_cursor || !position->has_from)
        return (int)job->has_cursor - (int)position->has_from;
    return entity_key_compare(&job->cursor, &position->from);
}

/* The turn begins where the last of the walks is, and ends at the latest where the next one is. */
static void choose_position(struct build_walk_start *start)
{
    const struct job *job = start->job;

    start->position = (struct turn_position){ job->has_cursor, job->cursor };
    for (size_t i = 0; i < start->sibling_count; i++) {
        const struct job *other = &start->siblings[i];

        if (compare_positions(other, &start->position) < 0)
            start->position = (struct turn_position){ other->has_cursor, other->cursor };
    }
    for (size_t i = 0; i <= start->sibling_count; i++) {
        const struct job *other = i < start->sibling_count ? &start->siblings[i] : job;

        if (compare_positions(other, &start->position) <= 0 ||
            (start->has_bound && entity_key_compare(&other->cursor, &start->bound) >= 0))
            continue;
        start->has_bound = true;
        start->bound = other->cursor;
    }
}

/* ---- flights 1 and 2 ---- */

enum row_column { ROW_PARTITION, ROW_ROW, ROW_VERSION, ROW_TS, ROW_EXPIRES, ROW_PROPERTIES };

static struct entity_key key_at(const PGresult *rows, int row)
{
    return (struct entity_key){ pg_bytes(rows, row, ROW_PARTITION), pg_bytes(rows, row, ROW_ROW) };
}

static void take_row(struct walk_key *key, const struct table *table, const PGresult *rows, int row)
{
    *key = (struct walk_key){ .source = { .table_id = table->table_id,
                                  .table = table,
                                  .key = key_at(rows, row),
                                  .source = { .live = true,
                                      .version = pg_int8(rows, row, ROW_VERSION),
                                      .ts = pg_int8(rows, row, ROW_TS),
                                      .properties = { pg_bytes(rows, row, ROW_PROPERTIES) },
                                      .expires = pg_int8(rows, row, ROW_EXPIRES) } } };
    key->source.bucket = entity_key_bucket(table->table_id, key->source.key.partition);
}

/* The rows that came with their properties, up to the bound. *is_cut: there are more of them. */
static size_t count_rows(const struct range *range, const PGresult *rows, bool *is_cut)
{
    int count = PQntuples(rows);

    *is_cut = count == CHUNK_ROWS;
    for (int i = 0; i < count; i++) {
        struct entity_key key = key_at(rows, i);

        if (range->has_bound && entity_key_compare(&key, &range->bound) > 0) {
            *is_cut = false;
            return (size_t)i;
        }
        if (i > 0 && PQgetisnull(rows, i, ROW_PROPERTIES)) {
            range->walk->has_large = true;
            *is_cut = true;
            return (size_t)i;
        }
    }
    return (size_t)count;
}

/* The keys borrow from the rows. */
static void take_rows(struct range *range, const PGresult *rows, struct arena *arena)
{
    struct build_walk *walk = range->walk;
    bool is_cut;

    range->count = count_rows(range, rows, &is_cut);
    range->keys = ARENA_ARRAY(arena, struct walk_key, range->count);
    for (size_t i = 0; i < range->count; i++)
        take_row(&range->keys[i], range->table, rows, (int)i);
    walk->rows = (int64_t)range->count;
    walk->is_last = !is_cut && !range->has_bound;
    walk->has_end = range->count > 0 || range->has_bound;
    if (!is_cut && range->has_bound)
        walk->end = range->bound;
    else if (range->count > 0)
        walk->end = range->keys[range->count - 1].source.key;
    walk->end = (struct entity_key){ arena_copy(walk->arena, walk->end.partition),
        arena_copy(walk->arena, walk->end.row) };
}

/* An attempt that is made again reads up to the same key: the next chunk has begun behind it. */
static void tell_end(struct build_walk *walk)
{
    const struct build_walk_start *start = walk->start;

    if (!walk->turn)
        return;
    if (walk->is_last || (start->has_bound && entity_key_compare(&walk->end, &start->bound) >= 0))
        turn_stop(walk->turn);
    else
        turn_pass(walk->turn, &walk->end);
    walk->turn = NULL;
    walk->is_told = !walk->is_last;
    walk->told = walk->end;
}

/* What reads the properties of all rows that are small, or of all as long as they are small together. */
static enum status query_rows(
    struct session *session, const struct range *range, PGresult **rows, struct error *err)
{
    bool has_large = range->walk->has_large;
    int64_t copies = range->table->index_count > 0 ? (int64_t)range->table->index_count : 1;
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, range->table->table_id);
    pg_add_bytes(&params, range->from.partition);
    pg_add_bytes(&params, range->from.row);
    pg_add_bool(&params, range->walk->position.has_from);
    pg_add_int8(&params, CHUNK_ROWS);
    pg_add_int8(&params, (has_large ? CHUNK_BYTES : SMALL_BYTES) / copies);
    return pg_query(&session->pg, has_large ? &sql_walk_rows_bounded : &sql_walk_rows, &params, rows, err);
}

static enum status read_rows(struct session *session, struct range *range, PGresult **rows, struct error *err)
{
    TRY(query_rows(session, range, rows, err));
    if (PQntuples(*rows) > 0 && PQgetisnull(*rows, 0, ROW_PROPERTIES)) {
        PQclear(*rows);
        *rows = NULL;
        range->walk->has_large = true;
        TRY(query_rows(session, range, rows, err));
    }
    take_rows(range, *rows, &session->arena);
    tell_end(range->walk);
    return STATUS_OK;
}

/* From the first key of the chunk to the last. */
static void range_params(const struct range *range, struct arena *arena, struct pg_params *params)
{
    const struct entity_key *first = &range->keys[0].source.key;
    const struct entity_key *last = &range->keys[range->count - 1].source.key;

    pg_params_init(params, arena);
    pg_add_int8(params, range->table->table_id);
    pg_add_bytes(params, first->partition);
    pg_add_bytes(params, first->row);
    pg_add_bytes(params, last->partition);
    pg_add_bytes(params, last->row);
}

/* The key of a row that has one in its first two columns, behind `next` in both orders; NULL: it is none of the chunk. */
static struct walk_key *find_key(struct range *range, size_t *next, const PGresult *rows, int row)
{
    struct entity_key wanted = key_at(rows, row);

    for (; *next < range->count; ++*next) {
        int order = entity_key_compare(&range->keys[*next].source.key, &wanted);

        if (order == 0)
            return &range->keys[(*next)++];
        if (order > 0)
            break;
    }
    return NULL;
}

enum state_column { STATE_APPLIED = ROW_VERSION, STATE_MANIFEST, STATE_CTID };

/* The keys borrow from the rows. */
static void take_states(struct range *range, const PGresult *rows, struct arena *arena)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = find_key(range, &next, rows, i);

        if (!key)
            continue;
        key->was = pg_bytes(rows, i, STATE_MANIFEST);
        key->source.applied = pg_int8(rows, i, STATE_APPLIED);
        key->source.ctid = pg_bytes(rows, i, STATE_CTID);
        key->source.is_ill = !manifest_decode(key->was, arena, &key->source.stored);
    }
}

static enum status read_states(
    struct session *session, struct range *range, PGresult **states, struct error *err)
{
    struct pg_array candidates;
    struct pg_params params;
    PG_RESULT letters = NULL;
    size_t next = 0;

    range_params(range, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_walk_states, &params, err));
    pg_array_init(&candidates, &session->arena, PG_INT8);
    list_candidates(range->table, &candidates);
    pg_add_array(&params, &candidates);
    TRY(pg_send(&session->pg, &sql_walk_letters, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, states, err));
    TRY(pg_next(&session->pg, &letters, err));
    TRY(pg_end(&session->pg, err));
    take_states(range, *states, &session->arena);
    for (int i = 0; i < PQntuples(letters); i++) {
        struct walk_key *key = find_key(range, &next, letters, i);

        if (key)
            key->disposition = KEY_OTHER;
    }
    return STATUS_OK;
}

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

/* Whether an entry that is there is to be changed. */
static bool replaces(const struct source_key *key)
{
    for (size_t i = 0; i < key->plan.upsert_count; i++)
        for (size_t k = 0; k < key->stored.count; k++)
            if (key->stored.items[k].index_id == key->plan.upserts[i].index_id)
                return true;
    return false;
}

static enum disposition disposition_of(struct walk_key *key, struct arena *arena)
{
    struct source_key *source = &key->source;
    bool has_state = source->ctid.len > 0;

    source_keys_plan(source, arena, &source->plan);
    key->manifest = manifest_encode(&source->plan.manifest, arena);
    if (is_violated(key))
        return KEY_OTHER;
    if (!has_state)
        return source->plan.manifest.count > 0 ? KEY_CREATED : KEY_LEFT;
    if (str_equal(key->manifest, key->was))
        return KEY_LEFT;
    if (source->plan.manifest.count == 0 || source->plan.delete_count > 0 || replaces(source))
        return KEY_OTHER;
    return KEY_CHANGED;
}

static void plan(struct range *range, struct arena *arena)
{
    for (size_t i = 0; i < range->count; i++) {
        struct walk_key *key = &range->keys[i];

        if (key->disposition != KEY_OTHER)
            key->disposition = key->source.is_ill ? KEY_OTHER : disposition_of(key, arena);
    }
}

/* ---- flight 3 ---- */

static bool has_disposition(const struct range *range, enum disposition disposition)
{
    for (size_t i = 0; i < range->count; i++)
        if (range->keys[i].disposition == disposition)
            return true;
    return false;
}

/* Changed first, then made: the order of locks that reconciles have. */
static enum status send_changed(struct session *session, const struct range *range, struct error *err)
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

static enum status send_created(struct session *session, const struct range *range, struct error *err)
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

static void take_changed(struct range *range, const PGresult *rows, struct arena *arena)
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

static void take_created(struct range *range, const PGresult *rows)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = find_key(range, &next, rows, i);

        if (key)
            key->is_held = true;
    }
}

static void take_versions(struct range *range, const PGresult *rows)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = find_key(range, &next, rows, i);

        if (key)
            key->is_unchanged = pg_int8(rows, i, ROW_VERSION) == key->source.source.version;
    }
}

static bool is_written(const struct walk_key *key)
{
    return key->disposition == KEY_CREATED || key->disposition == KEY_CHANGED;
}

static bool is_done(const struct walk_key *key)
{
    return is_written(key) && key->is_held && key->is_unchanged;
}

static enum status lock_and_reread(struct session *session, struct range *range, struct error *err)
{
    bool changes = has_disposition(range, KEY_CHANGED), creates = has_disposition(range, KEY_CREATED);
    struct pg_params params;
    PG_RESULT changed = NULL;
    PG_RESULT created = NULL;
    PG_RESULT versions = NULL;

    if (changes)
        TRY(send_changed(session, range, err));
    if (creates)
        TRY(send_created(session, range, err));
    range_params(range, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_walk_versions, &params, err));
    TRY(pg_sync(&session->pg, err));
    if (changes)
        TRY(pg_next(&session->pg, &changed, err));
    if (creates)
        TRY(pg_next(&session->pg, &created, err));
    TRY(pg_next(&session->pg, &versions, err));
    TRY(pg_end(&session->pg, err));
    if (changes)
        take_changed(range, changed, &session->arena);
    if (creates)
        take_created(range, created);
    take_versions(range, versions);
    return STATUS_OK;
}

/* ---- flight 4 ---- */

/* What the plan was made from does not stand any more (guard G8). */
static bool is_undone(const struct walk_key *key)
{
    return is_written(key) && key->is_held && !key->is_unchanged;
}

/* State rows as they were: no entry has been written yet. */
static enum status send_undo(struct session *session, const struct range *range, struct error *err)
{
    struct key_arrays created;
    struct pg_array ctids, applied, manifests;
    struct pg_params params;

    key_arrays_init(&created, &session->arena);
    pg_array_init(&ctids, &session->arena, PG_TID);
    pg_array_init(&applied, &session->arena, PG_INT8);
    pg_array_init(&manifests, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < range->count; i++) {
        const struct walk_key *key = &range->keys[i];

        if (!is_undone(key))
            continue;
        if (key->disposition == KEY_CREATED) {
            key_arrays_put(&created, key->source.table_id, &key->source.key, key->source.bucket);
            continue;
        }
        pg_array_bytes(&ctids, key->source.ctid);
        pg_array_int8(&applied, key->source.applied);
        pg_array_bytes(&manifests, key->was);
    }
    if (created.tables.count > 0) {
        pg_params_init(&params, &session->arena);
        key_arrays_add(&created, &params);
        TRY(pg_send(&session->pg, &sql_state_delete, &params, err));
    }
    if (ctids.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &ctids);
    pg_add_array(&params, &applied);
    pg_add_array(&params, &manifests);
    return pg_send(&session->pg, &sql_state_update, &params, err);
}

static enum status send_entries(struct session *session, const struct range *range, struct error *err)
{
    struct entry_change *changes =
        ARENA_ARRAY(&session->arena, struct entry_change, range->count * range->table->index_count);
    size_t count = 0;

    for (size_t i = 0; i < range->count; i++) {
        const struct walk_key *key = &range->keys[i];

        for (size_t k = 0; is_done(key) && k < key->source.plan.upsert_count; k++)
            changes[count++] = (struct entry_change){ key->source.plan.upserts[k], &key->source.source };
    }
    if (count > 1)
        qsort(changes, count, sizeof(changes[0]), reconcile_plan_compare_entries);
    return entry_rows_send(session, ENTRY_INSERT, changes, count, err);
}

/* ---- flight 5 ---- */

static void list_others(struct range *range)
{
    struct build_walk *walk = range->walk;
    struct arena *arena = walk->arena;

    walk->others = ARENA_ARRAY(arena, struct intent, range->count);
    walk->other_count = 0;
    for (size_t i = 0; i < range->count; i++) {
        const struct source_key *key = &range->keys[i].source;

        if (range->keys[i].disposition == KEY_LEFT || is_done(&range->keys[i]))
            continue;
        walk->others[walk->other_count++] = (struct intent){ .bucket = key->bucket,
            .kind = INTENT_RECONCILE,
            .table_id = key->table_id,
            .key = { arena_copy(arena, key->key.partition), arena_copy(arena, key->key.row) } };
    }
}

/* ---- a chunk ---- */

static enum status begin_transaction(struct session *session, struct error *err)
{
    int64_t now_us = 0;

    TRY(session_send_begin(session, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &now_us, err));
    return pg_end(&session->pg, err);
}

/* Where nothing is to be written nothing is locked. */
static enum status write_range(struct session *session, struct range *range, struct error *err)
{
    if (!has_disposition(range, KEY_CREATED) && !has_disposition(range, KEY_CHANGED))
        return STATUS_OK;
    TRY(lock_and_reread(session, range, err));
    FAILPOINT_TRY("build_walk.after_lock", err);
    TRY(send_undo(session, range, err));
    TRY(send_entries(session, range, err));
    TRY(pg_sync(&session->pg, err));
    return pg_end(&session->pg, err);
}

static enum status commit(struct session *session, struct error *err)
{
    PG_RESULT set = NULL;

    TRY(pg_query(&session->pg, &sql_flush_later, NULL, &set, err));
    FAILPOINT_TRY("build_walk.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status walk_range(struct session *session, struct range *range, struct error *err)
{
    PG_RESULT rows = NULL;
    PG_RESULT states = NULL;

    TRY(begin_transaction(session, err));
    TRY(read_rows(session, range, &rows, err));
    if (range->count > 0) {
        TRY(read_states(session, range, &states, err));
        plan(range, &session->arena);
        FAILPOINT_TRY("build_walk.after_source_read", err);
        TRY(write_range(session, range, err));
    }
    list_others(range);
    return commit(session, err);
}

/* NULL: by the session's catalogue the index or its table does not exist. */
static const struct index *find_index(const struct session *session, const struct job *job)
{
    const struct table *entries = catalogue_find_id(session->catalogue, job->index_id);

    return entries && catalogue_find_id(session->catalogue, job->table_id) ? entries->entries_of : NULL;
}

/* The index of a job, by a catalogue that is recent if it knows none. */
static enum status look_up_index(
    struct session *session, const struct job *job, const struct index **out, struct error *err)
{
    *out = find_index(session, job);
    if (*out)
        return STATUS_OK;
    TRY(session_refresh(session, NULL, err));
    if (find_index(session, job))
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    return STATUS_OK;
}

static enum status attempt_chunk(struct session *session, void *context, struct error *err)
{
    struct build_walk *walk = context;
    const struct build_walk_start *start = walk->start;
    const struct index *index;
    struct range range = { .walk = walk,
        .table = catalogue_find_id(session->catalogue, start->job->table_id),
        .from = walk->position.has_from ? walk->position.from : (struct entity_key){ STR_EMPTY, STR_EMPTY },
        .has_bound = walk->is_told || start->has_bound,
        .bound = walk->is_told ? walk->told : start->bound };

    TRY(look_up_index(session, start->job, &index, err));
    walk->is_gone = !index;
    if (walk->is_gone)
        return STATUS_OK;
    walk->is_unfit = !is_fit(range.table, index);
    return walk->is_unfit ? STATUS_OK : walk_range(session, &range, err);
}

enum status build_walk_chunk(struct build_walk *walk, struct error *err)
{
    return worker_attempt(walk->store, attempt_chunk, walk, err);
}

/* ---- a turn ---- */

static enum status attempt_begin(struct session *session, void *context, struct error *err)
{
    struct build_walk_start *start = context;
    const struct index *index;
    const struct table *table;

    *start = (struct build_walk_start){ .job = start->job };
    TRY(session_refresh(session, NULL, err));
    TRY(look_up_index(session, start->job, &index, err));
    table = catalogue_find_id(session->catalogue, start->job->table_id);
    start->is_gone = !index;
    start->is_unfit = index && !is_fit(table, index);
    if (start->is_gone || start->is_unfit)
        return STATUS_OK;
    TRY(claim_siblings(session, table, start, err));
    choose_position(start);
    return STATUS_OK;
}

enum status build_walk_begin(struct build_walk_start *start, struct error *err)
{
    return worker_attempt(start->job->store, attempt_begin, start, err);
}

/* Where the turn began the job goes on behind it; elsewhere it stays where it is. */
static void advance(struct job *job, const struct build_walk *turn)
{
    const struct job *leader = turn->start->job;

    if (job->total < leader->total)
        job->total = leader->total;
    if (compare_positions(job, &turn->position) != 0)
        return;
    job->done += turn->rows;
    if (job->total < job->done)
        job->total = job->done;
    if (!turn->has_end)
        return;
    job->has_cursor = true;
    job->cursor = turn->end;
}

/* One that has ended meanwhile has nothing to be saved, and does not hold up the others. */
static enum status save_siblings(struct session *session, const struct build_walk *turn, struct error *err)
{
    for (size_t i = 0; i < turn->start->sibling_count; i++) {
        struct job sibling = turn->start->siblings[i];
        struct error ended;
        enum status status;

        advance(&sibling, turn);
        status = job_checkpoint_in(session, &sibling, &ended);
        if (status != STATUS_OK && status != STATUS_CANCELLED) {
            *err = ended;
            return status;
        }
    }
    return STATUS_OK;
}

/* In the fence: who drops the table, and cancels its builds, is then not under way. */
static enum status attempt_save(struct session *session, void *context, struct error *err)
{
    const struct build_walk *turn = context;
    struct job own = *turn->start->job;

    TRY(begin_transaction(session, err));
    advance(&own, turn);
    if (!turn->is_last)
        TRY(job_checkpoint_in(session, &own, err));
    TRY(save_siblings(session, turn, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

enum status build_walk_save(struct build_walk *turn, struct error *err)
{
    enum status status = worker_attempt(turn->start->job->store, attempt_save, turn, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}
