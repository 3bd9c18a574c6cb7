/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_snapshots.h - scans that read a whole table as it was at one moment.
 *
 * All pages of such a scan are read in one transaction, on a connection of its own. While the
 * transaction is open, vacuum removes no row version of the whole database that was alive when it
 * began. Therefore a snapshot is bounded:
 *
 *   one per account, over all servers: an advisory lock, which belongs to the transaction
 *   a few per server, and a longest time, after which the connection is closed whether pages are
 *   read or not
 *   if the server dies, PostgreSQL ends the session; if it stands still, by
 *   idle_in_transaction_session_timeout
 */
#ifndef STORE_SCAN_SNAPSHOTS_H
#define STORE_SCAN_SNAPSHOTS_H

#include <stdint.h>

#include "domain/operations/operation.h"

struct scan_snapshots;
struct shared_catalogue;
struct store_options;

/* Options and catalogue must outlive it. */
struct scan_snapshots *scan_snapshots_new(
    const struct store_options *options, struct shared_catalogue *catalogue);

/* All snapshots must have been freed. NULL is allowed. */
void scan_snapshots_free(struct scan_snapshots *all);

/* A snapshot that is taken with its first page. Never NULL. */
struct scan_snapshot *scan_snapshot_new(struct scan_snapshots *all);

/* End the snapshot, unless it has ended. No page may be running. NULL is allowed. */
void scan_snapshot_free(struct scan_snapshot *snapshot);

/*
 * Give an OPERATION_PAGE with in.page.snapshot its outcome. The snapshot ends with the last page
 * and with the first failure.
 *
 * SNAPSHOT_RUNNING  the account has one, or this server has as many as it may have
 * SNAPSHOT_ENDED    it was held for the longest time
 * others            those of page_read_run
 */
void scan_snapshots_run(struct scan_snapshots *all, struct operation *operation);

/* End the snapshots between whose pages the longest time has passed. Called many times a second. */
void scan_snapshots_expire(struct scan_snapshots *all, int64_t now_us);

#endif
