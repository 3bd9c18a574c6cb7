/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_attempt.h - a worker's connection as the files behind worker.h use it, and how they run a unit of work on it.
 */
#ifndef STORE_SESSION_WORKER_ATTEMPT_H
#define STORE_SESSION_WORKER_ATTEMPT_H

#include "store/session/session.h"
#include "store/session/unit_of_work.h"

struct crew; /* store/jobs/crew.h */

struct worker {
    struct session session;
    struct crew *crew;  /* NULL: it works alone */
    struct arena arena; /* of the strings below */
    struct str worker;
    int64_t step_began; /* ticks: an attempt at a step that may have to be counted as failed; 0: none */
    struct commit_observer observer; /* its function may be NULL: commits are not observed */
};

/*
 * Run one unit of work, see unit_of_work.h. Memory comes from session->arena, which is released when this returns.
 * Another attempt is made after a changed catalogue and after STATUS_UNAVAILABLE.
 *
 * STATUS_UNAVAILABLE  the database cannot be used, for whatever reason
 * STATUS_TIMEOUT      a statement took too long, or other transactions kept a lock: the database works, so other
 *                     work may go on
 * others              as the work failed; also a STATUS_STALE that has a reason
 */
MUST_USE enum status worker_attempt(
    struct worker *store, unit_of_work_attempt *work, void *context, struct error *err);

#endif
