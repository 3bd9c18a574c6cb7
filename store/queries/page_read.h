/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_read.h - queries: pages of a table, and counts.
 */
#ifndef STORE_QUERIES_PAGE_READ_H
#define STORE_QUERIES_PAGE_READ_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give an OPERATION_PAGE its outcome. A page ends early if it has examined enough rows or bytes, or
 * if its sink is full. TABLE_NOT_FOUND, PLAN_TOO_EXPENSIVE.
 */
void page_read_run(struct session *session, struct operation *operation);

/*
 * Read the page of an OPERATION_PAGE in the snapshot that is open on this session, and leave it
 * open. Fails as page_read_run does, or with an error of the database that has no reason.
 */
MUST_USE enum status page_read_in_snapshot(
    struct session *session, struct operation *operation, struct error *err);

/*
 * Give an OPERATION_COUNT its outcome: the number of matches among the rows that one page may
 * examine.
 */
void page_read_count(struct session *session, struct operation *operation);

/*
 * Give an OPERATION_EXPLAIN its outcome: the access path, and suggestions. No entity is read, and
 * no plan is refused.
 */
void page_read_explain(struct session *session, struct operation *operation);

/*
 * Refuse an access path that is more expensive than the operation, or by default the table, allows:
 * PLAN_TOO_EXPENSIVE, which names the path.
 */
MUST_USE enum status page_read_check_plan(
    const struct table *table, const struct operation *operation, struct error *err);

#endif
