/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.h - brings a database to the schema version that this program was built for.
 *
 * Migrations are embedded and only go forward. Each is applied in a transaction of its own, in
 * order, under a lock that makes a second run at the same time wait. If the database is up to date,
 * nothing is done.
 */
#ifndef STORE_CONNECTION_MIGRATE_H
#define STORE_CONNECTION_MIGRATE_H

#include "base/error.h"

/*
 * Apply the missing migrations. say() gets one line for each step ("applied 0002_intents", "schema
 * is at version 4"). A database that is newer than this program, and accepts it, is not changed.
 *
 *   STATUS_UNAVAILABLE   no connection; the message contains the server's answer
 *   STATUS_PRECONDITION  the database is newer than this program and does not accept it
 *   STATUS_INTERNAL      a migration failed, or could not lock a table within three minutes; the
 *                        migrations before it are applied
 */
MUST_USE enum status migrate_run(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err);

/*
 * Say what migrate_run() would do, and do nothing: for each missing migration which programs go on
 * working, which tables it locks and, from their sizes, for how long. Statuses as above.
 */
MUST_USE enum status migrate_plan(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err);

/*
 * End an upgrade: programs that are older than this one are refused from now on when they connect,
 * as they always are by a database that this program has made. What they cannot read may then be
 * written.
 *
 *   STATUS_PRECONDITION  the schema is not that of this program; other statuses as above
 */
MUST_USE enum status migrate_refuse_older(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err);

#endif
