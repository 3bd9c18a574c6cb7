/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_transaction.c - TransactionService.WatchTransaction: a message for each change of a transaction's state.
 *
 * The first operation gets the transaction. The next operations wait in the store, as state, until the transaction has
 * another revision than the last message. A slow client does not get the revisions in between.
 */
#include "api/codec_transaction.h"
#include "service/consistency.h"
#include "service/handlers/handlers.h"
#include "service/stream.h"

struct watch {
    struct str id;
    int64_t sent; /* the revision of the last message; negative: no message yet */
    bool is_final;
};

static enum status read_request(struct call_ctx *ctx, struct error *err)
{
    const Tavola__V1__WatchTransactionRequest *request =
        (const Tavola__V1__WatchTransactionRequest *)ctx->request;
    struct watch *watch = ARENA_NEW(ctx->arena, struct watch);

    ctx->state = watch;
    watch->id = codec_str(request->transaction_id);
    watch->sent = -1;
    return codec_transaction_id_check(watch->id, err);
}

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    const struct watch *watch = ctx->state;

    if (watch->is_final) {
        *step = STREAM_END;
        return STATUS_OK;
    }
    out->kind = watch->sent < 0 ? OPERATION_TRANSACTION_GET : OPERATION_TRANSACTION_WAIT;
    out->in.transaction = (struct operation_transaction){
        .transaction = { .id = watch->id, .account = ctx->account },
        .seen = watch->sent,
    };
    return stream_admit(ctx, out, "watch the transaction at another server", err);
}

static enum status write_message(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    const struct transaction *transaction = &operation->out.transaction.transactions[0];
    struct watch *watch = ctx->state;
    struct str token;

    if (transaction->revision == watch->sent) {
        /* Its deadline is near, or the server is stopping; then fill_operation refuses the next operation. */
        *step = atomic_load(&ctx->service->draining) ? STREAM_NEXT : STREAM_END;
        return STATUS_OK;
    }
    TRY(consistency_write_transaction(ctx->service, transaction, ctx->arena, &token, err));
    codec_transaction_write(&ctx->reply, 1, transaction, token, ctx->arena);
    watch->sent = transaction->revision;
    watch->is_final = transaction_is_final(transaction->state);
    return STATUS_OK;
}

static const struct stream_method stream = {
    .read_request = read_request, .fill_operation = fill_operation, .write_message = write_message
};

const struct method watch_transaction_method = {
    .path = "/tavola.v1.TransactionService/WatchTransaction",
    .kind = RPC_SERVER_STREAM,
    .events = &stream_events,
    .operation = OPERATION_TRANSACTION_WAIT,
    .request = &tavola__v1__watch_transaction_request__descriptor,
    .stream = &stream,
};
