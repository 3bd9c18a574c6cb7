/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_lookup.h - a query of entities that goes through an index, because its header x-tavola-index names one.
 *
 *   request header                 meaning
 *   x-tavola-index                 the index, which must belong to the table of the URL
 *   x-tavola-consistency-token     tokens of writes that the query must see, with commas between them
 *   x-tavola-max-staleness-ms      the largest lag of the index, in milliseconds
 *   x-tavola-latest                true: the reply is correct as of now
 *
 * The last three require the first. The reply has x-tavola-lag-ms and x-tavola-as-of beside the headers of
 * odata_query.h. The whole filter is tested on each entity that the index finds, so a page can have fewer
 * entities than it asks for, and none, while a continuation token follows.
 */
#ifndef SERVICE_ODATA_ODATA_LOOKUP_H
#define SERVICE_ODATA_ODATA_LOOKUP_H

#include "service/call.h"

/* Whether the request asks for an index, or has a header that requires one. */
bool odata_lookup_is_asked(const struct call_ctx *ctx);

/*
 * Make a look-up of the options of the URL and the headers; the operation has the table of the URL.
 *
 * STATUS_INVALID      INVALID_INPUT: a header has another form, or the index does not answer the filter;
 *                     PLAN_TOO_EXPENSIVE: x-tavola-max-plan allows no index
 * STATUS_NOT_FOUND    INDEX_NOT_FOUND: the table has no such index
 * STATUS_UNAVAILABLE  the server has not read the catalogue yet
 */
MUST_USE enum status odata_lookup_decode(struct call_ctx *ctx, struct operation *out, struct error *err);

/*
 * Write the page as a list, and add its headers. INDEX_NOT_FOUND: another index has taken the name meanwhile.
 */
MUST_USE enum status odata_lookup_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err);

#endif
