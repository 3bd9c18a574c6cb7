/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_version.h - the versions of the database's schema: a version is the number at the start of
 * a migration's name.
 *
 * A program works with the schema that it was built for, and with a later one whose migrations have
 * recorded that programs of its version go on working (domain/database/migration_header.h). So an
 * upgrade needs no pause of the service: migrate, then replace the programs one after another. The
 * old programs can be started again.
 */
#ifndef STORE_CONNECTION_SCHEMA_VERSION_H
#define STORE_CONNECTION_SCHEMA_VERSION_H

#include <libpq-fe.h>

#include "base/embedded.h"
#include "base/error.h"

/* The version that a database has after this migration. */
int schema_version_of(const struct embedded *migration);

/* The schema version that this program was built for. */
int schema_version_wanted(void);

struct schema_version {
    int found; /* of the database; 0: no migration was ever applied */
    /* that the migrations beyond schema_version_wanted() accept; 0: there are no such migrations */
    int oldest_program;
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
