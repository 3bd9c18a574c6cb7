/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_build.c - building an index beside its writers.
 *
 *   BUILDING    phase 0         walk the source in key order and reconcile every key; writers make intents
 * from the moment on when BUILDING is in force, so what changes behind the walk follows VALIDATING  phases 1,
 * 3 ..  source -> entries: every entity has the entry it should have phases 2, 4 ..  entries -> source: every
 * entry has an entity that it belongs to READY                       after a pass of both without a
 * difference
 *
 * Each chunk of a validation is read in one snapshot and judges only keys with nothing open; differences are
 * counted and reconciled. A chunk that is done twice, or late, is a reconcile as any other: harmless.
 */
#include "store/indexes/index_build.h"

#include "base/failpoint.h"
#include "domain/digest.h"
#include "domain/indexes/index_plan.h"
#include "store/connection/row_arrays.h"
#include "store/entities/owner_rows.h"
#include "store/indexes/build_walk.h"
#include "store/indexes/reconcile.h"
#include "store/indexes/strong_build.h"
#include "store/session/catalogue_change.h"
#include "store/sql.h"

enum {
    CHUNK_KEYS = 500,
    CHUNK_BYTES = 8 * 1024 * 1024,
    MAX_PASSES = 5,
};

/* Keys of one chunk, in the job's arena; of the source, or of the entries' table. */
struct chunk {
    struct job *job;
    bool is_gone; /* there is no such index any more */
    bool has_manifests;
    bool is_unique;
    bool is_last;
    struct intent *keys;
    size_t count;
    struct intent *faulty; /* source keys */
    struct strong_source
        *suspects; /* the same where there are no manifests, with the entries they were found by */
    size_t faulty_count;
    int64_t strangers; /* rows among the entries that name no source */
};

static bool is_source_pass(const struct job *job)
{
    return job->phase % 2 == 1;
}

static const struct index *find_index(const struct session *session, const struct job *job)
{
    const struct table *entries = catalogue_find_id(session->catalogue, job->index_id);

    return entries ? entries->entries_of : NULL;
}

static struct intent key_intent(
    int64_t table_id, int64_t home_id, const struct entity_key *key, struct arena *arena)
{
    return (struct intent){
        .bucket = entity_key_bucket(home_id, key->partition),
        .kind = INTENT_RECONCILE,
        .table_id = table_id,
        .key = { arena_copy(arena, key->partition), arena_copy(arena, key->row) },
    };
}

/* ---- the keys of a chunk ---- */

/* sql_chunk_keys ends with the size. */
enum chunk_column { CHUNK_PARTITION, CHUNK_ROW, CHUNK_SIZE, CHUNK_TS, CHUNK_EXPIRES, CHUNK_PROPERTIES };

static void take_keys(struct chunk *chunk, const PGresult *rows, int64_t table_id, int64_t home_id)
{
    struct arena *arena = &chunk->job->arena;
    int count = PQntuples(rows);
    int64_t bytes = 0;

    chunk->keys = ARENA_ARRAY(arena, struct intent, (size_t)count);
    chunk->count = 0;
    for (int i = 0; i < count; i++) {
        struct entity_key key = { pg_bytes(rows, i, CHUNK_PARTITION), pg_bytes(rows, i, CHUNK_ROW) };

        bytes += pg_int8(rows, i, CHUNK_SIZE);
        if (i > 0 && bytes > CHUNK_BYTES)
            break;
        chunk->keys[chunk->count++] = key_intent(table_id, home_id, &key, arena);
    }
    chunk->is_last = count < CHUNK_KEYS && chunk->count == (size_t)count;
}

static void range_params(
    const struct job *job, int64_t table_id, struct arena *arena, struct pg_params *params)
{
    pg_params_init(params, arena);
    pg_add_int8(params, table_id);
    pg_add_bytes(params, job->cursor.partition);
    pg_add_bytes(params, job->cursor.row);
    pg_add_bool(params, job->has_cursor);
    pg_add_int8(params, CHUNK_KEYS);
}

/* For progress only: a table too large to be counted in time has no total. */
static enum status count_source(struct session *session, struct job *job, struct error *err)
{
    struct pg_params params;
    PG_RESULT count = NULL;
    enum status status;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, job->table_id);
    status = pg_query(&session->pg, &sql_chunk_count, &params, &count, err);
    if (status == STATUS_OK)
        job->total = pg_int8(count, 0, PG_ONLY_COLUMN);
    return status == STATUS_TIMEOUT ? STATUS_OK : status;
}

