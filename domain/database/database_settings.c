/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_settings.c - see the header.
 */
#include "domain/database/database_settings.h"

#include <stdio.h>
#include <string.h>

static bool is_off(const char *value)
{
    return strcmp(value, "off") == 0;
}

/*
 * Name the settings under which a crash of the database or its machine may lose acknowledged
 * writes.
 */
static enum status check_durability(const struct database_settings *settings, struct error *err)
{
    bool fsync = is_off(settings->fsync), pages = is_off(settings->full_page_writes);
    bool commit = is_off(settings->synchronous_commit);

    if (!fsync && !pages && !commit)
        return STATUS_OK;
    return error_set(err, STATUS_PRECONDITION,
        "a crash of the database would lose acknowledged writes:%s%s%s; switch this on for the server, the "
        "database "
        "and the role that connects, or set TAVOLA_ALLOW_DATA_LOSS=on",
        fsync ? " fsync=off" : "", pages ? " full_page_writes=off" : "",
        commit ? " synchronous_commit=off" : "");
}

enum status database_settings_check(
    const struct database_settings *settings, bool allow_data_loss, struct error *err)
{
    if (!settings->session_is_ours)
        return error_set(err, STATUS_PRECONDITION,
            "a connection pooler stands between this program and PostgreSQL: it hides restarts of the "
            "database and "
            "shares sessions; connect to PostgreSQL itself, the programs keep a small pool of their own");
    if (strcmp(settings->isolation, "read committed") != 0)
        return error_set(err, STATUS_PRECONDITION,
            "the session's isolation is \"%.40s\" although it was set to \"read committed\": something "
            "between this "
            "program and PostgreSQL changes settings",
            settings->isolation);
    if (strcmp(settings->encoding, "UTF8") != 0)
        return error_set(err, STATUS_PRECONDITION,
            "the database's encoding is %.40s: it must be UTF8 (create database ... encoding 'UTF8')",
            settings->encoding);
    if (!settings->keys_in_byte_order)
        return error_set(err, STATUS_PRECONDITION,
            "columns of keys have another collation than \"C\": their order would not be that of the bytes; "
            "restore "
            "the schema as `tavola migrate` makes it");
    return allow_data_loss ? STATUS_OK : check_durability(settings, err);
}
