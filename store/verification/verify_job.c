/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_job.c - see the header.
 *
 *   phase 0  sum up sources       what every live source asks for
 *   phase 1  sum up entries       what is stored; if the sums agree, the verification is done
 *   phase 2  judge sources        suspects: the entry that the source asks for, and the manifest
 *   phase 3  judge entries        suspects: whether the source asks for the entry
 *   phase 4  judge manifests      suspects that are not live: whether a manifest names an entry that does not exist
 *   phase 5  judge copies         of an index with a copy rule: every dependent, compared with its source
 *
 * A chunk is read in one snapshot. A write between the chunks may make a suspect of its key, but no
 * difference: a difference is what one snapshot shows about one key. The findings of a chunk are
 * committed with the checkpoint that moves the cursor, so each difference is counted once even if a
 * worker dies. A repair first commits its differences as pending. A pending difference is checked,
 * repaired, and checked again before its outcome is committed; repairing it twice does no harm.
 */
#include "store/verification/verify_job.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "store/sql.h"
#include "store/verification/repair.h"
#include "store/verification/verify_copies.h"
#include "store/verification/verify_scan.h"

enum { SUM_SOURCES, SUM_ENTRIES, JUDGE_SOURCES, JUDGE_ENTRIES, JUDGE_MANIFESTS, JUDGE_COPIES, PHASES };
enum {
    PENDING_ROWS = 50,
    CHUNK_ROWS = 8000,
    GENTLE_ROWS = 1000, /* few, so that other callers do not wait for a processor behind them */
    TURN_MS = 400,      /* duration of the chunks that share one checkpoint */
};

struct verify {
    struct job *job;
    int16_t first_phase; /* of the operation: in this file its phases are numbered from here on */
    bool is_gone;        /* the index does not exist any more */
    bool has_report;
    bool has_manifests;
    bool has_copies; /* the index has a copy rule, and the scope is not one of entries */
    bool repairs, dry_run, scans, is_fast;
    struct source_range range;
    struct verify_sums *sums;
    int64_t last_number, remaining;        /* from the report */
    struct str values;                     /* of the entries in the scope: verify_scope.h */
    struct report_difference *differences; /* found since the last checkpoint, in the job's arena */
    size_t count;
    struct report_counts counts; /* since the last checkpoint */
    int64_t numbered;            /* number of differences that get a new number */
};

static const struct index *find_index(const struct session *session, const struct job *job)
{
    const struct table *entries = catalogue_find_id(session->catalogue, job->index_id);

    return entries ? entries->entries_of : NULL;
}

/* ---- the task ---- */

enum report_get_column {
    REPORT_REPAIRS,
    REPORT_DRY_RUN,
    REPORT_SCANS,
    REPORT_HAS_FROM,
    REPORT_FROM,
    REPORT_HAS_BELOW = REPORT_FROM + 2,
    REPORT_BELOW,
    REPORT_LAST_NUMBER = REPORT_BELOW + 2,
    REPORT_IS_FAST,
    REPORT_SUMS,
    REPORT_REMAINING,
    REPORT_SCOPE,
};

/* The columns of a key, next to each other. */
enum { KEY_PARTITION, KEY_ROW };

static struct entity_key copied_key(const PGresult *rows, int row, int column, struct arena *arena)
{
    return (struct entity_key){ arena_copy(arena, pg_bytes(rows, row, column + KEY_PARTITION)),
        arena_copy(arena, pg_bytes(rows, row, column + KEY_ROW)) };
}

static enum status read_report(struct session *session, struct verify *work, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->job->id);
    TRY(pg_query(&session->pg, &sql_report_get, &params, &row, err));
    work->has_report = PQntuples(row) > 0;
    if (!work->has_report)
        return STATUS_OK;
    work->repairs = pg_bool(row, 0, REPORT_REPAIRS);
    work->dry_run = pg_bool(row, 0, REPORT_DRY_RUN);
    work->scans = pg_bool(row, 0, REPORT_SCANS);
    work->range = (struct source_range){ .has_from = pg_bool(row, 0, REPORT_HAS_FROM),
        .has_below = pg_bool(row, 0, REPORT_HAS_BELOW),
        .from = copied_key(row, 0, REPORT_FROM, &work->job->arena),
        .below = copied_key(row, 0, REPORT_BELOW, &work->job->arena) };
    work->last_number = pg_int8(row, 0, REPORT_LAST_NUMBER);
    work->is_fast = pg_bool(row, 0, REPORT_IS_FAST);
    work->remaining = pg_int8(row, 0, REPORT_REMAINING);
    work->values = arena_copy(&work->job->arena, pg_bytes(row, 0, REPORT_SCOPE));
    work->sums = ARENA_NEW(&work->job->arena, struct verify_sums);
    if (!verify_sums_decode(pg_bytes(row, 0, REPORT_SUMS), work->sums))
        return error_set(
            err, STATUS_INTERNAL, "the sums of report %.*s cannot be read", STR_ARG(work->job->id));
    return STATUS_OK;
}

