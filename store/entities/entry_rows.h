/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_rows.h - writing and deleting the entries of indexes, in the transaction that is open.
 */
#ifndef STORE_ENTITIES_ENTRY_ROWS_H
#define STORE_ENTITIES_ENTRY_ROWS_H

#include "domain/indexes/reconcile_plan.h"
#include "store/session/session.h"

/* A plain insert does not look first whether the entry is there; it fails if it is. */
enum entry_work { ENTRY_INSERT, ENTRY_UPSERT, ENTRY_DELETE };

/*
 * One statement for all, none if there are none. changes: in the order of
 * reconcile_plan_compare_entries. An entry has version, time and expiry of its source; deletes need no source.
 */
MUST_USE enum status entry_rows_send(struct session *session, enum entry_work work,
    const struct entry_change *changes, size_t count, struct error *err);

#endif
