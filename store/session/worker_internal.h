/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_internal.h - what the files behind worker.h share.
 */
#ifndef STORE_SESSION_WORKER_INTERNAL_H
#define STORE_SESSION_WORKER_INTERNAL_H

#include "store/session/session.h"
#include "store/session/worker.h"

struct worker {
    struct session session;
    struct arena arena; /* of the strings below */
    struct str worker;
    int64_t step_began; /* ticks: an attempt at a step that may have to be counted as failed; 0: none */
    struct commit_observer observer; /* its function is NULL: nobody wants to know */
};

/*
 * A piece of work: usually one transaction. It is run again from its beginning after a failure that left
 * nothing behind, so it must not add to anything outside before its commit has been answered. Memory comes
 * from session->arena, which is released when worker_attempt returns.
 */
typedef enum status worker_work(struct session *session, void *context, struct error *err);

/*
 * Run one piece of work: connect, run, and after a failure roll back. STATUS_STALE without a reason (the
 * catalogue has changed, see session_take_begin): read it and run again. STATUS_UNAVAILABLE: run again, a few
 * times. Everything else, also a STATUS_STALE that has a reason of its own, is the caller's. STATUS_TIMEOUT is a
 * statement that took too long or a lock that others kept: the database is well, and other work may go on.
 */
MUST_USE enum status worker_attempt(
    struct worker *store, worker_work *work, void *context, struct error *err);

#endif
