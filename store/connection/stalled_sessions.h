/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stalled_sessions.h - Tavola's own sessions that stay inside a transaction because their program is stopped; finding
 * and ending them.
 *
 * A program that was stopped (SIGSTOP, a machine that hangs) while PostgreSQL sends it rows, or after it had sent part
 * of a flight, keeps its row locks and the write fence: none of the session's time limits counts then. Over TCP
 * tcp_user_timeout ends the connection; over Unix sockets only another session can.
 */
#ifndef STORE_CONNECTION_STALLED_SESSIONS_H
#define STORE_CONNECTION_STALLED_SESSIONS_H

#include <stdint.h>

#include "base/error.h"

struct pg;

/* As long as idle_in_transaction_session_timeout, which is the same limit for sessions that it reaches. */
enum { STALLED_MS = 5000 };

struct stalled_sessions {
    int count;         /* sessions that were ended */
    char example[128]; /* of the one that stood longest: program, wait event, for how long */
};

/*
 * End the sessions of this role in this database that have stood for stalled_ms at least. The connection must not be
 * inside a transaction. What the ended sessions had begun is rolled back; a commit that was under way is resolved by
 * its program (guard G6).
 */
MUST_USE enum status stalled_sessions_end(
    struct pg *pg, int64_t stalled_ms, struct stalled_sessions *out, struct error *err);

#endif
