/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_calls.c - see the header.
 */
#include "store/jobs/report_calls.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/digits.h"
#include "domain/indexes/verify_scope.h"
#include "domain/reason.h"
#include "store/jobs/job_calls.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"
#include "store/sql.h"

/* ---- reading ---- */

enum { VIEW_INDEX_ID }; /* the first column of report_view, behind which the others begin */

enum view_column {
    VIEW_OPERATION,
    VIEW_INDEX,
    VIEW_REPAIRS,
    VIEW_DRY_RUN,
    VIEW_IS_WHOLE,
    VIEW_STATE,
    VIEW_STARTED,
    VIEW_ENDED,
    VIEW_SOURCES,
    VIEW_ENTRIES,
    VIEW_IN_FLIGHT,
    VIEW_MISSING,
    VIEW_DANGLING,
    VIEW_MISMATCHED,
    VIEW_MANIFESTS,
    VIEW_MENDED,
    VIEW_REMAINING,
    VIEW_IS_FAST,
    VIEW_COPIES,
};

struct report_view report_calls_read_row(const PGresult *rows, int row, int column, struct arena *arena)
{
    struct report_view view = { .operation_id =
                                    arena_copy(arena, pg_bytes(rows, row, column + VIEW_OPERATION)),
        .index = arena_copy(arena, pg_bytes(rows, row, column + VIEW_INDEX)),
        .repairs = pg_bool(rows, row, column + VIEW_REPAIRS),
        .dry_run = pg_bool(rows, row, column + VIEW_DRY_RUN),
        .is_whole = pg_bool(rows, row, column + VIEW_IS_WHOLE),
        .state = (enum job_state)pg_int2(rows, row, column + VIEW_STATE),
        .started = pg_int8(rows, row, column + VIEW_STARTED),
        .ended = pg_int8(rows, row, column + VIEW_ENDED) };
    struct report_counts *counts = &view.counts;

    view.is_fast = pg_bool(rows, row, column + VIEW_IS_FAST);
    counts->sources = pg_int8(rows, row, column + VIEW_SOURCES);
    counts->entries = pg_int8(rows, row, column + VIEW_ENTRIES);
    counts->in_flight = pg_int8(rows, row, column + VIEW_IN_FLIGHT);
    counts->found[DIFFERENCE_MISSING] = pg_int8(rows, row, column + VIEW_MISSING);
    counts->found[DIFFERENCE_DANGLING] = pg_int8(rows, row, column + VIEW_DANGLING);
    counts->found[DIFFERENCE_MISMATCHED] = pg_int8(rows, row, column + VIEW_MISMATCHED);
    counts->found[DIFFERENCE_MANIFEST] = pg_int8(rows, row, column + VIEW_MANIFESTS);
    counts->mended = pg_int8(rows, row, column + VIEW_MENDED);
    counts->remaining = pg_int8(rows, row, column + VIEW_REMAINING);
    counts->copies = pg_int8(rows, row, column + VIEW_COPIES);
    return view;
}

static enum status read_view(struct session *session, struct operation *operation, struct str id,
    struct report_view *out, int64_t *index_id, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, id);
    TRY(pg_query(&session->pg, &sql_report_view, &params, &row, err));
    if (PQntuples(row) == 0)
        return reason_set(err, REASON_REPORT_NOT_FOUND,
            "there is no report \"%.*s\"; an index keeps its newest %d", STR_ARG(id), LIMIT_REPORTS);
    *index_id = pg_int8(row, 0, VIEW_INDEX_ID);
    *out = report_calls_read_row(row, 0, VIEW_INDEX_ID + 1, operation->arena);
    return STATUS_OK;
}

enum difference_column {
    DIFFERENCE_NUMBER,
    DIFFERENCE_CLASS,
    DIFFERENCE_STATE,
    DIFFERENCE_HAS_SOURCE,
    DIFFERENCE_SOURCE,
    DIFFERENCE_ENTRY = DIFFERENCE_SOURCE + 2,
    DIFFERENCE_SOURCE_VERSION = DIFFERENCE_ENTRY + 2,
    DIFFERENCE_FOUND_VERSION,
    DIFFERENCE_FOUND_DIGEST,
    DIFFERENCE_WANTED_DIGEST,
    DIFFERENCE_PROPERTY,
};

