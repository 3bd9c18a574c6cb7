/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_attempt.c - see the header: which failures are temporary for a worker, and which status
 * each failure gets.
 */
#include "store/session/worker_attempt.h"

enum { MAX_ATTEMPTS = 4 };

/*
 * A lock timeout is not temporary: it is returned at once, because the caller may have other work.
 * A duplicate key is: another transaction has inserted the row meanwhile.
 */
static bool is_temporary(const struct error *err)
{
    return (err->status == STATUS_UNAVAILABLE && !pg_is_lock_timeout(err)) || pg_is_duplicate_key(err);
}

/*
 * If the failure keeps this worker from using the database, make it STATUS_UNAVAILABLE, so that the
 * work is not blamed.
 */
static void name_failure(struct error *err)
{
    if (pg_is_lock_timeout(err))
        err->status = STATUS_TIMEOUT;
    else if (err->status == STATUS_PRECONDITION && !err->reason)
        err->status = STATUS_UNAVAILABLE;
    else if (err->status == STATUS_STALE && !err->reason)
        error_set(err, STATUS_UNAVAILABLE, "other transactions kept changing the catalogue: try again");
}

enum status worker_attempt(struct worker *store, unit_of_work_attempt *work, void *context, struct error *err)
{
    const struct unit_of_work unit = {
        .attempt = work, .context = context, .max_attempts = MAX_ATTEMPTS, .is_temporary = is_temporary
    };
    struct error failure = { 0 };
    enum status status = unit_of_work_run(&store->session, &unit, &failure);

    arena_cleanup(&store->session.arena);
    if (status == STATUS_OK)
        return STATUS_OK;
    name_failure(&failure);
    if (err)
        *err = failure;
    return failure.status;
}