enum pending_column {
    PENDING_NUMBER,
    PENDING_CLASS,
    PENDING_HAS_SOURCE,
    PENDING_SOURCE,
    PENDING_ENTRY = PENDING_SOURCE + 2,
    PENDING_PROPERTY = PENDING_ENTRY + 2
};

static enum status read_pending(struct session *session, struct verify *work, struct error *err)
{
    struct arena *arena = &work->job->arena;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->job->id);
    pg_add_int8(&params, PENDING_ROWS);
    TRY(pg_query(&session->pg, &sql_report_pending, &params, &rows, err));
    work->count = (size_t)PQntuples(rows);
    work->differences = ARENA_ARRAY(arena, struct report_difference, work->count);
    for (int i = 0; i < PQntuples(rows); i++)
        work->differences[i] = (struct report_difference){ .number = pg_int8(rows, i, PENDING_NUMBER),
            .class = (enum difference_class)pg_int2(rows, i, PENDING_CLASS),
            .has_source = pg_bool(rows, i, PENDING_HAS_SOURCE),
            .source = copied_key(rows, i, PENDING_SOURCE, arena),
            .entry = copied_key(rows, i, PENDING_ENTRY, arena),
            .property = arena_copy(arena, pg_bytes(rows, i, PENDING_PROPERTY)) };
    return STATUS_OK;
}

/*
 * The totals are for progress only: a table too large to be counted in time has none. Most sources
 * have one entry.
 */
static enum status count_all(struct session *session, struct job *job, struct error *err)
{
    struct pg_params params;
    PG_RESULT count = NULL;
    enum status status;

    if (job->total > job->done || job->has_cursor || job->phase != SUM_SOURCES)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, job->table_id);
    status = pg_query(&session->pg, &sql_chunk_count, &params, &count, err);
    job->total = job->done;
    if (status == STATUS_OK)
        job->total += 2 * pg_int8(count, 0, PG_ONLY_COLUMN);
    return status == STATUS_TIMEOUT ? STATUS_OK : status;
}

static enum status load(struct session *session, void *context, struct error *err)
{
    struct verify *work = context;
    const struct index *index;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, work->job);
    work->is_gone = !index;
    if (work->is_gone)
        return STATUS_OK;
    TRY(read_report(session, work, err));
    if (!work->has_report)
        return STATUS_OK;
    work->has_manifests = index_has_manifest(index);
    work->has_copies = index->copies && work->values.len == 0;
    if (work->scans && work->job->group != JOB_GROUP_SCRUB && work->first_phase == 0)
        TRY(count_all(session, work->job, err));
    return read_pending(session, work, err);
}

/* ---- a chunk of the scan ---- */

static struct report_difference note(
    const struct subject *subject, const struct difference *difference, struct arena *arena)
{
    struct report_difference out = { .class = difference->class,
        .has_source = subject->has_source,
        .entry = { arena_copy(arena, difference->entry.partition), arena_copy(arena, difference->entry.row) },
        .source_version = subject->source_version,
        .found_version = difference->found ? difference->found->version : 0,
        .found_digest = difference->found ? difference->found->digest : 0,
        .wanted_digest = difference->wanted ? difference->wanted->digest : 0 };

    if (subject->has_source)
        out.source = (struct entity_key){ arena_copy(arena, subject->source.partition),
            arena_copy(arena, subject->source.row) };
    return out;
}

/* Make room for `more` differences behind the present ones, and return it. */
static struct report_difference *add_room(struct verify *work, size_t more)
{
    struct report_difference *all =
        ARENA_ARRAY(&work->job->arena, struct report_difference, work->count + more);

    for (size_t i = 0; i < work->count; i++)
        all[i] = work->differences[i];
    return all;
}

