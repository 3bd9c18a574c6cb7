/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_get_service_stats.c - Get Table Service Stats: GET /?restype=service&comp=stats, of the secondary
 * endpoint.
 *
 * Both endpoints read the same copy of the data, so the secondary is never behind. The method reads the
 * service's settings without showing them, as proof that the server reaches its database.
 */
#include "base/clock.h"
#include "odata/odata_error.h"
#include "odata/xml/xml_properties.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    out->kind = OPERATION_SERVICE_PROPERTIES_GET;
    if (odata_call_of(ctx)->target.is_secondary)
        return STATUS_OK;
    return odata_error_refuse(err, ODATA_REFUSAL_INVALID_QUERY_PARAMETER_VALUE,
        "comp=stats is for the secondary endpoint: add -secondary to the account's name");
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)operation;
    (void)err;
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_header(ctx, "Content-Type", STR_LITERAL("application/xml"));
    xml_properties_write_stats(clock_ticks(), ctx->arena, reply);
    return STATUS_OK;
}

const struct method odata_get_service_stats_method = {
    .path = "/azure.Tables/GetServiceStats",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_SERVICE_PROPERTIES_GET,
    .decode = decode_request,
    .encode = encode_reply,
};
