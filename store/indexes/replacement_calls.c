/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replacement_calls.c - see the header.
 */
#include "store/indexes/replacement_calls.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/catalogue/table_name.h"
#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/indexes/copy_rules.h"
#include "store/indexes/index_rows.h"
#include "store/jobs/job_calls.h"
#include "store/session/attempt.h"
#include "store/session/catalogue_change.h"
#include "store/session/resolve.h"
#include "store/sql.h"

static enum status refuse_unready(const struct index *old, const char *why, struct error *err)
{
    reason_set(err, REASON_INDEX_NOT_READY, "index %.*s cannot be replaced now: %s", STR_ARG(old->name), why);
    error_add_meta(err, "table", old->name);
    return err->status;
}

static enum status check_replaceable(
    struct session *session, const struct operation *operation, const struct index *old, struct error *err)
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
    return index_rows_check_wide(session, source, &operation->in.index.definition, err);
}

/* The name of a replacement; it contains '$', which no name of a caller's table may. */
static struct str hidden_name(const struct index *index, struct arena *arena)
{
    return arena_format(
        arena, "%.*s$%" PRIx64, STR_ARG(table_name_fold(index->name, arena)), (uint64_t)index->index_id);
}

/* The declaration of the replacement, with the names of the index that it replaces. */
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
    TRY(copy_rules_check_kept(old, "index", err));
    TRY(copy_rules_check_replacement(&operation->in.index.definition, err));
    TRY(check_replaceable(session, operation, old, err));
    if (index_comes_with_write(&operation->in.index.definition) &&
        index_has_manifest(&operation->in.index.definition))
        TRY(index_rows_check_may_be_strong(session, "index.consistency", err));
    TRY(job_calls_admit(session, operation->account, &index_id, err));
    index = replacement_of(old, operation, index_id);
    TRY(index_rows_choose_versions(session, &index, err));
    index.definition = index_codec_encode(&index, operation->arena);
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
    TRY(index_rows_send_create(session, &index, hidden_name(&index, &session->arena), &build, err));
    FAILPOINT_TRY("replace.begin", err);
    TRY(catalogue_change_commit(session, index.source_table_id, err));
    operation->out.jobs =
        (struct outcome_jobs){ .jobs = ARENA_NEW(operation->arena, struct job_view), .count = 1 };
    operation->out.jobs.jobs[0] = job_calls_view(&build);
    return STATUS_OK;
}

void replacement_calls_create(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, replace);
}

/*
 * The builder, a cancellation or DropIndex ends a replacement. Each does so in a catalogue change
 * that ends the operation's row too, so only one of them succeeds.
 */

enum status replacement_calls_send_switch(
    struct session *session, const struct index *index, struct error *err)
{
    const struct table *old;
    struct pg_params params;

    if (!index || index->replaces == 0)
        return STATUS_OK;
    old = catalogue_find_id(session->catalogue, index->replaces);
    if (!old || !old->entries_of)
        return error_set(
            err, STATUS_INTERNAL, "the index that %.*s is to replace is gone", STR_ARG(index->name));
    TRY(index_rows_send_retire(session, old->entries_of, clock_ticks(), NULL, err));
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
        TRY(index_rows_send_retire(session, entries->entries_of, clock_ticks(), NULL, err));
    FAILPOINT_TRY("replace.give_up", err);
    TRY(catalogue_change_commit(session, job->table_id, err));
    FAILPOINT("replace.after_give_up");
    return STATUS_OK;
}

enum status replacement_calls_give_up(struct job *job, struct error *err)
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

/* If the replacement has ended already, the operation's row has its outcome. */
static enum status cancel(struct session *session, struct operation *operation, struct error *err)
{
    const struct index *index;

    TRY(session_refresh(session, NULL, err));
    index = find_by_operation(session, operation);
    if (index) {
        TRY(catalogue_change_begin(session, err));
        TRY(index_rows_send_retire(session, index, clock_ticks(), NULL, err));
        FAILPOINT_TRY("replace.cancel", err);
        TRY(catalogue_change_commit(session, index->source_table_id, err));
    }
    return job_calls_control_one(session, operation, err);
}

void replacement_calls_cancel(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, cancel);
}
