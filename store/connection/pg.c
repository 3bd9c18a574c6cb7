/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg.c - connecting, flights and results.
 *
 * The connection is always non-blocking and in pipeline mode. Every wait is a poll() with the
 * connection's time limit, so a server that stands still blocks a thread for that limit at most.
 */
#include "store/connection/pg.h"

#include <assert.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/macros.h"
#include "domain/database/database_settings.h"
#include "domain/database/sqlstate.h"
#include "store/connection/cancel_request.h"
#include "store/connection/prepared.h"
#include "store/connection/schema_version.h"
#include "store/sql.h"

enum {
    CONNECT_PAUSE_US = 250000,
    DEFAULT_LIMIT_US = 15000000,
    DEFAULT_LOCK_WAIT_MS = 1000,
    LOOK_US = 50000,
    PIECE_BYTES = 8192, /* PostgreSQL's send buffer */
    MAX_PIECES_BYTES = 64 * 1024,
    PIECE_PAUSE_US = 50,
    MAX_PIECE_PAUSES = 3,
};

/*
 * Generic plans: every hot statement has one good plan, by primary key, whatever its arrays
 * contain. A join with unnest must be a nested loop over the key: the other methods would read
 * whole tables.
 *
 * PostgreSQL keeps a plan until the statistics change, and the cheapest plan while a table is empty
 * reads all of it, which would stay so while the table grows. So a statement must leave the planner
 * only the key: it says `offset 0` in a lateral subquery, or compares the first column of the key
 * with `any (array[...])`, which cannot be merged. Bitmap scans are off because a search for the
 * first rows of a key would read and sort all of them.
 */
static const char session_settings[] =
    "set default_transaction_isolation = 'read committed';"
    "set statement_timeout = '10s';"
    "set idle_in_transaction_session_timeout = '5s';"
    /*
     * Over TCP: a client that reads nothing any more, or does not answer, loses its session and its
     * locks.
     */
    "set tcp_user_timeout = '10s';"
    "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;"
    "set plan_cache_mode = force_generic_plan;"
    "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;"
    "set enable_bitmapscan = off; set enable_memoize = off; set jit = off;"
    "set client_min_messages = 'error'; set client_encoding = 'UTF8';"
    "set bytea_output = 'hex'";

static bool data_loss_is_allowed;

void pg_allow_data_loss(bool allowed)
{
    data_loss_is_allowed = allowed;
}

void pg_init(struct pg *pg, const char *conninfo, const char *role)
{
    *pg = (struct pg){
        .conninfo = conninfo, .role = role, .limit_us = DEFAULT_LIMIT_US, .give_up_us = INT64_MAX
    };
}

static void forget_cancel(struct pg *pg)
{
    cancel_request_release(pg->cancel);
    pg->cancel = NULL;
}

void pg_close(struct pg *pg)
{
    if (pg->conn)
        PQfinish(pg->conn);
    pg->conn = NULL;
    forget_cancel(pg);
    pg->syncs = 0;
    pg->comes_singly = false;
    prepared_free(pg->prepared);
    pg->prepared = NULL;
    PQclear(pg->parse_failure);
    pg->parse_failure = NULL;
}

/* ---- errors ---- */

bool pg_is_transient(const struct error *err)
{
    return err->status == STATUS_UNAVAILABLE || err->status == STATUS_TIMEOUT;
}

bool pg_is_lock_timeout(const struct error *err)
{
    return strcmp(err->sqlstate, "55P03") == 0;
}

bool pg_is_deadlock(const struct error *err)
{
    return strcmp(err->sqlstate, "40P01") == 0;
}

bool pg_is_duplicate_key(const struct error *err)
{
    return strcmp(err->sqlstate, "23505") == 0;
}

bool pg_is_division_by_zero(const struct error *err)
{
    return strcmp(err->sqlstate, "22012") == 0;
}

/* libpq's messages end in a newline and may have several lines. */
static struct str first_line(const char *text)
{
    return str_of_bytes(text, strcspn(text, "\n"));
}

