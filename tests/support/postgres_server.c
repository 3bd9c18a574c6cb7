/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_server.c - initdb, one postmaster per test program, one migrated template, and copies of it that
 * the tests use one after the other: making a copy takes ten times as long as emptying its tables. PostgreSQL
 * refuses to run as root, so root becomes the user postgres.
 */
#include "tests/support/postgres_server.h"

#include <check.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/connection/migrate.h"
#include "store/connection/pg.h"
#include "store/migrations.h"
#include "tests/support/temporary.h"

enum { WAIT_LIMIT_US = 100 * 1000 * 1000, AWAIT_LIMIT_US = 30 * 1000 * 1000, POLL_US = 5 * 1000 };

enum { MAX_IN_USE = 64 };

static pid_t owner;      /* the process that called test_postgres_start */
static pid_t postmaster; /* 0: the server was not started here */
static char folder[MAX_TEMPORARY_PATH];
static char admin[512]; /* where databases are created */
static char template_name[64];
static bool is_shared;               /* the template: other programs copy it too */
static int *copies;                  /* of the template, from 1; shared with the processes that check forks */
static char *in_use[MAX_IN_USE + 1]; /* by copy, from 1: the connection string; NULL: it is free */
static char fresh_schema[256];       /* what sql_schema returns for a copy whose schema no test has changed */
static char *reset_rows; /* a statement that gives every table the rows that the migrations have inserted */

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "test server: %s: %s\n", what, detail);
    exit(EXIT_FAILURE);
}

static void pause_shortly(void)
{
    clock_sleep(POLL_US);
}

/* ---- processes ---- */

/*
 * In the child: become the user that PostgreSQL may run as, and end with the parent (a change of the user cancels
 * that).
 */
