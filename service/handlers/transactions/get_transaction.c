/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_transaction.c - TransactionService.GetTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"

enum status get_transaction_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetTransactionRequest *request =
        (const Tavola__V1__GetTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_GET;
    out->in.transaction.transaction.account = ctx->account;
    out->in.transaction.transaction.id = codec_str(request->transaction_id);
    return codec_transaction_id_check(out->in.transaction.transaction.id, err);
}
