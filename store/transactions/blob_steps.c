/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_steps.c - see the header. The statements are those of puts and deletes of blobs.
 */
#include "store/transactions/blob_steps.h"

#include <string.h>

#include "base/clock.h"
#include "domain/blobs/blob_plan.h"
#include "domain/limits.h"
#include "store/sql.h"
#include "store/transactions/transaction_calls.h"

static void add_name(struct session *session, const struct blob_step *blob, struct pg_params *params)
{
    pg_params_init(params, &session->arena);
    pg_add_bytes(params, blob->account);
    pg_add_bytes(params, blob->step->path);
}

static void add_content(struct session *session, const struct blob_step *blob, const struct blob_id *content,
    struct pg_params *params)
{
    pg_params_init(params, &session->arena);
    pg_add_bytes(params, blob->account);
    pg_add_bytes(params, arena_copy(&session->arena, blob_id_str(content)));
}

static struct blob_slot read_slot(const PGresult *rows)
{
    struct blob_slot slot = { .has_content = PQntuples(rows) > 0 && !PQgetisnull(rows, 0, PG_ONLY_COLUMN) };
    struct str bytes = slot.has_content ? pg_bytes(rows, 0, PG_ONLY_COLUMN) : STR_EMPTY;

    if (bytes.len == sizeof(slot.content.bytes))
        memcpy(slot.content.bytes, bytes.data, sizeof(slot.content.bytes));
    return slot;
}

static void check_condition(const struct blob_step *blob, const struct blob_slot *slot, struct error *refusal)
{
    const struct step *step = blob->step;
    struct blob_condition condition;
    enum status status = blob_condition_parse(step->if_match, step->if_absent, &condition, refusal);

    if (status == STATUS_OK)
        status = blob_condition_check(&condition, slot->has_content ? &slot->content : NULL, refusal);
    refusal->status = status;
}

enum status blob_steps_lock(struct session *session, const struct blob_step *blob, struct blob_slot *slot,
    struct error *refusal, struct error *err)
{
    struct pg_params params;
    PG_RESULT locked = NULL;
    PG_RESULT rows = NULL;

    add_name(session, blob, &params);
    TRY(pg_query(&session->pg, &sql_blob_lock, &params, &locked, err));
    TRY(pg_query(&session->pg, &sql_blob_locked, &params, &rows, err));
    *slot = read_slot(rows);
    check_condition(blob, slot, refusal);
    return STATUS_OK;
}

enum status blob_steps_leave(
    struct session *session, const struct blob_step *blob, const struct blob_slot *slot, struct error *err)
{
    struct pg_params params;

    if (slot->has_content)
        return STATUS_OK;
    add_name(session, blob, &params);
    return pg_send(&session->pg, &sql_blob_remove, &params, err);
}

static enum status take_content(
    struct session *session, const struct blob_step *blob, const struct blob_id *content, struct error *err)
{
    struct pg_params params;
    PG_RESULT named = NULL;

    add_content(session, blob, content, &params);
    TRY(pg_query(&session->pg, &sql_content_name, &params, &named, err));
    if (PQntuples(named) > 0)
        return STATUS_OK;
    return error_set(err, STATUS_UNAVAILABLE, "the content of the step was collected before it got its name");
}

static enum status send_discard(
    struct session *session, const struct blob_step *blob, const struct blob_id *content, struct error *err)
{
    struct pg_params params;

    add_content(session, blob, content, &params);
    pg_add_int8(&params, LIMIT_BLOB_READ_KEPT_S);
    return pg_send(&session->pg, &sql_content_discard, &params, err);
}

enum status blob_steps_point(struct session *session, const struct blob_step *blob,
    const struct blob_slot *slot, const struct receipt *receipt, struct error *err)
{
    struct pg_params params;
    struct blob_id content;

    if (!blob_etag_parse(receipt->etag, &content))
        return error_set(err, STATUS_INTERNAL, "the receipt of a put has no ETag");
    TRY(take_content(session, blob, &content, err));
    add_name(session, blob, &params);
    pg_add_bytes(&params, arena_copy(&session->arena, blob_id_str(&content)));
    pg_add_int8(&params, receipt->size);
    pg_add_bytes(&params, blob->step->content_type);
    pg_add_bytes(&params, receipt->digest);
    pg_add_int8(&params, clock_ticks());
    TRY(pg_send(&session->pg, &sql_blob_point, &params, err));
    return slot->has_content ? send_discard(session, blob, &slot->content, err) : STATUS_OK;
}

enum status blob_steps_delete(struct session *session, const struct blob_step *blob, struct attempt *attempt,
    struct error *refusal, struct error *err)
{
    struct pg_params params;
    struct blob_slot slot;
    PG_RESULT held = NULL;

    add_name(session, blob, &params);
    TRY(pg_query(&session->pg, &sql_blob_hold, &params, &held, err));
    slot = read_slot(held);
    check_condition(blob, &slot, refusal);
    if (refusal->status != STATUS_OK)
        return STATUS_OK;
    if (!slot.has_content) {
        attempt->reason = STR_LITERAL("BLOB_NOT_FOUND");
        return STATUS_OK;
    }
    attempt->etag_before = blob_etag_format(&slot.content, blob->arena);
    TRY(pg_send(&session->pg, &sql_blob_remove, &params, err));
    return send_discard(session, blob, &slot.content, err);
}
