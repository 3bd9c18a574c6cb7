/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_rows.h - writes and deletes entries of indexes, in the open transaction.
 */
#ifndef STORE_ENTITIES_ENTRY_ROWS_H
#define STORE_ENTITIES_ENTRY_ROWS_H

#include "domain/indexes/reconcile_plan.h"

struct session;

/*
 * ENTRY_INSERT does not check whether the entry exists; it fails if the entry does. ENTRY_DELETE_AT deletes what lies
 * at the ctids that the changes have, if it is the entry (guard G76).
 */
enum entry_work { ENTRY_INSERT, ENTRY_UPSERT, ENTRY_DELETE_AT, ENTRY_DELETE, ENTRY_WORK_COUNT };

/*
 * Send one statement for all entries, none if there are none. `changes` must be in the order of
 * reconcile_plan_compare_entries. An entry gets the version, time and expiry of its source; deletes
 * need no source.
 */
MUST_USE enum status entry_rows_send(struct session *session, enum entry_work work,
    const struct entry_change *changes, size_t count, struct error *err);

/*
 * Take the answer of the statement that entry_rows_send has sent for *count changes; without changes there is none.
 * ENTRY_INSERT and ENTRY_UPSERT: sets the ctids that the changes point to. ENTRY_DELETE_AT: keeps only the changes
 * whose entries did not lie at their ctids, and sets *count to their number. Not for ENTRY_DELETE: it returns no rows.
 */
MUST_USE enum status entry_rows_take(struct session *session, enum entry_work work,
    struct entry_change *changes, size_t *count, struct error *err);

#endif