static void settle_child(pid_t parent)
{
    struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;

    if (geteuid() == 0 &&
        (!user || setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
        _exit(126);
    if (prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0 || getppid() != parent || chdir(folder) != 0)
        _exit(126);
    if (!freopen("log", "a", stdout) || !freopen("log", "a", stderr))
        _exit(126);
}

static pid_t spawn(char *const *argv)
{
    pid_t parent = getpid(), child = fork();

    if (child < 0)
        die("fork", argv[0]);
    if (child > 0)
        return child;
    settle_child(parent);
    execv(argv[0], argv);
    _exit(127);
}

/* The server's programs are often outside PATH. */
static const char *program(const char *name, char *out, size_t size)
{
    char line[256] = "";
    FILE *pipe = popen("pg_config --bindir", "r");

    if (pipe) {
        if (!fgets(line, sizeof(line), pipe))
            line[0] = '\0';
        pclose(pipe);
    }
    line[strcspn(line, "\n")] = '\0';
    snprintf(out, size, "%s/%s", line, name);
    if (access(out, X_OK) != 0)
        die("not found", out);
    return out;
}

static void make_folder(void)
{
    struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;

    temporary_folder_make("tavola-pg-", folder, sizeof(folder));
    if (user && chown(folder, user->pw_uid, user->pw_gid) != 0)
        die("chown", folder);
}

static void run_program(char *const *argv)
{
    int result;

    if (waitpid(spawn(argv), &result, 0) < 0 || result != 0) {
        fprintf(stderr, "test server: %s failed, see %s/log\n", argv[0], folder);
        exit(EXIT_FAILURE);
    }
}

/* A copy of the cluster that INITDB_TEMPLATE names takes a tenth of the time of initdb. */
static void make_cluster(void)
{
    char path[512];
    char *template = getenv("INITDB_TEMPLATE");
    char *copy[] = { "/bin/cp", "-a", "--reflink=auto", template, "data", NULL };

    if (template && *template) {
        run_program(copy);
    } else {
        char *initdb[] = { (char *)program("initdb", path, sizeof(path)), "-D", "data", "--locale=C", "-E",
            "UTF8", "--no-sync", "--no-instructions", "-A", "trust", "-U", "postgres", NULL };

        run_program(initdb);
    }
}

/*
 * glibc: sessions keep the memory that they have freed. Most of them are short, and spend much of their time on pages
 * that they give back and get again.
 */
static void keep_freed_memory(void)
{
    setenv("MALLOC_TRIM_THRESHOLD_", "67108864", 0);
    setenv("MALLOC_TOP_PAD_", "1048576", 0);
    setenv("MALLOC_MMAP_THRESHOLD_", "33554432", 0);
}

static void launch(void)
{
    char path[512];
    char *argv[] = { (char *)program("postgres", path, sizeof(path)), "-D", "data", "-k", folder, "-c",
        "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB",
        "-c", "max_connections=64", "-c", "deadlock_timeout=100ms", "-c", "jit=off", "-c", "autovacuum=off",
        NULL };
    int64_t deadline_us = clock_monotonic_us() + WAIT_LIMIT_US;

    keep_freed_memory();
    postmaster = spawn(argv);
    snprintf(admin, sizeof(admin), "host=%s user=postgres dbname=postgres", folder);
    while (PQping(admin) != PQPING_OK) {
        if (clock_monotonic_us() > deadline_us || waitpid(postmaster, NULL, WNOHANG) != 0)
            die("postgres does not answer, see", folder);
        pause_shortly();
    }
}

/* ---- databases ---- */

/* The connection string of the administrator, with another database. */
static char *conninfo_of(const char *database)
{
    PQconninfoOption *options = PQconninfoParse(admin, NULL);
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);

    if (!options || !stream)
        die("not a connection string", admin);
    for (PQconninfoOption *option = options; option->keyword; option++) {
        if (!option->val || strcmp(option->keyword, "dbname") == 0)
            continue;
        fprintf(stream, "%s='", option->keyword);
        for (const char *c = option->val; *c; c++)
            fprintf(stream, *c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
        fprintf(stream, "' ");
    }
    fprintf(stream, "dbname='%s'", database);
    fclose(stream);
    PQconninfoFree(options);
    return out;
}

static void quiet(void *context, const char *line)
{
    (void)context;
    (void)line;
}

/* Without fsync, copying the files takes half of the time of copying page by page through the log. */
static void create_database(const char *name, const char *from)
{
    PGconn *conn = PQconnectdb(admin);
    char sql[256];
    PGresult *result;

    snprintf(sql, sizeof(sql), "create database %s template %s strategy file_copy", name, from);
    result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die(sql, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

static const char sql_filled_tables[] =
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
    " and pg_relation_size(oid) > 0";

static const char sql_sequences[] =
    "select coalesce(string_agg(format('perform setval(%L, %s, %L);', sequencename,"
    " coalesce(last_value, start_value), last_value is not null), ' '), '')"
    " from pg_sequences where schemaname = 'public'";

/* The tables that have rows or space for rows: every table that a test has changed is among them. */
static const char sql_begin_reset[] =
    "do $reset$ declare changed text[]; begin"
    " select array_agg(relname::text) into changed from pg_class where relkind = 'r'"
    " and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0;";

static const char sql_empty_changed[] = " if changed <> '{}' then execute (select 'truncate ' || "
                                        "string_agg(quote_ident(name), ', ') || ' cascade'"
                                        " from unnest(changed) name); end if;";

/*
 * Catalogue rows are never updated in place: a row that a test has changed is younger, or the number of rows differs.
 * Emptying a table changes its row of pg_class, so the names in pg_class are compared. The ids of PostgreSQL's own
 * objects are below 16384.
 */
static const char sql_schema[] =
    "select concat_ws(' ', (select concat(count(*), '/', max(xmin::text::bigint)) from pg_attribute"
    " where attrelid >= 16384),"
    " (select concat(count(*), '/', max(xmin::text::bigint)) from pg_proc where oid >= 16384),"
    " (select concat(count(*), '/', max(xmin::text::bigint)) from pg_trigger),"
    " (select concat(count(*), '/', max(xmin::text::bigint)) from pg_constraint where oid >= 16384),"
    " (select concat(count(*), '/', max(xmin::text::bigint)) from pg_statistic where starelid >= 16384),"
    " (select md5(string_agg(relname, ' ' order by oid)) from pg_class where oid >= 16384),"
    " (select count(*) from pg_db_role_setting where setdatabase ="
    " (select oid from pg_database where datname = current_database())))";

/* The sessions of a killed test may still be connected. */
static const char sql_end_sessions[] =
    "select pg_terminate_backend(pid, 5000) from pg_stat_get_activity(null)"
    " where datid = (select oid from pg_database where datname = current_database())"
    " and backend_type = 'client backend' and pid <> pg_backend_pid()";

static PGconn *connect_to(const char *database)
{
    char *conninfo = conninfo_of(database);
    PGconn *conn = PQconnectdb(conninfo);

    if (PQstatus(conn) != CONNECTION_OK)
        die(conninfo, PQerrorMessage(conn));
    free(conninfo);
    return conn;
}

/* The first column of the first row, in new memory; empty if no row came. */
static char *ask(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType type = PQresultStatus(result);
    char *out;

    if (type != PGRES_TUPLES_OK && type != PGRES_COMMAND_OK)
        die(sql, PQerrorMessage(conn));
    out = strdup(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return out;
}

/* A query with the name of a table in place of each %I. */
static char *ask_of_table(PGconn *conn, const char *query, const char *table)
{
    char *name = PQescapeLiteral(conn, table, strlen(table)), *statement, *out;
    char sql[512];

    snprintf(sql, sizeof(sql), "select format('%s', %s)", query, name);
    statement = ask(conn, sql);
    out = ask(conn, statement);
    PQfreemem(name);
    free(statement);
    return out;
}

/* A table with the same rows in the same order is not changed. */
static void write_is_changed(FILE *stream, PGconn *conn, const char *table)
{
    char *digest = ask_of_table(conn, "select md5(json_agg(t)::text) from %1$I t", table);

    fprintf(stream,
        " if (select md5(json_agg(t)::text) from %s t) = '%s' then changed := array_remove(changed, '%s');"
        " elsif not '%s' = any(changed) then changed := changed || text '%s'; end if;",
        table, digest, table, table, table);
    free(digest);
}

static void write_insert(FILE *stream, PGconn *conn, const char *table)
{
    char *rows = ask_of_table(conn, "select quote_literal(json_agg(t)) from %1$I t", table);

    fprintf(stream,
        " if '%s' = any(changed) then insert into %s select * from json_populate_recordset(null::%s, %s);"
        " end if;",
        table, table, table, rows);
    free(rows);
}

static void note_fresh_database(const char *name)
{
    PGconn *conn = connect_to(name);
    PGresult *tables = PQexec(conn, sql_filled_tables);
    char *schema = ask(conn, sql_schema), *sequences = ask(conn, sql_sequences);
    size_t size;
    FILE *stream = open_memstream(&reset_rows, &size);

    snprintf(fresh_schema, sizeof(fresh_schema), "%s", schema);
    fputs(sql_begin_reset, stream);
    for (int i = 0; i < PQntuples(tables); i++)
        write_is_changed(stream, conn, PQgetvalue(tables, i, 0));
    fputs(sql_empty_changed, stream);
    for (int i = 0; i < PQntuples(tables); i++)
        write_insert(stream, conn, PQgetvalue(tables, i, 0));
    fprintf(stream, " %s end $reset$", sequences);
    fclose(stream);
    free(schema);
    free(sequences);
    PQclear(tables);
    PQfinish(conn);
}

/* The connection that has reset a database: the test's first connection to it, which saves one in each test. */
static PGconn *at_hand;

/* False: a test has changed the schema, so the database must be made anew. */
static bool reset_database(const char *name)
{
    PGconn *conn = connect_to(name);
    bool is_fresh;
    char *schema;

    free(ask(conn, "set client_min_messages = 'error'"));
    free(ask(conn, sql_end_sessions));
    schema = ask(conn, sql_schema);
    is_fresh = strcmp(schema, fresh_schema) == 0;
    free(schema);
    if (is_fresh)
        free(ask(conn, reset_rows));
    PQfinish(at_hand);
    at_hand = is_fresh ? conn : NULL;
    if (!is_fresh)
        PQfinish(conn);
    return is_fresh;
}

static void drop_database(const char *name)
{
    PGconn *conn = PQconnectdb(admin);
    char sql[256];

    snprintf(sql, sizeof(sql), "drop database if exists %s with (force)", name);
    PQclear(PQexec(conn, "set client_min_messages = 'error'"));
    PQclear(PQexec(conn, sql));
    PQfinish(conn);
}

static const char *copy_name(int copy, char *out, size_t size)
{
    snprintf(out, size, "tavola_test_%d_%d", (int)owner, copy);
    return out;
}

static void make_template(const char *name)
{
    struct error err = { 0 };
    char *conninfo;

    create_database(name, "template0");
    conninfo = conninfo_of(name);
    if (migrate_run(conninfo, quiet, NULL, &err) != STATUS_OK)
        die("migrate", err.message);
    free(conninfo);
}

/* Other migrations make another template. */
static uint64_t migrations_hash(void)
{
    uint64_t hash = HASH_EMPTY;

    for (size_t i = 0; i < migrations_count; i++)
        for (const char *c = migrations_all[i]->text; *c; c++)
            hash = hash_byte(hash, (uint8_t)*c);
    return hash;
}

/* Make the template if no program has made it yet; programs that come later on the same server find it. */
static void share_template(void)
{
    PGconn *conn = PQconnectdb(admin);
    char sql[256], *found;

    snprintf(template_name, sizeof(template_name), "tavola_template_%016" PRIx64, migrations_hash());
    free(ask(conn, "select pg_advisory_lock(hashtext('tavola_template'))"));
    snprintf(sql, sizeof(sql), "select count(*) from pg_database where datname = '%s'", template_name);
    found = ask(conn, sql);
    if (strcmp(found, "0") == 0) {
        drop_database("tavola_template_new");
        make_template("tavola_template_new");
        snprintf(sql, sizeof(sql), "alter database tavola_template_new rename to %s", template_name);
        free(ask(conn, sql));
    }
    free(found);
    PQfinish(conn); /* this unlocks */
}

static void prepare_template(void)
{
    is_shared = postmaster == 0 && getenv("TEST_SHARED_TEMPLATE");
    if (is_shared) {
        share_template();
    } else {
        snprintf(template_name, sizeof(template_name), "tavola_test_%d", (int)owner);
        make_template(template_name);
    }
}

/* Nothing connects to the template: PostgreSQL copies no database to which a session is connected. */
static void make_first_copy(void)
{
    char name[128];

    create_database(copy_name(1, name, sizeof(name)), template_name);
    note_fresh_database(name);
    *copies = 1;
}

static void drop_databases(void)
{
    char name[128];

    for (int i = 1; i <= *copies; i++)
        drop_database(copy_name(i, name, sizeof(name)));
    if (!is_shared)
        drop_database(template_name);
}

/* This also runs in the processes that check has forked; they must not stop the server. */
static void stop(void)
{
    if (getpid() != owner)
        return;
    if (postmaster == 0) {
        drop_databases();
        return;
    }
    kill(postmaster, SIGQUIT);
    waitpid(postmaster, NULL, 0);
    temporary_folder_remove(folder);
}

void test_postgres_start(void)
{
    const char *given = getenv("TAVOLA_POSTGRES");

    if (owner != 0)
        return;
    signal(SIGPIPE, SIG_IGN);
    owner = getpid();
    pg_allow_data_loss(true); /* a cluster of a test's own need not survive a crash of the machine */
    if (given && *given) {
        snprintf(admin, sizeof(admin), "%s", given);
    } else {
        make_folder();
        make_cluster();
        launch();
    }
    copies = mmap(NULL, sizeof(*copies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copies == MAP_FAILED)
        die("mmap", "no memory that is shared");
    atexit(stop);
    prepare_template();
    make_first_copy();
}

/* The first copy that is not in use; it is reset before it is used again. */
const char *test_database(void)
{
    char name[128];
    int copy = 1;

    if (owner == 0)
        die("test_postgres_start", "was not called by the suite");
    while (copy <= MAX_IN_USE && in_use[copy])
        copy++;
    if (copy > MAX_IN_USE)
        die("test_database", "tests that failed have left too many databases in use");
    copy_name(copy, name, sizeof(name));
    if (copy <= *copies && !reset_database(name)) {
        drop_database(name);
        create_database(name, template_name);
    } else if (copy > *copies) {
        create_database(name, template_name);
        *copies = copy;
    }
    in_use[copy] = conninfo_of(name);
    return in_use[copy];
}

void test_database_end(const char *conninfo)
{
    for (int copy = 1; copy <= MAX_IN_USE; copy++)
        if (in_use[copy] == conninfo) {
            free(in_use[copy]);
            in_use[copy] = NULL;
            return;
        }
    die("test_database_end", "no database in use has this connection string");
}

/* ---- SQL ---- */

static PGconn *take_at_hand(const char *conninfo)
{
    PGconn *conn = at_hand;
    char *own = conn ? conninfo_of(PQdb(conn)) : NULL;

    if (!own || strcmp(own, conninfo) != 0)
        conn = NULL;
    else
        at_hand = NULL;
    free(own);
    return conn;
}

PGconn *test_connect(const char *conninfo)
{
    PGconn *conn = take_at_hand(conninfo);

    if (conn)
        return conn;
    conn = PQconnectdb(conninfo);
    ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
    PQclear(PQexec(conn, "set client_min_messages = 'error'"));
    return conn;
}

__attribute__((format(printf, 2, 0))) static PGresult *run(PGconn *conn, const char *format, va_list args)
{
    char *sql = NULL;
    PGresult *result;
    ExecStatusType type;

    ck_assert_int_ge(vasprintf(&sql, format, args), 0);
    result = PQexec(conn, sql);
    type = PQresultStatus(result);
    ck_assert_msg(
        type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK, "%s: %s", sql, PQresultErrorMessage(result));
    free(sql);
    return result;
}

void test_sql(PGconn *conn, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    PQclear(run(conn, format, args));
    va_end(args);
}

__attribute__((format(printf, 2, 0))) static const char *one_value(
    PGconn *conn, const char *format, va_list args)
{
    static char value[4096];
    PGresult *result = run(conn, format, args);

    ck_assert_msg(PQntuples(result) == 1 && PQnfields(result) == 1, "%s: not one value", format);
    snprintf(value, sizeof(value), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return value;
}

long long test_number(PGconn *conn, const char *format, ...)
{
    va_list args;
    const char *value;

    va_start(args, format);
    value = one_value(conn, format, args);
    va_end(args);
    return strtoll(value, NULL, 10);
}

const char *test_text(PGconn *conn, const char *format, ...)
{
    va_list args;
    const char *value;

    va_start(args, format);
    value = one_value(conn, format, args);
    va_end(args);
    return value;
}

void test_await(PGconn *conn, const char *format, ...)
{
    int64_t deadline_us = clock_monotonic_us() + AWAIT_LIMIT_US;

    for (;;) {
        va_list args;
        const char *value;

        va_start(args, format);
        value = one_value(conn, format, args);
        va_end(args);
        if (strtoll(value, NULL, 10) != 0)
            return;
        ck_assert_msg(clock_monotonic_us() < deadline_us, "%s: does not come about", format);
        pause_shortly();
    }
}

/* ---- crashes ---- */

static pid_t log_writer;

void test_postgres_hold_log(PGconn *conn)
{
    log_writer =
        (pid_t)test_number(conn, "select pid from pg_stat_activity where backend_type = 'walwriter'");
    ck_assert_int_eq(kill(log_writer, SIGSTOP), 0);
}

/* If one process of the server dies, the server ends all others, because their shared memory may be damaged. */
void test_postgres_crash(PGconn **conn, const char *conninfo)
{
    int64_t deadline_us = clock_monotonic_us() + WAIT_LIMIT_US;

    ck_assert_int_eq(kill(log_writer, SIGKILL), 0);
    while (PQstatus(*conn) == CONNECTION_OK || PQping(admin) != PQPING_OK) {
        ck_assert_int_lt(clock_monotonic_us(), deadline_us);
        PQclear(PQexec(*conn, "select 1"));
        pause_shortly();
    }
    PQfinish(*conn);
    *conn = test_connect(conninfo);
}
