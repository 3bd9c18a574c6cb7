/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_set_acl.c - Set Table ACL: PUT /T?comp=acl.
 */
#include "odata/xml/xml_acl.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

enum { HTTP_NO_CONTENT = 204 };

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct access_policies policies;

    out->kind = OPERATION_TABLE_UPDATE;
    TRY(xml_acl_read(odata_call_request(ctx)->body, ctx->arena, &policies, err));
    out->in.tables.change = (struct table_change){ .sets_policies = true,
        .policies = access_policies_encode(&policies, ctx->arena) };
    return odata_call_table(ctx, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)operation;
    (void)reply;
    (void)err;
    odata_call_begin_reply(ctx->http, HTTP_NO_CONTENT);
    return STATUS_OK;
}

const struct method odata_set_acl_method = {
    .path = "/azure.Tables/SetAcl",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_UPDATE,
    .decode = decode_request,
    .encode = encode_reply,
};
