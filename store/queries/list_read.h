/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_read.h - reads a list index: rows, one per member, become pages with a `Members` property.
 * Everything that one operation asks for is read in one snapshot; if that takes several statements,
 * the snapshot stays open.
 *
 * STATUS_STALE: the catalogue has changed; the caller resolves the names again.
 */
#ifndef STORE_QUERIES_LIST_READ_H
#define STORE_QUERIES_LIST_READ_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give an OPERATION_GET on a list index's table its outcome; every key is the address of a page. If
 * in.get.enough_bytes is set, no further key is read after LIMIT_PAGE_EXAMINED entries.
 */
MUST_USE enum status list_read_get(
    struct session *session, const struct index *index, struct operation *operation, struct error *err);

/*
 * Give a query on a list index's table its outcome, in either direction: up to `limit` pages go
 * into the sink. PLAN_TOO_EXPENSIVE: see list_descent.h.
 */
MUST_USE enum status list_read_page(struct session *session, const struct index *index,
    struct operation *operation, struct entity_sink *sink, int32_t limit, struct error *err);

#endif
