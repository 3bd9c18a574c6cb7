/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rows.h - the index state rows of keys that are written, in the transaction that is open: for tables with
 * indexes that have manifests and come with their writes. They are locked behind the rows of entities and before the
 * owners of values and entries. Nothing is sent for other tables.
 */
#ifndef STORE_ENTITIES_STATE_ROWS_H
#define STORE_ENTITIES_STATE_ROWS_H

#include "store/entities/write_set.h"

/*
 * One statement behind the locks of the entities: lock the rows that are there, sorted, and read their manifests (guard
 * G40).
 */
MUST_USE enum status state_rows_send_hold(
    struct session *session, const struct write_set *set, struct error *err);

/* Its result into the rows' states. STATUS_INTERNAL: a manifest cannot be read, and what the key has is not known. */
MUST_USE enum status state_rows_take(struct session *session, struct write_set *set, struct error *err);

/*
 * After the entries are planned: insert the missing rows, update and delete the existing ones. An insert waits for a
 * worker that inserts the same row, and fails with a duplicate key if that worker commits.
 */
MUST_USE enum status state_rows_send(struct session *session, const struct write_set *set, struct error *err);

#endif
