/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel_transaction.c - TransactionService.CancelTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"

enum status cancel_transaction_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__CancelTransactionRequest *request =
        (const Tavola__V1__CancelTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_CANCEL;
    out->in.transaction.transaction.account = ctx->account;
    out->in.transaction.transaction.id = codec_str(request->transaction_id);
    return codec_transaction_id_check(out->in.transaction.transaction.id, err);
}