static enum status read_walk(struct session *session, void *context, struct error *err)
{
    struct chunk *chunk = context;
    struct job *job = chunk->job;
    const struct index *index;
    struct pg_params params;
    PG_RESULT rows = NULL;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, job);
    chunk->is_gone = !index;
    if (chunk->is_gone)
        return STATUS_OK;
    chunk->has_manifests = index_has_manifest(index);
    chunk->is_unique = index->is_unique;
    range_params(job, job->table_id, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_chunk_keys, &params, &rows, err));
    take_keys(chunk, rows, job->table_id, job->table_id);
    return STATUS_OK;
}

/* ---- what a chunk's keys look like, in one snapshot ---- */

enum source_column { SOURCE_N, SOURCE_LIVE, SOURCE_MANIFEST, SOURCE_IN_FLIGHT };

enum entry_column { ENTRY_N, ENTRY_CATALOGUE, ENTRY_VERSION, ENTRY_TS, ENTRY_PROPERTIES, ENTRY_EXPIRES };

static void key_params(const struct intent *keys, size_t count, struct arena *arena, struct pg_params *params)
{
    struct key_arrays arrays;

    key_arrays_init(&arrays, arena);
    for (size_t i = 0; i < count; i++)
        key_arrays_put(&arrays, keys[i].table_id, &keys[i].key, keys[i].bucket);
    pg_params_init(params, arena);
    key_arrays_add(&arrays, params);
}

static enum status ask_sources(struct session *session, const struct intent *keys, size_t count,
    bool wants_life, PGresult **out, struct error *err)
{
    struct pg_params params;

    key_params(keys, count, &session->arena, &params);
    pg_add_bool(&params, wants_life);
    return pg_query(&session->pg, &sql_validate_sources, &params, out, err);
}

static enum status ask_entries(
    struct session *session, const struct intent *keys, size_t count, PGresult **out, struct error *err)
{
    struct pg_params params;

    key_params(keys, count, &session->arena, &params);
    return pg_query(&session->pg, &sql_entry_get, &params, out, err);
}

/* The entry that a row of the source should have; false: none. */
static bool project(const struct index *index, const struct entity_key *key, const PGresult *rows, int row,
    struct arena *arena, struct index_entry *out)
{
    struct property_list properties = { pg_bytes(rows, row, CHUNK_PROPERTIES) };
    const char *why;

    if (index_plan_project(index,
            &(struct entity){
                .key = *key, .timestamp = pg_int8(rows, row, CHUNK_TS), .properties = properties },
            arena, out, &why) != PROJECTED)
        return false;
    index_entry_expires(out, pg_int8(rows, row, CHUNK_EXPIRES));
    return true;
}

struct projected {
    struct index_entry *entries;
    bool *has_entry;
};

/* Of a unique index: what an entity that does not own its value asks for does not count. */
static enum status drop_unowned(struct session *session, const struct index *index,
    struct owner_question *questions, bool *has_entry, size_t count, struct error *err)
{
    if (!index->is_unique)
        return STATUS_OK;
    TRY(owner_rows_ask(session, questions, count, err));
    for (size_t i = 0; i < count; i++)
        has_entry[i] = has_entry[i] && questions[i].is_owner;
    return STATUS_OK;
}

/* The entry that each row of a chunk of the source should have, and whether it should have one. */
static enum status project_all(struct session *session, struct chunk *chunk, const struct index *index,
    const PGresult *rows, struct projected *out, struct error *err)
{
    struct owner_question *questions = ARENA_ARRAY(&session->arena, struct owner_question, chunk->count);

    out->entries = ARENA_ARRAY(&session->arena, struct index_entry, chunk->count);
    out->has_entry = ARENA_ARRAY(&session->arena, bool, chunk->count);
    for (size_t i = 0; i < chunk->count; i++) {
        const struct entity_key *key = &chunk->keys[i].key;
        const struct row_state state = { .live = true,
            .ts = pg_int8(rows, (int)i, CHUNK_TS),
            .properties = { pg_bytes(rows, (int)i, CHUNK_PROPERTIES) } };

        out->has_entry[i] = project(index, key, rows, (int)i, &session->arena, &out->entries[i]);
        questions[i] = owner_rows_question(index, key, &state, &session->arena);
    }
    return drop_unowned(session, index, questions, out->has_entry, chunk->count, err);
}

