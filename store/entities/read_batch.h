/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_batch.h - many point reads as one array statement.
 */
#ifndef STORE_ENTITIES_READ_BATCH_H
#define STORE_ENTITIES_READ_BATCH_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Give every OPERATION_GET of the list its outcome; all keys of one are read in one snapshot. context: of a lane that
 * reads by key share; those that read list pages then get the detour DETOUR_ALONE and no outcome. NULL: all are read
 * here.
 */
void read_batch_run(struct session *session, struct operation *batch, void *context);

/* The same once, inside a transaction under way; nothing is tried again. A failure leaves some without an outcome. */
MUST_USE enum status read_batch_within(struct session *session, struct operation *batch, struct error *err);

/* The same in steps, for batches of keys in tables the session knows. */
void *read_batch_begin(struct session *session, struct operation *batch);
bool read_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided);

#endif
