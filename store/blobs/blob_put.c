/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_put.c - see the header.
 *
 * The commits of begun contents and of chunks do not wait for the disk: PostgreSQL's log has one
 * order, and the commit that points the name waits. A crash can lose the end of an upload that is
 * under way; its caller then asks how far the upload has come.
 */
#include "store/blobs/blob_put.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "store/blobs/blob_rows.h"
#include "store/blobs/chunk_bytes.h"
#include "store/sql.h"

enum upload_column { UPLOAD_CONTENT, UPLOAD_STATE, UPLOAD_STORED, UPLOAD_KEPT_UNTIL_US };

static struct blob_upload read_upload(const PGresult *rows)
{
    return (struct blob_upload){
        .content = blob_rows_id(rows, 0, UPLOAD_CONTENT),
        .state = (enum blob_content_state)pg_int2(rows, 0, UPLOAD_STATE),
        .stored = pg_int8(rows, 0, UPLOAD_STORED),
        .kept_until = ticks_from_unix_us(pg_int8(rows, 0, UPLOAD_KEPT_UNTIL_US)),
    };
}

static enum status refuse_upload(struct error *err)
{
    return reason_set(err, REASON_UPLOAD_NOT_FOUND, "there is no upload of this id");
}

/* Begin a transaction whose commit does not wait for the disk, in the flight of its statements. */
static enum status send_begin_later(struct session *session, struct error *err)
{
    TRY(pg_send(&session->pg, &sql_begin, NULL, err));
    return pg_send(&session->pg, &sql_flush_later, NULL, err);
}

static enum status take_begin_later(struct session *session, struct error *err)
{
    TRY(pg_done(&session->pg, err));
    return pg_done(&session->pg, err);
}

/* How long a content is kept to which no stream appends, in seconds. */
static int64_t kept_s(const struct operation_blob *in)
{
    return in->upload_id.len > 0 ? LIMIT_UPLOAD_KEPT_S : LIMIT_PUT_KEPT_S;
}

/* ---- begin ---- */

static enum status send_content(struct session *session, const struct operation *operation, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct pg_params params;

    blob_rows_add_content(&params, session, operation, &in->content);
    pg_add_int8(&params, in->writer);
    if (in->upload_id.len > 0)
        pg_add_bytes(&params, in->upload_id);
    else
        pg_add_null(&params);
    pg_add_int8(&params, kept_s(in));
    return pg_send(&session->pg, &sql_content_insert, &params, err);
}

/* Tell a caller early that its condition does not hold. The commit decides. */
static enum status check_early(struct session *session, const struct operation *operation, struct error *err)
{
    struct blob_id content;
    struct pg_params params;
    PG_RESULT rows = NULL;

    if (operation->in.blob.name.len == 0)
        return STATUS_OK;
    blob_rows_add_name(&params, session, operation);
    TRY(pg_query(&session->pg, &sql_blob_locked, &params, &rows, err));
    if (PQntuples(rows) > 0)
        content = blob_rows_id(rows, 0, PG_ONLY_COLUMN);
    return blob_condition_check(&operation->in.blob.condition, PQntuples(rows) > 0 ? &content : NULL, err);
}

static enum status begin_plain(struct session *session, struct operation *operation, struct error *err)
{
    TRY(check_early(session, operation, err));
    TRY(send_begin_later(session, err));
    TRY(send_content(session, operation, err));
    TRY(pg_send(&session->pg, &sql_commit, NULL, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_end(&session->pg, err));
    operation->out.blob = (struct outcome_blob){ .upload = { .content = operation->in.blob.content,
                                                     .state = BLOB_CONTENT_OPEN } };
    return STATUS_OK;
}

/* Begin a transaction, create the upload unless it exists or would not begin at 0, and lock it. */
static enum status lock_upload(
    struct session *session, const struct operation *operation, struct blob_upload *out, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct pg_params params;
    PG_RESULT rows = NULL;

    TRY(send_begin_later(session, err));
    if (in->offset == 0)
        TRY(send_content(session, operation, err));
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, in->upload_id);
    TRY(pg_send(&session->pg, &sql_upload_locked, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(take_begin_later(session, err));
    if (in->offset == 0)
        TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, &rows, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(rows) == 0)
        return refuse_upload(err);
    *out = read_upload(rows);
    return STATUS_OK;
}

/* The upload is complete: the answer is the blob that it made. */
static enum status answer_complete(
    struct session *session, struct operation *operation, const struct blob_upload *upload, struct error *err)
{
    bool is_named = operation->in.blob.name.len > 0;
    struct pg_params params;
    PG_RESULT rows = NULL;

