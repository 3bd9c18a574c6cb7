/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_replace_entity.c - Update Entity and Insert Or Replace Entity: PUT /T(PartitionKey='p',RowKey='r').
 */
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_write.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    return odata_write_decode(ctx, WRITE_REPLACE, WRITE_INSERT_OR_REPLACE, out, err);
}

const struct method odata_replace_entity_method = {
    .path = "/azure.Tables/ReplaceEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .decode = decode_request,
    .encode = odata_write_encode,
};
