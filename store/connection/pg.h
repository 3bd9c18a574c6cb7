/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg.h - one connection to PostgreSQL: prepared statements by name, binary parameters, pipelined flights.
 *
 * A flight is: pg_send*, pg_sync, then pg_next for each statement whose result is read, and pg_end for the rest up to
 * the sync. All waits are bounded by the connection's time limit. After it, or when the connection breaks, the
 * connection is closed, and the caller gets STATUS_UNAVAILABLE. The caller knows whether a COMMIT was under way.
 *
 * Isolation is READ COMMITTED (guard G0). Results are read through the column functions below, so that
 * libpq's types stay in store/.
 */
#ifndef STORE_CONNECTION_PG_H
#define STORE_CONNECTION_PG_H

#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/embedded.h"
#include "base/error.h"
#include "domain/intents/intent_id.h"

struct pg {
    const char *conninfo; /* borrowed */
    const char *role;     /* for pg_stat_activity: "tavolad write", "tavola-worker" */
    PGconn *conn;         /* NULL: not connected */
    int64_t connects;     /* connections made so far: tells them apart, since an address may be used again */
    int64_t
        connected_us; /* when the last one was made: anything read on it is newer than the last crash recovery */
    int64_t next_try_us; /* no attempt to connect before this time; until then the last failure holds: */
    enum status failure;
    char failure_text[256];
    int64_t limit_us;          /* of each wait */
    int syncs;                 /* sent, and not yet answered */
    struct prepared *prepared; /* NULL: not connected */
    PGresult *parse_failure;   /* of a Parse whose statement's result comes next; NULL: none */

    /* See pg_bound. */
    int64_t give_up_us;
    const atomic_bool *given_up;
    bool cancel_sent;
};

/*
 * Whether connections to a database that may lose acknowledged writes are made (TAVOLA_ALLOW_DATA_LOSS). For the whole
 * process; called at its start, before the first connection. Without a call they are refused.
 */
void pg_allow_data_loss(bool allowed);

void pg_init(struct pg *pg, const char *conninfo, const char *role);
void pg_close(struct pg *pg);

/*
 * Connect if needed, check the schema version and the database's settings, set the session's limits.
 * Less than a quarter of a second after a failure the same failure is returned without another attempt.
 *
 * STATUS_UNAVAILABLE  not reachable
 * STATUS_PRECONDITION the schema has another version, and the message names `tavola migrate`; or the database's
 * settings
 *                     void a promise (domain/database/database_settings.h)
 */
MUST_USE enum status pg_ensure(struct pg *pg, struct error *err);

/*
 * For reads on behalf of one caller: once the time has passed or *given_up is true, the statement that runs is
 * cancelled and fails with STATUS_TIMEOUT. Holds until pg_unbound.
 */
void pg_bound(struct pg *pg, int64_t give_up_us, const atomic_bool *given_up);
void pg_unbound(struct pg *pg);

static inline bool pg_is_open(const struct pg *pg)
{
    return pg->conn != NULL;
}

/* Between two flights: whether a transaction is open. */
static inline bool pg_in_transaction(const struct pg *pg)
{
    return pg->conn != NULL && PQtransactionStatus(pg->conn) == PQTRANS_INTRANS;
}

/* ---- parameters ---- */

enum { PG_MAX_PARAMS = 16 };

struct pg_params {
    struct arena *arena;
    int count;
    const char *values[PG_MAX_PARAMS];
    int lengths[PG_MAX_PARAMS];
};

void pg_params_init(struct pg_params *params, struct arena *arena);
void pg_add_null(struct pg_params *params);
void pg_add_bool(struct pg_params *params, bool value);
void pg_add_int2(struct pg_params *params, int16_t value);
void pg_add_int4(struct pg_params *params, int32_t value);
void pg_add_int8(struct pg_params *params, int64_t value);
void pg_add_bytes(struct pg_params *params, struct str bytes); /* text, bytea; borrowed */
void pg_add_intent_id(struct pg_params *params, struct intent_id id);

