/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_change.h - a catalogue change as one piece of work on a session: planned with the catalogue the
 * session knows, refused when that is no longer the current one, committed with a marker.
 *
 *   catalogue_change_begin   the fence, alone; the version is the session's
 *   pg_send ...              the changes
 *   catalogue_change_commit  version + 1, which family it changed, marker, COMMIT
 *
 * After any failure: pg_recover. After success the session's catalogue is out of date; the next
 * operation of the session compares the version and reads it again.
 */
#ifndef STORE_SESSION_CATALOGUE_CHANGE_H
#define STORE_SESSION_CATALOGUE_CHANGE_H

#include "store/session/catalogue_load.h"
#include "store/session/session.h"

/* STATUS_STALE: the catalogue has changed; roll back, reload, plan again. Others: see fence_close. */
MUST_USE enum status catalogue_change_begin(struct session *session, struct error *err);

/*
 * Whether the account may have one more index, inside a catalogue change: QUOTA_EXCEEDED. The same for a table that was
 * made in this transaction, after the catalogue's row was locked.
 */
MUST_USE enum status catalogue_change_admit_index(
    struct session *session, struct str account, struct error *err);
MUST_USE enum status catalogue_change_admit_table(
    struct session *session, struct str account, struct error *err);

/* How many an account may have. */
int64_t catalogue_change_max_indexes(const struct session *session);
int64_t catalogue_change_max_tables(const struct session *session);

/* changed: see catalogue_load.h. Outcomes: see session_take_commit. */
MUST_USE enum status catalogue_change_commit(struct session *session, int64_t changed, struct error *err);

/*
 * In a transaction that has inserted a table, also one without catalogue_change_begin: send what decides which
 * signatures open it (sql/table_signatures_from.sql).
 */
MUST_USE enum status catalogue_change_send_table_made(
    struct session *session, int64_t table_id, struct error *err);

#endif
