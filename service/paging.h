/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging.h - page tokens in requests and replies.
 */
#ifndef SERVICE_PAGING_H
#define SERVICE_PAGING_H

#include "domain/token.h"
#include "service/call.h"

/*
 * Read a request's page token. If text is empty, *has_position is false. The caller sets purpose and query of
 * *token; the query stands for the other fields of the request, and a token with another query is
 * PAGE_TOKEN_INVALID. The function fills the other members. ctx keeps the table that the token is bound to.
 */
MUST_USE enum status paging_read(struct call_ctx *ctx, ProtobufCBinaryData text, struct token *token,
    bool *has_position, struct error *err);

/*
 * Call it when a page of table_id has been read. The request is refused if its token is bound to another
 * incarnation of the table.
 */
MUST_USE enum status paging_check_table(const struct call_ctx *ctx, int64_t table_id, struct error *err);

/* Make the text of a page token, in the arena of ctx. */
MUST_USE enum status paging_make(
    struct call_ctx *ctx, const struct token *token, struct str *out, struct error *err);

/* Append a page token as field `field` of the reply. */
MUST_USE enum status paging_write(
    struct call_ctx *ctx, struct buf *reply, uint32_t field, const struct token *token, struct error *err);

/* The fields of a request that ask for a page of a list. */
struct paging_list {
    const char *name; /* the name of the list: a token of a list with another name is PAGE_TOKEN_INVALID */
    int32_t page_size;
    ProtobufCBinaryData page_token;
};

/*
 * Likewise for lists that are sorted by one text: the page begins behind *after and has up to *limit
 * elements.
 */
MUST_USE enum status paging_read_list(struct call_ctx *ctx, const struct paging_list *list, int32_t *limit,
    struct str *after, struct error *err);
MUST_USE enum status paging_make_list(
    struct call_ctx *ctx, const char *list, struct str position, struct str *out, struct error *err);
MUST_USE enum status paging_write_list(struct call_ctx *ctx, struct buf *reply, uint32_t field,
    const char *list, struct str position, struct error *err);

#endif
