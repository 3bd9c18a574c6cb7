/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_execute_batch.c - the entity group transaction: POST /$batch.
 */
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_batch.h"

const struct method odata_execute_batch_method = {
    .path = "/azure.Tables/ExecuteBatch",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .may_get = true,
    .decode = odata_batch_decode,
    .encode = odata_batch_encode,
};
