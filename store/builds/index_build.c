/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_build.c - building an index beside its writers.
 *
 *   BUILDING    phase 0      walk the source in key order; writers make intents as soon as BUILDING is in force,
 *                            so changes behind the walk are reconciled later
 *               phase -1     of a unique index without manifests, look through its violations (guard G66)
 *               phase -2     of a copy rule, copy to all dependents; writers make intents for them, too
 *   VALIDATING  phases 1 ..  verify the whole index, and repair it where it differs (verify_job.h), with a report
 *   READY
 *
 * A chunk that is done twice, or late, is a reconcile as any other: harmless.
 */
#include "store/builds/index_build.h"

#include "base/failpoint.h"
#include "domain/indexes/index_names.h"
#include "store/builds/build_turn.h"
#include "store/copies/copy_work.h"
#include "store/indexes/reconcile.h"
#include "store/indexes/replacement_calls.h"
#include "store/indexes/strong_build.h"
#include "store/session/catalogue_change.h"
#include "store/sql.h"
#include "store/verification/verify_job.h"

enum {
    CHUNK_KEYS = 500,
    CHUNK_BYTES = 8 * 1024 * 1024,
    SETTLING = -1,
    COPYING = -2,
    VALIDATION = 1, /* the first phase of the validation */
    /* how often a build reads an entity: in the walk, in the validation, and as an entry */
    READINGS = 3,
};

/* The source keys of one chunk; in the job's arena. */
struct chunk {
    struct job *job;
    bool is_gone; /* the index does not exist any more */
    bool has_manifests;
    bool is_unique;
    bool has_copies;
    bool is_last;
    struct intent *keys;
    size_t count;
};

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

enum chunk_column { CHUNK_PARTITION, CHUNK_ROW, CHUNK_SIZE };

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

/*
 * Count the entities, to report progress. A table that is too large to be counted in time has no
 * total.
 */
static enum status count_source(struct session *session, struct job *job, struct error *err)
{
    struct pg_params params;
    PG_RESULT count = NULL;
    enum status status;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, job->table_id);
    status = pg_query(&session->pg, &sql_chunk_count, &params, &count, err);
    if (status == STATUS_OK)
        job->total = READINGS * pg_int8(count, 0, PG_ONLY_COLUMN);
    return status == STATUS_TIMEOUT ? STATUS_OK : status;
}

static enum status read_walk(struct session *session, void *context, struct error *err)
{
    struct chunk *chunk = context;
    struct job *job = chunk->job;
    const struct index *index;
    const struct str *names;
    size_t name_count;
    struct pg_params params;
    PG_RESULT rows = NULL;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, job);
    chunk->is_gone = !index;
    if (chunk->is_gone)
        return STATUS_OK;
    name_count = index_names_of(index, &session->arena, &names);
    chunk->has_manifests = index_has_manifest(index);
    chunk->is_unique = index->is_unique;
    job_range_params(job, CHUNK_KEYS, &session->arena, &params);
    pg_add_names(&params, names, name_count, true);
    TRY(pg_query(&session->pg, &sql_chunk_keys, &params, &rows, err));
    take_keys(chunk, rows, job->table_id, job->table_id);
    return STATUS_OK;
}

/* ---- effects ---- */

static enum status reconcile(struct job *job, const struct intent *keys, size_t count, struct error *err)
{
    return reconcile_each(job->store, keys, count, err);
}

/*
 * Write the entries of a strong index under the locks of their sources. A source that cannot have
 * its entry is reconciled, which records the violation. In a unique index all sources are
 * reconciled: a reconcile that ran before the owner was known has recorded a violation, and another
 * one may be about to, once it gets the lock.
 */
static enum status mend_locked(
    struct job *job, const struct chunk *chunk, const struct strong_source *sources, struct error *err)
{
    struct strong_mending mending = {
        .index_id = job->index_id, .sources = sources, .count = chunk->count, .arena = &job->arena
    };

    TRY(strong_build_mend(job->store, &mending, err));
    if (chunk->has_manifests || chunk->is_unique)
        return reconcile(job, chunk->keys, chunk->count, err);
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
    return mend_locked(job, chunk, sources, err);
}

