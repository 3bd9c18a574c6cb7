/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_calls.c - see the header.
 */
#include "store/indexes/index_calls.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/catalogue/table_name.h"
#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
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

/* Ids of builds come from the sequence of tables: an index and its entries' table have the same one. */
static enum status send_create(struct session *session, const struct index *index, struct str folded,
    const struct job_start *build, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_int8(&params, index->source_table_id);
    pg_add_bytes(&params, index->account);
    pg_add_bytes(&params, index->name);
    pg_add_bytes(&params, folded);
    pg_add_bytes(&params, index->definition);
    pg_add_bytes(&params, build->operation_id);
    pg_add_int8(&params, build->started);
    pg_add_int8(&params, index->replaces);
    pg_add_int8(&params, build->started - LIMIT_CLOCK_SKEW_S * TICKS_PER_SECOND);
    TRY(pg_send(&session->pg, &sql_index_insert, &params, err));
    TRY(catalogue_change_send_table_made(session, index->index_id, err));
    return job_calls_send_start(session, build, err);
}

/* On several nodes a write in one partition and its entries in others are no single commit on one node. */
static enum status check_may_be_strong(struct session *session, const char *field, struct error *err)
{
    PG_RESULT distributed = NULL;

    TRY(pg_query(&session->pg, &sql_database_is_distributed, NULL, &distributed, err));
    if (!pg_bool(distributed, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    reason_set(err, REASON_DATABASE_DISTRIBUTED,
        "consistency STRONG of an index in other partitions needs a database that is one PostgreSQL, and "
        "this one has the extension citus; allowed are EVENTUAL, and STRONG in the same partition");
    return error_in_field(err, field);
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
    if (index_comes_with_write(&index) && index_has_manifest(&index))
        TRY(check_may_be_strong(session, "index.consistency", err));
    TRY(job_calls_admit(session, operation->account, &index.index_id, err));
    index.account = operation->account;
    index.source_table_id = source->table_id;
    index.source_name = source->name;
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
    TRY(send_create(session, &index, table_name_fold(index.name, &session->arena), &build, err));
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
    VIEW_CAUSES, /* one a line */
    VIEW_OPEN_INTENTS,
    VIEW_OLDEST_US,
    VIEW_PER_SECOND,
    VIEW_NOW_US,
    VIEW_BUILD,                           /* nine columns */
    VIEW_REPLACEMENT = VIEW_BUILD + 9,    /* nine columns, the first empty if there is none */
    VIEW_VERIFIED = VIEW_REPLACEMENT + 9, /* the columns of a report, the first empty if it never was */
};

/* A strong index is never behind, whatever is open for others of its table. */
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
    /* The statement's snapshot says more than the watermark of a moment ago. */
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
    return wanted == INDEX_STRONG ? check_may_be_strong(session, "consistency", err) : STATUS_OK;
}

/* The operation that is making the index a strong one; operation_id empty: none. */
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

/* Guard G41: an operation that was to make it strong must not do so any more. */
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

/* If an operation makes the index strong already, a second request lets that operation go on. */
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

static enum status send_retire(
    struct session *session, const struct index *index, int64_t now, struct job_start *out, struct error *err)
{
    struct pg_params params;
    struct job_start begin = {
        .operation_id = job_calls_id("drop", index->index_id, &session->arena),
        .account = index->account,
        .kind = "drop_index",
        .target = index->name,
        .table_id = index->source_table_id,
        .index_id = index->index_id,
        .started = now,
    };
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    TRY(pg_send(&session->pg, &sql_index_retire, &params, err));

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, index->operation_id);
    pg_add_int8(&params, now);
    TRY(pg_send(&session->pg, &sql_job_cancel, &params, err));
    if (out)
        *out = begin;
    return job_calls_send_start(session, &begin, err);
}

/* The session's arena and catalogue go; the caller's arena stays. */
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
    TRY(send_retire(session, index, now, &begin, err));
    if (replacement)
        TRY(send_retire(session, replacement, now, NULL, err));
    TRY(catalogue_change_commit(session, index->source_table_id, err));
    operation->out.jobs = (struct outcome_jobs){ .jobs = keep_view(&begin, operation->arena), .count = 1 };
    return STATUS_OK;
}

void index_calls_drop(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, drop);
}

/* ---- replace ---- */

static enum status refuse_unready(const struct index *old, const char *why, struct error *err)
{
    reason_set(err, REASON_INDEX_NOT_READY, "index %.*s cannot be replaced now: %s", STR_ARG(old->name), why);
    error_add_meta(err, "table", old->name);
    return err->status;
}

static enum status check_replaceable(const struct session *session, const struct operation *operation,
    const struct index *old, struct error *err)
{
    struct str wanted = operation->in.index.definition.source_name;
    const struct table *source = catalogue_find_id(session->catalogue, old->source_table_id);

    if (!source || !table_name_is(wanted, source->folded)) {
        reason_set(err, REASON_INVALID_INPUT,
            "index.table is %.*s, but index %.*s is of table %.*s: a replacement is of the same table",
            STR_ARG(wanted), STR_ARG(old->name), STR_ARG(old->source_name));
        return error_in_field(err, "index.table");
    }
    if (old->state != INDEX_READY)
        return refuse_unready(old, "it is still being built; drop it instead", err);
    if (catalogue_find_replacement(session->catalogue, old))
        return refuse_unready(
            old, "it is being replaced already; cancel that operation, or wait for its end", err);
    if (source->index_count >= LIMIT_INDEXES_PER_TABLE) {
        reason_set(err, REASON_INVALID_INPUT,
            "table %.*s has %zu indexes, allowed are %d, and a replacement is one more until it is ready",
            STR_ARG(source->name), source->index_count, LIMIT_INDEXES_PER_TABLE);
        return error_in_field(err, "index.table");
    }
    return STATUS_OK;
}

