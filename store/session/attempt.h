/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - runs a caller's operation as a unit of work, and turns failures into errors that
 * callers may see.
 */
#ifndef STORE_SESSION_ATTEMPT_H
#define STORE_SESSION_ATTEMPT_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Make the error that callers may see. An error without a reason comes from the database: it
 * becomes STORE_UNAVAILABLE if a retry may help, OPERATION_TIMED_OUT, or INTERNAL_ERROR, each with
 * a fixed message. The message of the database or of libpq may name hosts, files and roles, so it
 * becomes the detail, which is only logged. out may be err.
 */
void attempt_name_failure(const struct error *err, struct error *out);

/* Fail an operation with the error that attempt_name_failure makes. */
void attempt_fail(struct operation *operation, const struct error *err);

/*
 * Give one operation its outcome: work() fills operation->out or fails. After a temporary failure
 * or a change of the catalogue (see unit_of_work.h) it is called again, as long as the caller
 * waits. So work() must be safe to repeat after every failure that it returns. It may leave a
 * snapshot open.
 */
void attempt_operation(struct session *session, struct operation *operation,
    enum status (*work)(struct session *session, struct operation *operation, struct error *err));

/* As attempt_operation, for work that needs more than the operation. */
typedef enum status attempt_work(
    struct session *session, struct operation *operation, void *context, struct error *err);
void attempt_operation_with(
    struct session *session, struct operation *operation, attempt_work *work, void *context);

#endif