struct state_change {
    struct job *job;
    enum index_state state;
};

/*
 * Change the index's state (if it becomes READY, also its name) and store the operation's
 * checkpoint, through the fence, in one commit.
 */
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
    if (change->state == INDEX_READY)
        TRY(replacement_calls_send_switch(session, find_index(session, change->job), err));
    FAILPOINT_TRY("build.state_change", err);
    TRY(catalogue_change_commit(session, change->job->table_id, err));
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

static void begin_phase(struct job *job, int16_t phase)
{
    job->phase = phase;
    job->has_cursor = false;
    job->cursor = (struct entity_key){ STR_EMPTY, STR_EMPTY };
}

/*
 * If the index does not exist any more, because it was dropped or its table deleted, its build is
 * cancelled.
 */
static enum status cancel(struct job *job, struct error *err)
{
    job->state = JOB_CANCELLED;
    return job_checkpoint(job, err);
}

static bool is_replacement(const struct job *job)
{
    return str_equal(job->kind, STR_LITERAL("replace_index"));
}

/*
 * Fail the build with job->error as the reason. If the index is a replacement, drop it; any other
 * index stays until a caller drops it.
 */
static enum status fail(struct job *job, struct error *err)
{
    job->state = JOB_FAILED;
    return is_replacement(job) ? replacement_calls_give_up(job, err) : job_checkpoint(job, err);
}

/* ---- violations that the declaration does not allow ---- */

enum violation_column { VIOLATION_COUNT, VIOLATION_CAUSES };

/* If the index does not allow violations and has some, set job->error, which says how many. */
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
        "on_violation is REJECT, and %lld entities cannot have their entry; change them %s. %.*s",
        (long long)pg_int8(found, 0, VIOLATION_COUNT),
        is_replacement(job) ? "and replace the index again, which has stayed as it was" : "or drop the index",
        STR_ARG(pg_bytes(found, 0, VIOLATION_CAUSES)));
    return STATUS_OK;
}

/* At this point every entity has been read, so every violation has its dead letter. */
static enum status begin_validation(struct job *job, struct error *err)
{
    TRY(worker_attempt(job->store, find_violations, job, err));
    if (job->error.len > 0)
        return fail(job, err);
    begin_phase(job, VALIDATION);
    return enter(job, INDEX_VALIDATING, err);
}

/* ---- copying ---- */

/* Copy to the next dependents. A write behind the cursor has made an intent for its dependent or source. */
static enum status copy(struct job *job, struct error *err)
{
    struct chunk chunk = { .job = job };
    struct copy_counts counts = { 0 };
    struct entity_key *keys;

    TRY(worker_attempt(job->store, read_walk, &chunk, err));
    if (chunk.is_gone)
        return cancel(job, err);
    keys = ARENA_ARRAY(&job->arena, struct entity_key, chunk.count);
    for (size_t i = 0; i < chunk.count; i++)
        keys[i] = chunk.keys[i].key;
    TRY(copy_work_force(job->store, job->index_id, keys, chunk.count, &counts, err));
    FAILPOINT_TRY("copy_build.before_checkpoint", err);
    move_cursor(job, &chunk);
    return chunk.is_last ? begin_validation(job, err) : job_checkpoint(job, err);
}

static enum status begin_copying(struct job *job, struct error *err)
{
    begin_phase(job, COPYING);
    return job_checkpoint(job, err);
}

/* ---- looking through violations ---- */

/*
 * A reconcile notes a violation for an entity that owns its value only later, when a chunk has come
 * to it. Without manifests nothing that a chunk locks holds up such a reconcile, which may even
 * commit after the chunk. So the keys with a violation are reconciled once more when all chunks
 * have committed and all reconciles that began before have ended (guard G66).
 */
static bool must_settle(const struct session *session, const struct job *job)
{
    const struct index *index = find_index(session, job);

    return index && index->is_unique && !index_has_manifest(index);
}

static bool has_copies(const struct session *session, const struct job *job)
{
    const struct index *index = find_index(session, job);

    return index && index->copies;
}

/* Every transaction that writes has entered the fence, so closing it waits for all of them. */
static enum status await_reconciles(struct session *session, struct error *err)
{
    TRY(catalogue_change_begin(session, err));
    pg_recover(&session->pg);
    return STATUS_OK;
}