static void note_all(struct verify *work, const struct look *look)
{
    size_t more = 0;

    for (size_t i = 0; i < look->count; i++)
        more += look->subjects[i].difference_count;
    if (more == 0)
        return;
    work->differences = add_room(work, more);
    for (size_t i = 0; i < look->count; i++) {
        const struct subject *subject = &look->subjects[i];

        for (size_t k = 0; k < subject->difference_count; k++) {
            work->counts.found[subject->differences[k].class]++;
            work->differences[work->count++] = note(subject, &subject->differences[k], &work->job->arena);
        }
    }
}

/*
 * Move the cursor behind the chunk, to the beginning of the next phase, or to the end of the job.
 */
static void move_on(struct verify *work, const struct verify_scan *scan)
{
    struct job *job = work->job;

    job->done += scan->rows;
    work->counts.in_flight += scan->in_flight;
    if (job->phase == SUM_SOURCES)
        work->counts.sources += scan->rows;
    else if (job->phase == SUM_ENTRIES)
        work->counts.entries += scan->rows;
    job->has_cursor = !scan->is_last;
    job->cursor = scan->is_last ? (struct entity_key){ STR_EMPTY, STR_EMPTY }
                                : (struct entity_key){ arena_copy(&job->arena, scan->last.partition),
                                      arena_copy(&job->arena, scan->last.row) };
    if (scan->is_last)
        job->phase++;
    if (job->phase == JUDGE_SOURCES && verify_sums_agree(work->sums))
        job->phase = JUDGE_COPIES;
    if (job->phase == JUDGE_MANIFESTS && !work->has_manifests)
        job->phase = JUDGE_COPIES;
    if (job->phase == JUDGE_COPIES && !work->has_copies)
        job->phase = PHASES;
}

static enum status run_phase(
    struct session *session, const struct job *job, struct verify_scan *scan, struct error *err)
{
    static enum status (*const phases[PHASES])(
        struct session * session, struct verify_scan * scan, struct error * err) = {
        [SUM_SOURCES] = verify_scan_sum_sources,
        [SUM_ENTRIES] = verify_scan_sum_entries,
        [JUDGE_SOURCES] = verify_scan_judge_sources,
        [JUDGE_ENTRIES] = verify_scan_judge_entries,
        [JUDGE_MANIFESTS] = verify_scan_judge_manifests,
    };
    bool by_entries = job->phase == SUM_ENTRIES || job->phase == JUDGE_ENTRIES;

    if (!scan->is_behind && by_entries)
        scan->key = verify_scope_begin(scan->scope);
    else if (!scan->is_behind && scan->range->has_from)
        scan->key = scan->range->from;
    return phases[job->phase](session, scan, err);
}

/*
 * A chunk of a phase, in one snapshot. In a phase that sums up, several chunks may run at the same
 * time.
 */
struct part {
    struct verify *work; /* changed by its own thread only */
    /* receives the end of the chunk once, and is NULL afterwards; NULL: there is no turn */
    struct turn *turn;
    struct turn_position position;
    bool has_large, is_gone;
    struct arena *arena; /* of the position where the chunk ends */
    struct verify_sums sums;
    struct verify_scan scan; /* as it has ended; only its `last` stays valid */
};

/*
 * An attempt that fails adds nothing to the sums. A repeated attempt does not report the end of the
 * chunk again.
 */
static enum status scan_part(struct session *session, struct part *part, struct error *err)
{
    const struct verify *work = part->work;
    const struct job *job = work->job;
    struct verify_scope scope;
    struct verify_sums sums = part->sums;
    struct verify_scan scan = { .is_fast = work->is_fast,
        .max_rows = job->is_gentle ? GENTLE_ROWS : CHUNK_ROWS,
        .has_large = part->has_large,
        .is_behind = part->position.has_from,
        .key = part->position.from,
        .range = &work->range,
        .scope = &scope,
        .sums = &sums,
        .turn = part->turn,
        .arena = part->arena };
    enum status status;

    TRY(session_refresh(session, NULL, err));
    scan.index = find_index(session, job);
    part->is_gone = !scan.index;
    if (part->is_gone)
        return STATUS_OK;
    TRY(verify_scope_plan(scan.index, work->values, &session->arena, &scope, err));
    TRY(session_begin_snapshot(session, err));
    status = run_phase(session, job, &scan, err);
    part->turn = scan.turn;
    if (status != STATUS_OK)
        return status;
    TRY(session_end_snapshot(session, err));
    part->sums = sums;
    part->has_large = scan.has_large;
    part->scan = scan;
    return STATUS_OK;
}

static struct turn_position position_of(const struct job *job)
{
    return (struct turn_position){ job->has_cursor,
        job->has_cursor ? job->cursor : (struct entity_key){ STR_EMPTY, STR_EMPTY } };
}

