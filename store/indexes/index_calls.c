/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_calls.c - see the header.
 */
#include "store/indexes/index_calls.h"

#include "base/clock.h"
#include "domain/catalogue/table_name.h"
#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "store/indexes/copy_rules.h"
#include "store/indexes/index_rows.h"
#include "store/jobs/report_calls.h"
#include "store/session/attempt.h"
#include "store/session/catalogue_change.h"
#include "store/session/resolve.h"
#include "store/sql.h"

/* ---- create ---- */

static enum status find_source(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err)
{
    struct str name = operation->in.index.definition.source_name;
    const struct table *source = catalogue_find(session->catalogue, operation->account, name);

    if (!source)
        reason_set(err, REASON_TABLE_NOT_FOUND, "table %.*s does not exist", STR_ARG(name));
    else if (source->entries_of)
        reason_set(err, REASON_INDEX_OWNED,
            "%.*s holds the entries of an index: it cannot have indexes itself", STR_ARG(name));
    else if (source->index_count >= LIMIT_INDEXES_PER_TABLE) {
        reason_set(err, REASON_INVALID_INPUT, "table %.*s has %zu indexes, allowed are %d", STR_ARG(name),
            source->index_count, LIMIT_INDEXES_PER_TABLE);
        (void)error_in_field(err, "index.table");
    } else {
        *out = source;
        return STATUS_OK;
    }
    error_add_meta(err, "table", name);
    return err->status;
}

static enum status check_name_is_free(
    const struct session *session, const struct operation *operation, struct error *err)
{
    struct str name = operation->in.index.definition.name;
    const struct table *taken = catalogue_find(session->catalogue, operation->account, name);

    if (!taken)
        return STATUS_OK;
    if (taken->entries_of)
        reason_set(err, REASON_INDEX_EXISTS, "index %.*s already exists", STR_ARG(taken->name));
    else
        reason_set(err, REASON_TABLE_ALREADY_EXISTS, "table %.*s already exists", STR_ARG(taken->name));
    error_add_meta(err, "table", name);
    return err->status;
}

static enum status create(struct session *session, struct operation *operation, struct error *err)
{
    struct index index = operation->in.index.definition;
    const struct table *source = NULL;
    struct job_start build;
    struct index_view *view = ARENA_NEW(operation->arena, struct index_view);

    TRY(session_refresh(session, NULL, err));
    TRY(find_source(session, operation, &source, err));
    TRY(check_name_is_free(session, operation, err));
    TRY(index_rows_check_wide(session, source, &index, err));
    if (index_comes_with_write(&index) && index_has_manifest(&index))
        TRY(index_rows_check_may_be_strong(session, "index.consistency", err));
    index.account = operation->account;
    index.source_table_id = source->table_id;
    index.source_name = source->name;
    TRY(copy_rules_resolve(session, operation, &index, err));
    TRY(job_calls_admit(session, operation->account, &index.index_id, err));
    TRY(index_rows_choose_versions(session, &index, err));
    index.definition = index_codec_encode(&index, operation->arena);
    build = (struct job_start){
        .operation_id = job_calls_id("build", index.index_id, operation->arena),
        .account = operation->account,
        .kind = "build",
        .target = index.name,
        .table_id = index.source_table_id,
        .index_id = index.index_id,
        .started = clock_ticks(),
    };
    TRY(catalogue_change_begin(session, err));
    TRY(catalogue_change_admit_index(session, operation->account, err));
    TRY(index_rows_send_create(session, &index, table_name_fold(index.name, &session->arena), &build, err));
    TRY(catalogue_change_commit(session, index.source_table_id, err));
    *view = (struct index_view){
        .definition = index.definition,
        .state = INDEX_BUILDING,
        .lag = { .open_intents = -1, .per_second = -1 },
        .build = job_calls_view(&build),
    };
    operation->out.index = (struct outcome_index){ .indexes = view, .count = 1 };
    return STATUS_OK;
}

void index_calls_create(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, create);
}

/* ---- get, list ---- */

enum view_column {
    VIEW_FOLDED,
    VIEW_DEFINITION,
    VIEW_STATE,
    VIEW_ENTRIES,
    VIEW_VIOLATIONS,
    VIEW_KEYS_BEHIND,
    VIEW_DISCARDED,
    VIEW_CAUSES, /* one cause a line */
    VIEW_OPEN_INTENTS,
    VIEW_OLDEST_US,
    VIEW_PER_SECOND,
    VIEW_NOW_US,
    VIEW_WAITING_SOURCES,
    VIEW_VISITED,
    VIEW_WAITING_DEPENDENTS,
    VIEW_REFUSED,
    VIEW_BUILD,                        /* nine columns */
    VIEW_REPLACEMENT = VIEW_BUILD + 9, /* nine columns; the first is empty if there is none */
    /* the columns of a report; the first is empty if the index was never verified */
    VIEW_VERIFIED = VIEW_REPLACEMENT + 9,
};