static enum status result_error(const PGresult *result, struct error *err)
{
    const char *state = sqlstate_of_report(
        PQresultErrorField(result, PG_DIAG_SQLSTATE), PQresultErrorField(result, PG_DIAG_SOURCE_FILE));
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    enum status status = sqlstate_status(state);
    struct str message = first_line(primary ? primary : PQresultErrorMessage(result));

    error_set(err, status, "database: %.*s", STR_ARG(message));
    if (err && state)
        memcpy(err->sqlstate, state, 5);
    return status;
}

/* Close the connection and fill err; no further statement can be sent on it. */
static enum status connection_lost(struct pg *pg, const char *what, struct error *err)
{
    struct str message = first_line(pg->conn ? PQerrorMessage(pg->conn) : "");

    if (message.len == 0)
        message = str_of(what);
    error_set(err, STATUS_UNAVAILABLE, "database connection lost: %.*s", STR_ARG(message));
    pg_close(pg);
    return STATUS_UNAVAILABLE;
}

/* ---- connecting ---- */

/* A number of the first row, in text form; 0: null. */
static int number_at(const PGresult *result, int column)
{
    uint64_t number;

    return digits_parse_unsigned(str_of(PQgetvalue(result, 0, column)), INT_MAX, &number) ? (int)number : 0;
}

static enum status check_schema(PGconn *conn, struct error *err)
{
    struct schema_version version;

    TRY(schema_version_read(conn, &version, err));
    return schema_version_check(&version, err);
}

static int lock_timeout_ms(const struct pg *pg)
{
    return pg->lock_wait_ms > 0 ? pg->lock_wait_ms : DEFAULT_LOCK_WAIT_MS;
}

static enum status make_settings(const struct pg *pg, struct error *err)
{
    char text[sizeof(session_settings) + 40];
    PG_RESULT result = NULL;

    snprintf(text, sizeof(text), "%s;set lock_timeout = %d", session_settings, lock_timeout_ms(pg));
    result = PQexec(pg->conn, text);
    return PQresultStatus(result) == PGRES_COMMAND_OK ? STATUS_OK : result_error(result, err);
}

enum setting_column {
    SETTING_FSYNC,
    SETTING_FULL_PAGE_WRITES,
    SETTING_SYNCHRONOUS_COMMIT,
    SETTING_ISOLATION,
    SETTING_ENCODING,
    SETTING_BYTE_ORDER,
    SETTING_PROCESS,
};

/*
 * The backend that answers must be the one whose process id libpq knows; otherwise a pooler answers
 * in its place.
 */
static enum status check_settings(PGconn *conn, struct error *err)
{
    PG_RESULT result = PQexec(conn, sql_database_settings.text);
    struct database_settings settings;

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return result_error(result, err);
    settings = (struct database_settings){
        .fsync = PQgetvalue(result, 0, SETTING_FSYNC),
        .full_page_writes = PQgetvalue(result, 0, SETTING_FULL_PAGE_WRITES),
        .synchronous_commit = PQgetvalue(result, 0, SETTING_SYNCHRONOUS_COMMIT),
        .isolation = PQgetvalue(result, 0, SETTING_ISOLATION),
        .encoding = PQgetvalue(result, 0, SETTING_ENCODING),
        .keys_in_byte_order = strcmp(PQgetvalue(result, 0, SETTING_BYTE_ORDER), "t") == 0,
        .session_is_ours = number_at(result, SETTING_PROCESS) == PQbackendPID(conn),
    };
    return database_settings_check(&settings, data_loss_is_allowed, err);
}

/*
 * By default libpq writes notices to stderr, between the lines of the log. A message that ends an
 * idle connection is such a notice; the next statement fails with the reason.
 */
