/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nothing_found.h - hints on standard error for a query or a look-up that has found nothing: literals and values that
 * have, or probably have, another type than what is stored. A hint that cannot be made is left out.
 */
#ifndef CLIENT_NOTHING_FOUND_H
#define CLIENT_NOTHING_FOUND_H

#include "client/lib/tavola.h"
#include "client/request.h"

/*
 * Print what the service says of the types of the filter's literals, and of a filter that no entity can match.
 * explain_request: of ExplainQuery for the query that has found nothing; ended by this call.
 */
void nothing_found_by_query(struct tavola *client, struct request *explain_request);

/*
 * Look up the values with another type for one of them, and print the first one that finds an entity. words: the
 * values as they were given, "5" or "int32=5", in the order of lookup->equals.
 */
void nothing_found_by_lookup(struct tavola *client, const struct tavola_lookup *lookup, char *const *words);

#endif
