/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_query.h - what queries on a list index share in both directions: list_read.c reads in
 * ascending order, list_descent.c in descending order.
 */
#ifndef STORE_QUERIES_LIST_QUERY_H
#define STORE_QUERIES_LIST_QUERY_H

#include "domain/operations/operation.h"
#include "store/queries/row_scan.h"

struct session;

/*
 * A scan of all entries of a list index: one statement, unless a snapshot is open. The arena holds
 * its position.
 */
struct row_scan list_query_scan(
    const struct session *session, const struct index *index, struct arena *arena);

/* Whether the query asks for this page. */
bool list_query_asks_for(const struct operation_page *query, const struct entity *page);

/* Set in the outcome whether more pages exist, and what the scan has examined. */
void list_query_end(const struct row_scan *scan, bool more, struct operation *operation);

#endif