/* Record the differences now, while the session's arena holds them. */
static enum status judge(struct session *session, void *context, struct error *err)
{
    struct verify *work = context;
    struct part *part = ARENA_NEW(&session->arena, struct part);

    *part = (struct part){
        .work = work, .position = position_of(work->job), .arena = &work->job->arena, .sums = *work->sums
    };
    TRY(scan_part(session, part, err));
    work->is_gone = part->is_gone;
    if (work->is_gone)
        return STATUS_OK;
    note_all(work, &part->scan.look);
    move_on(work, &part->scan);
    return STATUS_OK;
}

/* ---- copies ---- */

static struct entity_key copy_key(struct entity_key key, struct arena *arena)
{
    return (struct entity_key){ arena_copy(arena, key.partition), arena_copy(arena, key.row) };
}

static struct report_difference note_copy(
    const struct copy_suspect *suspect, const struct copy_difference *difference, struct arena *arena)
{
    return (struct report_difference){ .class = verify_copies_class(difference->fault),
        .has_source = true,
        .source = copy_key(suspect->key, arena),
        .source_version = suspect->version,
        .property = arena_copy(arena, difference->name) };
}

static int64_t note_copies(struct verify *work, const struct copy_look *look)
{
    size_t more = 0;
    int64_t in_flight = 0;

    for (size_t i = 0; i < look->count; i++)
        more += look->suspects[i].in_flight ? 0 : look->suspects[i].count;
    if (more > 0)
        work->differences = add_room(work, more);
    for (size_t i = 0; i < look->count; i++) {
        const struct copy_suspect *suspect = &look->suspects[i];

        in_flight += suspect->in_flight;
        for (size_t k = 0; !suspect->in_flight && k < suspect->count; k++)
            work->differences[work->count++] =
                note_copy(suspect, &suspect->differences[k], &work->job->arena);
    }
    work->counts.copies += (int64_t)more;
    return in_flight;
}

/* A chunk of dependents. */
static enum status judge_copies(struct session *session, void *context, struct error *err)
{
    struct verify *work = context;
    const struct turn_position position = position_of(work->job);
    struct copy_look look = { .is_behind = position.has_from, .key = position.from, .range = &work->range };
    struct verify_scan scan = { 0 };

    if (!look.is_behind && work->range.has_from)
        look.key = work->range.from;
    TRY(session_refresh(session, NULL, err));
    look.index = find_index(session, work->job);
    work->is_gone = !look.index;
    if (work->is_gone)
        return STATUS_OK;
    TRY(session_begin_snapshot(session, err));
    TRY(verify_copies_look(session, &look, err));
    TRY(session_end_snapshot(session, err));
    scan.in_flight = note_copies(work, &look);
    scan.rows = look.rows;
    scan.is_last = look.is_last;
    scan.last = look.last;
    move_on(work, &scan);
    return STATUS_OK;
}

/* ---- summing up, with a crew ---- */

struct sum {
    struct part part;
    struct arena arena;
    struct error failure;
    enum status status;
};

struct summing {
    struct verify *work;
    struct turn turn;
    atomic_bool has_large;
    struct sum list[TURN_CHUNKS];
};

static enum status attempt_sum(struct session *session, void *context, struct error *err)
{
    return scan_part(session, context, err);
}

static void sum_up(struct worker *store, void *context)
{
    struct summing *summing = context;
    struct turn_position position;
    size_t number;

    while (turn_take(&summing->turn, &number, &position)) {
        struct sum *sum = &summing->list[number];

        arena_init(&sum->arena);
        sum->part = (struct part){ .work = summing->work,
            .turn = &summing->turn,
            .position = position,
            .has_large = atomic_load(&summing->has_large),
            .arena = &sum->arena };
        sum->status = worker_attempt(store, attempt_sum, &sum->part, &sum->failure);
        if (sum->part.has_large)
            atomic_store(&summing->has_large, true);
        if (sum->status != STATUS_OK || sum->part.turn)
            turn_stop(&summing->turn);
    }
}

/* Unite the chunks from the first one on, as long as each begins where the one before has ended. */
static void join(struct verify *work, const struct summing *summing)
{
    for (size_t i = 0; i < summing->turn.begun; i++) {
        const struct sum *sum = &summing->list[i];
        const struct part *part = &sum->part;

        if (sum->status != STATUS_OK || part->is_gone)
            break;
        if (i > 0 && entity_key_compare(&work->job->cursor, &part->position.from) != 0)
            break;
        for (size_t k = 0; k < VERIFY_CLASSES; k++)
            work->sums->classes[k] += part->sums.classes[k];
        move_on(work, &part->scan);
        if (part->scan.is_last)
            break;
    }
}

