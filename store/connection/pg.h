/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg.h - one connection to PostgreSQL: prepared statements by name, binary parameters, pipelined
 * flights.
 *
 * A flight is: pg_send*, pg_sync, then pg_next for each statement whose result is read, and pg_end
 * for the rest up to the sync. All waits are bounded by the connection's time limit. If a wait
 * exceeds the limit, or the connection breaks, the connection is closed and the call returns
 * STATUS_UNAVAILABLE. The caller knows whether a COMMIT was under way.
 *
 * Isolation is READ COMMITTED (guard G0). Results are read through the column functions below, so
 * that libpq's types stay in store/.
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
    /*
     * number of connections made so far; it identifies the connection, since the address of a
     * PGconn may be used again
     */
    int64_t connects;
    /* when the connection was made: anything read on it is newer than the last crash recovery */
    int64_t connected_us;
    /*
     * no attempt to connect is made before this time; until then `failure`, the result of the last
     * attempt, is returned
     */
    int64_t next_try_us;
    enum status failure;
    char failure_text[256];
    int64_t limit_us;          /* of each wait */
    int lock_wait_ms;          /* how long a statement waits for a lock; 0: a second */
    int syncs;                 /* sent and not yet answered */
    bool comes_singly;         /* the open flight was sent with pg_send_singly */
    struct prepared *prepared; /* NULL: not connected */
    /* the error of a Parse whose statement's result comes next; NULL: none */
    PGresult *parse_failure;

    /* See pg_bound. */
    int64_t give_up_us;
    const atomic_bool *given_up;
    bool cancel_sent;
    struct cancel_request *cancel; /* NULL: none that may still be under way */
};

/*
 * Whether connections are made to a database that may lose acknowledged writes
 * (TAVOLA_ALLOW_DATA_LOSS). Applies to the whole process; call it at the start, before the first
 * connection. The default is no.
 */
void pg_allow_data_loss(bool allowed);

void pg_init(struct pg *pg, const char *conninfo, const char *role);
void pg_close(struct pg *pg);

/*
 * Connect if there is no connection: check the schema version and the database's settings, and set
 * the session's limits. Within a quarter of a second after a failure, the same failure is returned
 * without another attempt.
 *
 *   STATUS_UNAVAILABLE   the database cannot be reached
 *   STATUS_PRECONDITION  the schema has another version, and the message names `tavola migrate`; or a setting of
 *                        the database breaks a promise (domain/database/database_settings.h)
 */
MUST_USE enum status pg_ensure(struct pg *pg, struct error *err);

/*
 * For reads on behalf of one caller: once give_up_us has passed or *given_up is true, the running
 * statement is cancelled and fails with STATUS_TIMEOUT. Holds until pg_unbound.
 */
void pg_bound(struct pg *pg, int64_t give_up_us, const atomic_bool *given_up);
void pg_unbound(struct pg *pg);

/*
 * Change how long the statements of the session wait for a lock: lock_wait_ms, as in the struct. It asks the database
 * if the time is another one than before. Call it outside of transactions, and between two flights only.
 */
void pg_set_lock_wait(struct pg *pg, int lock_wait_ms);

static inline bool pg_is_open(const struct pg *pg)
{
    return pg->conn != NULL;
}

/* Whether a transaction is open. Call it between two flights only. */
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
void pg_add_bytes(struct pg_params *params, struct str bytes); /* text or bytea; borrowed */
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
void pg_array_null(struct pg_array *array);
void pg_array_intent_id(struct pg_array *array, struct intent_id id);
void pg_add_array(struct pg_params *params, struct pg_array *array);

/* Add names of properties as an array, or null unless `some`. */
void pg_add_names(struct pg_params *params, const struct str *names, size_t count, bool some);

/* ---- flights ---- */

/*
 * Queue one statement; params may be NULL. If the connection has not prepared the statement, a
 * Parse precedes it in the same flight, and an error of the Parse becomes the error of the
 * statement. pg_send itself fails only if the connection does.
 */
MUST_USE enum status pg_send(
    struct pg *pg, const struct embedded *sql, const struct pg_params *params, struct error *err);
MUST_USE enum status pg_sync(struct pg *pg, struct error *err);

/*
 * As pg_send, for the first statement of a flight whose rows are to be read one by one with pg_row,
 * so that memory holds one row at a time. No other flight may be under way. Waits for a round trip
 * if the connection has not prepared the statement.
 */
MUST_USE enum status pg_send_singly(
    struct pg *pg, const struct embedded *sql, const struct pg_params *params, struct error *err);

/*
 * Send what is still buffered and wait up to wait_us for the next result. true: pg_next will not
 * block, because the result has arrived or the connection is gone. false: the time is over, or the
 * file descriptor `other` has become readable first; -1: there is none.
 */
bool pg_wait(struct pg *pg, int64_t wait_us, int other);

/*
 * Take the result of the next statement. On STATUS_OK the caller owns *out: PQclear, or a PG_RESULT
 * guard. If the statement has failed, the status and SQLSTATE are those of its error. If it was
 * skipped because an earlier statement of the segment failed, the status is STATUS_CANCELLED.
 */
MUST_USE enum status pg_next(struct pg *pg, PGresult **out, struct error *err);

/*
 * Take the next row of a statement that pg_send_singly has sent. *row is cleared first; it is NULL
 * afterwards if no row was left, and pg_next continues with the next statement. Fails as pg_next
 * does.
 */
MUST_USE enum status pg_row(struct pg *pg, PGresult **row, struct error *err);

/*
 * As pg_next, for a statement whose rows are not read. The results behind the last one that is read
 * are left to pg_end.
 */
MUST_USE enum status pg_done(struct pg *pg, struct error *err);

/*
 * Take all results that are left, up to the next sync, and drop their rows. Returns the first
 * error.
 */
MUST_USE enum status pg_end(struct pg *pg, struct error *err);

/* As pg_end, for a flight whose last statement is COMMIT. *committed: the database has carried it out. */
MUST_USE enum status pg_end_commit(struct pg *pg, bool *committed, struct error *err);

/*
 * After a failure anywhere in a flight: take the results that are left and roll back an open
 * transaction. If that fails, close the connection.
 */
void pg_recover(struct pg *pg);

/* Run one statement alone: send, sync, result. */
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
 * An enum beside the code that reads a statement's result names its columns, in the order of the
 * select list.
 */

enum { PG_ONLY_COLUMN }; /* for a statement with one column */

bool pg_bool(const PGresult *result, int row, int column);
int16_t pg_int2(const PGresult *result, int row, int column);
int32_t pg_int4(const PGresult *result, int row, int column);
int64_t pg_int8(const PGresult *result, int row, int column);
/* borrowed from the result */
struct str pg_bytes(const PGresult *result, int row, int column);
struct intent_id pg_intent_id(const PGresult *result, int row, int column); /* of a uuid */

/*
 * Whether the same transaction may be run again after this error, because nothing of it has taken
 * effect.
 */
bool pg_is_transient(const struct error *err);

/*
 * pg_is_lock_timeout: another session has held a lock for longer than this session waits.
 * pg_is_deadlock: this session and others waited for each other, and this one has been rolled back.
 * pg_is_duplicate_key: a row with this key exists already.
 * pg_is_division_by_zero: a statement has refused what it found, for which SQL has no other way.
 */
bool pg_is_lock_timeout(const struct error *err);
bool pg_is_deadlock(const struct error *err);
bool pg_is_duplicate_key(const struct error *err);
bool pg_is_division_by_zero(const struct error *err);

#endif
