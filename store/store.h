/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the entry to PostgreSQL for callers' requests: operations go in, outcomes come back.
 *
 * store_submit never blocks and is thread-safe. Operations wait in lanes (reads by key, writes,
 * pages, catalogue changes), each served by threads with connections of their own, so slow work
 * never delays operations by key. The operations that arrive during one round trip form the next
 * batch. Operations that wait for an event (OPERATION_JOB_WAIT, OPERATION_TRANSACTION_WAIT, reads
 * with wait_for_transaction) hold no thread.
 *
 * Overload: a full lane refuses operations at once, with STATUS_LIMIT / SERVER_BUSY. If the
 * database cannot be reached, operations are refused after a short wait, with STATUS_UNAVAILABLE /
 * STORE_UNAVAILABLE, and nothing has changed. If the answer to a COMMIT is lost, it is resolved
 * through its marker (guard G6), and the operation gets the real outcome, or STATUS_MAYBE_DONE /
 * OUTCOME_UNKNOWN.
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
 * Start the lanes. The database need not be reachable, connections are retried; never NULL. If the
 * database has a schema that this program does not work with, it is reported as unavailable, and
 * the message names `tavola migrate`.
 */
struct store *store_open(const struct store_options *options);

/*
 * The program is about to stop: from now on, operations that wait for an event are answered with
 * the present state, so that they do not delay the end. All others continue.
 */
void store_drain(struct store *store);

/*
 * Answer waiting operations with UNAVAILABLE / SERVER_DRAINING, finish running ones, join the
 * threads.
 */
void store_close(struct store *store);

void store_submit(struct store *store, struct operation *operation);

/*
 * For callers that submit many operations at once. store_collect is store_submit, but the operation
 * may wait until the next store_run, which any thread may call. store_run may run reads in the
 * caller's thread, outcome and done() included; it waits for the database for a few milliseconds at
 * most.
 */
void store_collect(struct store *store, struct operation *operation);
void store_run(struct store *store);

/*
 * Between two calls of store_collect: let the store's threads begin with the writes that were collected so far, if they
 * have nothing to do and a batch of them is worth a transaction. Never waits.
 */
void store_begin(struct store *store);

/*
 * As store_run, for a caller that has nothing to do until the file descriptor `arrivals` is readable:
 * a write that is alone may run in the caller's thread too, until then.
 */
void store_run_until(struct store *store, int arrivals);

/*
 * For scans whose pages all show one moment: put it into in.page.snapshot of each page. It is taken
 * with the first page, and costs nothing before. Free it when the scan has ended, while none of its
 * pages is in the store; NULL is allowed. store/scan_snapshots.h says how it is bounded.
 */
struct scan_snapshot *store_new_snapshot(struct store *store);
void store_free_snapshot(struct scan_snapshot *snapshot);

/*
 * For how long, in microseconds, the threads have worked for operations that come before imports and scans. If it has
 * grown, others were at work.
 */
int64_t store_foreground_us(struct store *store);

bool store_is_available(const struct store *store);

/*
 * Read the accounts and tables soon: at once, but not within 100 ms after the previous reading. All
 * calls in that time share one reading; access_looked reports its end. Never blocks.
 */
void store_look_at_access(struct store *store);

void store_read_statistics(struct store *store, struct store_statistics *out);

/*
 * The key that signs page tokens; the first migration makes it, and all servers of a database share
 * it. STATUS_UNAVAILABLE until the database has been reached.
 */
MUST_USE enum status store_token_key(struct store *store, uint8_t out[32], struct error *err);

#endif
