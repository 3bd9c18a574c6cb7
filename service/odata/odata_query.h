/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_query.h - the options of queries, and the headers of their replies.
 *
 * Headers of our own: a request's x-tavola-max-plan bounds the access path ("PARTITION_SCAN"); a reply says in x-tavola-access-path
 * and x-tavola-rows-examined what the query has cost.
 */
#ifndef SERVICE_ODATA_ODATA_QUERY_H
#define SERVICE_ODATA_ODATA_QUERY_H

#include "service/call.h"

/* Read $top: 1..1000; 0, which asks for an empty page, is 1 and sets is_empty of the call. Absent: 1000. */
MUST_USE enum status odata_query_top(struct call_ctx *ctx, int32_t *out, struct error *err);

/* Fill kind and page of the operation from the URL's options; the sink is the handler's. */
MUST_USE enum status odata_query_decode(struct call_ctx *ctx, struct operation *out, struct error *err);

/* Add the continuation and what the query has cost. PAGE_TOKEN_INVALID: the continuation is of another table. */
MUST_USE enum status odata_query_add_headers(
    struct call_ctx *ctx, const struct outcome_page *page, struct error *err);

#endif
