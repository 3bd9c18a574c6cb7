/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging.c - see the header. The key that signs tokens is the database's, so that any server accepts the
 * tokens of any other.
 */
#include "service/paging.h"

#include "api/codec.h"
#include "api/codec_read.h"
#include "base/wire.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum status paging_read(struct call_ctx *ctx, ProtobufCBinaryData text, struct token *token,
    bool *has_position, struct error *err)
{
    struct token_key key;

    *has_position = false;
    if (text.len == 0)
        return STATUS_OK;
    if (text.len > LIMIT_TOKEN_BYTES)
        return reason_set(
            err, REASON_PAGE_TOKEN_INVALID, "page_token is longer than any token of this service");
    TRY(store_token_key(ctx->service->store, key.bytes, err));
    TRY(token_decode(&key, codec_str(text), ctx->arena, token, err));
    ctx->page_table_id = token->table_id;
    *has_position = true;
    return STATUS_OK;
}

enum status paging_check_table(const struct call_ctx *ctx, int64_t table_id, struct error *err)
{
    if (ctx->page_table_id == 0 || ctx->page_table_id == table_id)
        return STATUS_OK;
    return reason_set(err, REASON_PAGE_TOKEN_INVALID,
        "page_token belongs to another table: the table of the request has another name, or was deleted and "
        "created again");
}

enum status paging_make(struct call_ctx *ctx, const struct token *token, struct str *out, struct error *err)
{
    struct token_key key;

    TRY(store_token_key(ctx->service->store, key.bytes, err));
    *out = token_encode(&key, token, ctx->arena);
    return STATUS_OK;
}

enum status paging_write(
    struct call_ctx *ctx, struct buf *reply, uint32_t field, const struct token *token, struct error *err)
{
    struct str text;

    TRY(paging_make(ctx, token, &text, err));
    wire_write_bytes(reply, field, text);
    return STATUS_OK;
}

/* The text that a list's tokens are bound to; it includes the account. */
static struct str list_query(struct call_ctx *ctx, const char *list)
{
    return arena_format(ctx->arena, "%s of %.*s", list, STR_ARG(ctx->account));
}

enum status paging_read_list(struct call_ctx *ctx, const struct paging_list *list, int32_t *limit,
    struct str *after, struct error *err)
{
    struct token token = { .purpose = TOKEN_LIST, .query = list_query(ctx, list->name) };
    bool has_position;

    TRY(codec_read_page_size(list->page_size, limit, err));
    TRY(paging_read(ctx, list->page_token, &token, &has_position, err));
    *after = has_position ? token.first : STR_EMPTY;
    return STATUS_OK;
}

enum status paging_make_list(
    struct call_ctx *ctx, const char *list, struct str position, struct str *out, struct error *err)
{
    struct token token = {
        .purpose = TOKEN_LIST,
        .query = list_query(ctx, list),
        .first = position,
        .second = STR_EMPTY,
    };

    return paging_make(ctx, &token, out, err);
}

enum status paging_write_list(struct call_ctx *ctx, struct buf *reply, uint32_t field, const char *list,
    struct str position, struct error *err)
{
    struct str text;

    TRY(paging_make_list(ctx, list, position, &text, err));
    wire_write_bytes(reply, field, text);
    return STATUS_OK;
}