/*
 * The entries of a strong index commit with their writes, so it has no lag, whatever intents its
 * table has.
 */
static bool is_strong(struct str definition, struct arena *arena)
{
    struct index index = { 0 };

    return index_codec_decode(definition, arena, &index) && index_is_strong(&index);
}

static struct index_view read_view(const PGresult *rows, int row, struct arena *arena)
{
    struct index_view view = {
        .definition = arena_copy(arena, pg_bytes(rows, row, VIEW_DEFINITION)),
        .state = (enum index_state)pg_int2(rows, row, VIEW_STATE),
        .entries = pg_int8(rows, row, VIEW_ENTRIES),
        .violations = pg_int8(rows, row, VIEW_VIOLATIONS),
        .keys_behind = pg_int8(rows, row, VIEW_KEYS_BEHIND),
        .discarded = pg_int8(rows, row, VIEW_DISCARDED),
        .causes = arena_copy(arena, pg_bytes(rows, row, VIEW_CAUSES)),
        .lag = { .open_intents = pg_int8(rows, row, VIEW_OPEN_INTENTS),
            .per_second = (double)pg_int8(rows, row, VIEW_PER_SECOND) / 1000 },
        .copies = { .waiting_sources = pg_int8(rows, row, VIEW_WAITING_SOURCES),
            .waiting_dependents = pg_int8(rows, row, VIEW_WAITING_DEPENDENTS),
            .visited = pg_int8(rows, row, VIEW_VISITED),
            .refused = pg_int8(rows, row, VIEW_REFUSED) },
        .build = job_calls_read_row(rows, row, VIEW_BUILD, arena),
    };
    int64_t now_us = pg_int8(rows, row, VIEW_NOW_US), as_of_us = now_us;

    if (pg_bytes(rows, row, VIEW_REPLACEMENT).len > 0)
        view.replacement = job_calls_read_row(rows, row, VIEW_REPLACEMENT, arena);
    if (pg_bytes(rows, row, VIEW_VERIFIED).len > 0)
        view.verified = report_calls_read_row(rows, row, VIEW_VERIFIED, arena);
    if (is_strong(view.definition, arena)) {
        view.lag = (struct lag){ .as_of = ticks_from_unix_us(now_us) };
        return view;
    }
    /*
     * The lag follows from the oldest open intent in the statement's snapshot, which is more recent
     * than the stored watermark.
     */
    if (!PQgetisnull(rows, row, VIEW_OLDEST_US) && pg_int8(rows, row, VIEW_OLDEST_US) < now_us)
        as_of_us = pg_int8(rows, row, VIEW_OLDEST_US);
    view.lag.as_of = ticks_from_unix_us(as_of_us);
    view.lag.age_us = now_us - as_of_us;
    return view;
}

static enum status read_views(
    struct session *session, struct operation *operation, struct str only, int32_t limit, struct error *err)
{
    struct arena *arena = operation->arena;
    struct outcome_index out = { 0 };
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, only.len > 0 ? STR_EMPTY : operation->in.index.after);
    pg_add_bytes(&params, only);
    pg_add_int8(&params, (int64_t)limit + 1);
    TRY(pg_query(&session->pg, &sql_index_views, &params, &rows, err));
    out.more = PQntuples(rows) > limit;
    out.count = out.more ? (size_t)limit : (size_t)PQntuples(rows);
    out.indexes = ARENA_ARRAY(arena, struct index_view, out.count);
    for (size_t i = 0; i < out.count; i++)
        out.indexes[i] = read_view(rows, (int)i, arena);
    if (out.more)
        out.position = arena_copy(arena, pg_bytes(rows, (int)out.count - 1, VIEW_FOLDED));
    operation->out.index = out;
    return STATUS_OK;
}

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    struct str folded = table_name_fold(operation->table, &session->arena);

    if (folded.len > 0)
        TRY(read_views(session, operation, folded, 1, err));
    if (folded.len > 0 && operation->out.index.count > 0)
        return STATUS_OK;
    reason_set(err, REASON_INDEX_NOT_FOUND, "index %.*s does not exist", STR_ARG(operation->table));
    error_add_meta(err, "table", operation->table);
    return err->status;
}

void index_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    return read_views(session, operation, STR_EMPTY, operation->in.index.limit, err);
}

void index_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

/* ---- update ---- */

