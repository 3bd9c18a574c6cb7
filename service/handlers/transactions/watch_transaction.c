/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_transaction.c - TransactionService.WatchTransaction: look, tell, wait for a change, look again.
 *
 * The first operation gets the transaction; the others wait in the store, as state, until the revision is another
 * one. A slow client skips what lies between.
 */
#include "api/codec_transaction.h"
#include "service/consistency.h"
#include "service/handlers/handlers.h"
#include "service/stream.h"

struct watch {
    struct str id;
    int64_t told; /* the revision that was sent last; below 0: none */
    bool is_final;
};

static enum status take(struct call_ctx *ctx, struct error *err)
{
    const Tavola__V1__WatchTransactionRequest *request =
        (const Tavola__V1__WatchTransactionRequest *)ctx->request;
    struct watch *watch = ARENA_NEW(ctx->arena, struct watch);

    ctx->state = watch;
    watch->id = codec_str(request->transaction_id);
    watch->told = -1;
    return codec_transaction_id_check(watch->id, err);
}

static enum status ask(struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    const struct watch *watch = ctx->state;

    if (watch->is_final) {
        *step = STREAM_END;
        return STATUS_OK;
    }
    out->kind = watch->told < 0 ? OPERATION_TRANSACTION_GET : OPERATION_TRANSACTION_WAIT;
    out->in.transaction = (struct operation_transaction){
        .transaction = { .id = watch->id, .account = ctx->account },
        .seen = watch->told,
    };
    return stream_admit(ctx, out, "watch at another", err);
}

static enum status tell(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    const struct transaction *transaction = &operation->out.transaction.transactions[0];
    struct watch *watch = ctx->state;
    struct str token;

    if (transaction->revision == watch->told) {
        /* Nothing new up to the deadline; or the server is stopping, and asking is refused. */
        *step = atomic_load(&ctx->service->draining) ? STREAM_ASK : STREAM_END;
        return STATUS_OK;
    }
    TRY(consistency_write_transaction(ctx->service, transaction, ctx->arena, &token, err));
    codec_transaction_write(&ctx->reply, 1, transaction, token, ctx->arena);
    watch->told = transaction->revision;
    watch->is_final = transaction_is_final(transaction->state);
    return STATUS_OK;
}

const struct stream_method watch_transaction_stream = { .take = take, .ask = ask, .tell = tell };
