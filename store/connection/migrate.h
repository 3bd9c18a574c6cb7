/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.h - bring a database to the schema version this program was built with.
 *
 * Migrations are embedded, forward only, and applied one transaction each, in order, under a lock that
 * lets two runs at once wait for each other. Running it again does nothing.
 */
#ifndef STORE_CONNECTION_MIGRATE_H
#define STORE_CONNECTION_MIGRATE_H

#include "base/error.h"

/*
 * Apply what is missing. say() gets one line per thing done ("applied 0002_intents", "schema is at
 * version 4").
 *
 * STATUS_UNAVAILABLE   no connection; the message names the server's answer
 * STATUS_PRECONDITION  the database is newer than this program
 */
MUST_USE enum status migrate_run(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err);

#endif
