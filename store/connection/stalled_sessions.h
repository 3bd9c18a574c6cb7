/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stalled_sessions.h - finds and ends Tavola's own sessions that stay inside a transaction because
 * their program is stopped.
 *
 * If a program is stopped (SIGSTOP, a machine that hangs) while PostgreSQL sends it rows, or after
 * it has sent part of a flight, its session keeps its row locks and the write fence, because none
 * of the session's time limits counts then. Over TCP tcp_user_timeout ends the connection; over
 * Unix sockets only another session can.
 */
#ifndef STORE_CONNECTION_STALLED_SESSIONS_H
#define STORE_CONNECTION_STALLED_SESSIONS_H

#include <stdint.h>

#include "base/error.h"

struct pg;

/* Equal to idle_in_transaction_session_timeout, which limits the sessions that it applies to. */
enum { STALLED_MS = 5000 };

struct stalled_sessions {
    int count;         /* number of sessions that were ended */
    char example[128]; /* the session that stood still for longest: program, wait event, duration */
};

/*
 * End the sessions of this role in this database that have stood still for at least stalled_ms.
 * Call it outside of a transaction. The transactions of the ended sessions are rolled back; if a
 * COMMIT was under way, its program resolves it (guard G6).
 */
MUST_USE enum status stalled_sessions_end(
    struct pg *pg, int64_t stalled_ms, struct stalled_sessions *out, struct error *err);

#endif