static enum status check_may_change(
    struct session *session, const struct index *index, enum index_consistency wanted, struct error *err)
{
    if (!index_has_manifest(index)) {
        reason_set(err, REASON_INVALID_INPUT,
            "consistency is EVENTUAL: the entries of index %.*s lie in the partition of their entity and are "
            "always STRONG",
            STR_ARG(index->name));
        return error_in_field(err, "consistency");
    }
    return wanted == INDEX_STRONG ? index_rows_check_may_be_strong(session, "consistency", err) : STATUS_OK;
}

/*
 * Find the operation that is making the index a strong one. operation_id is empty if there is none.
 */
static enum status find_update(
    struct session *session, int64_t index_id, struct arena *arena, struct job_view *out, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index_id);
    TRY(pg_query(&session->pg, &sql_update_find, &params, &row, err));
    *out = PQntuples(row) > 0 ? job_calls_read_row(row, 0, 0, arena) : (struct job_view){ 0 };
    return STATUS_OK;
}

static enum status send_declaration(
    struct session *session, const struct index *index, enum index_consistency consistency, struct error *err)
{
    struct index changed = *index;
    struct pg_params params;

    changed.consistency = consistency;
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_bytes(&params, index_codec_encode(&changed, &session->arena));
    return pg_send(&session->pg, &sql_index_set_definition, &params, err);
}

/* Guard G41: an operation that was making the index a strong one must not complete any more. */
static enum status send_cancel(struct session *session, const struct index *index, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_int8(&params, clock_ticks());
    return pg_send(&session->pg, &sql_update_cancel, &params, err);
}

static enum status send_update_start(struct session *session, const struct index *index, struct error *err)
{
    struct job_start start = {
        .account = index->account,
        .kind = "update_index",
        .target = index->name,
        .table_id = index->source_table_id,
        .index_id = index->index_id,
        .started = clock_ticks(),
    };
    int64_t id;

    TRY(job_calls_admit(session, index->account, &id, err));
    start.operation_id = job_calls_id("update", id, &session->arena);
    return job_calls_send_start(session, &start, err);
}

/*
 * If an operation is making the index a strong one already, a second request changes nothing and
 * returns that operation.
 */
static enum status change(
    struct session *session, const struct index *index, enum index_consistency wanted, struct error *err)
{
    struct job_view running = { 0 };

    TRY(catalogue_change_begin(session, err));
    if (wanted == INDEX_STRONG)
        TRY(find_update(session, index->index_id, &session->arena, &running, err));
    if (running.operation_id.len == 0) {
        TRY(wanted == INDEX_STRONG ? send_update_start(session, index, err)
                                   : send_cancel(session, index, err));
        TRY(send_declaration(session, index, wanted == INDEX_STRONG ? INDEX_BECOMING_STRONG : wanted, err));
    }
    return catalogue_change_commit(session, index->source_table_id, err);
}

static enum status update(struct session *session, struct operation *operation, struct error *err)
{
    enum index_consistency wanted = operation->in.index.consistency;
    const struct index *index = NULL;
    int64_t index_id;

    TRY(session_refresh(session, NULL, err));
    TRY(resolve_index(session, operation, &index, err));
    index_id = index->index_id;
    if (index->consistency != wanted) {
        TRY(copy_rules_check_kept(index, "consistency", err));
        TRY(check_may_change(session, index, wanted, err));
        TRY(change(session, index, wanted, err));
    }
    TRY(get(session, operation, err));
    return find_update(session, index_id, operation->arena, &operation->out.index.update, err);
}

void index_calls_update(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, update);
}

/* ---- drop ---- */

/*
 * Copy the view into the caller's arena; the session's arena and catalogue do not outlast the
 * operation.
 */
static struct job_view *keep_view(const struct job_start *begin, struct arena *arena)
{
    struct job_view *view = ARENA_NEW(arena, struct job_view);

    *view = job_calls_view(begin);
    view->operation_id = arena_copy(arena, view->operation_id);
    view->target = arena_copy(arena, view->target);
    return view;
}

static enum status drop(struct session *session, struct operation *operation, struct error *err)
{
    const struct index *index = NULL, *replacement;
    int64_t now = clock_ticks();
    struct job_start begin;

    TRY(session_refresh(session, NULL, err));
    TRY(resolve_index(session, operation, &index, err));
    replacement = catalogue_find_replacement(session->catalogue, index);
    TRY(catalogue_change_begin(session, err));
    TRY(index_rows_send_retire(session, index, now, &begin, err));
    if (replacement)
        TRY(index_rows_send_retire(session, replacement, now, NULL, err));
    TRY(catalogue_change_commit(session, index->source_table_id, err));
    operation->out.jobs = (struct outcome_jobs){ .jobs = keep_view(&begin, operation->arena), .count = 1 };
    return STATUS_OK;
}

void index_calls_drop(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, drop);
}
