/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_walk.c - see the header.
 *
 *   flight 1   BEGIN; fence; catalogue; entities of the next range
 *   flight 2   their state rows, dead letters
 *   plan       in C, pure: domain/reconcile_plan
 *   flight 3   change and insert state rows, which locks them; lock or create the owners of unique
 *              indexes; then the versions of the entities
 *   flight 4   undo flight 3 for entities that have changed or own nothing; owners; entries
 *   flight 5   marker; COMMIT, which does not wait for the disk
 *
 * The checkpoint of all chunks of a turn is a later transaction, which waits for the disk.
 *
 * A reconcile locks a key's state row first and reads its entity then. Here most keys have no state
 * row yet, and writing each state row twice, first empty and then with its manifest, would cost
 * more than all other work of the chunk. So a chunk reads the entities first, and reads their
 * versions again after the lock (guard G8): an entity that still has its version is the one the
 * plan was made from. A key whose entity has changed, or whose state row another transaction has
 * inserted or changed, is left to a reconcile.
 *
 * A chunk removes no intents: workers do the work of open intents later. A key for which nothing
 * has to be written needs no lock: its manifest says that its entries exist, and every later change
 * of the entity makes an intent.
 *
 * An index in the partition of its entities has no state rows: build_range_locked.h.
 */
#include "store/builds/build_walk.h"

#include "base/failpoint.h"
#include "store/builds/build_range_locked.h"
#include "store/builds/build_range_owners.h"
#include "store/builds/build_range_write.h"
#include "store/sql.h"

/* how long the claims of builds that take part last */
enum { SIBLINGS_MS = 5000 };

/* ---- builds that come along ---- */

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

/*
 * Claim the builds of the table's other indexes. A job with a rate limit takes no other builds
 * along.
 */
static enum status claim_siblings(
    struct session *session, const struct table *table, struct build_walk_start *start, struct error *err)
{
    struct job *job = start->job;
    struct pg_array candidates;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_array_init(&candidates, &session->arena, PG_INT8);
    if (job->is_gentle || build_range_list_candidates(table, &candidates) < 2)
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

/*
 * Compare the position of a job's walk with another one. A job without a cursor stands before every
 * key.
 */
static int compare_positions(const struct job *job, const struct turn_position *position)
{
    if (!job->has_cursor || !position->has_from)
        return (int)job->has_cursor - (int)position->has_from;
    return entity_key_compare(&job->cursor, &position->from);
}

/*
 * The turn begins at the position of the build that is furthest behind, and ends at the latest at
 * the position of the build that is next.
 */
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

/* ---- a chunk ---- */

static enum status begin_transaction(struct session *session, struct error *err)
{
    int64_t now_us = 0;

    return session_begin(session, &now_us, err);
}

static enum status commit(struct session *session, struct error *err)
{
    PG_RESULT set = NULL;

    TRY(pg_query(&session->pg, &sql_flush_later, NULL, &set, err));
    FAILPOINT_TRY("build_walk.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/* A chunk of an index without manifests. */
static enum status walk_locked(
    struct session *session, struct build_range *range, const struct index *index, struct error *err)
{
    TRY(begin_transaction(session, err));
    TRY(build_range_locked_run(session, range, index, err));
    return commit(session, err);
}

static enum status walk_range(struct session *session, struct build_range *range, struct error *err)
{
    PG_RESULT rows = NULL;
    PG_RESULT states = NULL;

    TRY(begin_transaction(session, err));
    TRY(build_range_read_rows(session, range, &rows, err));
    if (range->count > 0) {
        TRY(build_range_read_states(session, range, &states, err));
        build_range_write_plan(range, &session->arena);
        FAILPOINT_TRY("build_walk.after_source_read", err);
        TRY(build_range_owners_await(range, err));
        TRY(build_range_write_send(session, range, err));
    }
    build_range_write_list_others(range);
    return commit(session, err);
}

/* The index of a job; NULL if the session's catalogue has no such index or table. */
static const struct index *find_index(const struct session *session, const struct job *job)
{
    const struct table *entries = catalogue_find_id(session->catalogue, job->index_id);

    return entries && catalogue_find_id(session->catalogue, job->table_id) ? entries->entries_of : NULL;
}

/*
 * The index of a job. If the session's catalogue does not have it, the catalogue is read again.
 * NULL: the index does not exist.
 */
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
    struct build_range range = { .walk = walk,
        .table = catalogue_find_id(session->catalogue, start->job->table_id),
        .from = walk->position.has_from ? walk->position.from : (struct entity_key){ STR_EMPTY, STR_EMPTY },
        .has_bound = walk->is_end_reported || start->has_bound,
        .bound = walk->is_end_reported ? walk->reported_end : start->bound };

    TRY(look_up_index(session, start->job, &index, err));
    walk->is_gone = !index;
    if (walk->is_gone)
        return STATUS_OK;
    walk->is_unfit = false;
    return index_has_manifest(index) ? walk_range(session, &range, err)
                                     : walk_locked(session, &range, index, err);
}

enum status build_walk_chunk(struct build_walk *walk, struct error *err)
{
    return worker_attempt(walk->store, attempt_chunk, walk, err);
}

/* ---- a turn ---- */

/* Whether an index of the turn is unique. */
static bool decides_owners(const struct session *session, const struct build_walk_start *start)
{
    const struct index *index = find_index(session, start->job);
    bool decides = index && index->is_unique;

    for (size_t i = 0; i < start->sibling_count && !decides; i++) {
        index = find_index(session, &start->siblings[i]);
        decides = index && index->is_unique;
    }
    return decides;
}

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
    if (start->is_gone)
        return STATUS_OK;
    if (index_has_manifest(index))
        TRY(claim_siblings(session, table, start, err));
    choose_position(start);
    start->is_ordered = decides_owners(session, start);
    return STATUS_OK;
}

enum status build_walk_begin(struct build_walk_start *start, struct error *err)
{
    return worker_attempt(start->job->store, attempt_begin, start, err);
}

/*
 * Move a job's cursor to the end of the turn if it stood where the turn began. Otherwise leave the
 * job as it is.
 */
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

/* A sibling that has ended meanwhile needs no checkpoint; the other ones are still saved. */
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

/*
 * The transaction enters the fence, so no drop of the table, which would cancel its builds, runs at
 * the same time.
 */
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
