/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_settings.h - the settings of PostgreSQL that the guarantees need. Pure: the store reads
 * the settings.
 */
#ifndef DOMAIN_DATABASE_DATABASE_SETTINGS_H
#define DOMAIN_DATABASE_DATABASE_SETTINGS_H

#include <stdbool.h>

#include "base/error.h"

struct database_settings {
    /* As PostgreSQL shows them; borrowed. */
    const char *fsync;
    const char *full_page_writes;
    const char *synchronous_commit; /* for this role and database */
    const char *isolation;          /* the default of new transactions */
    const char *encoding;           /* of the database */

    bool keys_in_byte_order; /* every column of keys and names has the collation "C" */
    /* false if another process answers than the one connected to, as behind a connection pooler */
    bool session_is_ours;
};

/*
 * Check the settings.
 *
 *   STATUS_OK
 *   STATUS_PRECONDITION  a guarantee would not hold; the message names each setting and the remedy.
 *                        allow_data_loss permits fsync, full_page_writes and synchronous_commit to be off,
 *                        nothing else
 */
MUST_USE enum status database_settings_check(
    const struct database_settings *settings, bool allow_data_loss, struct error *err);

#endif