/* ---- source -> entries ---- */

static bool manifest_agrees(
    struct str stored, int64_t index_id, const struct index_entry *wanted, struct arena *arena)
{
    struct manifest manifest;
    int found = 0;

    if (!manifest_decode(stored, arena, &manifest))
        return false;
    for (size_t i = 0; i < manifest.count; i++) {
        const struct manifest_item *item = &manifest.items[i];

        if (item->index_id != index_id)
            continue;
        if (!wanted || item->digest != wanted->digest || entity_key_compare(&item->key, &wanted->key) != 0)
            return false;
        found++;
    }
    return found == (wanted ? 1 : 0);
}

static void add_fault(struct chunk *chunk, struct intent source, const struct entity_key *found)
{
    struct strong_source *suspect = &chunk->suspects[chunk->faulty_count];

    *suspect = (struct strong_source){ .key = source.key, .has_found = found };
    if (found)
        suspect->found = *found;
    chunk->faulty[chunk->faulty_count++] = source;
}

/* One after another: the manifest, if there are any; then, of those that should have one, the stored entry. */
static enum status compare_sources(struct session *session, struct chunk *chunk, const struct index *index,
    const PGresult *rows, struct error *err)
{
    struct intent *addresses = ARENA_ARRAY(&session->arena, struct intent, chunk->count);
    size_t *positions = ARENA_ARRAY(&session->arena, size_t, chunk->count), count = 0;
    struct projected wanted;
    PG_RESULT sources = NULL;
    PG_RESULT entries = NULL;

    TRY(project_all(session, chunk, index, rows, &wanted, err));
    if (chunk->has_manifests)
        TRY(ask_sources(session, chunk->keys, chunk->count, false, &sources, err));
    for (size_t i = 0; i < chunk->count; i++) {
        const struct index_entry *entry = &wanted.entries[i];
        bool has_entry = wanted.has_entry[i];

        if (sources && pg_bool(sources, (int)i, SOURCE_IN_FLIGHT))
            continue;
        if (sources && !manifest_agrees(pg_bytes(sources, (int)i, SOURCE_MANIFEST), index->index_id,
                           has_entry ? entry : NULL, &session->arena)) {
            add_fault(chunk, chunk->keys[i], NULL);
        } else if (has_entry) {
            addresses[count] =
                (struct intent){ .bucket = entry->bucket, .table_id = index->index_id, .key = entry->key };
            positions[count++] = i;
        }
    }
    if (count == 0)
        return STATUS_OK;
    TRY(ask_entries(session, addresses, count, &entries, err));
    for (int i = 0; i < PQntuples(entries); i++) {
        size_t n = (size_t)pg_int8(entries, i, ENTRY_N) - 1;

        if (PQgetisnull(entries, i, ENTRY_VERSION) ||
            index_plan_digest(pg_bytes(entries, i, ENTRY_PROPERTIES), pg_int8(entries, i, ENTRY_EXPIRES)) !=
                wanted.entries[positions[n]].digest)
            add_fault(chunk, chunk->keys[positions[n]], NULL);
    }
    return STATUS_OK;
}

/* ---- entries -> source ---- */

/* The source keys that the entries of a chunk name, in the job's arena; how many there are. */
static size_t list_origins(struct chunk *chunk, const struct index *index, const PGresult *rows,
    struct intent *origins, struct index_entry *entries)
{
    size_t count = 0;

    for (size_t i = 0; i < chunk->count; i++) {
        struct str properties = pg_bytes(rows, (int)i, CHUNK_PROPERTIES);
        struct entity_key source;

        if (!index_entry_source((struct property_list){ properties }, &source)) {
            chunk->strangers++;
            continue;
        }
        origins[count] =
            key_intent(index->source_table_id, index->source_table_id, &source, &chunk->job->arena);
        entries[count++] = (struct index_entry){ .key = chunk->keys[i].key,
            .digest = index_plan_digest(properties, pg_int8(rows, (int)i, CHUNK_EXPIRES)) };
    }
    return count;
}

/*
 * That the manifest of a live source is right has been seen on the way there; so its properties, which may be much
 * larger than the entry, need not be read again.
 */
