/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging.h - page tokens in requests and replies.
 */
#ifndef SERVICE_PAGING_H
#define SERVICE_PAGING_H

#include "domain/token.h"
#include "service/call.h"

/*
 * Read a request's page token. text empty: *has_position is false. *token has the purpose, and the query that stands
 * for the other fields of the request: a token of another query is PAGE_TOKEN_INVALID. The other members of *token are
 * filled. The table that the token is bound to is kept in ctx.
 */
MUST_USE enum status paging_read(struct call_ctx *ctx, ProtobufCBinaryData text, struct token *token,
    bool *has_position, struct error *err);

/*
 * A page of table_id has been read: refuse it when the request's token was bound to another incarnation of
 * the table.
 */
MUST_USE enum status paging_check_table(const struct call_ctx *ctx, int64_t table_id, struct error *err);

/* The text of a page token, in ctx's arena. */
MUST_USE enum status paging_make(
    struct call_ctx *ctx, const struct token *token, struct str *out, struct error *err);

/* Append a page token as field `field` of the reply. */
MUST_USE enum status paging_write(
    struct call_ctx *ctx, struct buf *reply, uint32_t field, const struct token *token, struct error *err);

/* The fields of a request that ask for a page of a list. */
struct paging_list {
    const char *name; /* of the list: a token of another name is PAGE_TOKEN_INVALID */
    int32_t page_size;
    ProtobufCBinaryData page_token;
};

/* The same for lists that are ordered by one text: the page begins behind *after, and has up to *limit elements. */
MUST_USE enum status paging_read_list(struct call_ctx *ctx, const struct paging_list *list, int32_t *limit,
    struct str *after, struct error *err);
MUST_USE enum status paging_make_list(
    struct call_ctx *ctx, const char *list, struct str position, struct str *out, struct error *err);
MUST_USE enum status paging_write_list(struct call_ctx *ctx, struct buf *reply, uint32_t field,
    const char *list, struct str position, struct error *err);

#endif
