/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_query_tables.c - Query Tables: GET /Tables. The list includes indexes, since their entries can be
 * queried like entities.
 */
#include "api/codec.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_query.h"
#include "service/paging.h"

/* A continuation token continues only a list with the same filter. */
static struct paging_list list_of(struct call_ctx *ctx)
{
    const struct odata_options *options = &odata_call_of(ctx)->target.options;
    struct paging_list list = { .name = "tables", .page_token = codec_bytes(options->next_table_name) };

    if (options->filter.len > 0)
        list.name = arena_format(ctx->arena, "tables where %.*s", STR_ARG(options->filter)).data;
    return list;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);
    struct paging_list list = list_of(ctx);

    out->kind = OPERATION_TABLE_LIST;
    TRY(odata_call_format(ctx, err));
    TRY(odata_query_top(ctx, &list.page_size, err));
    TRY(filter_compile(call->target.options.filter, ctx->arena, &out->in.tables.filter, err));
    TRY(filter_check_only(out->in.tables.filter, "TableName", err));
    return paging_read_list(ctx, &list, &out->in.tables.limit, &out->in.tables.after, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_tables *tables = &operation->out.tables;
    struct odata_call *call = odata_call_of(ctx);
    struct odata_list list;
    struct str token;

    call->view.table = STR_LITERAL("Tables");
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_json_headers(ctx->http, odata_format_content_type(call->view.level));
    odata_list_begin(&list, &call->view, reply);
    for (size_t i = 0; i < tables->count && !call->is_empty; i++)
        odata_list_add_table(&list, tables->tables[i].name);
    odata_list_end(&list);
    if (!tables->more || call->is_empty)
        return STATUS_OK;
    TRY(paging_make_list(ctx, list_of(ctx).name, tables->position, &token, err));
    odata_call_add_header(ctx, "x-ms-continuation-NextTableName", token);
    return STATUS_OK;
}

const struct method odata_query_tables_method = {
    .path = "/azure.Tables/QueryTables",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_LIST,
    .decode = decode_request,
    .encode = encode_reply,
};
