/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_query_entities.c - Query Entities: GET /T(). The store writes the entities directly into the body.
 */
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_lookup.h"
#include "service/odata/odata_query.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);

    TRY(odata_call_format(ctx, err));
    TRY(odata_selection_parse(call->target.options.select, ctx->arena, &call->view.selection, err));
    TRY(odata_call_table(ctx, out, err));
    if (odata_lookup_is_asked(ctx))
        return odata_lookup_decode(ctx, out, err);
    TRY(odata_query_decode(ctx, out, err));
    if (call->is_empty)
        return STATUS_OK;
    odata_writer_init(&call->writer, &call->view, &ctx->reply);
    out->in.page.sink = &call->writer.sink;
    out->in.page.select = call->view.selection.names;
    out->in.page.select_count = call->view.selection.count;
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);

    if (operation->kind == OPERATION_LOOKUP)
        return odata_lookup_encode(ctx, operation, reply, err);
    if (call->is_empty)
        odata_list_begin(&call->writer.list, &call->view, reply);
    odata_list_end(&call->writer.list);
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_json_headers(ctx->http, odata_format_content_type(call->view.level));
    return odata_query_add_headers(ctx, &operation->out.page, err);
}

const struct method odata_query_entities_method = {
    .path = "/azure.Tables/QueryEntities",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_PAGE,
    .may_look_up = true,
    .decode = decode_request,
    .encode = encode_reply,
};
