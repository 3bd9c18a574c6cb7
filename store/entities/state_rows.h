/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rows.h - the index state rows of keys that are written, in the open transaction: for tables
 * with an index whose entries have manifests and commit with their writes. In the order of locks
 * they come after the rows of entities, and before the owners of values and entries. For other
 * tables nothing is sent.
 */
#ifndef STORE_ENTITIES_STATE_ROWS_H
#define STORE_ENTITIES_STATE_ROWS_H

#include "store/entities/write_set.h"

/*
 * Send one statement, after the statements that lock the entities: lock the existing rows, sorted,
 * and read their manifests (guard G40).
 */
MUST_USE enum status state_rows_send_hold(
    struct session *session, const struct write_set *set, struct error *err);

/*
 * Take the result into the states of the rows. STATUS_INTERNAL: a manifest cannot be decoded, so
 * the entries of its key are not known.
 */
MUST_USE enum status state_rows_take(struct session *session, struct write_set *set, struct error *err);

/*
 * After the entries are planned: insert the missing rows, update and delete the existing ones. An
 * insert waits for a worker that inserts the same row, and fails with a duplicate key if that
 * worker commits.
 */
MUST_USE enum status state_rows_send(struct session *session, const struct write_set *set, struct error *err);

#endif