/* The columns of a key, next to each other. */
enum { KEY_PARTITION, KEY_ROW };

static struct entity_key copied_key(const PGresult *rows, int row, int column, struct arena *arena)
{
    return (struct entity_key){ arena_copy(arena, pg_bytes(rows, row, column + KEY_PARTITION)),
        arena_copy(arena, pg_bytes(rows, row, column + KEY_ROW)) };
}

static struct report_difference read_difference(const PGresult *rows, int row, struct arena *arena)
{
    return (struct report_difference){ .number = pg_int8(rows, row, DIFFERENCE_NUMBER),
        .class = (enum difference_class)pg_int2(rows, row, DIFFERENCE_CLASS),
        .state = (enum difference_state)pg_int2(rows, row, DIFFERENCE_STATE),
        .has_source = pg_bool(rows, row, DIFFERENCE_HAS_SOURCE),
        .source = copied_key(rows, row, DIFFERENCE_SOURCE, arena),
        .entry = copied_key(rows, row, DIFFERENCE_ENTRY, arena),
        .source_version = pg_int8(rows, row, DIFFERENCE_SOURCE_VERSION),
        .found_version = pg_int8(rows, row, DIFFERENCE_FOUND_VERSION),
        .found_digest = (uint64_t)pg_int8(rows, row, DIFFERENCE_FOUND_DIGEST),
        .wanted_digest = (uint64_t)pg_int8(rows, row, DIFFERENCE_WANTED_DIGEST),
        .property = arena_copy(arena, pg_bytes(rows, row, DIFFERENCE_PROPERTY)) };
}

/*
 * The number of the last difference that was returned; the position has it as text, and is empty at
 * the start.
 */
static int64_t number_of(struct str position)
{
    uint64_t number = 0;

    return digits_parse_unsigned(position, INT64_MAX, &number) ? (int64_t)number : 0;
}

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_jobs *in = &operation->in.jobs;
    struct outcome_report out = { 0 };
    struct pg_params params;
    PG_RESULT rows = NULL;
    int64_t index_id;

    TRY(read_view(session, operation, in->operation_id, &out.report, &index_id, err));
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, in->operation_id);
    pg_add_int8(&params, number_of(in->after));
    pg_add_int8(&params, (int64_t)in->limit + 1);
    TRY(pg_query(&session->pg, &sql_difference_page, &params, &rows, err));
    out.more = PQntuples(rows) > in->limit;
    out.count = out.more ? (size_t)in->limit : (size_t)PQntuples(rows);
    out.differences = ARENA_ARRAY(operation->arena, struct report_difference, out.count);
    for (size_t i = 0; i < out.count; i++)
        out.differences[i] = read_difference(rows, (int)i, operation->arena);
    if (out.more)
        out.position = arena_format(operation->arena, "%" PRId64, out.differences[out.count - 1].number);
    operation->out.report = out;
    return STATUS_OK;
}

void report_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

/* ---- starting ---- */

static enum status find_ready(
    struct session *session, const struct operation *operation, const struct index **out, struct error *err)
{
    TRY(session_refresh(session, NULL, err));
    TRY(resolve_index(session, operation, out, err));
    if ((*out)->state == INDEX_READY)
        return STATUS_OK;
    reason_set(err, REASON_INDEX_NOT_READY, "index %.*s is still being built", STR_ARG((*out)->name));
    error_add_meta(err, "table", (*out)->name);
    return STATUS_PRECONDITION;
}

/* The report whose differences a repair takes must be of the same index. */
static enum status check_report(
    struct session *session, struct operation *operation, const struct index *index, struct error *err)
{
    struct str id = operation->in.verify.report_id;
    struct report_view view;
    int64_t index_id;

    if (id.len == 0)
        return STATUS_OK;
    TRY(read_view(session, operation, id, &view, &index_id, err));
    if (index_id != index->index_id)
        return reason_set(err, REASON_REPORT_NOT_FOUND, "report \"%.*s\" is not of index %.*s", STR_ARG(id),
            STR_ARG(index->name));
    return STATUS_OK;
}

