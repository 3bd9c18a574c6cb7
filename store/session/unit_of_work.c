/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_of_work.c - see the header.
 */
#include "store/session/unit_of_work.h"

/*
 * Changes of the catalogue may come so often that one falls into most attempts of a large write, and none of them is an
 * error of the database; the time of the caller bounds them too.
 */
enum { MAX_STALE_ATTEMPTS = 64 };

/*
 * Connect. The attempt has not begun, so a failure here is not an error of the work, and its
 * outcome is known.
 */
static enum status connect_session(struct session *session, struct error *err)
{
    struct error cause = { 0 };
    enum status status = session_ensure(session, &cause);

    if (status == STATUS_OK)
        return STATUS_OK;
    if (status == STATUS_PRECONDITION || (status == STATUS_UNAVAILABLE && cause.reason)) {
        *err = cause;
        return status;
    }
    return error_set(err, STATUS_UNAVAILABLE, "%s", cause.message);
}

static enum status attempt_once(struct session *session, const struct unit_of_work *unit, struct error *err)
{
    TRY(connect_session(session, err));
    return unit->attempt(session, unit->context, err);
}

static bool may_run_again(const struct unit_of_work *unit, const struct error *err)
{
    if (err->reason || err->status == STATUS_MAYBE_DONE)
        return false;
    if (unit->is_given_up && unit->is_given_up(unit->context))
        return false;
    return err->status == STATUS_STALE || unit->is_temporary(err);
}

static void catch_up(struct session *session)
{
    struct error ignored;

    if (session_catch_up(session, &ignored) != STATUS_OK)
        pg_recover(&session->pg);
}

enum status unit_of_work_run(struct session *session, const struct unit_of_work *unit, struct error *err)
{
    struct error failure = { 0 };
    int attempts = 0, stale = 0;

    while (attempts < unit->max_attempts && stale < MAX_STALE_ATTEMPTS) {
        failure = (struct error){ 0 };
        failure.status = attempt_once(session, unit, &failure);
        if (failure.status == STATUS_OK)
            return STATUS_OK;
        pg_recover(&session->pg);
        if (!may_run_again(unit, &failure))
            break;
        if (failure.status == STATUS_STALE) {
            stale++;
            catch_up(session);
        } else {
            attempts++;
        }
    }
    if (err)
        *err = failure;
    return failure.status;
}
