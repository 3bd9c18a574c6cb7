/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - what one thread of the store works with: a connection, the catalogue as it knows it, and
 * the marker of its write transactions.
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
#include "store/session/remembered.h"

/* Called after COMMIT with the intents of the transaction. */
struct commit_observer {
    void (*intents_committed)(void *context, const struct intent *intents, size_t count);
    void *context;
};

struct shared_catalogue;

struct session {
    struct pg pg;
    struct remembered *remembered; /* shared by a program's sessions; NULL: restores are not noticed here */
    struct shared_catalogue *shared_catalogue; /* the same; NULL: the session reads for itself */
    struct catalogue *catalogue;               /* a reference; NULL until it has been read */
    struct quotas quotas;
    struct arena arena;         /* of the piece of work under way */
    struct audit_record *audit; /* of the operation under way: the next commit carries it; NULL: none */
    int64_t now_ticks;          /* this server's clock, taken once per batch */
    int64_t connection_id;      /* random, new for every connection: the first part of its markers' keys */
    int64_t marker_number;      /* of the last marker sent: the second part */
    uint32_t intent_counter;
    uint32_t intent_origin;
    int64_t known;            /* the connection (pg.connects) that connection_id and catalogue belong to */
    int64_t resolve_limit_us; /* how long a lost COMMIT may be asked for */
    int64_t fence_limit_us;   /* how long a change of the catalogue waits for open writers */
    int64_t stalled_ms;       /* what stands still for so long in that wait is ended: stalled_sessions.h */
    int64_t
        reads_until_us; /* until then writes read what is stored, where that may be left out; 0: they need not */
    int64_t snapshot_us;  /* when session_begin_snapshot was called last */
    int64_t asked_us;     /* when the catalogue's version was asked for last */
    int64_t confirmed_us; /* the database had this catalogue at this time or later (clock_monotonic_us) */
};

void session_init(struct session *session, const char *conninfo, const char *role);
void session_cleanup(struct session *session);

/* Connected, with a catalogue. STATUS_UNAVAILABLE, STATUS_PRECONDITION: see pg_ensure. */
MUST_USE enum status session_ensure(struct session *session, struct error *err);

/* Whether session_ensure would have nothing to do. */
static inline bool session_is_ready(const struct session *session)
{
    return pg_is_open(&session->pg) && session->catalogue && session->known == session->pg.connects;
}

/* Connect now, so that the first caller need not wait for it. Without a database the first use tries again. */
void session_connect_early(struct session *session);

/* Read what has changed in the catalogue, on this connection. */
MUST_USE enum status session_reload(struct session *session, struct error *err);

/*
 * The same after the catalogue was found to be another one than the session's (session_asks_version): what another
 * session has read since then is as good.
 */
MUST_USE enum status session_catch_up(struct session *session, struct error *err);

/* Catch up only if its version has changed. *changed may be NULL. */
MUST_USE enum status session_refresh(struct session *session, bool *changed, struct error *err);

/*
 * One snapshot for several statements that read; nothing is locked in it (guard G0). The catalogue's version is read
 * in it like everything else: where it is the session's, the tables of the session lived when the snapshot was taken.
 *
 * begin   outside of a transaction only
 * end     does nothing where none is open. After a failure pg_recover ends it.
 */
MUST_USE enum status session_begin_snapshot(struct session *session, struct error *err);
MUST_USE enum status session_send_begin_snapshot(struct session *session,
    struct error *err); /* the first statement of a flight; pg_done takes its result */
MUST_USE enum status session_send_end_snapshot(
    struct session *session, struct error *err); /* the last one; pg_end takes it */
bool session_in_snapshot(const struct session *session);
MUST_USE enum status session_end_snapshot(struct session *session, struct error *err);

/*
 * Guard G23: a refusal, or an absence, that was decided from the catalogue alone must not leave before this has
 * returned STATUS_OK. One statement, and none if the catalogue was compared with the database's after since_us
 * (clock_monotonic_us; 0: always ask): what waits together is confirmed together.
 *
 * STATUS_STALE: the catalogue has changed; reload, decide again.
 */
MUST_USE enum status session_confirm(struct session *session, int64_t since_us, struct error *err);

/*
 * Around statements that bring the catalogue's version: before they are sent, and when it was the session's. Within a
 * snapshot the version is as old as the snapshot.
 */
void session_asks_version(struct session *session);
void session_note_confirmed(struct session *session);

/*
 * The beginning of every transaction that writes: BEGIN, fence, catalogue (guard G1), to be sent in one
 * flight with what follows.
 */
MUST_USE enum status session_send_begin(struct session *session, struct error *err);

/*
 * Take the results of session_send_begin. *now_us: the database's clock.
 * STATUS_STALE: the catalogue has changed; roll back, reload, plan again.
 */
MUST_USE enum status session_take_begin(struct session *session, int64_t *now_us, struct error *err);

/*
 * The end of every transaction that writes: marker, sync, COMMIT, sync. Fails only before COMMIT was handed
 * over: from then on session_take_commit finds out what became of it.
 */
MUST_USE enum status session_send_commit(struct session *session, struct error *err);

/*
 * One statement as a transaction: up to its rows. The caller goes on with session_send_commit, or with pg_recover. That
 * the catalogue has changed is no harm to statements that use none of it.
 */
MUST_USE enum status session_begin_statement(struct session *session, const struct embedded *sql,
    const struct pg_params *params, PGresult **rows, struct error *err);

/*
 * The same for a transaction whose statements write only while the catalogue has the session's version, and that does
 * not ask for it first: without that version there is no marker either, so a lost answer is resolved as "not
 * committed" (guard G33). session_take_commit is told STATUS_OK then, although nothing was written: look at the
 * statements' results.
 */
MUST_USE enum status session_send_guarded_commit(struct session *session, struct error *err);

/*
 * Take the results of what was sent since the last sync, up to the marker's, and of COMMIT. The rows of results that
 * the caller has not taken before are dropped. A lost answer is resolved through the marker on a new connection (G6).
 *
 * STATUS_OK           committed
 * STATUS_UNAVAILABLE, STATUS_TIMEOUT, STATUS_INTERNAL  rolled back: nothing happened
 * STATUS_MAYBE_DONE   it could not be found out
 */
MUST_USE enum status session_take_commit(struct session *session, struct error *err);

/*
 * Ask the database a question that a lost answer has left open, on as many new connections as that takes, for
 * resolve_limit_us at most. The session keeps its marker and catalogue. Fails with the last failure.
 */
typedef enum status session_question(struct session *session, void *context, struct error *err);
MUST_USE enum status session_ask(
    struct session *session, session_question *question, void *context, struct error *err);

/*
 * Ids of new intents: the database's clock, this session's random number, a counter (guard G13). Reserving names
 * them before it is known which of them will be needed; it leaves the buckets to the caller.
 */
struct intent_block session_reserve_intents(struct session *session, int64_t now_us, size_t count);
struct intent_id session_intent_id(struct session *session, int64_t now_us);

#endif
