/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_version.c - a database may be older than the column of oldest programs, so the statement
 * finds the column by its name in the row as JSON: where the column is missing, or null, a
 * migration accepts programs of its own version only.
 */
#include "store/connection/schema_version.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include "base/digits.h"
#include "domain/database/migration_header.h"
#include "domain/database/sqlstate.h"
#include "store/migrations.h"

int schema_version_of(const struct embedded *migration)
{
    struct str name = str_of(migration->name);
    uint64_t version = 0;
    bool is_numbered = digits_take_unsigned(&name, INT_MAX, &version);

    assert(is_numbered && "a migration's name begins with its number");
    (void)is_numbered;
    return (int)version;
}

int schema_version_wanted(void)
{
    return schema_version_of(migrations_all[migrations_count - 1]);
}

/* A number of the only row; 0: null. */
static int number_in(const PGresult *result, int column)
{
    uint64_t number;

    return digits_parse_unsigned(str_of(PQgetvalue(result, 0, column)), INT_MAX, &number) ? (int)number : 0;
}

static enum status read_failed(PGconn *conn, const PGresult *result, struct error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQerrorMessage(conn);
    struct str line = str_of_bytes(text, strcspn(text, "\n"));

    error_set(err, sqlstate_status(state), "database: reading schema_migrations: %.*s", STR_ARG(line));
    if (err && state)
        memcpy(err->sqlstate, state, 5);
    return sqlstate_status(state);
}

enum status schema_version_read(PGconn *conn, struct schema_version *out, struct error *err)
{
    char sql[512];
    PGresult *result;
    const char *state;
    enum status status = STATUS_OK;

    snprintf(sql, sizeof(sql),
        "select max(version), max(coalesce((to_jsonb(m) ->> 'oldest_program')::integer, version))"
        " filter (where version > %d) from schema_migrations m",
        schema_version_wanted());
    result = PQexec(conn, sql);
    state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        *out =
            (struct schema_version){ .found = number_in(result, 0), .oldest_program = number_in(result, 1) };
    else if (state && strcmp(state, "42P01") == 0) /* undefined_table: nothing was ever migrated */
        *out = (struct schema_version){ 0 };
    else
        status = read_failed(conn, result, err);
    PQclear(result);
    return status;
}

enum status schema_version_check(const struct schema_version *version, struct error *err)
{
    int known = schema_version_wanted();

    if (migration_header_accepts(known, version->found, version->oldest_program))
        return STATUS_OK;
    if (version->found < known)
        return error_set(err, STATUS_PRECONDITION,
            "the database schema is at version %d, this program needs %d: run `tavola migrate`",
            version->found, known);
    return error_set(err, STATUS_PRECONDITION,
        "the database schema is at version %d, which programs of version %d and later work with; this "
        "program's is %d: "
        "update this program",
        version->found, version->oldest_program, known);
}
