/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - finds the tables and indexes that operations name in the session's catalogue. Before
 * an operation is refused because of the result, the catalogue must be confirmed: see
 * session_confirm.
 */
#ifndef STORE_SESSION_RESOLVE_H
#define STORE_SESSION_RESOLVE_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Find the table that an operation names. STATUS_NOT_FOUND: TABLE_NOT_FOUND. STATUS_DENIED: the
 * table is newer than operation->signed_at.
 */
MUST_USE enum status resolve_table(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err);

/*
 * As resolve_table, for writes. A table other than operation->in.write.table_id counts as not
 * found. INDEX_OWNED: the table holds the entries of an index.
 */
MUST_USE enum status resolve_writable(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err);

/* As resolve_table, for an index: INDEX_NOT_FOUND. */
MUST_USE enum status resolve_index(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err);

#endif
