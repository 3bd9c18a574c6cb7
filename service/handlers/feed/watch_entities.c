/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_entities.c - EntityService.WatchEntities: the changes of a table, for as long as somebody listens.
 *
 * At the end of what is there an operation waits in the store, as state, for news or for the next bookmark; else it
 * reads the page behind the place that was told last. It ends by an error only: at its deadline by DEADLINE_EXCEEDED.
 * What a slow client has not asked for stays in the database.
 */
#include "api/codec_change.h"
#include "base/clock.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/handlers/handlers.h"
#include "service/paging.h"
#include "service/stream.h"

enum { CHANGES = 1, RESUME_TOKEN = 2 };
enum { US_PER_SECOND = 1000000 };

struct watch {
    struct operation asked; /* in.changes.place moves on */
    struct selection selection;
    struct str identity;
    bool more;       /* there is more behind the place already */
    int64_t told_us; /* when the last message was sent; 0: none yet */
};

static void count(struct service *service, int difference)
{
    atomic_fetch_add(&service->watchers, difference);
}

static enum status take_token(
    struct call_ctx *ctx, struct watch *watch, ProtobufCBinaryData text, struct error *err)
{
    struct operation_changes *changes = &watch->asked.in.changes;
    struct token token;

    TRY(paging_read(ctx, text, TOKEN_CHANGES, watch->identity, &token, &changes->has_place, err));
    if (!changes->has_place)
        return STATUS_OK;
    changes->place.table_id = token.table_id;
    if (!feed_place_decode(token.first, &changes->place))
        return reason_set(
            err, REASON_PAGE_TOKEN_INVALID, "the token is of a version that is not read any more");
    return STATUS_OK;
}

static enum status take(struct call_ctx *ctx, struct error *err)
{
    const Tavola__V1__WatchEntitiesRequest *request = (const Tavola__V1__WatchEntitiesRequest *)ctx->request;
    struct watch *watch = ARENA_NEW(ctx->arena, struct watch);
    struct operation *asked = &watch->asked;

    ctx->state = watch;
    watch->more = true;
    asked->account = ctx->account;
    TRY(codec_change_watch_decode(request, ctx->arena, asked, err));
    TRY(codec_read_selection_decode(request->options, ctx->arena, &watch->selection, err));
    TRY(codec_read_wait_decode(request->options, &asked->wait_for_transaction, err));
    watch->identity = codec_change_watch_identity(asked, codec_str(request->filter), ctx->arena);
    return take_token(ctx, watch, request->resume_token, err);
}

static int64_t bookmark_us(const struct watch *watch)
{
    return watch->told_us + LIMIT_BOOKMARK_S * (int64_t)US_PER_SECOND;
}

static enum status ask(struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    const struct watch *watch = ctx->state;

    (void)step;
    out->kind = watch->more ? OPERATION_CHANGES : OPERATION_CHANGES_WAIT;
    out->table = watch->asked.table;
    if (watch->told_us == 0)
        out->wait_for_transaction = watch->asked.wait_for_transaction;
    out->in.changes = watch->asked.in.changes;
    out->in.changes.wait_until_us = bookmark_us(watch);
    return stream_admit(ctx, out, "resume the watch at another one", err);
}

/* Write what was read, cut at the size of a message, and the token of the place behind it. */
static enum status write_message(
    struct call_ctx *ctx, struct watch *watch, const struct outcome_changes *out, struct error *err)
{
    struct feed_place place = out->place;
    size_t told =
        codec_change_write(&ctx->reply, CHANGES, out->changes, out->count, &watch->selection, ctx->arena);
    struct token token = {
        .purpose = TOKEN_CHANGES, .table_id = place.table_id, .query = watch->identity, .second = STR_EMPTY
    };

    watch->more = out->more || told < out->count;
    if (told < out->count)
        place.number = out->changes[told - 1].number;
    token.first = feed_place_encode(&place, ctx->arena);
    TRY(paging_write(ctx, &ctx->reply, RESUME_TOKEN, &token, err));
    watch->asked.in.changes.has_place = true;
    watch->asked.in.changes.place = place;
    watch->told_us = clock_monotonic_us();
    atomic_fetch_add(&ctx->service->changes_told, (long long)told);
    return STATUS_OK;
}

static enum status tell(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    const struct outcome_changes *out = &operation->out.changes;
    int64_t now_us = clock_monotonic_us();
    struct watch *watch = ctx->state;

    if (out->count > 0 || now_us >= bookmark_us(watch) || watch->told_us == 0)
        return write_message(ctx, watch, out, err);
    watch->asked.in.changes.place = out->place;
    watch->more = out->more;
    *step = STREAM_ASK;
    return STATUS_OK;
}

const struct stream_method watch_entities_stream = { .count = count, .take = take, .ask = ask, .tell = tell };
