/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_get_acl.c - Get Table ACL: GET /T?comp=acl.
 */
#include "odata/xml/xml_acl.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    out->kind = OPERATION_TABLE_GET;
    return odata_call_table(ctx, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_header(ctx, "Content-Type", STR_LITERAL("application/xml"));
    xml_acl_write(&operation->out.tables.tables[0].policies, ctx->arena, reply);
    return STATUS_OK;
}

const struct method odata_get_acl_method = {
    .path = "/azure.Tables/GetAcl",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_GET,
    .decode = decode_request,
    .encode = encode_reply,
};
