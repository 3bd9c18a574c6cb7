/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_work.h - durable counts of failures and of attempts that never reported, and the dead letters that
 * follow.
 */
#ifndef STORE_DEAD_LETTERS_DEAD_LETTER_WORK_H
#define STORE_DEAD_LETTERS_DEAD_LETTER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "store/session/worker.h"

/*
 * Count a failure of this intent's key in a transaction of its own: the row says RETRYING, with the cause
 * and the time before which nobody tries again. *failures: the new count; 0: the key has nothing open any
 * more (somebody else has done it), so there is nothing to count.
 */
MUST_USE enum status dead_letter_work_count_failure(struct worker *store, const struct intent *intent,
    const struct error *cause, int32_t *failures, struct error *err);
MUST_USE enum status dead_letter_work_retry_after(
    struct worker *store, const struct intent *intent, int64_t delay_ms, struct error *err);

/*
 * Turn it into a dead letter and remove the key's intents, in one commit; a transaction becomes DEAD. A key
 * with nothing open is left alone.
 */
MUST_USE enum status dead_letter_work_bury(
    struct worker *store, const struct intent *intent, struct error *err);

/*
 * Count, in a transaction of its own, that the work of this intent's key is about to begin on its own. *before: how
 * often it had begun, and never reported since. A counted failure is a report, and so is dead_letter_work_report.
 * Nobody scans it for ten seconds. A key with nothing open is not counted, and *before is 0.
 */
MUST_USE enum status dead_letter_work_count_delivery(
    struct worker *store, const struct intent *intent, int32_t *before, struct error *err);

/* It has ended without saying anything about the work: the database was away, the worker stops. */
MUST_USE enum status dead_letter_work_report(
    struct worker *store, const struct intent *intent, struct error *err);

/* The work of this intent's key has begun at least once without a report. */
MUST_USE enum status dead_letter_work_suspect(
    struct worker *store, const struct intent *intent, struct error *err);

#endif
