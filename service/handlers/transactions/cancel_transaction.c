/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel_transaction.c - TransactionService.CancelTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__CancelTransactionRequest *request =
        (const Tavola__V1__CancelTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_CANCEL;
    out->in.transaction.transaction.account = ctx->account;
    out->in.transaction.transaction.id = codec_str(request->transaction_id);
    return codec_transaction_id_check(out->in.transaction.transaction.id, err);
}

const struct method cancel_transaction_method = {
    .path = "/tavola.v1.TransactionService/CancelTransaction",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TRANSACTION_CANCEL,
    .request = &tavola__v1__cancel_transaction_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_transaction,
};
