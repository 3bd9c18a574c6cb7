/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_batch.h - reads many entities by key with one array statement.
 */
#ifndef STORE_ENTITIES_READ_BATCH_H
#define STORE_ENTITIES_READ_BATCH_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give every OPERATION_GET of the list its outcome. All keys of one operation are read in one
 * snapshot.
 *
 * context  not NULL: the batch comes from a lane that key reads share, so an operation that reads
 * list pages gets the detour DETOUR_ALONE and no outcome. NULL: every operation is read here.
 */
void read_batch_run(struct session *session, struct operation *batch, void *context);

/*
 * As read_batch_run, once, inside the open transaction and without retries. After a failure some
 * operations have no outcome.
 */
MUST_USE enum status read_batch_within(struct session *session, struct operation *batch, struct error *err);

/*
 * As read_batch_run in steps (see lane.h), for batches of keys in tables that the session knows.
 * NULL: the batch cannot be read in steps.
 */
void *read_batch_begin(struct session *session, struct operation *batch);
bool read_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided);

#endif
