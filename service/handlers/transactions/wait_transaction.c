/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_transaction.c - TransactionService.WaitTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"

enum status wait_transaction_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__WaitTransactionRequest *request =
        (const Tavola__V1__WaitTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_WAIT;
    out->in.transaction.seen = -1;
    out->in.transaction.transaction.account = ctx->account;
    out->in.transaction.transaction.id = codec_str(request->transaction_id);
    return codec_transaction_id_check(out->in.transaction.transaction.id, err);
}
