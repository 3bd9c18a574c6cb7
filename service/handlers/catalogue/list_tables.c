/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_tables.c - TableService.ListTables.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"
#include "service/paging.h"

/* A page token continues only a list with the same filter. */
static const char *list_name(struct call_ctx *ctx)
{
    const Tavola__V1__ListTablesRequest *request = (const Tavola__V1__ListTablesRequest *)ctx->request;
    struct str filter = codec_str(request->filter);

    return filter.len ? arena_format(ctx->arena, "tables where %.*s", STR_ARG(filter)).data : "tables";
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListTablesRequest *request = (const Tavola__V1__ListTablesRequest *)ctx->request;

    out->kind = OPERATION_TABLE_LIST;
    TRY(codec_table_filter_decode(request->filter, ctx->arena, &out->in.tables.filter, err));
    return paging_read_list(ctx,
        &(struct paging_list){ list_name(ctx), request->page_size, request->page_token },
        &out->in.tables.limit, &out->in.tables.after, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_tables *tables = &operation->out.tables;

    for (size_t i = 0; i < tables->count; i++)
        codec_pack(reply, 1, &codec_table_message(&tables->tables[i], ctx->arena)->base);
    if (!tables->more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 2, list_name(ctx), tables->position, err);
}

const struct method list_tables_method = {
    .path = "/tavola.v1.TableService/ListTables",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_LIST,
    .request = &tavola__v1__list_tables_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
