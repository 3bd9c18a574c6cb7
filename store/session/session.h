/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - what one thread of the store works with: a connection, the session's catalogue, and
 * the marker of its writing transactions.
 */
#ifndef STORE_SESSION_SESSION_H
#define STORE_SESSION_SESSION_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "domain/catalogue/quotas.h"
#include "domain/intents/consistency.h"
#include "domain/intents/intent.h"
#include "domain/operations/audit_operations.h"
#include "store/connection/pg.h"

/* Called after COMMIT with the intents of the transaction. */
struct commit_observer {
    void (*intents_committed)(void *context, const struct intent *intents, size_t count);
    void *context;
};

struct chunk_stores; /* base/chunk_store.h */
struct locked_keys;
struct remembered;
struct shared_catalogue;

/*
 * How long the session of a lane of batches, with locked_keys, waits for a lock: longer than transactions that write
 * usually take, and than a change of the catalogue waits for the fence before it lets writers in again
 * (fence_timeout.sql).
 */
enum { SESSION_LOCK_WAIT_MS = 250 };

struct session {
    struct pg pg;
    /* shared by a program's sessions; NULL: this session does not notice restores */
    struct remembered *remembered;
    /* shared by a program's sessions; NULL: the session reads the catalogue by itself */
    struct shared_catalogue *shared_catalogue;
    /*
     * shared by a program's sessions. A write that meets a lock for long gets no outcome, but DETOUR_LOCKED
     * (entities/locked_writes.h); NULL: it waits, and is attempted again
     */
    struct locked_keys *locked_keys;
    struct catalogue *catalogue; /* a reference; NULL until the catalogue is read */
    struct quotas quotas;
    const struct chunk_stores *chunks; /* borrowed; NULL: all chunks are in the database */
    struct arena arena;                /* of the current piece of work */
    /* of the current operation, inserted by the next commit; NULL: none */
    struct audit_record *audit;
    int64_t now_ticks; /* this server's clock, read once per batch */
    /* random, new for each connection: the first part of its markers' keys */
    int64_t connection_id;
    int64_t marker_number; /* of the last marker that was sent: the second part of its key */
    int64_t markers_from;  /* those with lower numbers are deleted */
    uint32_t intent_counter;
    uint32_t intent_origin;
    /* the connection (pg.connects) to which connection_id and catalogue belong */
    int64_t known;
    int64_t resolve_limit_us; /* how long the session tries to resolve a lost COMMIT */
    int64_t fence_limit_us;   /* how long a change of the catalogue waits for open writers */
    /*
     * a session that has stood still for this long is ended while the fence is being closed:
     * stalled_sessions.h
     */
    int64_t stalled_ms;
    /* until then blind writes read what is stored first; 0: they need not */
    int64_t reads_until_us;
    /* until then writes that read offer a row for each key; 0: they expect that all rows exist */
    int64_t creates_until_us;
    int64_t snapshot_us; /* when session_begin_snapshot was called last */
    int64_t asked_us;    /* when the catalogue's version was asked for last */
    /* the database had this catalogue at this time or later (clock_monotonic_us) */
    int64_t confirmed_us;
    /*
     * by the source table's id, which several tables may share: whether something of it was open
     * when the session looked last (short_lookup.c)
     */
    bool expects_hits[256];
};

void session_init(struct session *session, const char *conninfo, const char *role);
void session_cleanup(struct session *session);

/*
 * Make sure that the session is connected and has a catalogue. STATUS_UNAVAILABLE,
 * STATUS_PRECONDITION: see pg_ensure.
 */
MUST_USE enum status session_ensure(struct session *session, struct error *err);

/* Whether the session is connected and has a catalogue. */
static inline bool session_is_ready(const struct session *session)
{
    return pg_is_open(&session->pg) && session->catalogue && session->known == session->pg.connects;
}

/*
 * Connect now, so that the first operation need not wait for it. If that fails, the first use
 * connects.
 */
void session_connect_early(struct session *session);

/* Read the changes of the catalogue on this connection. */
MUST_USE enum status session_reload(struct session *session, struct error *err);

/*
 * Get a newer catalogue after the database's version was found to be another one than the session's
 * (session_asks_version). One that another session has read since then will do.
 */
MUST_USE enum status session_catch_up(struct session *session, struct error *err);

/* Compare the versions, and catch up if they differ. *changed may be NULL. */
MUST_USE enum status session_refresh(struct session *session, bool *changed, struct error *err);

/*
 * One snapshot for several statements that read; it locks nothing (guard G0). The catalogue's
 * version is read in it like everything else: if it is the session's, the tables of the session's
 * catalogue existed when the snapshot was taken.
 *
 * begin   only outside of a transaction
 * end     does nothing if no snapshot is open; after a failure pg_recover ends it
 */
