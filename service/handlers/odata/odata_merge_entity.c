/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_merge_entity.c - Merge Entity and Insert Or Merge Entity: PATCH or MERGE /T(PartitionKey='p',RowKey='r').
 */
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_write.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    return odata_write_decode(ctx, WRITE_MERGE, WRITE_INSERT_OR_MERGE, out, err);
}

const struct method odata_merge_entity_method = {
    .path = "/azure.Tables/MergeEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .decode = decode_request,
    .encode = odata_write_encode,
};
