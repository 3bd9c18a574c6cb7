/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - an operation of a caller as a unit of work, and failures as the caller may see them.
 */
#ifndef STORE_SESSION_ATTEMPT_H
#define STORE_SESSION_ATTEMPT_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * The error as callers may see it. One without a reason is the database's: STORE_UNAVAILABLE when trying again is
 * right, OPERATION_TIMED_OUT, else INTERNAL_ERROR, each with a fixed message. What the database or libpq said becomes
 * the detail, for the log: it may name hosts, files and roles. out may be err.
 */
void attempt_name_failure(const struct error *err, struct error *out);

/* Fail an operation with that. */
void attempt_fail(struct operation *operation, const struct error *err);

/*
 * Give one operation its outcome: work() fills operation->out or fails. Another attempt is made after a temporary
 * failure or a changed catalogue (see unit_of_work.h) while the caller waits. work() must be safe to run again after
 * any failure it returns, and may leave a snapshot open.
 */
void attempt_operation(struct session *session, struct operation *operation,
    enum status (*work)(struct session *session, struct operation *operation, struct error *err));

/* The same for work that needs more than the operation. */
typedef enum status attempt_work(
    struct session *session, struct operation *operation, void *context, struct error *err);
void attempt_operation_with(
    struct session *session, struct operation *operation, attempt_work *work, void *context);

#endif