    blob_rows_add_content(&params, session, operation, &upload->content);
    TRY(pg_query(&session->pg, is_named ? &sql_blob_of_content : &sql_content_get, &params, &rows, err));
    if (PQntuples(rows) == 0)
        return refuse_upload(err);
    blob_rows_answer(operation, rows, 1);
    if (!str_equal(operation->out.blob.blobs[0].name, operation->in.blob.name))
        return reason_set(err, REASON_INVALID_INPUT, "the upload_id belongs to a blob of another name");
    operation->out.blob.upload = *upload;
    pg_recover(&session->pg);
    return STATUS_OK;
}

static enum status begin_upload(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct blob_upload upload;
    struct pg_params params;

    TRY(lock_upload(session, operation, &upload, err));
    TRY(blob_plan_continue(&upload, in->offset, err));
    if (blob_content_is_complete(upload.state))
        return answer_complete(session, operation, &upload, err);
    TRY(check_early(session, operation, err));
    blob_rows_add_content(&params, session, operation, &upload.content);
    pg_add_int8(&params, in->writer);
    pg_add_int8(&params, kept_s(in));
    TRY(pg_send(&session->pg, &sql_upload_take, &params, err));
    TRY(pg_send(&session->pg, &sql_commit, NULL, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_end(&session->pg, err));
    operation->out.blob = (struct outcome_blob){ .upload = upload };
    return STATUS_OK;
}

static enum status begin_content(struct session *session, struct operation *operation, struct error *err)
{
    return operation->in.blob.upload_id.len > 0 ? begin_upload(session, operation, err)
                                                : begin_plain(session, operation, err);
}

void blob_put_begin(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, begin_content);
}

static enum status get_upload(struct session *session, struct operation *operation, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, operation->in.blob.upload_id);
    TRY(pg_query(&session->pg, &sql_upload_get, &params, &rows, err));
    if (PQntuples(rows) == 0)
        return refuse_upload(err);
    operation->out.blob = (struct outcome_blob){ .upload = read_upload(rows) };
    return operation->out.blob.upload.state == BLOB_CONTENT_DISCARDED ? refuse_upload(err) : STATUS_OK;
}

void blob_put_get_upload(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get_upload);
}

/* ---- append ---- */

static enum status send_chunk(struct session *session, const struct operation *operation,
    const struct chunk_bytes *chunk, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct pg_params params;

    TRY(chunk_bytes_send_hold(session, operation, chunk, err));
    blob_rows_add_content(&params, session, operation, &in->content);
    pg_add_int8(&params, in->writer);
    pg_add_int8(&params, in->offset);
    pg_add_int4(&params, (int32_t)(in->offset / LIMIT_BLOB_CHUNK_BYTES));
    chunk_bytes_add(in->bytes, chunk, &params);
    pg_add_int8(&params, kept_s(in));
    return pg_send(&session->pg, &sql_blob_append, &params, err);
}

/* Take the result of a statement that returns a row if this stream is the content's writer. */
static enum status take_writer(struct session *session, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(pg_next(&session->pg, &rows, err));
    if (PQntuples(rows) > 0)
        return STATUS_OK;
    return reason_set(
        err, REASON_UPLOAD_OFFSET_MISMATCH, "another stream has continued this upload, or it was abandoned");
}

static enum status take_append(struct session *session, const struct chunk_bytes *chunk, struct error *err)
{
    TRY(chunk_bytes_take_hold(session, chunk, err));
    return take_writer(session, err);
}

/* No marker is needed: an attempt that repeats one whose answer was lost changes nothing. */
static enum status append_chunk(struct session *session, struct operation *operation, struct error *err)
{
    struct chunk_bytes chunk;

    TRY(chunk_bytes_prepare(session, operation, &chunk, err));
    TRY(send_begin_later(session, err));
    TRY(send_chunk(session, operation, &chunk, err));
    TRY(pg_send(&session->pg, &sql_commit, NULL, err));
    TRY(pg_sync(&session->pg, err));
    TRY(take_begin_later(session, err));
    TRY(take_append(session, &chunk, err));
    TRY(pg_end(&session->pg, err));
    FAILPOINT("blob_append.after_commit");
    return STATUS_OK;
}

void blob_put_append(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, append_chunk);
}

/* ---- commit without a name ---- */

/* The content is complete, and is kept for as long as an upload that goes on, until an entity holds it. */
static enum status send_complete(
    struct session *session, const struct operation *operation, const struct blob *blob, struct error *err)
{
    struct pg_params params;

