/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_get_service_properties.c - Get Table Service Properties: GET /?restype=service&comp=properties.
 */
#include "odata/xml/xml_properties.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)ctx;
    (void)err;
    out->kind = OPERATION_SERVICE_PROPERTIES_GET;
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_header(ctx, "Content-Type", STR_LITERAL("application/xml"));
    xml_properties_write(&operation->out.service.properties, reply);
    return STATUS_OK;
}

const struct method odata_get_service_properties_method = {
    .path = "/azure.Tables/GetServiceProperties",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_SERVICE_PROPERTIES_GET,
    .decode = decode_request,
    .encode = encode_reply,
};
