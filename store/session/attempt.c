/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.c - see the header.
 */
#include "store/session/attempt.h"

#include "base/clock.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/session/unit_of_work.h"

enum { MAX_ATTEMPTS = 6 };

static enum reason reason_of(enum status status)
{
    switch (status) {
    case STATUS_UNAVAILABLE:
    case STATUS_STALE: /* the catalogue has changed in every attempt */
    /* the database's schema or settings are not those that this program needs */
    case STATUS_PRECONDITION:
        return REASON_STORE_UNAVAILABLE;
    case STATUS_TIMEOUT:
        return REASON_OPERATION_TIMED_OUT;
    default:
        return REASON_INTERNAL_ERROR;
    }
}

/*
 * If the database has another schema or unsafe settings, the message is our own and says what to
 * do.
 */
static const char *text_of(const struct error *err)
{
    switch (err->status) {
    case STATUS_PRECONDITION:
        return err->message;
    case STATUS_STALE:
        return "the catalogue changed at every attempt; nothing was done";
    case STATUS_TIMEOUT:
        return "the database took longer than a statement may";
    case STATUS_UNAVAILABLE:
        return "the database cannot be used at the moment; nothing was done";
    case STATUS_MAYBE_DONE:
        return "the outcome is unknown";
    default:
        return "the database refused a statement";
    }
}

void attempt_name_failure(const struct error *err, struct error *out)
{
    struct error named = *err;

    if (!named.reason) {
        (void)reason_set(&named, reason_of(err->status), "%s", text_of(err));
        memcpy(named.sqlstate, err->sqlstate, sizeof(named.sqlstate));
        error_set_detail(&named, err->message);
    }
    *out = named;
}

void attempt_fail(struct operation *operation, const struct error *err)
{
    struct error named;

    attempt_name_failure(err, &named);
    operation_fail(operation, &named);
}

/*
 * Whether the error is a decision about the request. An unknown outcome, or a failure of the
 * database, is not.
 */
static bool is_refusal(const struct error *err)
{
    switch (err->status) {
    case STATUS_TIMEOUT:
    case STATUS_CANCELLED:
    case STATUS_UNAVAILABLE:
    case STATUS_MAYBE_DONE:
    case STATUS_INTERNAL:
        return false;
    default:
        return err->reason != NULL;
    }
}

/*
 * Guard G23: a refusal must not be returned if it may follow from a catalogue that was older than
 * the request. If it must not, *err is replaced: by STATUS_STALE, or by the failure of the check.
 */
static enum status confirm_refusal(
    struct session *session, const struct operation *operation, struct error *err)
{
    struct error own = { 0 };

    if (!is_refusal(err) ||
        session_confirm(session, operation_times_arrived_us(operation), &own) == STATUS_OK)
        return err->status;
    *err = own;
    return own.status;
}

/* The operation of a caller, as the context of a unit of work. */
struct operation_unit {
    struct operation *operation;
    attempt_work *work;
    void *context; /* passed to work */
};

static enum status decide(struct session *session, void *context, struct error *err)
{
    struct operation_unit *unit = context;

    if (session->audit) {
        session->audit->is_due = true;
        session->audit->is_sent = false;
    }
    if (unit->work(session, unit->operation, unit->context, err) == STATUS_OK)
        return session_end_snapshot(session, err);
    pg_recover(&session->pg);
    return confirm_refusal(session, unit->operation, err);
}

static bool is_given_up(const void *context)
{
    const struct operation_unit *unit = context;

    return atomic_load(&unit->operation->cancelled) || unit->operation->deadline_us <= clock_monotonic_us();
}

void attempt_operation_with(
    struct session *session, struct operation *operation, attempt_work *work, void *context)
{
    struct operation_unit unit = { operation, work, context };
    const struct unit_of_work run = { .attempt = decide,
        .context = &unit,
        .max_attempts = MAX_ATTEMPTS,
        .is_temporary = pg_is_transient,
        .is_given_up = is_given_up };
    struct error err;
    enum status status;

    session->audit = operation->audit;
    status = unit_of_work_run(session, &run, &err);
    session->audit = NULL;
    if (status != STATUS_OK) {
        attempt_fail(operation, &err);
        return;
    }
    operation->status = STATUS_OK;
    operation->error = NULL;
}

struct plain_work {
    enum status (*work)(struct session *session, struct operation *operation, struct error *err);
};

static enum status run_plain(
    struct session *session, struct operation *operation, void *context, struct error *err)
{
    const struct plain_work *plain = context;

    return plain->work(session, operation, err);
}

void attempt_operation(struct session *session, struct operation *operation,
    enum status (*work)(struct session *session, struct operation *operation, struct error *err))
{
    struct plain_work plain = { work };

    attempt_operation_with(session, operation, run_plain, &plain);
}
