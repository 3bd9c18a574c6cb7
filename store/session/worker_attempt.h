/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_attempt.h - the members of a worker, for the sources behind worker.h, and how these run a
 * unit of work.
 */
#ifndef STORE_SESSION_WORKER_ATTEMPT_H
#define STORE_SESSION_WORKER_ATTEMPT_H

#include "store/session/session.h"
#include "store/session/unit_of_work.h"

struct crew;         /* store/jobs/crew.h */
struct effects;      /* store/transactions/transaction_work.h */
struct taken_traces; /* store/indexes/taken_traces.h */

struct worker {
    struct session session;
    struct crew *crew;  /* NULL: the worker has no second thread */
    struct arena arena; /* of the following strings */
    struct str worker;
    /* ticks: when an attempt at a step began that counts as failed if it does not end; 0: none */
    int64_t step_began;
    struct commit_observer observer; /* its function may be NULL */
    struct taken_traces *traces;     /* NULL: they are not wanted */
    const struct effects *effects;   /* NULL: steps with effects are not carried out */
};

/*
 * Run one unit of work: see unit_of_work.h. Memory is from session->arena, which is released when
 * this returns. Another attempt is made after a change of the catalogue and after
 * STATUS_UNAVAILABLE.
 *
 *   STATUS_UNAVAILABLE  the database cannot be used, for whatever reason
 *   STATUS_TIMEOUT      a statement took too long, or other transactions kept a lock; the database works, so other
 *                       work may continue
 *   others              the failure of the work; also a STATUS_STALE that has a reason
 */
MUST_USE enum status worker_attempt(
    struct worker *store, unit_of_work_attempt *work, void *context, struct error *err);

#endif
