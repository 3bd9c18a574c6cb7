/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.h - bring a database to the schema version this program was built with.
 *
 * Migrations are embedded, forward only, and applied one transaction each, in order, under a lock
 * that lets two runs at once wait for each other. Running it again does nothing.
 */
#ifndef STORE_CONNECTION_MIGRATE_H
#define STORE_CONNECTION_MIGRATE_H

#include "base/error.h"

/*
 * Apply what is missing. say() gets one line per thing done ("applied 0002_intents", "schema is at
 * version 4"). A database that is newer than this program, and accepts it, is left as it is.
 *
 * STATUS_UNAVAILABLE   no connection; the message names the server's answer STATUS_PRECONDITION
 * the database is newer than this program, which does not work with it STATUS_INTERNAL      a
 * migration failed, or got a lock on a table in none of its attempts within three minutes; those
 *                      before it are applied
 */
MUST_USE enum status migrate_run(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err);

/*
 * Say what migrate_run() would do, and do nothing: for each missing migration which programs go on
 * working, which tables it locks and, from their sizes, for how long. Statuses as above.
 */
MUST_USE enum status migrate_plan(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err);

#endif
