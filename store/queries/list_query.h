/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_query.h - what a query on a list index has in common in both directions: list_read.c goes up, list_descent.c
 * down.
 */
#ifndef STORE_QUERIES_LIST_QUERY_H
#define STORE_QUERIES_LIST_QUERY_H

#include "domain/operations/operation.h"
#include "store/queries/row_scan.h"
#include "store/session/session.h"

/* A scan of all entries of a list index, of one statement unless a snapshot is open; the arena holds its position. */
struct row_scan list_query_scan(
    const struct session *session, const struct index *index, struct arena *arena);

/* Whether the query asks for this page. */
bool list_query_asks_for(const struct operation_page *query, const struct entity *page);

/* Note in the outcome whether there is more, and what the scan has looked at. */
void list_query_end(const struct row_scan *scan, bool more, struct operation *operation);

#endif
