/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_of_work.h - run work on a session until it is decided: connect, attempt, recover, and attempt again.
 *
 * An attempt is usually one transaction, from BEGIN to the resolved COMMIT (session_take_commit). The caller says what
 * an attempt does, and after which failures another one is right.
 */
#ifndef STORE_SESSION_UNIT_OF_WORK_H
#define STORE_SESSION_UNIT_OF_WORK_H

#include "store/session/session.h"

/*
 * One attempt, on a session that is connected and has a catalogue. It may run several times, so it must not add to
 * anything outside before its COMMIT has been answered. It may leave a flight or a transaction open if it fails.
 * STATUS_STALE without a reason: the session's catalogue is not the database's.
 */
typedef enum status unit_of_work_attempt(struct session *session, void *context, struct error *err);

struct unit_of_work {
    unit_of_work_attempt *attempt;
    void *context;
    int max_attempts;
    bool (*is_temporary)(const struct error *err); /* nothing was done, and another attempt may succeed */
    bool (*is_given_up)(const void *context);      /* no caller waits for the outcome any more; NULL: never */
};

/*
 * Attempt until the work is done, a failure is final, or max_attempts have failed. After each failure the connection
 * is recovered, so no transaction is open. After STATUS_STALE the catalogue is read again before the next attempt. A
 * failure with a reason is a decision, and STATUS_MAYBE_DONE may have taken effect: neither is attempted again.
 *
 * err  of the last attempt; may be NULL
 *
 * STATUS_OK            the work is done
 * STATUS_UNAVAILABLE   also: the session cannot be connected, and the attempt was not begun
 * STATUS_PRECONDITION  without a reason: see pg_ensure; the attempt was not begun
 * others               as the attempt failed
 */
MUST_USE enum status unit_of_work_run(
    struct session *session, const struct unit_of_work *unit, struct error *err);

#endif
