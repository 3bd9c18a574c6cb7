/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the one door to PostgreSQL for requests: operations go in, outcomes come back.
 *
 * store_submit never blocks and may be called from any thread. Operations wait in lanes - point reads,
 * writes, pages, catalogue changes - each served by threads with connections of their own, so slow work
 * never holds up point operations. What arrived while the previous round trip was under way forms the
 * next batch. Operations that wait for something (OPERATION_JOB_WAIT, OPERATION_TRANSACTION_WAIT, reads with
 * wait_for_transaction) are state, not threads.
 *
 * Overload: a lane that is full refuses with STATUS_LIMIT / SERVER_BUSY at once. No database: operations
 * are refused with STATUS_UNAVAILABLE / STORE_UNAVAILABLE after a short wait; nothing happened. A commit
 * whose answer was lost is resolved through its marker (guard G6) and answered with the outcome it had, or as
 * STATUS_MAYBE_DONE / OUTCOME_UNKNOWN.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/operations/operation.h"
#include "store/lanes/statistics.h"
#include "store/store_options.h"

struct store;

/*
 * Start the lanes. It needs no database yet and retries by itself; never NULL. A database with another schema
 * version than the program's is reported as unavailable, the message naming `tavola migrate`.
 */
struct store *store_open(const struct store_options *options);

/*
 * The program is about to stop: from now on operations that wait for something to finish are answered with
 * the state as it is, so that they do not hold up the end; all others go on.
 */
void store_drain(struct store *store);

/* Answer what waits with UNAVAILABLE / SERVER_DRAINING, finish what runs, join the threads. */
void store_close(struct store *store);

void store_submit(struct store *store, struct operation *operation);

/*
 * For callers that submit many at once: store_collect is store_submit, but the operation may wait for the next
 * store_run, which any thread may call. store_run may run reads in the caller's thread, outcome and done()
 * included; it waits a few milliseconds for the database at most.
 */
void store_collect(struct store *store, struct operation *operation);
void store_run(struct store *store);

bool store_is_available(const struct store *store);

/*
 * Look at accounts and tables soon: at once, but not within 100 ms of the look before. All calls meanwhile share
 * one look, which access_looked ends. Never blocks.
 */
void store_look_at_access(struct store *store);

void store_read_statistics(struct store *store, struct store_statistics *out);

/*
 * The key that signs page tokens: one for all servers of a database, made by the first migration.
 * STATUS_UNAVAILABLE until the database has been reached.
 */
MUST_USE enum status store_token_key(struct store *store, uint8_t out[32], struct error *err);

#endif