/* No caller's name has a '$'. */
static struct str hidden_name(const struct index *index, struct arena *arena)
{
    return arena_format(
        arena, "%.*s$%" PRIx64, STR_ARG(table_name_fold(index->name, arena)), (uint64_t)index->index_id);
}

/* The declaration, with the names of the index that it replaces. */
static struct index replacement_of(
    const struct index *old, const struct operation *operation, int64_t index_id)
{
    struct index index = operation->in.index.definition;

    index.index_id = index_id;
    index.account = old->account;
    index.name = arena_copy(operation->arena, old->name);
    index.source_table_id = old->source_table_id;
    index.source_name = old->source_name;
    index.replaces = old->index_id;
    index.definition = index_codec_encode(&index, operation->arena);
    return index;
}

static enum status replace(struct session *session, struct operation *operation, struct error *err)
{
    const struct index *old = NULL;
    struct index index;
    struct job_start build;
    int64_t index_id;

    TRY(session_refresh(session, NULL, err));
    TRY(resolve_index(session, operation, &old, err));
    TRY(check_replaceable(session, operation, old, err));
    if (index_comes_with_write(&operation->in.index.definition) &&
        index_has_manifest(&operation->in.index.definition))
        TRY(check_may_be_strong(session, "index.consistency", err));
    TRY(job_calls_admit(session, operation->account, &index_id, err));
    index = replacement_of(old, operation, index_id);
    build = (struct job_start){
        .operation_id = job_calls_id(JOB_REPLACEMENT_PREFIX, index_id, operation->arena),
        .account = operation->account,
        .kind = "replace_index",
        .target = index.name,
        .table_id = index.source_table_id,
        .index_id = index_id,
        .started = clock_ticks(),
    };
    TRY(catalogue_change_begin(session, err));
    TRY(catalogue_change_admit_index(session, operation->account, err));
    TRY(send_create(session, &index, hidden_name(&index, &session->arena), &build, err));
    FAILPOINT_TRY("replace.begin", err);
    TRY(catalogue_change_commit(session, index.source_table_id, err));
    operation->out.jobs =
        (struct outcome_jobs){ .jobs = ARENA_NEW(operation->arena, struct job_view), .count = 1 };
    operation->out.jobs.jobs[0] = job_calls_view(&build);
    return STATUS_OK;
}

void index_calls_replace(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, replace);
}

/*
 * A replacement is ended by its builder, by a cancellation or by DropIndex: each does so in a catalogue change in which the
 * operation's row ends too, so that only one of them does.
 */

enum status index_calls_send_switch(struct session *session, const struct index *index, struct error *err)
{
    const struct table *old;
    struct pg_params params;

    if (!index || index->replaces == 0)
        return STATUS_OK;
    old = catalogue_find_id(session->catalogue, index->replaces);
    if (!old || !old->entries_of)
        return error_set(
            err, STATUS_INTERNAL, "the index that %.*s is to replace is gone", STR_ARG(index->name));
    TRY(send_retire(session, old->entries_of, clock_ticks(), NULL, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_int8(&params, index->replaces);
    TRY(pg_send(&session->pg, &sql_index_take_name, &params, err));
    FAILPOINT_TRY("replace.switch", err);
    return STATUS_OK;
}

static enum status give_up(struct session *session, void *context, struct error *err)
{
    struct job *job = context;
    const struct table *entries;

    TRY(session_refresh(session, NULL, err));
    entries = catalogue_find_id(session->catalogue, job->index_id);
    TRY(catalogue_change_begin(session, err));
    TRY(job_checkpoint_in(session, job, err));
    if (entries && entries->entries_of)
        TRY(send_retire(session, entries->entries_of, clock_ticks(), NULL, err));
    FAILPOINT_TRY("replace.give_up", err);
    TRY(catalogue_change_commit(session, job->table_id, err));
    FAILPOINT("replace.after_give_up");
    return STATUS_OK;
}

enum status index_calls_give_up(struct job *job, struct error *err)
{
    enum status status = worker_attempt(job->store, give_up, job, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

static const struct index *find_by_operation(const struct session *session, const struct operation *operation)
{
    const struct catalogue *catalogue = session->catalogue;

    for (const struct table *table = catalogue_after(catalogue, operation->account, STR_EMPTY); table;
         table = catalogue_after(catalogue, operation->account, table->folded))
        if (table_is_hidden(table) &&
            str_equal(table->entries_of->operation_id, operation->in.jobs.operation_id))
            return table->entries_of;
    return NULL;
}

/* Of a replacement that is no more, the operation's row says what became of it. */
static enum status cancel(struct session *session, struct operation *operation, struct error *err)
{
    const struct index *index;

    TRY(session_refresh(session, NULL, err));
    index = find_by_operation(session, operation);
    if (index) {
        TRY(catalogue_change_begin(session, err));
        TRY(send_retire(session, index, clock_ticks(), NULL, err));
        FAILPOINT_TRY("replace.cancel", err);
        TRY(catalogue_change_commit(session, index->source_table_id, err));
    }
    return job_calls_control_one(session, operation, err);
}

void index_calls_cancel_replacement(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, cancel);
}
