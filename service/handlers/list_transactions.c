/*
 * list_transactions.c - TransactionService.ListTransactions.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"
#include "service/paging.h"

enum status list_transactions_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListTransactionsRequest *request =
        (const Tavola__V1__ListTransactionsRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_LIST;
    return paging_read_list(ctx, request->page_size, request->page_token, "transactions",
        &out->in.transaction.limit, &out->in.transaction.after, err);
}

enum status list_transactions_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_transaction *list = &operation->out.transaction;

    for (size_t i = 0; i < list->count; i++)
        codec_pack(reply, 1,
            &codec_transaction_message(&list->transactions[i], TRANSACTION_SUMMARY, ctx->arena)->base);
    if (!list->more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 2, "transactions", list->position, err);
}