static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static enum status connect_once(struct pg *pg, struct error *err)
{
    const char *const keywords[] = { "dbname", "fallback_application_name", "connect_timeout",
        "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", NULL };
    const char *const values[] = { pg->conninfo, pg->role, "3", "10", "5", "3", "20000", NULL };

    pg->conn = PQconnectdbParams(keywords, values, 1);
    if (PQstatus(pg->conn) != CONNECTION_OK)
        return connection_lost(pg, "cannot connect", err);
    PQsetNoticeProcessor(pg->conn, ignore_notice, NULL);
    TRY(check_schema(pg->conn, err));
    TRY(make_settings(pg, err));
    TRY(check_settings(pg->conn, err));
    if (PQsetnonblocking(pg->conn, 1) != 0 || !PQenterPipelineMode(pg->conn))
        return connection_lost(pg, "pipeline mode", err);
    pg->connects++;
    pg->connected_us = clock_monotonic_us();
    pg->prepared = prepared_new();
    return STATUS_OK;
}

enum status pg_ensure(struct pg *pg, struct error *err)
{
    struct error failure = { 0 };
    enum status status;

    if (pg->conn && PQstatus(pg->conn) == CONNECTION_OK)
        return STATUS_OK;
    pg_close(pg);
    if (clock_monotonic_us() < pg->next_try_us)
        return error_set(err, pg->failure, "%s", pg->failure_text);
    status = connect_once(pg, &failure);
    if (status == STATUS_OK)
        return STATUS_OK;
    pg_close(pg);
    pg->next_try_us = clock_monotonic_us() + CONNECT_PAUSE_US;
    pg->failure = status;
    snprintf(pg->failure_text, sizeof(pg->failure_text), "%.255s", failure.message);
    return error_set(err, status, "%s", failure.message);
}

/* ---- waiting ---- */

void pg_bound(struct pg *pg, int64_t give_up_us, const atomic_bool *given_up)
{
    pg->give_up_us = give_up_us;
    pg->given_up = given_up;
    pg->cancel_sent = false;
}

void pg_unbound(struct pg *pg)
{
    pg_bound(pg, INT64_MAX, NULL);
}

/*
 * If the caller has gone, ask the server once to cancel the statement. If the server does not
 * react, the usual time limits hold.
 */
static void cancel_if_given_up(struct pg *pg, int64_t now_us)
{
    if (pg->cancel_sent || !(now_us >= pg->give_up_us || (pg->given_up && atomic_load(pg->given_up))))
        return;
    pg->cancel_sent = true;
    pg->cancel = cancel_request_send(pg->conn);
}

/* What was waited for is there. A request to cancel that is still under way would cancel the next statement. */
static enum status end_wait(struct pg *pg, int64_t deadline_us, struct error *err)
{
    if (!cancel_request_wait(pg->cancel, deadline_us))
        return connection_lost(pg, "a request to cancel does not end", err);
    forget_cancel(pg);
    return STATUS_OK;
}

/* How long to wait until the next check of whether the caller has gone. */
static int pause_ms(const struct pg *pg, int64_t now_us, int64_t left_us)
{
    if (pg->cancel_sent)
        return (int)(left_us / 1000) + 1;
    if (pg->give_up_us - now_us < left_us)
        left_us = pg->give_up_us - now_us;
    if (pg->given_up && left_us > LOOK_US)
        left_us = LOOK_US;
    return (int)(left_us / 1000) + 1;
}

/*
 * Read what has arrived. PostgreSQL sends a long result in pieces, each as soon as its buffer is
 * full, and the rest, which is shorter, with the end of the statement. Reading every piece at once
 * would make the two processes wake each other once per piece, which costs both more than the piece
 * itself. So while whole pieces are all that waits, let some more arrive first. With TLS the
 * numbers of bytes are others, and everything is read at once. So are rows that come singly, since
 * the caller works on them while the database makes the next ones.
 */
static bool read_input(struct pg *pg)
{
    int waiting;

    for (int i = 0; i < MAX_PIECE_PAUSES && !pg->comes_singly; i++) {
        if (ioctl(PQsocket(pg->conn), FIONREAD, &waiting) != 0 || waiting == 0 ||
            waiting % PIECE_BYTES != 0 || waiting >= MAX_PIECES_BYTES)
            break;
        clock_sleep(PIECE_PAUSE_US);
    }
    return PQconsumeInput(pg->conn);
}

