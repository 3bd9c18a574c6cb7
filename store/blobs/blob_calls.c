/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_calls.c - see the header. A delete leaves the content to the collector, with a row that commits
 * with the delete.
 */
#include "store/blobs/blob_calls.h"

#include "base/failpoint.h"
#include "domain/reason.h"
#include "store/blobs/blob_rows.h"
#include "store/sql.h"

/* An entity that held the content when the caller read it may hold another one now. */
static enum status get_content(struct session *session, struct operation *operation, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    blob_rows_add_content(&params, session, operation, &operation->in.blob.content);
    TRY(pg_query(&session->pg, &sql_content_get, &params, &rows, err));
    if (PQntuples(rows) == 0)
        return reason_set(err, REASON_BLOB_CHANGED,
            "no entity holds the content of this reference any more: read the entity again");
    blob_rows_answer(operation, rows, 1);
    return STATUS_OK;
}

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    if (operation->in.blob.is_reference)
        return get_content(session, operation, err);
    blob_rows_add_name(&params, session, operation);
    TRY(pg_query(&session->pg, &sql_blob_get, &params, &rows, err));
    if (PQntuples(rows) == 0)
        return blob_rows_refuse_absent(operation, err);
    blob_rows_answer(operation, rows, 1);
    return blob_condition_check(&operation->in.blob.condition, &operation->out.blob.blobs[0].content, err);
}

void blob_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

/* The statement reads one row more than the limit, which tells whether more blobs exist. */
static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct outcome_blob *out = &operation->out.blob;
    struct pg_params params;
    PG_RESULT rows = NULL;
    bool more;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, in->after);
    pg_add_bytes(&params, in->prefix);
    pg_add_int8(&params, (int64_t)in->limit + 1);
    TRY(pg_query(&session->pg, &sql_blob_list, &params, &rows, err));
    more = PQntuples(rows) > in->limit;
    blob_rows_answer(operation, rows, more ? (size_t)in->limit : (size_t)PQntuples(rows));
    out->more = more;
    out->position = out->count > 0 ? out->blobs[out->count - 1].name : STR_EMPTY;
    return STATUS_OK;
}

void blob_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

/* Begin a transaction and lock the blob. */
static enum status hold_blob(
    struct session *session, const struct operation *operation, struct blob_id *content, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    blob_rows_add_name(&params, session, operation);
    TRY(session_begin_statement(session, &sql_blob_hold, &params, &rows, err));
    if (PQntuples(rows) == 0)
        return blob_rows_refuse_absent(operation, err);
    *content = blob_rows_id(rows, 0, PG_ONLY_COLUMN);
    return blob_condition_check(&operation->in.blob.condition, content, err);
}

static enum status delete_one(struct session *session, struct operation *operation, struct error *err)
{
    struct blob_id content;
    struct pg_params params;

    TRY(hold_blob(session, operation, &content, err));
    blob_rows_add_name(&params, session, operation);
    TRY(pg_send(&session->pg, &sql_blob_remove, &params, err));
    TRY(blob_rows_send_discard(session, operation, &content, err));
    FAILPOINT_TRY("blob_delete.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("blob_delete.after_commit");
    return STATUS_OK;
}

void blob_calls_delete(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, delete_one);
}
