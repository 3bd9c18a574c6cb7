/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.c - see the header. If two programs migrate at the same time, an advisory lock makes the
 * second one wait, which saves it an error: without the lock the primary key of schema_migrations
 * would refuse its migrations.
 *
 * A migration that waits for a lock on a table holds up every later statement on that table. So it
 * waits for two seconds at most, gives up its place, and tries again: a long transaction of another
 * program delays the migration, not the service.
 */
#include "store/connection/migrate.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/digits.h"
#include "domain/database/migration_header.h"
#include "store/connection/pg.h"
#include "store/connection/schema_version.h"
#include "store/migrations.h"

static const char lock_key[] = "select pg_advisory_lock(7296143)";
static const char version_table[] =
    "create table if not exists schema_migrations ("
    "version integer primary key, name text not null,"
    "applied timestamptz not null default now());"
    "alter table schema_migrations add column if not exists oldest_program integer";

enum { LOCK_ATTEMPTS = 60, LOCK_PAUSE_US = 1000000 };

struct migration_run {
    PGconn *conn;
    void (*say)(void *context, const char *line);
    void *context;
};

static void say_line(const struct migration_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say_line(const struct migration_run *run, const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    run->say(run->context, line);
}

static enum status failed(PGconn *conn, const char *what, struct error *err)
{
    const char *text = PQerrorMessage(conn);
    struct str line = str_of_bytes(text, strcspn(text, "\n"));
    bool lost = PQstatus(conn) != CONNECTION_OK;

    return error_set(err, lost ? STATUS_UNAVAILABLE : STATUS_INTERNAL, "%s: %.*s", what, STR_ARG(line));
}

static enum status run_sql(PGconn *conn, const char *sql, const char *what, struct error *err)
{
    PG_RESULT result = PQexec(conn, sql);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    ExecStatusType type = PQresultStatus(result);
    enum status status;

    if (type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK)
        return STATUS_OK;
    status = failed(conn, what, err);
    if (err && state)
        memcpy(err->sqlstate, state, 5);
    return status;
}

/* ---- applying ---- */

static enum status apply_once(PGconn *conn, const struct embedded *migration, struct error *err)
{
    struct migration_header header;
    char record[256], oldest[16] = "null";

    if (!migration_header_parse(str_of(migration->text), &header))
        return error_set(err, STATUS_INTERNAL, "%s: its header is malformed", migration->name);
    if (header.oldest_program)
        snprintf(oldest, sizeof(oldest), "%d", header.oldest_program);
    snprintf(record, sizeof(record),
        "insert into schema_migrations (version, name, oldest_program) values (%d, '%s', %s)",
        schema_version_of(migration), migration->name, oldest);
    TRY(run_sql(conn, "begin", migration->name, err));
    TRY(run_sql(conn, migration->text, migration->name, err));
    TRY(run_sql(conn, record, migration->name, err));
    return run_sql(conn, "commit", migration->name, err);
}

/*
 * Another transaction holds a table for long, or it and the migration wait for each other's tables
 * and PostgreSQL has ended the migration.
 */
static bool is_lock_trouble(const struct error *err)
{
    return pg_is_lock_timeout(err) || pg_is_deadlock(err);
}

static enum status apply(const struct migration_run *run, const struct embedded *migration, struct error *err)
{
    enum status status;

    for (int attempt = 1;; attempt++) {
        status = apply_once(run->conn, migration, err);
        if (status == STATUS_OK || !is_lock_trouble(err) || attempt == LOCK_ATTEMPTS)
            return status;
        TRY(run_sql(run->conn, "rollback", migration->name, err));
        say_line(run, "%s waits: another transaction uses a table that it locks", migration->name);
        clock_sleep(LOCK_PAUSE_US);
    }
}

/*
 * Record that the database accepts no program older than this one. What older programs cannot read
 * may then be written (store/indexes/sql/database_may_keep_versions.sql).
 */
static enum status refuse_older(const struct migration_run *run, struct error *err)
{
    char sql[128];

    snprintf(sql, sizeof(sql), "update schema_migrations set oldest_program = version where version = %d",
        schema_version_wanted());
    return run_sql(run->conn, sql, "schema_migrations", err);
}

/* No program has worked with a database that had no schema. */
static enum status apply_missing(const struct migration_run *run, struct error *err)
{
    struct schema_version version;
    int wanted = schema_version_wanted();

    TRY(run_sql(run->conn, lock_key, "waiting for another migration", err));
    TRY(run_sql(run->conn, version_table, "schema_migrations", err));
    TRY(schema_version_read(run->conn, &version, err));
    if (version.found > wanted) {
        TRY(schema_version_check(&version, err));
        say_line(run, "schema is at version %d, newer than this program's %d, which works with it",
            version.found, wanted);
        return STATUS_OK;
    }
    TRY(run_sql(run->conn, "set lock_timeout = '2s'", "session", err));
    for (size_t i = 0; i < migrations_count; i++) {
        if (schema_version_of(migrations_all[i]) <= version.found)
            continue;
        TRY(apply(run, migrations_all[i], err));
        say_line(run, "applied %s", migrations_all[i]->name);
    }
    if (version.found == 0)
        TRY(refuse_older(run, err));
    say_line(run, "schema is at version %d", wanted);
    return STATUS_OK;
}

/* ---- the plan ---- */

/* -1: there is no such table. */
static enum status read_table_bytes(PGconn *conn, struct str table, int64_t *out, struct error *err)
{
    char name[64];
    const char *const values[] = { name };
    PG_RESULT result = NULL;

    snprintf(name, sizeof(name), "%.*s", STR_ARG(table));
    result = PQexecParams(
        conn, "select coalesce(pg_total_relation_size(to_regclass($1)), -1)", 1, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK ||
        !digits_parse_signed(str_of(PQgetvalue(result, 0, PG_ONLY_COLUMN)), -1, INT64_MAX, out))
        return failed(conn, "reading the size of a table", err);
    return STATUS_OK;
}

static enum status say_lock(
    const struct migration_run *run, const struct migration_lock *lock, struct error *err)
{
    int64_t bytes, estimate;

    TRY(read_table_bytes(run->conn, lock->table, &bytes, err));
    if (bytes < 0) {
        say_line(run, "    locks nothing: there is no table %.*s yet", STR_ARG(lock->table));
        return STATUS_OK;
    }
    estimate = migration_header_estimate_ms(lock->work, bytes);
    say_line(run, "    locks %.*s (%" PRId64 " MB) for %" PRId64 ".%" PRId64 " s at most",
        STR_ARG(lock->table), bytes >> 20, estimate / 1000, estimate % 1000 / 100);
    return STATUS_OK;
}

static enum status say_migration(
    const struct migration_run *run, const struct embedded *migration, struct error *err)
{
    struct migration_header header;

    if (!migration_header_parse(str_of(migration->text), &header))
        return error_set(err, STATUS_INTERNAL, "%s: its header is malformed", migration->name);
    say_line(run, "would apply %s", migration->name);
    if (header.oldest_program)
        say_line(run, "    programs of schema version %d and later go on working", header.oldest_program);
    else
        say_line(run, "    programs of earlier schema versions are refused when they connect again");
    if (!header.says_locks)
        say_line(run, "    locks: see the comments of migrations/%s.sql", migration->name);
    else if (header.lock_count == 0)
        say_line(run, "    locks no table that is in use");
    for (size_t i = 0; i < header.lock_count; i++)
        TRY(say_lock(run, &header.locks[i], err));
    return STATUS_OK;
}

static enum status say_missing(const struct migration_run *run, struct error *err)
{
    struct schema_version version;

    TRY(schema_version_read(run->conn, &version, err));
    say_line(run, "schema is at version %d, this program's is %d", version.found, schema_version_wanted());
    if (version.found > schema_version_wanted())
        return schema_version_check(&version, err);
    for (size_t i = 0; i < migrations_count; i++)
        if (schema_version_of(migrations_all[i]) > version.found)
            TRY(say_migration(run, migrations_all[i], err));
    if (version.found == schema_version_wanted())
        say_line(run, "nothing to do");
    return STATUS_OK;
}

/* ---- the end of an upgrade ---- */

static enum status end_upgrade(const struct migration_run *run, struct error *err)
{
    struct schema_version version;
    int wanted = schema_version_wanted();

    TRY(schema_version_read(run->conn, &version, err));
    if (version.found != wanted)
        return error_set(err, STATUS_PRECONDITION,
            "the database schema is at version %d, this program's is %d: older programs are refused by the "
            "release that has migrated the database last",
            version.found, wanted);
    TRY(refuse_older(run, err));
    say_line(run, "programs of schema versions before %d are refused when they connect again", wanted);
    return STATUS_OK;
}

/* ---- all ---- */

static enum status connect_and(const char *postgres, struct migration_run *run,
    enum status (*work)(const struct migration_run *run, struct error *err), struct error *err)
{
    enum status status;

    run->conn = PQconnectdb(postgres);
    if (PQstatus(run->conn) != CONNECTION_OK)
        status = failed(run->conn, "cannot connect", err);
    else
        status = run_sql(run->conn, "set client_min_messages = 'error'", "session", err);
    if (status == STATUS_OK)
        status = work(run, err);
    PQfinish(run->conn);
    return status;
}

enum status migrate_run(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err)
{
    struct migration_run run = { .say = say, .context = context };

    return connect_and(postgres, &run, apply_missing, err);
}

enum status migrate_plan(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err)
{
    struct migration_run run = { .say = say, .context = context };

    return connect_and(postgres, &run, say_missing, err);
}

enum status migrate_refuse_older(
    const char *postgres, void (*say)(void *context, const char *line), void *context, struct error *err)
{
    struct migration_run run = { .say = say, .context = context };

    return connect_and(postgres, &run, end_upgrade, err);
}
