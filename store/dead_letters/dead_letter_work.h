/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_work.h - durable counts of failures, and of attempts that ended without a report;
 * dead letters of work that failed too often.
 */
#ifndef STORE_DEAD_LETTERS_DEAD_LETTER_WORK_H
#define STORE_DEAD_LETTERS_DEAD_LETTER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"

struct worker;

/*
 * Count a failure of this intent's key in a transaction of its own: the key's dead letter is
 * RETRYING, with the cause. *failures: the new count; 0 if the key has no open intent any more
 * (another worker has done the work).
 */
MUST_USE enum status dead_letter_work_count_failure(struct worker *store, const struct intent *intent,
    const struct error *cause, int32_t *failures, struct error *err);
MUST_USE enum status dead_letter_work_retry_after(
    struct worker *store, const struct intent *intent, int64_t delay_ms, struct error *err);

/*
 * Give the key up: in one commit make its dead letter DEAD and remove its intents; a transaction
 * becomes DEAD too. A key without an open intent stays as it is.
 */
MUST_USE enum status dead_letter_work_bury(
    struct worker *store, const struct intent *intent, struct error *err);

/*
 * Count, in a transaction of its own, that work on this intent's key is about to begin outside of
 * any batch. *before: how often it has begun since the last report (a call of
 * dead_letter_work_count_failure or dead_letter_work_report). For ten seconds no scan returns the
 * key's intents. A key without an open intent is not counted, and *before is 0.
 */
MUST_USE enum status dead_letter_work_count_delivery(
    struct worker *store, const struct intent *intent, int32_t *before, struct error *err);

/*
 * Report that work on the key has ended without a result: the database could not be reached, or the
 * worker stops.
 */
MUST_USE enum status dead_letter_work_report(
    struct worker *store, const struct intent *intent, struct error *err);

/* Store that work on this intent's key has begun at least once without a report. */
MUST_USE enum status dead_letter_work_suspect(
    struct worker *store, const struct intent *intent, struct error *err);

#endif
