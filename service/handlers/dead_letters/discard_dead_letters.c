/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discard_dead_letters.c - AdminService.DiscardDeadLetters.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"
#include "domain/reason.h"
#include "domain/text.h"

enum { MAX_REASON_BYTES = 1000 };

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DiscardDeadLettersRequest *request =
        (const Tavola__V1__DiscardDeadLettersRequest *)ctx->request;
    struct str why = codec_str(request->reason);

    out->kind = OPERATION_DEAD_LETTERS_DISCARD;
    out->in.dead_letters.reason = why;
    if (why.len == 0 || why.len > MAX_REASON_BYTES || !text_check(why, NULL, NULL) ||
        memchr(why.data, '\0', why.len))
        return reason_set(err, REASON_INVALID_INPUT,
            "reason must have 1 to %d bytes of UTF-8 text without NUL: it is stored with the dead letters",
            MAX_REASON_BYTES);
    TRY(codec_admin_dead_letters_decode(request->dead_letter_ids, request->n_dead_letter_ids, request->filter,
        atomic_load(&ctx->service->queues), &out->in.dead_letters, err));
    if (out->in.dead_letters.filter.state != DEAD_LETTER_DEAD)
        return reason_set(
            err, REASON_INVALID_INPUT, "filter.state must be DEAD: only such dead letters can be discarded");
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_dead_letters *out = &operation->out.dead_letters;
    Tavola__V1__DiscardDeadLettersResponse message = TAVOLA__V1__DISCARD_DEAD_LETTERS_RESPONSE__INIT;
    int64_t *ids = ARENA_ARRAY(ctx->arena, int64_t, out->count);

    (void)err;
    for (size_t i = 0; i < out->count; i++)
        ids[i] = out->dead_letters[i].id;
    message.dead_letter_ids = ids;
    message.n_dead_letter_ids = out->count;
    message.more = out->more;
    codec_pack(reply, 0, &message.base);
    return STATUS_OK;
}

const struct method discard_dead_letters_method = {
    .path = "/tavola.v1.AdminService/DiscardDeadLetters",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_DEAD_LETTERS_DISCARD,
    .request = &tavola__v1__discard_dead_letters_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
