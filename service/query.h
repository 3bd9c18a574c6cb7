/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - the request and the page tokens of methods that take a Query.
 */
#ifndef SERVICE_QUERY_H
#define SERVICE_QUERY_H

#include "api/codec_read.h"
#include "service/paging.h"

/* A decoded query, kept from the decoder to the encoder. */
struct query_call {
    struct selection selection;
    struct str identity; /* page tokens are bound to this text and to the table */
    enum token_purpose purpose;
    struct entity_writer writer; /* used by methods that return entities */
};

/* The fields of a request that are a query. */
struct query_request {
    const Tavola__V1__Query *query;
    const Tavola__V1__ReadOptions *options; /* may be NULL */
    enum token_purpose purpose;
    ProtobufCBinaryData page_token; /* may be empty */
};

/* Fill the operation except for its kind: the query, the selection and the position. */
MUST_USE enum status query_decode(struct call_ctx *ctx, const struct query_request *request,
    struct query_call *out, struct operation *operation, struct error *err);

/* Append the token of the outcome's position as field `field`. */
MUST_USE enum status query_write_token(struct call_ctx *ctx, const struct query_call *query,
    const struct outcome_page *page, struct buf *reply, uint32_t field, struct error *err);

#endif
