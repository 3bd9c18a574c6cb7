/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_of_work.h - runs work on a session until it is decided: connect, attempt, recover, attempt
 * again.
 *
 * An attempt is usually one transaction, from BEGIN to the resolved COMMIT (session_take_commit).
 * The caller defines the attempt, and the failures after which another attempt may be made.
 */
#ifndef STORE_SESSION_UNIT_OF_WORK_H
#define STORE_SESSION_UNIT_OF_WORK_H

#include "store/session/session.h"

/*
 * One attempt, on a session that is connected and has a catalogue. It may run several times, so it
 * must not change anything outside of the transaction before its COMMIT has been answered. If it
 * fails, it may leave a flight or a transaction open.
 *
 * STATUS_STALE without a reason: the session's catalogue is not the database's.
 */
typedef enum status unit_of_work_attempt(struct session *session, void *context, struct error *err);

struct unit_of_work {
    unit_of_work_attempt *attempt;
    void *context;
    int max_attempts; /* without those that found the catalogue changed, which have a bound of their own */
    /* nothing has changed, and another attempt may succeed */
    bool (*is_temporary)(const struct error *err);
    /* no caller waits for the outcome any more; may be NULL: then it is false */
    bool (*is_given_up)(const void *context);
};

/*
 * Attempt until the work is done, a failure is final, or max_attempts have failed. After each
 * failure the connection is recovered, so no transaction is open. After STATUS_STALE the catalogue
 * is read again before the next attempt. A failure with a reason is a decision, and
 * STATUS_MAYBE_DONE may have taken effect: neither is attempted again.
 *
 * err  the error of the last attempt; may be NULL
 *
 *   STATUS_OK            the work is done
 *   STATUS_UNAVAILABLE   also: the session could not connect, and the attempt was not begun
 *   STATUS_PRECONDITION  without a reason: see pg_ensure; the attempt was not begun
 *   others               the failure of the last attempt
 */
MUST_USE enum status unit_of_work_run(
    struct session *session, const struct unit_of_work *unit, struct error *err);

#endif
