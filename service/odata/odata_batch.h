/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_batch.h - POST /$batch: a change set as one entity group transaction, or one read.
 *
 * Each operation of a batch becomes a request with an exchange and a call of its own, which the methods of
 * single entities decode and encode. So the rules of writes and replies exist once. The writes of a change
 * set become one operation of the store, like those of ExecuteBatch.
 */
#ifndef SERVICE_ODATA_ODATA_BATCH_H
#define SERVICE_ODATA_ODATA_BATCH_H

#include "service/call.h"
#include "service/http/door.h"

/*
 * Decode a batch. STATUS_INVALID with INVALID_INPUT and others: the body is not a batch; with the metadata
 * operation_index: one of its operations is wrong.
 */
call_decode_fn odata_batch_decode;

/* Reply with 202, and an answer for each operation. */
call_encode_fn odata_batch_encode;

/*
 * Whether the error belongs to an operation of the batch, not to the batch itself. Then the reply is written:
 * 202, with one answer, whose text begins with the index of the operation. false: nothing is written.
 */
bool odata_batch_write_error(struct http_call *http, const struct error *err, struct buf *out);

#endif