static enum status read_violations(struct session *session, void *context, struct error *err)
{
    struct chunk *chunk = context;
    struct job *job = chunk->job;
    struct pg_params params;
    PG_RESULT rows = NULL;

    TRY(session_refresh(session, NULL, err));
    chunk->is_last = !must_settle(session, job);
    chunk->has_copies = has_copies(session, job);
    if (chunk->is_last)
        return STATUS_OK;
    if (!job->has_cursor)
        TRY(await_reconciles(session, err));
    job_range_params(job, CHUNK_KEYS, &session->arena, &params);
    pg_add_int8(&params, job->index_id);
    TRY(pg_query(&session->pg, &sql_violation_keys, &params, &rows, err));
    take_keys(chunk, rows, job->table_id, job->table_id);
    return STATUS_OK;
}

static enum status settle(struct job *job, struct error *err)
{
    struct chunk chunk = { .job = job };

    TRY(worker_attempt(job->store, read_violations, &chunk, err));
    TRY(reconcile(job, chunk.keys, chunk.count, err));
    FAILPOINT_TRY("build.settled", err);
    move_cursor(job, &chunk);
    if (!chunk.is_last)
        return job_checkpoint(job, err);
    return chunk.has_copies ? begin_copying(job, err) : begin_validation(job, err);
}

static enum status end_walk(struct job *job, struct error *err)
{
    begin_phase(job, SETTLING);
    return settle(job, err);
}

/* Reconcile key by key: for an index that cannot be built in ranges, or a range that has failed. */
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

/* Store that everything up to the end of the turn has its entries. */
static enum status end_turn(struct job *job, struct build_turn *turn, struct error *err)
{
    struct build_walk *whole = &turn->whole;

    FAILPOINT_TRY("build.chunk_before_checkpoint", err);
    if (!whole->is_last || turn->start.sibling_count > 0)
        TRY(build_walk_save(whole, err));
    if (!whole->is_last)
        return STATUS_OK;
    job->done += whole->rows;
    if (job->total < job->done)
        job->total = job->done;
    return end_walk(job, err);
}

static enum status walk_turn(struct job *job, struct build_turn *turn, struct error *err)
{
    struct error failure = { 0 };
    enum status status = build_turn_run(turn, &failure);

    if (status == STATUS_MAYBE_DONE || (status != STATUS_OK && pg_is_transient(&failure))) {
        *err = failure;
        return status;
    }
    if (status != STATUS_OK || turn->whole.is_unfit)
        return walk_keys(job, err);
    return turn->whole.is_gone ? cancel(job, err) : end_turn(job, turn, err);
}

static enum status walk(struct job *job, struct error *err)
{
    struct build_turn turn = { .start = { .job = job } };
    enum status status;

    if (!job->has_cursor && job->total == 0)
        TRY(worker_attempt(job->store, begin_walk, job, err));
    status = walk_turn(job, &turn, err);
    build_turn_cleanup(&turn);
    return status;
}

/* ---- validating ---- */

/*
 * The validation has ended. `remaining` differences could not be repaired; with 0 the index is
 * right.
 */
static enum status end_validation(struct job *job, int64_t remaining, struct error *err)
{
    job->total = job->done;
    if (remaining == 0) {
        job->state = JOB_DONE;
        return enter(job, INDEX_READY, err);
    }
    job->error = arena_format(&job->arena,
        "%lld differences between entities and entries could not be mended; %s", (long long)remaining,
        is_replacement(job) ? "replace the index again"
                            : "GetIndexReport returns them; drop the index and create it anew");
    return fail(job, err);
}

static enum status validate(struct job *job, struct error *err)
{
    struct verify_part part = { .first_phase = VALIDATION };

    TRY(verify_job_part(job, &part, err));
    return part.is_done ? end_validation(job, part.remaining, err) : STATUS_OK;
}

enum status index_build_chunk(struct job *job, struct error *err)
{
    if (job->phase == SETTLING)
        return settle(job, err);
    if (job->phase == COPYING)
        return copy(job, err);
    return job->phase < VALIDATION ? walk(job, err) : validate(job, err);
}
