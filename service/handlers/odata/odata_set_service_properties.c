/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_set_service_properties.c - Set Table Service Properties: PUT /?restype=service&comp=properties.
 */
#include "odata/xml/xml_properties.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

enum { HTTP_ACCEPTED = 202 };

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    out->kind = OPERATION_SERVICE_PROPERTIES_SET;
    return xml_properties_read(odata_call_request(ctx)->body, ctx->arena, &out->in.service.change, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)operation;
    (void)reply;
    (void)err;
    odata_call_begin_reply(ctx->http, HTTP_ACCEPTED);
    return STATUS_OK;
}

const struct method odata_set_service_properties_method = {
    .path = "/azure.Tables/SetServiceProperties",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_SERVICE_PROPERTIES_SET,
    .decode = decode_request,
    .encode = encode_reply,
};
