/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.c - one transaction per migration; an advisory lock makes a second run wait. (The lock only saves
 * the second run an error: the primary key of schema_migrations would refuse it anyway.)
 */
#include "store/connection/migrate.h"

#include <libpq-fe.h>
#include <limits.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/digits.h"
#include "store/connection/pg.h"
#include "store/connection/schema_version.h"
#include "store/migrations.h"

static const char lock_key[] = "select pg_advisory_lock(7296143)";
static const char version_table[] = "create table if not exists schema_migrations ("
                                    "version integer primary key, name text not null,"
                                    "applied timestamptz not null default now())";

static enum status failed(PGconn *conn, const char *what, struct error *err)
{
    const char *text = PQerrorMessage(conn);
    struct str line = str_of_bytes(text, strcspn(text, "\n"));
    bool lost = PQstatus(conn) != CONNECTION_OK;

    return error_set(err, lost ? STATUS_UNAVAILABLE : STATUS_INTERNAL, "%s: %.*s", what, STR_ARG(line));
}

static enum status run(PGconn *conn, const char *sql, const char *what, struct error *err)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType type = PQresultStatus(result);

    PQclear(result);
    if (type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK)
        return STATUS_OK;
    return failed(conn, what, err);
}

static enum status current_version(PGconn *conn, int *out, struct error *err)
{
    PGresult *result = PQexec(conn, "select coalesce(max(version), 0) from schema_migrations");
    bool ok = PQresultStatus(result) == PGRES_TUPLES_OK;
    uint64_t version;

    if (ok)
        ok = digits_parse_unsigned(str_of(PQgetvalue(result, 0, PG_ONLY_COLUMN)), INT_MAX, &version);
    if (ok)
        *out = (int)version;
    PQclear(result);
    return ok ? STATUS_OK : failed(conn, "reading schema_migrations", err);
}

static enum status apply(PGconn *conn, const struct embedded *migration, struct error *err)
{
    char record[256];

    snprintf(record, sizeof(record), "insert into schema_migrations (version, name) values (%d, '%s')",
        schema_version_of(migration), migration->name);
    TRY(run(conn, "begin", migration->name, err));
    TRY(run(conn, migration->text, migration->name, err));
    TRY(run(conn, record, migration->name, err));
    return run(conn, "commit", migration->name, err);
}

static enum status migrate(
    PGconn *conn, void (*say)(void *context, const char *line), void *context, struct error *err)
{
    int version = 0, wanted = schema_version_wanted();
    char line[256];

    if (PQstatus(conn) != CONNECTION_OK)
        return failed(conn, "cannot connect", err);
    TRY(run(conn, "set client_min_messages = 'error'", "session", err));
    TRY(run(conn, lock_key, "waiting for another migration", err));
    TRY(run(conn, version_table, "schema_migrations", err));
    TRY(current_version(conn, &version, err));
    if (version > wanted)
        return error_set(err, STATUS_PRECONDITION,
            "the database schema is at version %d, newer than this program's %d: update this program",
            version, wanted);
    for (size_t i = 0; i < migrations_count; i++) {
        if (schema_version_of(migrations_all[i]) <= version)
            continue;
        TRY(apply(conn, migrations_all[i], err));
        snprintf(line, sizeof(line), "applied %s", migrations_all[i]->name);
        say(context, line);
    }
    snprintf(line, sizeof(line), "schema is at version %d", wanted);
    say(context, line);
    return STATUS_OK;
}

enum status migrate_run(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err)
{
    PGconn *conn = PQconnectdb(postgres);
    enum status status = migrate(conn, say, context, err);

    PQfinish(conn);
    return status;
}
