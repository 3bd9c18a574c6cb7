/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_entities.c - EntityService.WatchEntities: the changes of a table, as a stream without an end.
 *
 * While the feed has changes that the client has not got, an operation reads the page behind the last position that was
 * sent. Else an operation waits in the store, as state, for the next change or until a bookmark is due. The stream ends
 * only with an error, at its deadline with DEADLINE_EXCEEDED. Changes for which a slow client is not ready stay in the
 * database.
 */
#include "api/codec_change.h"
#include "base/clock.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/handlers/handlers.h"
#include "service/paging.h"
#include "service/stream.h"

enum { CHANGES = 1, RESUME_TOKEN = 2 };
enum { US_PER_SECOND = 1000000, TOKEN_POSITION_BYTES = 48 };

struct watch {
    /* as decoded from the request; in.changes.position: behind the last message that was sent */
    struct operation asked;
    struct selection selection;
    struct str identity;
    bool more;       /* the feed has further changes behind the position, which can be read at once */
    int64_t sent_us; /* when the last message was sent; 0: none yet */
};

static void count_watchers(struct service *service, int difference)
{
    atomic_fetch_add(&service->watchers, difference);
}

static enum status take_token(
    struct call_ctx *ctx, struct watch *watch, ProtobufCBinaryData text, struct error *err)
{
    struct operation_changes *changes = &watch->asked.in.changes;
    struct token token = { .purpose = TOKEN_CHANGES, .query = watch->identity };

    TRY(paging_read(ctx, text, &token, &changes->has_position, err));
    if (!changes->has_position)
        return STATUS_OK;
    changes->position.table_id = token.table_id;
    if (!feed_position_decode(token.first, &changes->position))
        return reason_set(err, REASON_PAGE_TOKEN_INVALID,
            "the token was made by a version whose tokens this version does not read");
    return STATUS_OK;
}

static enum status read_request(struct call_ctx *ctx, struct error *err)
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
    return watch->sent_us + LIMIT_BOOKMARK_S * (int64_t)US_PER_SECOND;
}

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    const struct watch *watch = ctx->state;

    (void)step;
    out->kind = watch->more ? OPERATION_CHANGES : OPERATION_CHANGES_WAIT;
    out->table = watch->asked.table;
    if (watch->sent_us == 0)
        out->wait_for_transaction = watch->asked.wait_for_transaction;
    out->in.changes = watch->asked.in.changes;
    out->in.changes.wait_until_us = bookmark_us(watch);
    return stream_admit(ctx, out, "resume the watch at another server", err);
}

/*
 * The second part of a token, which is never read back: the time, and padding that makes all tokens equally
 * long. Without the time, two tokens of one position would be equal; a caller that may see only some keys
 * could then tell that no other key has changed.
 */
static struct str token_padding(struct str position, int64_t now_us, struct arena *arena)
{
    size_t len =
        sizeof(now_us) + (position.len < TOKEN_POSITION_BYTES ? TOKEN_POSITION_BYTES - position.len : 0);
    char *padding = ARENA_ARRAY(arena, char, len);

    memcpy(padding, &now_us, sizeof(now_us));
    return str_of_bytes(padding, len);
}

/* Write the changes that fit into a message, and the token of the position behind the last of them. */
static enum status write_changes(
    struct call_ctx *ctx, struct watch *watch, const struct outcome_changes *out, struct error *err)
{
    struct feed_position position = out->position;
    size_t written =
        codec_change_write(&ctx->reply, CHANGES, out->changes, out->count, &watch->selection, ctx->arena);
    struct token token = {
        .purpose = TOKEN_CHANGES, .table_id = position.table_id, .query = watch->identity
    };

    watch->more = out->more || written < out->count;
    if (written < out->count)
        position.number = out->changes[written - 1].number;
    token.first = feed_position_encode(&position, ctx->arena);
    token.second = token_padding(token.first, clock_monotonic_us(), ctx->arena);
    TRY(paging_write(ctx, &ctx->reply, RESUME_TOKEN, &token, err));
    watch->asked.in.changes.has_position = true;
    watch->asked.in.changes.position = position;
    watch->sent_us = clock_monotonic_us();
    atomic_fetch_add(&ctx->service->changes_told, (long long)written);
    return STATUS_OK;
}

static enum status write_message(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    const struct outcome_changes *out = &operation->out.changes;
    int64_t now_us = clock_monotonic_us();
    struct watch *watch = ctx->state;

    if (out->count > 0 || now_us >= bookmark_us(watch) || watch->sent_us == 0)
        return write_changes(ctx, watch, out, err);
    watch->asked.in.changes.position = out->position;
    watch->more = out->more;
    *step = STREAM_NEXT;
    return STATUS_OK;
}

static const struct stream_method stream = { .count = count_watchers,
    .read_request = read_request,
    .fill_operation = fill_operation,
    .write_message = write_message };

const struct method watch_entities_method = {
    .path = "/tavola.v1.EntityService/WatchEntities",
    .kind = RPC_SERVER_STREAM,
    .events = &stream_events,
    .operation = OPERATION_CHANGES,
    .request = &tavola__v1__watch_entities_request__descriptor,
    .stream = &stream,
};
