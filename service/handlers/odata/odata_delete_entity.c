/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_delete_entity.c - Delete Entity: DELETE /T(PartitionKey='p',RowKey='r').
 */
#include "domain/reason.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_write.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct write write = { .kind = WRITE_DELETE, .properties = { STR_EMPTY } };
    bool given;

    TRY(odata_call_condition(ctx, &write.condition, &given, err));
    if (!given)
        return reason_set(
            err, REASON_INVALID_INPUT, "If-Match is required: an ETag, or * to delete whatever is there.");
    TRY(odata_call_key(ctx, &write.key, err));
    TRY(odata_call_table(ctx, out, err));
    return odata_call_write(ctx, &write, out, err);
}

const struct method odata_delete_entity_method = {
    .path = "/azure.Tables/DeleteEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .decode = decode_request,
    .encode = odata_write_encode,
};
