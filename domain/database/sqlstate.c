/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlstate.c - see the header. The codes are those of PostgreSQL's documentation, appendix A.
 *
 * Class XX (internal error, corrupted data) stays with the default: a damaged page is damaged at
 * every retry, and a dead letter or a failed build shows it to the operator.
 */
#include "domain/database/sqlstate.h"

#include <string.h>

static const struct row {
    const char *prefix; /* a class, a group or a whole code; the first row that matches counts */
    enum status status;
} rows[] = {
    { "08", STATUS_UNAVAILABLE },    /* connection exceptions; also a distributed node that is down */
    { "25006", STATUS_UNAVAILABLE }, /* read-only: a standby, after a fail-over */
    { "25P03", STATUS_UNAVAILABLE }, /* idle_in_transaction_session_timeout: we stood still; rolled back */
    { "40", STATUS_UNAVAILABLE },    /* rolled back: serialization, deadlock */
    { "53", STATUS_UNAVAILABLE },    /* out of disk, memory, connections; temp_file_limit */
    { "55000", STATUS_UNAVAILABLE }, /* a standby asked for what only a primary has */
    { "55P03", STATUS_UNAVAILABLE }, /* lock_timeout */
    { "57014", STATUS_TIMEOUT },     /* statement_timeout, or cancelled */
    { "57P", STATUS_UNAVAILABLE },   /* shutting down, crashed, starting up, idle session ended */
    { "58", STATUS_UNAVAILABLE },    /* I/O errors, missing files, other system errors */
};

const char *sqlstate_of_report(const char *state, const char *source_file)
{
    bool is_of_file = state && source_file && strcmp(state, "XX000") == 0 && strcmp(source_file, "fd.c") == 0;

    return is_of_file ? "58030" : state;
}

enum status sqlstate_status(const char *state)
{
    if (!state)
        return STATUS_UNAVAILABLE;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strncmp(state, rows[i].prefix, strlen(rows[i].prefix)) == 0)
            return rows[i].status;
    return STATUS_INTERNAL;
}

bool sqlstate_is_file_trouble(const char *state)
{
    return strncmp(state, "58", 2) == 0;
}
