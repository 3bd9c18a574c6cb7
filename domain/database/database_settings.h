/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_settings.h - what PostgreSQL must be set to for the promises to hold. Pure: the store reads the settings.
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
    const char *isolation;          /* of a transaction that begins without saying which */
    const char *encoding;           /* of the database */

    bool keys_in_byte_order; /* every column of keys and names has the collation "C" */
    bool session_is_ours;    /* no pooler: the process that answers is the one that was connected to */
};

/*
 * STATUS_OK
 * STATUS_PRECONDITION  a promise would be void; the message names each setting and what to do. allow_data_loss lets
 *                      fsync, full_page_writes and synchronous_commit pass, and nothing else
 */
MUST_USE enum status database_settings_check(
    const struct database_settings *settings, bool allow_data_loss, struct error *err);

#endif
