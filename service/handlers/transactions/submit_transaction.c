/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_transaction.c - TransactionService.SubmitTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__SubmitTransactionRequest *request =
        (const Tavola__V1__SubmitTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_SUBMIT;
    return codec_transaction_decode(request, ctx->account, ctx->arena, &out->in.transaction.transaction, err);
}

const struct method submit_transaction_method = {
    .path = "/tavola.v1.TransactionService/SubmitTransaction",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TRANSACTION_SUBMIT,
    .request = &tavola__v1__submit_transaction_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_transaction,
};
