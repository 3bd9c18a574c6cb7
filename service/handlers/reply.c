/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - see the header. In each of these replies the object is field 1.
 */
#include "service/handlers/reply.h"

#include "api/codec_admin.h"
#include "api/codec_index.h"
#include "api/codec_table.h"
#include "api/codec_transaction.h"
#include "api/codec_write.h"
#include "domain/reason.h"
#include "service/consistency.h"

enum status reply_with_write_result(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_write *out = &operation->out.write;
    struct str token;

    TRY(consistency_write(ctx->service, out->left_open, ctx->arena, &token, err));
    codec_write_result(reply, 1, &out->results[0], token, out->replayed);
    return STATUS_OK;
}

enum status reply_with_table(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_pack(reply, 1, &codec_table_message(&operation->out.tables.tables[0], ctx->arena)->base);
    return STATUS_OK;
}

enum status reply_with_job(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_pack(reply, 1, &codec_table_job_message(&operation->out.jobs.jobs[0], ctx->arena)->base);
    return STATUS_OK;
}

enum status reply_with_index(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct index_view *view = &operation->out.index.indexes[0];
    const Tavola__V1__Index *index = codec_index_message(view->definition, ctx->arena);

    if (!index)
        return reason_set(err, REASON_INTERNAL_ERROR, "the stored declaration of an index is damaged");
    codec_pack(reply, 1, &index->base);
    codec_pack(reply, 2, &codec_index_status_message(view, ctx->arena)->base);
    return STATUS_OK;
}

enum status reply_with_transaction(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct transaction *transaction = &operation->out.transaction.transactions[0];
    struct str token;

    TRY(consistency_write_transaction(ctx->service, transaction, ctx->arena, &token, err));
    codec_transaction_write(reply, 1, transaction, token, ctx->arena);
    return STATUS_OK;
}

enum status reply_with_queues(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_admin_queues_write(reply, 1, &operation->out.queues, ctx->arena);
    return STATUS_OK;
}
