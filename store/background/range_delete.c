/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_delete.c - see the header. A chunk reads a bounded number of rows behind the cursor,
 * deletes those that match in one ordinary batch of writes, and moves the cursor. After a crash
 * between the deletes and the checkpoint the chunk is repeated, and finds only the rows that are
 * left.
 */
#include "store/background/range_delete.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/reason.h"
#include "store/entities/write_batch.h"
#include "store/jobs/job_calls.h"
#include "store/queries/page_read.h"
#include "store/queries/row_scan.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"
#include "store/sql.h"

enum {
    CHUNK_DELETES = 500,
    CHUNK_EXAMINED = 5000,
    CHUNK_BYTES = 8 * 1024 * 1024,
};

/* ---- the request ---- */

static enum status begin_range_delete(struct session *session, struct operation *operation, struct error *err)
{
    struct outcome_jobs *out = &operation->out.jobs;
    const struct table *table;
    struct job_start job = {
        .account = operation->account, .kind = "delete_range", .started = clock_ticks()
    };
    int64_t id, now_us;

    TRY(resolve_writable(session, operation, &table, err));
    TRY(page_read_check_plan(table, operation, err));
    TRY(job_calls_admit(session, operation->account, &id, err));
    job.operation_id = job_calls_id("delete", id, operation->arena);
    job.target = arena_copy(operation->arena, table->name);
    job.table_id = table->table_id;
    job.filter = operation->in.page.filter_text;
    TRY(session_begin(session, &now_us, err));
    TRY(job_calls_send_start(session, &job, err));
    FAILPOINT_TRY("range_delete.before_begin", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("range_delete.after_begin");
    *out = (struct outcome_jobs){ .jobs = ARENA_NEW(operation->arena, struct job_view), .count = 1 };
    out->jobs[0] = job_calls_view(&job);
    return STATUS_OK;
}

void range_delete_start(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, begin_range_delete);
}

/* ---- a chunk ---- */

struct chunk {
    struct job *job;
    const struct filter *filter;
    struct key_plan plan;
    struct operation operation; /* the deletes; what it points to lies in the job's arena */
    int64_t deleted;
    bool is_gone; /* the table does not exist any more */
    bool was_last;
};

static enum status find_keys(
    struct session *session, struct chunk *chunk, struct row_scan *scan, struct error *err)
{
    struct operation_write *in = &chunk->operation.in.write;
    bool found = true;

    row_scan_open(scan);
    while (in->count < CHUNK_DELETES) {
        struct entity entity;

        TRY(row_scan_next(session, scan, &found, &entity, err));
        if (!found)
            break;
        if (chunk->plan.exact || filter_matches(chunk->filter, &entity))
            in->writes[in->count++] = (struct write){ .kind = WRITE_DELETE,
                .key = { arena_copy(&chunk->job->arena, entity.key.partition),
                    arena_copy(&chunk->job->arena, entity.key.row) },
                .condition = { .text = chunk->job->filter, .filter = chunk->filter } };
        row_scan_pass(scan, &entity.key);
    }
    return row_scan_finish(session, scan, err);
}

/* Collect the deletes of the chunk, and find its end. */
static enum status read_chunk(struct session *session, void *context, struct error *err)
{
    struct chunk *chunk = context;
    struct job *job = chunk->job;
    const struct table *table;
    struct row_scan scan;
    enum status status;

    TRY(session_refresh(session, NULL, err));
    table = catalogue_find_id(session->catalogue, job->table_id);
    chunk->is_gone = !table;
    if (!table)
        return STATUS_OK;
    chunk->operation = (struct operation){ .kind = OPERATION_WRITE,
        .account = arena_copy(&job->arena, table->account),
        .table = arena_copy(&job->arena, table->name),
        .arena = &job->arena,
        .deadline_us = INT64_MAX,
        .in.write = {
            .writes = ARENA_ARRAY(&job->arena, struct write, CHUNK_DELETES), .table_id = job->table_id } };
    scan = (struct row_scan){ .table = table,
        .plan = chunk->plan,
        .keys_only = chunk->plan.exact,
        .has_after = job->has_cursor,
        .after = job->cursor,
        .max_rows = CHUNK_EXAMINED,
        .max_bytes = CHUNK_BYTES,
        .has_names = true,
        .arena = &job->arena };
    scan.name_count = filter_names(chunk->filter, &job->arena, &scan.names);
    status = find_keys(session, chunk, &scan, err);
    row_scan_close(&scan);
    TRY(status);
    job->has_cursor = scan.has_after;
    job->cursor = scan.after;
    chunk->was_last = scan.exhausted;
    return STATUS_OK;
}

/* An entity that has gone meanwhile, or does not match any more, is not deleted. */
static enum status delete_chunk(struct session *session, void *context, struct error *err)
{
    struct chunk *chunk = context;
    const struct operation_write *in = &chunk->operation.in.write;

    write_batch_for_worker(chunk->job->store, session, &chunk->operation);
    if (chunk->operation.error) {
        *err = *chunk->operation.error;
        /* An unknown outcome is retried: a repeated delete does no harm. */
        return err->status == STATUS_MAYBE_DONE ? error_set(err, STATUS_UNAVAILABLE, "%s", err->message)
                                                : err->status;
    }
    for (size_t i = 0; i < in->count; i++)
        chunk->deleted += !chunk->operation.out.write.errors[i];
    return STATUS_OK;
}

static enum status end_range_delete(struct job *job, enum job_state state, struct error *err)
{
    job->state = state;
    job->total = job->done;
    return job_checkpoint(job, err);
}

enum status range_delete_chunk(struct job *job, struct error *err)
{
    struct chunk chunk = { .job = job };
    enum status status = STATUS_OK;

    TRY(filter_compile(job->filter, &job->arena, &chunk.filter, err));
    filter_key_plan(chunk.filter, &job->arena, &chunk.plan);
    TRY(worker_attempt(job->store, read_chunk, &chunk, err));
    if (chunk.is_gone)
        return end_range_delete(job, JOB_CANCELLED, err);
    if (chunk.operation.in.write.count > 0)
        status = worker_attempt(job->store, delete_chunk, &chunk, err);
    if (status == STATUS_NOT_FOUND)
        return end_range_delete(job, JOB_CANCELLED, err);
    TRY(status);
    FAILPOINT_TRY("range_delete.before_checkpoint", err);
    job->done += chunk.deleted;
    return chunk.was_last ? end_range_delete(job, JOB_DONE, err) : job_checkpoint(job, err);
}