/* Do a turn of chunks. If the first chunk fails, the call fails with its error. */
static enum status sum_chunks(struct verify *work, struct error *err)
{
    struct worker *leader = work->job->store;
    struct turn_position position = position_of(work->job);
    struct summing *summing = xcalloc(1, sizeof(*summing));
    enum status status;

    summing->work = work;
    turn_init(&summing->turn, &position, work->job->is_gentle ? CREW_STEP : crew_pace(leader));
    crew_run(leader, sum_up, summing);
    status = summing->list[0].status;
    work->is_gone = status == STATUS_OK && summing->list[0].part.is_gone;
    if (status == STATUS_OK)
        join(work, summing);
    else
        *err = summing->list[0].failure;
    for (size_t i = 0; i < summing->turn.begun; i++)
        arena_cleanup(&summing->list[i].arena);
    turn_cleanup(&summing->turn);
    free(summing);
    return status;
}

static enum status scan(struct verify *work, struct error *err)
{
    if (work->job->phase == SUM_SOURCES || work->job->phase == SUM_ENTRIES)
        return sum_chunks(work, err);
    return worker_attempt(
        work->job->store, work->job->phase == JUDGE_COPIES ? judge_copies : judge, work, err);
}

/* ---- the report ---- */

static void put_key(struct pg_array *partitions, struct pg_array *rows, const struct entity_key *key)
{
    pg_array_bytes(partitions, key->partition.len > 0 ? key->partition : STR_EMPTY);
    pg_array_bytes(rows, key->row.len > 0 ? key->row : STR_EMPTY);
}

enum { DIFFERENCE_ARRAYS = 13 };

static void put_difference(struct pg_array *arrays, const struct report_difference *difference)
{
    pg_array_int8(&arrays[0], difference->number);
    pg_array_int2(&arrays[1], (int16_t)difference->class);
    pg_array_int2(&arrays[2], (int16_t)difference->state);
    pg_array_bool(&arrays[3], difference->has_source);
    put_key(&arrays[4], &arrays[5], &difference->source);
    put_key(&arrays[6], &arrays[7], &difference->entry);
    pg_array_int8(&arrays[8], difference->source_version);
    pg_array_int8(&arrays[9], difference->found_version);
    pg_array_int8(&arrays[10], (int64_t)difference->found_digest);
    pg_array_int8(&arrays[11], (int64_t)difference->wanted_digest);
    pg_array_bytes(&arrays[12], difference->property.len > 0 ? difference->property : STR_EMPTY);
}

static enum status write_differences(struct session *session, const struct verify *work, struct error *err)
{
    static const enum pg_oid types[DIFFERENCE_ARRAYS] = { PG_INT8, PG_INT2, PG_INT2, PG_BOOL, PG_TEXT,
        PG_TEXT, PG_TEXT, PG_TEXT, PG_INT8, PG_INT8, PG_INT8, PG_INT8, PG_TEXT };
    struct pg_array arrays[DIFFERENCE_ARRAYS];
    struct pg_params params;
    PG_RESULT written = NULL;

    if (work->count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < DIFFERENCE_ARRAYS; i++)
        pg_array_init(&arrays[i], &session->arena, types[i]);
    for (size_t i = 0; i < work->count; i++)
        put_difference(arrays, &work->differences[i]);
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->job->id);
    for (size_t i = 0; i < DIFFERENCE_ARRAYS; i++)
        pg_add_array(&params, &arrays[i]);
    return pg_query(&session->pg, &sql_difference_insert, &params, &written, err);
}

static enum status write_counts(struct session *session, const struct verify *work, struct error *err)
{
    const struct report_counts *counts = &work->counts;
    struct pg_params params;
    PG_RESULT written = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->job->id);
    pg_add_int8(&params, work->numbered);
    pg_add_int8(&params, counts->sources);
    pg_add_int8(&params, counts->entries);
    pg_add_int8(&params, counts->in_flight);
    pg_add_int8(&params, counts->found[DIFFERENCE_MISSING]);
    pg_add_int8(&params, counts->found[DIFFERENCE_DANGLING]);
    pg_add_int8(&params, counts->found[DIFFERENCE_MISMATCHED]);
    pg_add_int8(&params, counts->found[DIFFERENCE_MANIFEST]);
    pg_add_int8(&params, counts->mended);
    pg_add_int8(&params, counts->remaining);
    pg_add_bytes(&params, verify_sums_encode(work->sums, &session->arena));
    pg_add_int8(&params, counts->copies);
    return pg_query(&session->pg, &sql_report_add, &params, &written, err);
}

