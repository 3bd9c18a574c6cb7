/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_transactions.c - TransactionService.ListTransactions.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"
#include "domain/reason.h"
#include "service/paging.h"

/* A page token continues only the list that it was made for. */
static const char *list_name(const struct operation_transaction *in, struct arena *arena)
{
    return arena_format(arena, "transactions in state %d of key %lld", (int)in->only,
        in->by_key ? (long long)in->key_digest : 0)
        .data;
}

static enum status filter_decode(struct call_ctx *ctx, const Tavola__V1__ListTransactionsRequest *request,
    struct operation_transaction *out, struct error *err)
{
    if (request->state < 0 || request->state > TAVOLA__V1__TRANSACTION_STATE__TRANSACTION_STATE_DEAD)
        return reason_set(err, REASON_INVALID_INPUT, "state is not a value of TransactionState");
    out->only = (enum transaction_state)request->state;
    out->by_key = request->entity != NULL;
    if (!out->by_key)
        return STATUS_OK;
    return codec_transaction_address_digest(request->entity, "entity", ctx->account, &out->key_digest, err);
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListTransactionsRequest *request =
        (const Tavola__V1__ListTransactionsRequest *)ctx->request;
    struct operation_transaction *in = &out->in.transaction;

    out->kind = OPERATION_TRANSACTION_LIST;
    TRY(filter_decode(ctx, request, in, err));
    return paging_read_list(ctx,
        &(struct paging_list){ list_name(in, ctx->arena), request->page_size, request->page_token },
        &in->limit, &in->after, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_transaction *list = &operation->out.transaction;

    for (size_t i = 0; i < list->count; i++)
        codec_pack(reply, 1,
            &codec_transaction_message(&list->transactions[i], TRANSACTION_SUMMARY, ctx->arena)->base);
    if (!list->more)
        return STATUS_OK;
    return paging_write_list(
        ctx, reply, 2, list_name(&operation->in.transaction, ctx->arena), list->position, err);
}

const struct method list_transactions_method = {
    .path = "/tavola.v1.TransactionService/ListTransactions",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TRANSACTION_LIST,
    .request = &tavola__v1__list_transactions_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