static enum status compare_entries(struct session *session, struct chunk *chunk, const struct index *index,
    const PGresult *rows, struct error *err)
{
    struct intent *origins = ARENA_ARRAY(&chunk->job->arena, struct intent, chunk->count);
    struct index_entry *entries = ARENA_ARRAY(&session->arena, struct index_entry, chunk->count);
    size_t count = list_origins(chunk, index, rows, origins, entries);
    PG_RESULT sources = NULL;

    if (count == 0)
        return STATUS_OK;
    TRY(ask_sources(session, origins, count, true, &sources, err));
    for (int i = 0; i < (int)count; i++) {
        if (pg_bool(sources, i, SOURCE_IN_FLIGHT))
            continue;
        if (!pg_bool(sources, i, SOURCE_LIVE) || !manifest_agrees(pg_bytes(sources, i, SOURCE_MANIFEST),
                                                     index->index_id, &entries[i], &session->arena))
            add_fault(chunk, origins[i], NULL);
    }
    return STATUS_OK;
}

/* Without manifests the sources themselves say which entries they ask for. */
static enum status compare_bare_entries(struct session *session, struct chunk *chunk,
    const struct index *index, const PGresult *rows, struct error *err)
{
    struct arena *arena = &session->arena;
    struct intent *origins = ARENA_ARRAY(&chunk->job->arena, struct intent, chunk->count);
    struct index_entry *entries = ARENA_ARRAY(arena, struct index_entry, chunk->count);
    size_t count = list_origins(chunk, index, rows, origins, entries);
    struct owner_question *questions = ARENA_ARRAY(arena, struct owner_question, count);
    bool *is_right = ARENA_ARRAY(arena, bool, count);
    PG_RESULT sources = NULL;

    if (count == 0)
        return STATUS_OK;
    TRY(ask_entries(session, origins, count, &sources, err));
    for (int row = 0; row < PQntuples(sources); row++) {
        size_t n = (size_t)pg_int8(sources, row, ENTRY_N) - 1;
        const struct row_state state = { .live = !PQgetisnull(sources, row, ENTRY_TS),
            .ts = PQgetisnull(sources, row, ENTRY_TS) ? 0 : pg_int8(sources, row, ENTRY_TS),
            .properties = { pg_bytes(sources, row, ENTRY_PROPERTIES) } };
        struct entity_key wanted;

        is_right[n] = index_plan_key(index, &origins[n].key, &state, arena, &wanted) == PROJECTED &&
                      entity_key_compare(&wanted, &entries[n].key) == 0;
        questions[n] = owner_rows_question(index, &origins[n].key, &state, arena);
    }
    TRY(drop_unowned(session, index, questions, is_right, count, err));
    for (size_t n = 0; n < count; n++)
        if (!is_right[n])
            add_fault(chunk, origins[n], &entries[n].key);
    return STATUS_OK;
}

static enum status compare(struct session *session, struct chunk *chunk, const struct index *index,
    const PGresult *rows, struct error *err)
{
    chunk->faulty = ARENA_ARRAY(&chunk->job->arena, struct intent, chunk->count);
    chunk->suspects = ARENA_ARRAY(&chunk->job->arena, struct strong_source, chunk->count);
    chunk->faulty_count = 0;
    chunk->strangers = 0;
    if (chunk->count == 0)
        return STATUS_OK;
    if (is_source_pass(chunk->job))
        return compare_sources(session, chunk, index, rows, err);
    return chunk->has_manifests ? compare_entries(session, chunk, index, rows, err)
                                : compare_bare_entries(session, chunk, index, rows, err);
}

static enum status validate(struct session *session, void *context, struct error *err)
{
    struct chunk *chunk = context;
    struct job *job = chunk->job;
    const struct index *index;
    struct pg_params params;
    PG_RESULT begun = NULL;
    PG_RESULT rows = NULL;
    PG_RESULT ended = NULL;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, job);
    chunk->is_gone = !index;
    if (!index)
        return STATUS_OK;
    chunk->has_manifests = index_has_manifest(index);
    chunk->is_unique = index->is_unique;
    TRY(pg_query(&session->pg, &sql_begin_snapshot, NULL, &begun, err));
    range_params(job, is_source_pass(job) ? job->table_id : job->index_id, &session->arena, &params);
    pg_add_int8(&params, CHUNK_BYTES);
    TRY(pg_query(&session->pg, &sql_chunk_rows, &params, &rows, err));
    if (is_source_pass(job))
        take_keys(chunk, rows, job->table_id, job->table_id);
    else
        take_keys(chunk, rows, job->index_id, index_plan_home_table(index));
    TRY(compare(session, chunk, index, rows, err));
    return pg_query(&session->pg, &sql_commit, NULL, &ended, err);
}