enum pg_oid {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_TEXT = 25,
    PG_TID = 27,
    PG_UUID = 2950,
};

/* An array parameter under construction. */
struct pg_array {
    struct buf buf;
    int32_t count;
};

void pg_array_init(struct pg_array *array, struct arena *arena, enum pg_oid element);
void pg_array_bool(struct pg_array *array, bool value);
void pg_array_int2(struct pg_array *array, int16_t value);
void pg_array_int8(struct pg_array *array, int64_t value);
void pg_array_bytes(struct pg_array *array, struct str bytes);
void pg_array_intent_id(struct pg_array *array, struct intent_id id);
void pg_add_array(struct pg_params *params, struct pg_array *array);

/* ---- flights ---- */

/*
 * Queue one statement; params may be NULL. It is parsed before, in the same flight, if the connection does not have it:
 * what the Parse fails with is the failure of the statement. Fails only with the connection.
 */
MUST_USE enum status pg_send(
    struct pg *pg, const struct embedded *sql, const struct pg_params *params, struct error *err);
MUST_USE enum status pg_sync(struct pg *pg, struct error *err);

/*
 * pg_send for the first statement of a flight, whose rows come one by one: pg_row takes them, and memory holds one at a
 * time. No other flight is under way. Waits for a round trip if the connection does not have the statement.
 */
MUST_USE enum status pg_send_singly(
    struct pg *pg, const struct embedded *sql, const struct pg_params *params, struct error *err);

/*
 * Send what is still in the buffer and wait for the next result, at most wait_us. true: pg_next will not wait, be it
 * because the connection is gone.
 */
bool pg_wait(struct pg *pg, int64_t wait_us);

/*
 * The result of the next statement. On STATUS_OK *out is the caller's: PQclear, or a PG_RESULT guard.
 * An error of the statement gives its status and SQLSTATE; a statement skipped because an earlier one of
 * the segment failed gives STATUS_CANCELLED.
 */
MUST_USE enum status pg_next(struct pg *pg, PGresult **out, struct error *err);

/*
 * The next row of a statement that pg_send_singly has sent. *row is cleared first; NULL afterwards: there
 * was none left, and pg_next goes on with the next statement. Fails as pg_next does.
 */
MUST_USE enum status pg_row(struct pg *pg, PGresult **row, struct error *err);

/* pg_next for a statement whose rows are not read. After the last result that is read, pg_end takes all others. */
MUST_USE enum status pg_done(struct pg *pg, struct error *err);

/* Take all results that are left, up to the next sync, without their rows. Fails with the first error met. */
MUST_USE enum status pg_end(struct pg *pg, struct error *err);

/*
 * After a failure anywhere in a flight: take what is left of it and roll back an open transaction. Closes
 * the connection if that fails.
 */
void pg_recover(struct pg *pg);

/* One statement alone: send, sync, result. */
MUST_USE enum status pg_query(struct pg *pg, const struct embedded *sql, const struct pg_params *params,
    PGresult **out, struct error *err);

static inline void pg_result_clear(PGresult **result)
{
    PQclear(*result);
}
#define PG_RESULT __attribute__((cleanup(pg_result_clear))) PGresult *

/*
 * ---- columns (binary) ----
 *
 * A statement's columns are named by an enum beside the code that reads them, in the order of its select list.
 */

enum { PG_ONLY_COLUMN }; /* of a statement with one column */

bool pg_bool(const PGresult *result, int row, int column);
int16_t pg_int2(const PGresult *result, int row, int column);
int32_t pg_int4(const PGresult *result, int row, int column);
int64_t pg_int8(const PGresult *result, int row, int column);
struct str pg_bytes(const PGresult *result, int row, int column);           /* borrowed from the result */
struct intent_id pg_intent_id(const PGresult *result, int row, int column); /* of a uuid */

/* true for errors after which running the same transaction again is right: nothing happened. */
bool pg_is_transient(const struct error *err);

/* A lock that others kept for longer than the session waits; a key that is there already. */
bool pg_is_lock_timeout(const struct error *err);
bool pg_is_duplicate_key(const struct error *err);

#endif
