/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_batch.h - many point reads as one array statement.
 */
#ifndef STORE_ENTITIES_READ_BATCH_H
#define STORE_ENTITIES_READ_BATCH_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Give every OPERATION_GET of the list its outcome; all keys of one are read in one snapshot. */
void read_batch_run(struct session *session, struct operation *batch, void *context);

/* The same once, inside a transaction under way; nothing is tried again. A failure leaves some without an outcome. */
MUST_USE enum status read_batch_within(struct session *session, struct operation *batch, struct error *err);

/*
 * The same as one statement, which also ends the session's snapshot if one is open: send it, and take what it brings. What
 * has more than max_bytes of properties is left out: an operation with such an entity is left without entities in its
 * outcome, NULL.
 */
MUST_USE enum status read_batch_send_small(
    struct session *session, struct operation *batch, int32_t max_bytes, void **sent, struct error *err);
MUST_USE enum status read_batch_take_small(struct session *session, void *sent, struct error *err);

/* The same in steps, for batches of keys in tables the session knows. */
void *read_batch_begin(struct session *session, struct operation *batch);
bool read_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided);

#endif
