/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_read.h - queries: a page of a table, and counts.
 */
#ifndef STORE_QUERIES_PAGE_READ_H
#define STORE_QUERIES_PAGE_READ_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Give an OPERATION_PAGE its outcome. A page ends early by rows and bytes examined, and when its sink is full.
 *
 * TABLE_NOT_FOUND, PLAN_TOO_EXPENSIVE.
 */
void page_read_run(struct session *session, struct operation *operation);

/* The same for an OPERATION_COUNT: the number of matches among the rows that are examined for one page. */
void page_read_count(struct session *session, struct operation *operation);

/* The same for an OPERATION_EXPLAIN: the path, and what would help. Nothing is read, and any plan will do. */
void page_read_explain(struct session *session, struct operation *operation);

/* The table's default bounds what asks for no other plan: PLAN_TOO_EXPENSIVE, naming the path. */
MUST_USE enum status page_read_check_plan(
    const struct table *table, const struct operation *operation, struct error *err);

#endif