/* ---- effects ---- */

static enum status reconcile(struct job *job, const struct intent *keys, size_t count, struct error *err)
{
    return reconcile_each(job->store, keys, count, err);
}

/* Under the locks of the sources. Those that cannot have their entry are noted by a reconcile, as of any index. */
static enum status mend_locked(
    struct job *job, const struct strong_source *sources, size_t count, struct error *err)
{
    struct strong_mending mending = {
        .index_id = job->index_id, .sources = sources, .count = count, .arena = &job->arena
    };

    TRY(strong_build_mend(job->store, &mending, err));
    return mending.violation_count > 0 ? reconcile(job, mending.violations, mending.violation_count, err)
                                       : STATUS_OK;
}

static enum status build_chunk(struct job *job, const struct chunk *chunk, struct error *err)
{
    struct strong_source *sources;

    if (chunk->count == 0)
        return STATUS_OK;
    if (chunk->has_manifests && !chunk->is_unique)
        return reconcile(job, chunk->keys, chunk->count, err);
    sources = ARENA_ARRAY(&job->arena, struct strong_source, chunk->count);
    for (size_t i = 0; i < chunk->count; i++)
        sources[i].key = chunk->keys[i].key;
    TRY(mend_locked(job, sources, chunk->count, err));
    return chunk->has_manifests ? reconcile(job, chunk->keys, chunk->count, err) : STATUS_OK;
}

static enum status mend_chunk(struct job *job, const struct chunk *chunk, struct error *err)
{
    if (chunk->faulty_count == 0)
        return STATUS_OK;
    return chunk->has_manifests ? reconcile(job, chunk->faulty, chunk->faulty_count, err)
                                : mend_locked(job, chunk->suspects, chunk->faulty_count, err);
}

struct state_change {
    struct job *job;
    enum index_state state;
};

/* The index's state and the operation's checkpoint, through the fence, in one commit. */
static enum status change_state(struct session *session, void *context, struct error *err)
{
    const struct state_change *change = context;
    struct pg_params params;
    PG_RESULT updated = NULL;

    TRY(catalogue_change_begin(session, err));
    TRY(job_checkpoint_in(session, change->job, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, change->job->index_id);
    pg_add_int2(&params, (int16_t)change->state);
    TRY(pg_query(&session->pg, &sql_index_set_state, &params, &updated, err));
    FAILPOINT_TRY("build.state_change", err);
    TRY(catalogue_change_commit(session, err));
    FAILPOINT("build.after_state_change");
    return STATUS_OK;
}

static enum status enter(struct job *job, enum index_state state, struct error *err)
{
    struct state_change change = { job, state };
    enum status status = worker_attempt(job->store, change_state, &change, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

/* ---- a chunk ---- */

static void move_cursor(struct job *job, const struct chunk *chunk)
{
    if (chunk->count == 0)
        return;
    job->has_cursor = true;
    job->cursor = chunk->keys[chunk->count - 1].key;
}

static void next_phase(struct job *job)
{
    job->phase++;
    job->has_cursor = false;
    job->cursor = (struct entity_key){ STR_EMPTY, STR_EMPTY };
}

/* Dropping an index cancels its build; if it has gone in another way, that is the same. */
static enum status cancel(struct job *job, struct error *err)
{
    job->state = JOB_CANCELLED;
    return job_checkpoint(job, err);
}

/* ---- violations that the declaration does not allow ---- */

enum violation_column { VIOLATION_COUNT, VIOLATION_CAUSES };

/* Of an index that refuses entities that cannot have their entry: whether some are there. job->error says so. */
static enum status find_violations(struct session *session, void *context, struct error *err)
{
    struct job *job = context;
    const struct index *index;
    struct pg_params params;
    PG_RESULT found = NULL;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, job);
    if (!index || index->on_violation != VIOLATION_REJECT)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, job->table_id);
    pg_add_int8(&params, job->index_id);
    TRY(pg_query(&session->pg, &sql_violation_count, &params, &found, err));
    if (pg_int8(found, 0, VIOLATION_COUNT) == 0)
        return STATUS_OK;
    job->error = arena_format(&job->arena,
        "on_violation is REJECT, and %lld entities cannot have their entry; change them or drop the index. "
        "%.*s",
        (long long)pg_int8(found, 0, VIOLATION_COUNT), STR_ARG(pg_bytes(found, 0, VIOLATION_CAUSES)));
    return STATUS_OK;
}

/* Every entity has been read, so every violation has its dead letter. */
static enum status end_walk(struct job *job, struct error *err)
{
    TRY(worker_attempt(job->store, find_violations, job, err));
    if (job->error.len > 0) {
        job->state = JOB_FAILED;
        return job_checkpoint(job, err);
    }
    next_phase(job);
    return enter(job, INDEX_VALIDATING, err);
}

/* Key by key: what cannot be built in ranges, or has failed as a range. */
static enum status walk_keys(struct job *job, struct error *err)
{
    struct chunk chunk = { .job = job };

