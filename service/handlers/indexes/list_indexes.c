/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_indexes.c - IndexService.ListIndexes. If declarations are long, a page ends before it has as many as
 * the request allows.
 */
#include "service/handlers/handlers.h"

#include "api/codec_index.h"
#include "domain/catalogue/table_name.h"
#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/paging.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListIndexesRequest *request = (const Tavola__V1__ListIndexesRequest *)ctx->request;

    out->kind = OPERATION_INDEX_LIST;
    return paging_read_list(ctx, &(struct paging_list){ "indexes", request->page_size, request->page_token },
        &out->in.index.limit, &out->in.index.after, err);
}

static enum status write_view(struct call_ctx *ctx, const struct index_view *view, struct buf *reply,
    struct str *name, struct error *err)
{
    Tavola__V1__IndexView message = TAVOLA__V1__INDEX_VIEW__INIT;

    message.index = codec_index_message(view->definition, ctx->arena);
    if (!message.index)
        return reason_set(err, REASON_INTERNAL_ERROR, "the stored declaration of an index is damaged");
    message.status = codec_index_status_message(view, ctx->arena);
    codec_pack(reply, 1, &message.base);
    *name = codec_str(message.index->name);
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_index *indexes = &operation->out.index;
    enum { FULL_BYTES = LIMIT_REPLY_BYTES - 1024 * 1024 };

    for (size_t i = 0; i < indexes->count; i++) {
        struct str name;

        TRY(write_view(ctx, &indexes->indexes[i], reply, &name, err));
        if (reply->len > FULL_BYTES && i + 1 < indexes->count)
            return paging_write_list(ctx, reply, 2, "indexes", table_name_fold(name, ctx->arena), err);
    }
    if (!indexes->more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 2, "indexes", indexes->position, err);
}

const struct method list_indexes_method = {
    .path = "/tavola.v1.IndexService/ListIndexes",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_LIST,
    .request = &tavola__v1__list_indexes_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
