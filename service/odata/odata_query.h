/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_query.h - the options of queries, and the headers of their replies.
 *
 * Headers of our own: in a request, x-tavola-max-plan bounds the access path ("PARTITION_SCAN"); in a reply,
 * x-tavola-access-path and x-tavola-rows-examined say what the query has cost. odata_lookup.h has those of
 * queries that go through an index.
 */
#ifndef SERVICE_ODATA_ODATA_QUERY_H
#define SERVICE_ODATA_ODATA_QUERY_H

#include "service/call.h"

/*
 * Read $top: 1..1000; if it is missing, 1000. $top=0 asks for an empty page: it is read as 1, and is_empty of
 * the call is set.
 */
MUST_USE enum status odata_query_top(struct call_ctx *ctx, int32_t *out, struct error *err);

/* Read x-tavola-max-plan; if it is missing, *out is unchanged. INVALID_INPUT: no path has this name. */
MUST_USE enum status odata_query_max_plan(struct call_ctx *ctx, enum access_path *out, struct error *err);

/* Fill in kind and page of the operation from the options of the URL. The handler sets the sink. */
MUST_USE enum status odata_query_decode(struct call_ctx *ctx, struct operation *out, struct error *err);

/* Add the headers that say what the query has cost. */
void odata_query_add_stats(struct call_ctx *ctx, const struct query_stats *stats);

/*
 * Add the continuation token and the cost of the query. PAGE_TOKEN_INVALID: the request's token belongs to
 * another incarnation of the table.
 */
MUST_USE enum status odata_query_add_headers(
    struct call_ctx *ctx, const struct outcome_page *page, struct error *err);

#endif
