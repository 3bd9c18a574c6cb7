/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_dead_letters.c - AdminService.ListDeadLetters.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"
#include "base/digits.h"
#include "domain/limits.h"
#include "service/paging.h"

/* A page token continues only the list that it was made for. */
static const char *list_name(const struct dead_letter_filter *filter, struct arena *arena)
{
    return arena_format(arena, "dead letters %d %d %d %zu:%.*s %zu:%.*s %.*s", (int)filter->state,
        filter->kind, filter->queue, filter->account.len, STR_ARG(filter->account), filter->table.len,
        STR_ARG(filter->table), STR_ARG(filter->cause))
        .data;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListDeadLettersRequest *request =
        (const Tavola__V1__ListDeadLettersRequest *)ctx->request;
    struct operation_dead_letters *in = &out->in.dead_letters;
    struct str after;

    out->kind = OPERATION_DEAD_LETTERS_LIST;
    TRY(codec_admin_dead_letter_filter_decode(
        request->filter, atomic_load(&ctx->service->queues), &in->filter, err));
    TRY(paging_read_list(ctx,
        &(struct paging_list){ list_name(&in->filter, ctx->arena), request->page_size, request->page_token },
        &in->limit, &after, err));
    in->by_cause = request->group_by_cause;
    if (!digits_parse_signed(after, 0, INT64_MAX, &in->after))
        in->after = 0; /* the first page begins with the oldest dead letter */
    return STATUS_OK;
}

/* A page ends when the reply is full. A dead letter takes up to this many bytes of the reply. */
enum { MAX_DEAD_LETTER_BYTES = 24 * 1024 };

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct dead_letter_filter *filter = &operation->in.dead_letters.filter;
    const struct outcome_dead_letters *out = &operation->out.dead_letters;
    int64_t position = out->position;
    bool more = out->more;

    for (size_t i = 0; i < out->cause_count; i++)
        codec_pack(reply, 2, &codec_admin_cause_message(&out->causes[i], ctx->arena)->base);
    for (size_t i = 0; i < out->count; i++) {
        if (reply->len + MAX_DEAD_LETTER_BYTES + LIMIT_TOKEN_BYTES > LIMIT_REPLY_BYTES) {
            more = true;
            position = out->dead_letters[i - 1].id;
            break;
        }
        codec_pack(
            reply, 1, &codec_admin_dead_letter_message(&out->dead_letters[i], filter, ctx->arena)->base);
    }
    if (!more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 3, list_name(filter, ctx->arena),
        arena_format(ctx->arena, "%lld", (long long)position), err);
}

const struct method list_dead_letters_method = {
    .path = "/tavola.v1.AdminService/ListDeadLetters",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_DEAD_LETTERS_LIST,
    .request = &tavola__v1__list_dead_letters_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