static void add_end(struct pg_params *params, bool is_set, const struct entity_key *key)
{
    pg_add_bool(params, is_set);
    pg_add_bytes(params, is_set ? key->partition : STR_EMPTY);
    pg_add_bytes(params, is_set ? key->row : STR_EMPTY);
}

static enum status send_report(struct session *session, const struct operation_verify *in,
    const struct job_start *start, struct error *err)
{
    bool scans = in->key_count == 0 && in->report_id.len == 0;
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, start->operation_id);
    pg_add_int8(&params, start->index_id);
    pg_add_bool(&params, in->repairs);
    pg_add_bool(&params, in->dry_run);
    pg_add_bool(&params, scans && !in->range.has_from && !in->range.has_below && in->values.len == 0);
    pg_add_bool(&params, scans);
    add_end(&params, in->range.has_from, &in->range.from);
    add_end(&params, in->range.has_below, &in->range.below);
    pg_add_bool(&params, in->is_fast);
    pg_add_bytes(&params, in->values.len > 0 ? in->values : STR_EMPTY);
    TRY(pg_send(&session->pg, &sql_report_insert, &params, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, start->index_id);
    pg_add_int8(&params, LIMIT_REPORTS);
    return pg_send(&session->pg, &sql_report_forget, &params, err);
}

static enum status send_copy(struct session *session, const struct operation *operation,
    const struct job_start *start, struct error *err)
{
    struct pg_params params;

    if (operation->in.verify.report_id.len == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, start->operation_id);
    pg_add_bytes(&params, operation->in.verify.report_id);
    return pg_send(&session->pg, &sql_report_copy, &params, err);
}

/* The keys that the caller names become differences of an unknown class. */
static enum status send_keys(struct session *session, const struct operation *operation,
    const struct job_start *start, struct error *err)
{
    const struct operation_verify *in = &operation->in.verify;
    struct pg_array partitions, rows;
    struct pg_params params;

    if (in->key_count == 0)
        return STATUS_OK;
    pg_array_init(&partitions, &session->arena, PG_TEXT);
    pg_array_init(&rows, &session->arena, PG_TEXT);
    for (size_t i = 0; i < in->key_count; i++) {
        pg_array_bytes(&partitions, in->keys[i].partition);
        pg_array_bytes(&rows, in->keys[i].row);
    }
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, start->operation_id);
    pg_add_array(&params, &partitions);
    pg_add_array(&params, &rows);
    return pg_send(&session->pg, &sql_difference_ask, &params, err);
}

enum status report_calls_send(struct session *session, const struct operation_verify *in,
    const struct job_start *start, struct error *err)
{
    TRY(job_calls_send_start(session, start, err));
    return send_report(session, in, start, err);
}

/* The transaction goes through the fence, so the index exists when its report begins. */
static enum status commit(struct session *session, const struct operation *operation,
    const struct job_start *start, struct error *err)
{
    int64_t now_us;

    TRY(session_begin(session, &now_us, err));
    TRY(report_calls_send(session, &operation->in.verify, start, err));
    TRY(send_copy(session, operation, start, err));
    TRY(send_keys(session, operation, start, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status start(struct session *session, struct operation *operation, struct error *err)
{
    bool repairs = operation->in.verify.repairs;
    struct outcome_jobs *out = &operation->out.jobs;
    const struct index *index;
    struct verify_scope scope;
    struct job_start begin = { .account = operation->account,
        .kind = repairs ? "repair_index" : "verify_index",
        .started = clock_ticks() };
    int64_t id;

    TRY(find_ready(session, operation, &index, err));
    TRY(check_report(session, operation, index, err));
    TRY(verify_scope_plan(index, operation->in.verify.values, operation->arena, &scope, err));
    TRY(job_calls_admit(session, operation->account, &id, err));
    begin.operation_id = job_calls_id(repairs ? "repair" : "verify", id, operation->arena);
    begin.target = arena_copy(operation->arena, index->name);
    begin.table_id = index->source_table_id;
    begin.index_id = index->index_id;
    TRY(commit(session, operation, &begin, err));
    *out = (struct outcome_jobs){ .jobs = ARENA_NEW(operation->arena, struct job_view), .count = 1 };
    out->jobs[0] = job_calls_view(&begin);
    return STATUS_OK;
}

void report_calls_start(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, start);
}
