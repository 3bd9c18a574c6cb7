/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redrive_dead_letters.c - AdminService.RedriveDeadLetters.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__RedriveDeadLettersRequest *request =
        (const Tavola__V1__RedriveDeadLettersRequest *)ctx->request;

    out->kind = OPERATION_DEAD_LETTERS_REDRIVE;
    out->in.dead_letters.dry_run = request->dry_run;
    return codec_admin_dead_letters_decode(request->dead_letter_ids, request->n_dead_letter_ids,
        request->filter, atomic_load(&ctx->service->queues), &out->in.dead_letters, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_dead_letters *out = &operation->out.dead_letters;
    Tavola__V1__RedriveDeadLettersResponse message = TAVOLA__V1__REDRIVE_DEAD_LETTERS_RESPONSE__INIT;
    int64_t *ids = ARENA_ARRAY(ctx->arena, int64_t, out->count);

    (void)err;
    for (size_t i = 0; i < out->count; i++)
        ids[i] = out->dead_letters[i].id;
    message.dead_letter_ids = ids;
    message.n_dead_letter_ids = out->differences ? 0 : out->count;
    message.more = out->more;
    codec_pack(reply, 0, &message.base);
    for (size_t i = 0; out->differences && i < out->count; i++)
        codec_pack(reply, 2, &codec_admin_difference_message(ids[i], &out->differences[i], ctx->arena)->base);
    return STATUS_OK;
}

const struct method redrive_dead_letters_method = {
    .path = "/tavola.v1.AdminService/RedriveDeadLetters",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_DEAD_LETTERS_REDRIVE,
    .request = &tavola__v1__redrive_dead_letters_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