static enum status trim(struct session *session, const struct verify *work, struct error *err)
{
    struct pg_params params;
    PG_RESULT gone = NULL;

    if (work->last_number <= LIMIT_REPORT_DIFFERENCES)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->job->id);
    pg_add_int8(&params, LIMIT_REPORT_DIFFERENCES);
    return pg_query(&session->pg, &sql_report_trim, &params, &gone, err);
}

/* The checkpoint comes first: if another worker has taken over the job, nothing is written. */
static enum status record(struct session *session, void *context, struct error *err)
{
    const struct verify *work = context;
    struct job saved = *work->job;
    PG_RESULT begun = NULL;

    saved.phase = (int16_t)(saved.phase + work->first_phase);
    TRY(pg_query(&session->pg, &sql_begin, NULL, &begun, err));
    TRY(job_checkpoint_in(session, &saved, err));
    TRY(write_differences(session, work, err));
    TRY(write_counts(session, work, err));
    TRY(trim(session, work, err));
    FAILPOINT_TRY("verify.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status commit(struct verify *work, struct error *err)
{
    enum status status = worker_attempt(work->job->store, record, work, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

/* ---- one chunk of the job ---- */

static bool mends(const struct verify *work)
{
    return work->repairs && !work->dry_run;
}

/*
 * A report keeps a bounded number of differences; a repair keeps all of them until it has checked
 * them.
 */
static void number_differences(struct verify *work)
{
    size_t kept = 0;

    for (size_t i = 0; i < work->count; i++) {
        struct report_difference *difference = &work->differences[i];

        difference->number = work->last_number + (int64_t)i + 1;
        difference->state = mends(work) ? DIFFERENCE_PENDING : DIFFERENCE_FOUND;
        if (mends(work) || difference->number <= LIMIT_REPORT_DIFFERENCES)
            work->differences[kept++] = *difference;
    }
    work->numbered = (int64_t)work->count;
    work->count = kept;
}

static enum status end_as(struct job *job, enum job_state state, struct error *err)
{
    job->state = state;
    job->total = job->done;
    return job_checkpoint(job, err);
}

/*
 * Do chunks for a short time, since a checkpoint waits for the disk. A job with a rate limit does
 * one chunk, and rests.
 */
static enum status scan_chunks(struct verify *work, struct error *err)
{
    struct job *job = work->job;
    int64_t end_us = clock_monotonic_us() + TURN_MS * 1000;

    do {
        TRY(scan(work, err));
        if (work->is_gone)
            return end_as(job, JOB_CANCELLED, err);
    } while (!job->is_gentle && work->count == 0 && job->phase < PHASES && clock_monotonic_us() < end_us);
    job->faults += (int64_t)work->count;
    number_differences(work);
    if (job->total < job->done)
        job->total = job->done;
    return commit(work, err);
}

struct second_look {
    struct verify *work;
    enum difference_state found; /* the state that an existing difference gets */
};

/*
 * For a key that was asked for every difference counts; for a recorded difference only the one of
 * its entry.
 */
static const struct difference *find_difference(
    const struct subject *subject, const struct report_difference *asked)
{
    for (size_t i = 0; i < subject->difference_count; i++)
        if (asked->class == DIFFERENCE_UNKNOWN ||
            entity_key_compare(&subject->differences[i].entry, &asked->entry) == 0)
            return &subject->differences[i];
    return NULL;
}

static bool was_there(const struct report_difference *before)
{
    return before->state == DIFFERENCE_FOUND ||
           (before->state == DIFFERENCE_IN_FLIGHT && before->class != DIFFERENCE_UNKNOWN);
}

/* Judge a recorded difference again. again: the difference that is there now; NULL: none. */
static void judge_again(struct report_difference *out, bool in_flight, const struct report_difference *again,
    enum difference_state found)
{
    int64_t number = out->number;

    if (in_flight) {
        out->state = DIFFERENCE_IN_FLIGHT;
    } else if (!again) {
        out->state = was_there(out) ? DIFFERENCE_MENDED : DIFFERENCE_GONE;
    } else {
        *out = *again;
        out->number = number;
        out->state = found;
    }
}

static void take_look(struct verify *work, const struct subject *subject, enum difference_state found,
    struct report_difference *out)
{
    const struct difference *difference = find_difference(subject, out);
    struct report_difference again;

    if (difference)
        again = note(subject, difference, &work->job->arena);
    judge_again(out, subject->facts.in_flight, difference ? &again : NULL, found);
}

static const struct copy_suspect *find_suspect(const struct copy_look *look, const struct entity_key *key)
{
    for (size_t i = 0; i < look->count; i++)
        if (entity_key_compare(&look->suspects[i].key, key) == 0)
            return &look->suspects[i];
    return NULL;
}

/* For a dependent that was asked for every copy counts; for a recorded difference only its own. */
static const struct copy_difference *find_copy(
    const struct copy_suspect *suspect, const struct report_difference *asked)
{
    for (size_t i = 0; suspect && i < suspect->count; i++)
        if (asked->class == DIFFERENCE_UNKNOWN || str_equal(suspect->differences[i].name, asked->property))
            return &suspect->differences[i];
    return NULL;
}

static void take_copy(struct verify *work, const struct copy_suspect *suspect, enum difference_state found,
    struct report_difference *out)
{
    const struct copy_difference *difference = find_copy(suspect, out);
    struct report_difference again;

    if (difference)
        again = note_copy(suspect, difference, &work->job->arena);
    judge_again(out, difference && suspect->in_flight, difference ? &again : NULL, found);
}

/* Differences of copies, and named dependents whose entries are right. */
static bool asks_for_copies(const struct verify *work, const struct report_difference *difference)
{
    return work->has_copies &&
           (verify_copies_is_class(difference->class) ||
               (difference->class == DIFFERENCE_UNKNOWN && difference->state == DIFFERENCE_GONE));
}

static enum status examine_copies(struct session *session, struct verify *work, const struct index *index,
    enum difference_state found, struct error *err)
{
    struct entity_key *keys = ARENA_ARRAY(&session->arena, struct entity_key, work->count);
    struct copy_look look = { .index = index, .keys = keys };

    for (size_t i = 0; i < work->count; i++)
        if (asks_for_copies(work, &work->differences[i]))
            keys[look.key_count++] = work->differences[i].source;
    if (look.key_count == 0)
        return STATUS_OK;
    TRY(verify_copies_look(session, &look, err));
    for (size_t i = 0; i < work->count; i++)
        if (asks_for_copies(work, &work->differences[i]))
            take_copy(work, find_suspect(&look, &work->differences[i].source), found, &work->differences[i]);
    return STATUS_OK;
}

static enum status examine(struct session *session, void *context, struct error *err)
{
    const struct second_look *second = context;
    struct verify *work = second->work;
    struct look look = { 0 };
    size_t next = 0;

    TRY(session_refresh(session, NULL, err));
    look.index = find_index(session, work->job);
    work->is_gone = !look.index;
    if (work->is_gone)
        return STATUS_OK;
    look.subjects = ARENA_ARRAY(&session->arena, struct subject, work->count);
    for (size_t i = 0; i < work->count; i++)
        if (!verify_copies_is_class(work->differences[i].class))
            look.subjects[look.count++] = (struct subject){ .has_source = work->differences[i].has_source,
                .has_entry = work->differences[i].class != DIFFERENCE_UNKNOWN,
                .source = work->differences[i].source,
                .entry = work->differences[i].entry };
    TRY(session_begin_snapshot(session, err));
    if (look.count > 0)
        TRY(look_at_subjects(session, &look, err));
    for (size_t i = 0; i < work->count; i++)
        if (!verify_copies_is_class(work->differences[i].class))
            take_look(work, &look.subjects[next++], second->found, &work->differences[i]);
    TRY(examine_copies(session, work, look.index, second->found, err));
    return session_end_snapshot(session, err);
}

static enum status look_again(struct verify *work, enum difference_state found, struct error *err)
{
    struct second_look second = { work, found };

    return worker_attempt(work->job->store, examine, &second, err);
}

/*
 * The differences of a scan are counted already; those of keys that the caller has named are not.
 */
static void count_pending(struct verify *work)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct report_difference *difference = &work->differences[i];

        work->counts.mended += difference->state == DIFFERENCE_MENDED;
        work->counts.remaining += difference->state == DIFFERENCE_REMAINS;
        if (work->scans)
            continue;
        work->counts.sources++;
        work->counts.in_flight += difference->state == DIFFERENCE_IN_FLIGHT;
        if (difference->state != DIFFERENCE_GONE && difference->state != DIFFERENCE_IN_FLIGHT) {
            work->counts.found[difference->class]++;
            work->counts.copies += verify_copies_is_class(difference->class);
        }
    }
}

static enum status pending_chunk(struct verify *work, struct error *err)
{
    struct job *job = work->job;

    TRY(look_again(work, DIFFERENCE_FOUND, err));
    if (!work->is_gone && mends(work)) {
        TRY(repair_differences(job, work->differences, work->count, err));
        FAILPOINT_TRY("verify.after_repair", err);
        TRY(look_again(work, DIFFERENCE_REMAINS, err));
    }
    if (work->is_gone)
        return end_as(job, JOB_CANCELLED, err);
    count_pending(work);
    if (!work->scans)
        job->done += (int64_t)work->count;
    return commit(work, err);
}

/* End the operation, and record the result for the whole index if all of it was verified. */
static enum status record_end(struct session *session, void *context, struct error *err)
{
    const struct verify *work = context;
    struct pg_params params;
    PG_RESULT begun = NULL;
    PG_RESULT proven = NULL;

    TRY(pg_query(&session->pg, &sql_begin, NULL, &begun, err));
    TRY(job_checkpoint_in(session, work->job, err));
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->job->id);
    TRY(pg_query(&session->pg, &sql_index_proven, &params, &proven, err));
    FAILPOINT_TRY("verify.before_end", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status finish(struct verify *work, struct error *err)
{
    enum status status;

    work->job->state = JOB_DONE;
    work->job->total = work->job->done;
    status = worker_attempt(work->job->store, record_end, work, err);
    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

/* *is_done: nothing is left to be checked. */
static enum status do_chunk(struct verify *work, bool *is_done, struct error *err)
{
    *is_done = false;
    if (work->count > 0)
        return pending_chunk(work, err);
    if (work->scans && work->job->phase < PHASES)
        return scan_chunks(work, err);
    *is_done = true;
    return STATUS_OK;
}

enum status verify_job_chunk(struct job *job, struct error *err)
{
    struct verify work = { .job = job };
    bool is_done;

    TRY(worker_attempt(job->store, load, &work, err));
    if (work.is_gone || !work.has_report)
        return end_as(job, JOB_CANCELLED, err);
    TRY(do_chunk(&work, &is_done, err));
    return is_done ? finish(&work, err) : STATUS_OK;
}

/* ---- as a part of another operation ---- */

static void add_no_end(struct pg_params *params)
{
    pg_add_bool(params, false);
    pg_add_bytes(params, STR_EMPTY);
    pg_add_bytes(params, STR_EMPTY);
}

/* Insert a report of a repair of the whole index that compares contents. */
static enum status insert_report(struct session *session, const struct job *job, struct error *err)
{
    struct pg_params params;
    PG_RESULT inserted = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, job->id);
    pg_add_int8(&params, job->index_id);
    pg_add_bool(&params, true);
    pg_add_bool(&params, false);
    pg_add_bool(&params, true);
    pg_add_bool(&params, true);
    add_no_end(&params);
    add_no_end(&params);
    pg_add_bool(&params, false);
    pg_add_bytes(&params, STR_EMPTY);
    return pg_query(&session->pg, &sql_report_insert, &params, &inserted, err);
}

static enum status begin_report(struct session *session, void *context, struct error *err)
{
    const struct verify *work = context;
    struct job saved = *work->job;
    PG_RESULT begun = NULL;

    saved.phase = work->first_phase;
    saved.has_cursor = false;
    saved.cursor = (struct entity_key){ STR_EMPTY, STR_EMPTY };
    TRY(pg_query(&session->pg, &sql_begin, NULL, &begun, err));
    TRY(job_checkpoint_in(session, &saved, err));
    TRY(insert_report(session, work->job, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

enum status verify_job_part(struct job *job, struct verify_part *part, struct error *err)
{
    struct verify work = { .job = job, .first_phase = part->first_phase };
    enum status status;

    job->phase = (int16_t)(job->phase - part->first_phase);
    TRY(worker_attempt(job->store, load, &work, err));
    part->remaining = work.remaining;
    if (work.is_gone)
        return end_as(job, JOB_CANCELLED, err);
    if (work.has_report) {
        TRY(do_chunk(&work, &part->is_done, err));
        job->phase = (int16_t)(job->phase + part->first_phase);
        return STATUS_OK;
    }
    status = worker_attempt(job->store, begin_report, &work, err);
    return status == STATUS_CANCELLED ? STATUS_OK : status;
}