MUST_USE enum status session_begin_snapshot(struct session *session, struct error *err);
MUST_USE enum status session_send_begin_snapshot(struct session *session,
    /* the first statement of a flight; pg_done takes its result */
    struct error *err);
MUST_USE enum status session_send_end_snapshot(
    /* the last statement of a flight; pg_end takes its result */
    struct session *session, struct error *err);
bool session_in_snapshot(const struct session *session);
MUST_USE enum status session_end_snapshot(struct session *session, struct error *err);

/*
 * Guard G23: a refusal, or a "not found", that was decided from the catalogue alone must not be
 * returned before this call has returned STATUS_OK. It sends one statement, or none if the
 * catalogue was compared with the database's after since_us (clock_monotonic_us; 0: always ask), so
 * operations that wait together are confirmed together.
 *
 * STATUS_STALE: the catalogue has changed; reload, decide again.
 */
MUST_USE enum status session_confirm(struct session *session, int64_t since_us, struct error *err);

/*
 * For statements that return the catalogue's version: call the first before they are sent, and the
 * second if the version was the session's. In a snapshot the version is as old as the snapshot.
 */
void session_asks_version(struct session *session);
void session_note_confirmed(struct session *session);

/*
 * Send the beginning of every transaction that writes: BEGIN, fence, catalogue (guard G1). The
 * following statements may be in the same flight.
 */
MUST_USE enum status session_send_begin(struct session *session, struct error *err);

/*
 * Take the results of session_send_begin. *now_us: the database's clock.
 *
 * STATUS_STALE: the catalogue has changed; roll back, reload, plan again.
 */
MUST_USE enum status session_take_begin(struct session *session, int64_t *now_us, struct error *err);

/* Begin a transaction that writes, in a flight of its own. The statuses are those of session_take_begin. */
MUST_USE enum status session_begin(struct session *session, int64_t *now_us, struct error *err);

/*
 * Send the end of every transaction that writes: marker, COMMIT, sync. It fails only before
 * COMMIT was sent; after that session_take_commit finds out whether the transaction has committed.
 */
MUST_USE enum status session_send_commit(struct session *session, struct error *err);

/*
 * Begin a transaction that writes with this statement, and take the statement's rows. The caller
 * continues with session_send_commit or pg_recover. A change of the catalogue is ignored, since
 * such statements do not depend on it.
 */
MUST_USE enum status session_begin_statement(struct session *session, const struct embedded *sql,
    const struct pg_params *params, PGresult **rows, struct error *err);

/*
 * As session_send_commit, for a transaction whose statements write only if the catalogue has the
 * session's version, and that does not check the version first. If the version is another one, no
 * marker is inserted either, so a lost answer is resolved as "not committed" (guard G33). In that
 * case session_take_commit returns STATUS_OK although nothing was written; the caller must look at
 * the results of its statements.
 */
MUST_USE enum status session_send_guarded_commit(struct session *session, struct error *err);

/*
 * Take the results since the last sync, up to that of COMMIT. The rows of results that the caller has
 * not taken are dropped. If the answer is lost, it is resolved through the marker on a new connection
 * (guard G6).
 *
 *   STATUS_OK           committed
 *   STATUS_UNAVAILABLE, STATUS_TIMEOUT, STATUS_INTERNAL  rolled back: nothing has changed
 *   STATUS_MAYBE_DONE   it could not be found out
 */
MUST_USE enum status session_take_commit(struct session *session, struct error *err);

/*
 * session_take_commit in two parts, for a caller that must not wait, or has taken results of the
 * flight itself. The first only takes what has arrived; its failure may be that the answer was
 * lost. Then the second rolls back, or resolves the COMMIT, which can take seconds. Statuses of the
 * second: see session_take_commit.
 */
MUST_USE enum status session_take_answer(struct session *session, struct error *err);
MUST_USE enum status session_settle_commit(
    struct session *session, const struct error *failure, struct error *err);

/*
 * Ask the database a question that a lost answer has left open, on as many new connections as
 * necessary, for at most resolve_limit_us. The session keeps its marker and catalogue. If no
 * attempt succeeds, the last failure is returned.
 */
typedef enum status session_question(struct session *session, void *context, struct error *err);
MUST_USE enum status session_ask(
    struct session *session, session_question *question, void *context, struct error *err);

/*
 * Ids of new intents: the database's clock, this session's random number, a counter (guard G13). A
 * block is reserved before it is known which of its ids will be needed; the caller sets its
 * buckets.
 */
struct intent_block session_reserve_intents(struct session *session, int64_t now_us, size_t count);
struct intent_id session_intent_id(struct session *session, int64_t now_us);

#endif
