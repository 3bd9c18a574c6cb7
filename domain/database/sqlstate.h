/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlstate.h - what a failure that PostgreSQL reports means for the work: a pure table of SQLSTATE
 * codes.
 */
#ifndef DOMAIN_DATABASE_SQLSTATE_H
#define DOMAIN_DATABASE_SQLSTATE_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The code of a report, for the functions below: the one that it has, except for a temporary file that PostgreSQL
 * cannot create. That has no code of its own (XX000), but the report names the place in PostgreSQL's source, and fd.c
 * is where it opens files: the code is that of I/O errors.
 *
 * state, source_file  as reported; NULL: not reported. The result is NULL only if state is.
 */
const char *sqlstate_of_report(const char *state, const char *source_file);

/*
 * The status of a failed statement.
 *
 * state  five characters and a NUL; NULL: the connection ended without a report
 *
 * STATUS_UNAVAILABLE  the database's own trouble (connection, disk, memory, I/O, shutdown, standby, deadlock): the
 *                     transaction had no effect, and the same work may succeed later
 * STATUS_TIMEOUT      the statement ran longer than the session allows, or was cancelled
 * STATUS_INTERNAL     the statement or its data is at fault: the same work fails again
 */
enum status sqlstate_status(const char *state);

/*
 * Whether the database could not read or write one of its files (class 58). The damage may be
 * limited to a few blocks, so other work on the same database can still succeed.
 */
bool sqlstate_is_file_trouble(const char *state);

#endif
