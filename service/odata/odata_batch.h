/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_batch.h - POST /$batch: a change set as one entity group transaction, or one read.
 *
 * Each operation of a batch is a request with an exchange and a call of its own, which the methods of single entities decode
 * and encode: what a write says and how it is answered is nowhere twice. The writes of a change set become one operation of
 * the store, like those of ExecuteBatch.
 */
#ifndef SERVICE_ODATA_ODATA_BATCH_H
#define SERVICE_ODATA_ODATA_BATCH_H

#include "service/call.h"
#include "service/http/door.h"

/*
 * INVALID_INPUT and others: the body is no batch. With the metadata operation_index: an operation of it is wrong.
 */
call_decode_fn odata_batch_decode;

/* 202, with an answer for each operation. */
call_encode_fn odata_batch_encode;

/*
 * Whether the error is the answer to an operation of the batch, and not to the batch; then it is written as such: 202, with
 * one answer, whose text begins with the index of the operation. false: nothing is written.
 */
bool odata_batch_write_error(struct http_call *http, const struct error *err, struct buf *out);

#endif