/*
 * Send what is queued and receive what has arrived, until done() is true or the time limit is over.
 */
static enum status wait_until(struct pg *pg, bool (*done)(struct pg *pg), struct error *err)
{
    int64_t deadline_us = clock_monotonic_us() + pg->limit_us;

    for (;;) {
        int unsent = PQflush(pg->conn);
        struct pollfd fd = { .fd = PQsocket(pg->conn), .events = POLLIN };
        int64_t now_us, left_us;

        if (unsent < 0)
            return connection_lost(pg, "write failed", err);
        if (unsent == 0 && done(pg))
            return end_wait(pg, deadline_us, err);
        if (unsent > 0)
            fd.events |= POLLOUT;
        now_us = clock_monotonic_us();
        left_us = deadline_us - now_us;
        if (left_us <= 0)
            return connection_lost(pg, "no answer in time", err);
        cancel_if_given_up(pg, now_us);
        if (poll(&fd, 1, pause_ms(pg, now_us, left_us)) > 0 && (fd.revents & ~POLLOUT) && !read_input(pg))
            return connection_lost(pg, "read failed", err);
    }
}

/*
 * Take the result of a Parse, which has arrived. If the Parse has failed, its result is kept for
 * the statement.
 */
static void take_parse(struct pg *pg)
{
    PG_RESULT result = PQgetResult(pg->conn);
    ExecStatusType type = PQresultStatus(result);

    PQclear(PQgetResult(pg->conn)); /* the NULL that follows the result; it has arrived too */
    prepared_parse_ended(pg->prepared, type == PGRES_COMMAND_OK);
    if (type == PGRES_COMMAND_OK || type == PGRES_PIPELINE_ABORTED)
        return;
    PQclear(pg->parse_failure);
    pg->parse_failure = result;
    result = NULL; /* PG_RESULT would clear it on return */
}

/* Whether the next result that is not a Parse's has arrived. */
static bool has_result(struct pg *pg)
{
    while (!PQisBusy(pg->conn)) {
        if (!prepared_parse_is_next(pg->prepared))
            return true;
        take_parse(pg);
    }
    return false;
}

bool pg_wait(struct pg *pg, int64_t wait_us, int other)
{
    int64_t deadline_us = clock_monotonic_us() + wait_us;

    for (;;) {
        int unsent = pg->conn ? PQflush(pg->conn) : -1;
        struct pollfd fds[] = { { .fd = PQsocket(pg->conn), .events = POLLIN },
            { .fd = other, .events = POLLIN } };
        struct timespec left;
        int64_t left_us;

        if (unsent < 0 || (unsent == 0 && has_result(pg)))
            return true;
        if (unsent > 0)
            fds[0].events |= POLLOUT;
        left_us = deadline_us - clock_monotonic_us();
        if (left_us <= 0)
            return false;
        left = clock_timespec(left_us);
        if (ppoll(fds, ARRAY_LEN(fds), &left, NULL) <= 0)
            continue;
        if ((fds[0].revents & ~POLLOUT) && !read_input(pg))
            return true;
        if (fds[0].revents == 0)
            return false; /* something else has arrived */
    }
}

static bool is_flushed(struct pg *pg)
{
    (void)pg;
    return true;
}

/* ---- flights ---- */

static enum status send_parse(
    struct pg *pg, const struct embedded *sql, enum prepared_way way, struct error *err)
{
    const char *name = way == PREPARED_PARSE_FIRST ? sql->name : "";

    if (!PQsendPrepare(pg->conn, name, sql->text, 0, NULL))
        return connection_lost(pg, "parse failed", err);
    prepared_parse_sent(pg->prepared, sql, way);
    return STATUS_OK;
}

/*
 * The highest $n of a statement, for the assertion in pg_send. PostgreSQL answers another number of parameters with a
 * protocol violation, which callers take for a lost connection and try again.
 */
