/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - from the names in operations to the tables of the catalogue, as this session knows it. Before an
 * operation is refused because of it, the catalogue has to be confirmed: see session_confirm.
 */
#ifndef STORE_SESSION_RESOLVE_H
#define STORE_SESSION_RESOLVE_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * The table an operation names, as this session knows it. STATUS_NOT_FOUND: TABLE_NOT_FOUND. STATUS_DENIED: it
 * is newer than operation->signed_at.
 */
MUST_USE enum status resolve_table(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err);

/*
 * The same for writes; a table other than operation->in.write.table_id is not found. INDEX_OWNED: it holds an
 * index's entries.
 */
MUST_USE enum status resolve_writable(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err);

/* The same for an index: INDEX_NOT_FOUND. */
MUST_USE enum status resolve_index(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err);

#endif
