/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_version.h - the versions of the database's schema: the number with which a migration's
 * name begins.
 *
 * A program works with the schema it was built for, and with a later one whose migrations say that
 * it does: they have recorded the oldest programs that go on working
 * (domain/database/migration_header.h). So an upgrade needs no moment in which nothing runs:
 * migrate, then replace the programs one after another; the old programs can come back.
 */
#ifndef STORE_CONNECTION_SCHEMA_VERSION_H
#define STORE_CONNECTION_SCHEMA_VERSION_H

#include <libpq-fe.h>

#include "base/embedded.h"
#include "base/error.h"

/* The version that a database has after this migration. */
int schema_version_of(const struct embedded *migration);

/* The version this program was built for. */
int schema_version_wanted(void);

struct schema_version {
    int found;          /* the database's; 0: nothing was ever migrated */
    int oldest_program; /* what the migrations beyond schema_version_wanted() accept; 0: there are none */
};

/*
 * Read the version of a database.
 *
 * STATUS_UNAVAILABLE  the connection ended; other statuses are those of the statement
 */
MUST_USE enum status schema_version_read(PGconn *conn, struct schema_version *out, struct error *err);

/*
 * Whether this program works with a database of this version.
 *
 * STATUS_PRECONDITION  it does not; the message says which of the two has to change, and how
 */
MUST_USE enum status schema_version_check(const struct schema_version *version, struct error *err);

#endif
