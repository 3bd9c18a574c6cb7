/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_descent.h - the pages of a list index in descending order: the same pages as those of
 * list_read.h, the last one first.
 *
 * Where the pages of a value begin depends on its first member, so all entries of the value up to
 * the position are read before its last page is known.
 */
#ifndef STORE_QUERIES_LIST_DESCENT_H
#define STORE_QUERIES_LIST_DESCENT_H

#include "domain/operations/operation.h"

struct session;

/*
 * As list_read_page, for a descending query. The position is the address of the last page that was
 * looked at. PLAN_TOO_EXPENSIVE: the entries of one value up to the position exceed
 * LIMIT_LIST_DESCENT_BYTES.
 */
MUST_USE enum status list_descent_page(struct session *session, const struct index *index,
    struct operation *operation, struct entity_sink *sink, int32_t limit, struct error *err);

#endif