    blob_rows_add_content(&params, session, operation, &blob->content);
    pg_add_int8(&params, operation->in.blob.writer);
    pg_add_int8(&params, blob->size);
    pg_add_bytes(&params, blob->content_type);
    pg_add_bytes(&params, blob_digest_str(&blob->digest));
    pg_add_int8(&params, blob->created);
    pg_add_int8(&params, kept_s(&operation->in.blob));
    return pg_send(&session->pg, &sql_content_complete, &params, err);
}

static enum status begin_nameless(struct session *session, struct error *err)
{
    enum status status;
    int64_t now_us;

    TRY(session_send_begin(session, err));
    TRY(pg_sync(&session->pg, err));
    status = session_take_begin(session, &now_us, err);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status; /* STATUS_STALE is harmless: contents do not depend on the catalogue */
    return pg_end(&session->pg, err);
}

/* ---- commit ---- */

/* Begin a transaction and lock the name. *had: whether it points to a content, which is *old. */
static enum status lock_name(struct session *session, const struct operation *operation, bool *had,
    struct blob_id *old, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;
    enum status status;
    int64_t now_us;

    blob_rows_add_name(&params, session, operation);
    TRY(session_send_begin(session, err));
    TRY(pg_send(&session->pg, &sql_blob_lock, &params, err));
    TRY(pg_send(&session->pg, &sql_blob_locked, &params, err));
    TRY(pg_sync(&session->pg, err));
    status = session_take_begin(session, &now_us, err);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status; /* STATUS_STALE is harmless: blobs do not depend on the catalogue */
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, &rows, err));
    TRY(pg_end(&session->pg, err));
    *had = !PQgetisnull(rows, 0, PG_ONLY_COLUMN);
    if (*had)
        *old = blob_rows_id(rows, 0, PG_ONLY_COLUMN);
    return blob_condition_check(&operation->in.blob.condition, *had ? old : NULL, err);
}

static enum status send_publish(
    struct session *session, const struct operation *operation, const struct blob *blob, struct error *err)
{
    struct pg_params params;

    blob_rows_add_content(&params, session, operation, &blob->content);
    pg_add_int8(&params, operation->in.blob.writer);
    pg_add_int8(&params, blob->size);
    return pg_send(&session->pg, &sql_content_publish, &params, err);
}

static enum status send_point(
    struct session *session, const struct operation *operation, const struct blob *blob, struct error *err)
{
    struct pg_params params;

    blob_rows_add_name(&params, session, operation);
    pg_add_bytes(&params, blob_id_str(&blob->content));
    pg_add_int8(&params, blob->size);
    pg_add_bytes(&params, blob->content_type);
    pg_add_bytes(&params, blob_digest_str(&blob->digest));
    pg_add_int8(&params, blob->created);
    return pg_send(&session->pg, &sql_blob_point, &params, err);
}

/*
 * Store the last bytes of the content, which must be this stream's and complete, and point the name to it, if it has
 * one.
 */
static enum status end_content(struct session *session, const struct operation *operation,
    const struct blob *blob, const struct chunk_bytes *last, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;

    if (in->is_new)
        TRY(send_content(session, operation, err));
    if (in->bytes.len > 0)
        TRY(send_chunk(session, operation, last, err));
    if (in->name.len > 0) {
        TRY(send_publish(session, operation, blob, err));
        TRY(send_point(session, operation, blob, err));
    } else {
        TRY(send_complete(session, operation, blob, err));
    }
    TRY(pg_sync(&session->pg, err));
    if (in->is_new)
        TRY(pg_done(&session->pg, err));
    if (in->bytes.len > 0)
        TRY(take_append(session, last, err));
    TRY(take_writer(session, err));
    return pg_end(&session->pg, err);
}

static enum status commit_content(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct blob *blob = ARENA_NEW(operation->arena, struct blob);
    struct chunk_bytes last;
    struct blob_id old;
    bool had = false;

    if (in->bytes.len > 0)
        TRY(chunk_bytes_prepare(session, operation, &last, err));
    *blob = (struct blob){ .name = arena_copy(operation->arena, in->name),
        .content = in->content,
        .size = in->offset + (int64_t)in->bytes.len,
        .content_type = arena_copy(operation->arena, in->content_type),
        .digest = in->digest,
        .created = clock_ticks() };
    if (in->name.len > 0)
        TRY(lock_name(session, operation, &had, &old, err));
    else
        TRY(begin_nameless(session, err));
    TRY(end_content(session, operation, blob, &last, err));
    if (had)
        TRY(blob_rows_send_discard(session, operation, &old, err));
    FAILPOINT_TRY("blob_put.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("blob_put.after_commit");
    operation->out.blob = (struct outcome_blob){ .blobs = blob, .count = 1 };
    return STATUS_OK;
}

void blob_put_commit(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, commit_content);
}