__attribute__((unused)) static int params_of(const struct embedded *sql)
{
    int highest = 0;

    for (const char *at = strchr(sql->text, '$'); at; at = strchr(at + 1, '$'))
        if (atoi(at + 1) > highest)
            highest = atoi(at + 1);
    return highest;
}

enum status pg_send(
    struct pg *pg, const struct embedded *sql, const struct pg_params *params, struct error *err)
{
    static const int binary[PG_MAX_PARAMS] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    enum prepared_way way;

    assert(params_of(sql) == (params ? params->count : 0) && "as many parameters as the statement has");
    if (!pg->conn)
        return connection_lost(pg, "closed", err);
    way = prepared_way(pg->prepared, sql);
    if (way != PREPARED_BY_NAME)
        TRY(send_parse(pg, sql, way, err));
    if (!PQsendQueryPrepared(pg->conn, way == PREPARED_PARSE_UNNAMED ? "" : sql->name,
            params ? params->count : 0, params ? params->values : NULL, params ? params->lengths : NULL,
            params ? binary : NULL, 1))
        return connection_lost(pg, "send failed", err);
    prepared_command_sent(pg->prepared);
    return STATUS_OK;
}

enum status pg_sync(struct pg *pg, struct error *err)
{
    if (!pg->conn || !PQpipelineSync(pg->conn))
        return connection_lost(pg, "sync failed", err);
    pg->syncs++;
    prepared_sync_sent(pg->prepared);
    return wait_until(pg, is_flushed, err);
}

/* A statement that was skipped because its own Parse failed gets the error of the Parse. */
static void put_parse_failure(struct pg *pg, PGresult **result)
{
    if (!pg->parse_failure || PQresultStatus(*result) != PGRES_PIPELINE_ABORTED)
        return;
    PQclear(*result);
    *result = pg->parse_failure;
    pg->parse_failure = NULL;
}

/*
 * Take the next result, leaving out those of Parses and the NULL that follows a statement's
 * results.
 */
static enum status take_result(struct pg *pg, PGresult **out, struct error *err)
{
    for (int nulls = 0; nulls < 2; nulls++) {
        if (!has_result(pg))
            TRY(wait_until(pg, has_result, err));
        *out = PQgetResult(pg->conn);
        if (!*out || PQresultStatus(*out) == PGRES_PIPELINE_SYNC)
            prepared_result_taken(pg->prepared);
        if (*out) {
            put_parse_failure(pg, out);
            return STATUS_OK;
        }
    }
    return connection_lost(pg, "no result", err);
}

enum status pg_next(struct pg *pg, PGresult **out, struct error *err)
{
    PGresult *result = NULL;
    enum status status;

    if (!pg->conn)
        return error_set(err, STATUS_UNAVAILABLE, "database connection lost");
    TRY(take_result(pg, &result, err));
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
    case PGRES_COMMAND_OK:
        *out = result;
        return STATUS_OK;
    case PGRES_PIPELINE_ABORTED:
        status = error_set(err, STATUS_CANCELLED, "skipped: an earlier statement failed");
        break;
    default:
        status = result_error(result, err);
        break;
    }
    PQclear(result);
    if (PQstatus(pg->conn) != CONNECTION_OK)
        return connection_lost(pg, "closed by the server", err);
    return status;
}

/*
 * Parse the statement in a flight of its own: single-row mode works only for the first command of a
 * flight.
 */
static enum status parse_alone(struct pg *pg, const struct embedded *sql, struct error *err)
{
    PG_RESULT failure = NULL;

    TRY(send_parse(pg, sql, PREPARED_PARSE_FIRST, err));
    TRY(pg_sync(pg, err));
    TRY(pg_end(pg, err));
    if (!pg->parse_failure)
        return STATUS_OK;
    failure = pg->parse_failure;
    pg->parse_failure = NULL;
    return result_error(failure, err);
}

