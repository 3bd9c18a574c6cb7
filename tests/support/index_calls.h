/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_calls.h - indexes as tests create them, and the operations that build and drop them. Indexes are on
 * the property City.
 */
#ifndef TESTS_SUPPORT_INDEX_CALLS_H
#define TESTS_SUPPORT_INDEX_CALLS_H

#include "domain/operations/operation.h"
#include "tests/support/worker_world.h"

/* Run one request on the session; returns the operation. */
struct operation *call_run(struct session *session,
    void (*request)(struct session *session, struct operation *operation), struct operation *operation);

/*
 * Create an index. width > 0: its key takes numbers only, so every text is a violation. Returns the operation with
 * its outcome.
 */
struct operation *index_created(struct world *world, const char *name, const char *source, int width);
struct operation *index_dropped(struct world *world, const char *name);

/* The index or the operation as callers see it; fails the test if there is none. */
struct index_view index_seen(struct world *world, const char *name);
struct job_view run_seen(struct world *world, const char *operation_id);

/* How many entities a look-up by one text finds; 100 at most. Fails the test if the look-up is refused. */
size_t index_finds(struct world *world, const char *name, const char *value, bool latest);

/* Run one chunk of some operation; false: no operation had work to do. */
bool run_chunk(struct worker *worker);

/* Run chunks until no operation has work to do; returns the number of chunks. */
int run_chunks(struct worker *worker);

/* count entities "r00000", ..: every fourth without a City. */
void people_put(struct world *world, int count);

/* Insert count entities in Rome, "model", "r000001", ..., by one statement. */
void people_copy(struct world *world, int count);

#endif