    TRY(worker_attempt(job->store, read_walk, &chunk, err));
    if (chunk.is_gone)
        return cancel(job, err);
    TRY(build_chunk(job, &chunk, err));
    FAILPOINT_TRY("build.chunk_before_checkpoint", err);
    job->done += (int64_t)chunk.count;
    if (job->total < job->done)
        job->total = job->done;
    move_cursor(job, &chunk);
    if (!chunk.is_last)
        return job_checkpoint(job, err);
    return end_walk(job, err);
}

static enum status begin_walk(struct session *session, void *context, struct error *err)
{
    return count_source(session, context, err);
}

/* Everything of the range has its entries now, or is reconciled here. */
static enum status end_range(struct job *job, struct build_walk *walk, struct error *err)
{
    if (walk->other_count > 0)
        TRY(reconcile(job, walk->others, walk->other_count, err));
    FAILPOINT_TRY("build.chunk_before_checkpoint", err);
    if (!walk->is_last)
        return build_walk_save(walk, err);
    job->done += walk->rows;
    if (job->total < job->done)
        job->total = job->done;
    return end_walk(job, err);
}

static enum status walk_chunk(struct job *job, struct error *err)
{
    struct build_walk walk = { .job = job };
    struct error failure = { 0 };
    enum status status;

    if (!job->has_cursor && job->total == 0)
        TRY(worker_attempt(job->store, begin_walk, job, err));
    status = build_walk_chunk(&walk, &failure);
    if (status == STATUS_MAYBE_DONE || (status != STATUS_OK && pg_is_transient(&failure))) {
        *err = failure;
        return status;
    }
    if (status != STATUS_OK || walk.is_unfit)
        return walk_keys(job, err);
    if (walk.is_gone)
        return cancel(job, err);
    return walk.is_saved ? STATUS_OK : end_range(job, &walk, err);
}

/* Both directions have been looked at. */
static enum status end_pass(struct job *job, struct error *err)
{
    if (job->faults == 0) {
        job->state = JOB_DONE;
        job->total = job->done;
        return enter(job, INDEX_READY, err);
    }
    if (job->phase >= 2 * MAX_PASSES) {
        job->state = JOB_FAILED;
        job->error = arena_format(&job->arena,
            "after %d passes %lld differences between entities and entries are left; drop the index and "
            "create "
            "it anew",
            MAX_PASSES, (long long)job->faults);
        return job_checkpoint(job, err);
    }
    job->faults = 0;
    next_phase(job);
    return job_checkpoint(job, err);
}

static enum status validate_chunk(struct job *job, struct error *err)
{
    struct chunk chunk = { .job = job };

    TRY(worker_attempt(job->store, validate, &chunk, err));
    if (chunk.is_gone)
        return cancel(job, err);
    TRY(mend_chunk(job, &chunk, err));
    FAILPOINT_TRY("build.chunk_before_checkpoint", err);
    job->faults += (int64_t)chunk.faulty_count + chunk.strangers;
    move_cursor(job, &chunk);
    if (!chunk.is_last)
        return job_checkpoint(job, err);
    if (!is_source_pass(job))
        return end_pass(job, err);
    next_phase(job);
    return job_checkpoint(job, err);
}

enum status index_build_chunk(struct job *job, struct error *err)
{
    return job->phase == 0 ? walk_chunk(job, err) : validate_chunk(job, err);
}