enum status pg_send_singly(
    struct pg *pg, const struct embedded *sql, const struct pg_params *params, struct error *err)
{
    if (pg->conn && prepared_way(pg->prepared, sql) != PREPARED_BY_NAME)
        TRY(parse_alone(pg, sql, err));
    TRY(pg_send(pg, sql, params, err));
    if (!PQsetSingleRowMode(pg->conn))
        return connection_lost(pg, "rows cannot come singly", err);
    pg->comes_singly = true;
    return STATUS_OK;
}

enum status pg_row(struct pg *pg, PGresult **row, struct error *err)
{
    PGresult *result = NULL;

    PQclear(*row);
    *row = NULL;
    TRY(pg_next(pg, &result, err));
    if (PQresultStatus(result) == PGRES_SINGLE_TUPLE)
        *row = result;
    else
        PQclear(result);
    return STATUS_OK;
}

enum status pg_done(struct pg *pg, struct error *err)
{
    PG_RESULT result = NULL;

    return pg_next(pg, &result, err);
}

enum status pg_end_commit(struct pg *pg, bool *committed, struct error *err)
{
    enum status first = STATUS_OK;

    *committed = false;
    if (!pg->conn)
        return error_set(err, STATUS_UNAVAILABLE, "database connection lost");
    for (;;) {
        PG_RESULT result = NULL;
        ExecStatusType type;

        TRY(take_result(pg, &result, err));
        type = PQresultStatus(result);
        if (type == PGRES_PIPELINE_SYNC) {
            pg->syncs--;
            pg->comes_singly = false;
            return first;
        }
        if (type != PGRES_TUPLES_OK && type != PGRES_SINGLE_TUPLE && type != PGRES_COMMAND_OK &&
            type != PGRES_PIPELINE_ABORTED && first == STATUS_OK)
            first = result_error(result, err);
        if (type == PGRES_COMMAND_OK)
            *committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
        if (PQstatus(pg->conn) != CONNECTION_OK)
            return connection_lost(pg, "closed by the server", err);
    }
}

enum status pg_end(struct pg *pg, struct error *err)
{
    bool ignored;

    return pg_end_commit(pg, &ignored, err);
}

void pg_recover(struct pg *pg)
{
    struct error ignored;

    while (pg->conn && pg->syncs > 0)
        if (pg_end(pg, &ignored) != STATUS_OK && !pg->conn)
            return;
    if (!pg->conn || PQtransactionStatus(pg->conn) == PQTRANS_IDLE)
        return;
    if (pg_send(pg, &sql_rollback, NULL, &ignored) != STATUS_OK || pg_sync(pg, &ignored) != STATUS_OK ||
        pg_end(pg, &ignored) != STATUS_OK)
        pg_close(pg);
}

static enum status send_lock_wait(struct pg *pg, struct arena *arena)
{
    struct pg_params params;
    PG_RESULT result = NULL;
    struct error ignored;

    pg_params_init(&params, arena);
    pg_add_int8(&params, lock_timeout_ms(pg));
    return pg_query(pg, &sql_lock_wait_set, &params, &result, &ignored);
}

/* A new connection is made with the new time. */
void pg_set_lock_wait(struct pg *pg, int lock_wait_ms)
{
    struct arena arena;

    if (pg->lock_wait_ms == lock_wait_ms)
        return;
    pg->lock_wait_ms = lock_wait_ms;
    pg_recover(pg);
    if (!pg->conn)
        return;
    arena_init(&arena);
    if (send_lock_wait(pg, &arena) != STATUS_OK)
        pg_close(pg);
    arena_cleanup(&arena);
}

enum status pg_query(struct pg *pg, const struct embedded *sql, const struct pg_params *params,
    PGresult **out, struct error *err)
{
    enum status status;
    struct error ignored;

    TRY(pg_send(pg, sql, params, err));
    TRY(pg_sync(pg, err));
    status = pg_next(pg, out, err);
    if (pg->conn && pg_end(pg, status == STATUS_OK ? err : &ignored) != STATUS_OK && status == STATUS_OK) {
        PQclear(*out);
        *out = NULL;
        return err ? err->status : STATUS_UNAVAILABLE;
    }
    return status;
}
