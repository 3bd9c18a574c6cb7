/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_change.h - a change of the catalogue as one unit of work on a session: planned with the
 * session's catalogue, refused if that is not the current one, and committed with a marker.
 *
 *   catalogue_change_begin   closes the fence, and checks that the session's version is the current one
 *   pg_send ...              the changes
 *   catalogue_change_commit  version + 1, the id of the changed family, marker, COMMIT
 *
 * After any failure the caller calls pg_recover. After success the session's catalogue is outdated;
 * the session's next operation compares the version and reads the catalogue again.
 */
#ifndef STORE_SESSION_CATALOGUE_CHANGE_H
#define STORE_SESSION_CATALOGUE_CHANGE_H

#include "store/session/catalogue_load.h"
#include "store/session/session.h"

/*
 * STATUS_STALE: the catalogue has changed; roll back, reload, plan again. Other statuses: see
 * fence_close.
 */
MUST_USE enum status catalogue_change_begin(struct session *session, struct error *err);

/*
 * Inside a catalogue change, whether the account may have one more index: QUOTA_EXCEEDED. The other
 * function checks the number of tables after this transaction has inserted one and locked the
 * catalogue's row.
 */
MUST_USE enum status catalogue_change_admit_index(
    struct session *session, struct str account, struct error *err);
MUST_USE enum status catalogue_change_admit_table(
    struct session *session, struct str account, struct error *err);

/* The maximum number of indexes of an account. */
int64_t catalogue_change_max_indexes(const struct session *session);
int64_t catalogue_change_max_tables(const struct session *session);

/* changed: see catalogue_load.h. Statuses: see session_take_commit. */
MUST_USE enum status catalogue_change_commit(struct session *session, int64_t changed, struct error *err);

/*
 * In a transaction that has inserted a table, with or without catalogue_change_begin: send the
 * statement that decides which signatures give access to it (sql/table_signatures_from.sql).
 */
MUST_USE enum status catalogue_change_send_table_made(
    struct session *session, int64_t table_id, struct error *err);

#endif
