/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_transaction.c - TransactionService.SubmitTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"

enum status submit_transaction_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__SubmitTransactionRequest *request =
        (const Tavola__V1__SubmitTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_SUBMIT;
    return codec_transaction_decode(request, ctx->account, ctx->arena, &out->in.transaction.transaction, err);
}
