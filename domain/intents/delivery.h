/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery.h - the disposition of a message after an attempt: a pure table of status and count.
 */
#ifndef DOMAIN_INTENTS_DELIVERY_H
#define DOMAIN_INTENTS_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum delivery_verdict { DELIVERY_ACKNOWLEDGE, DELIVERY_RETRY, DELIVERY_BURY };

struct delivery {
    enum delivery_verdict verdict;
    int64_t retry_after_ms; /* DELIVERY_RETRY */
};

enum { DELIVERY_MAX_FAILURES = 10, DELIVERY_MAX_SILENT = 5, DELIVERY_MAX_OUTSIDE = 500 };

/* What has caused a failure that counts. */
enum delivery_cause {
    DELIVERY_OF_WORK, /* the work itself */
    /* a part outside the database that may recover: a full disk, a host that does not answer */
    DELIVERY_OF_OUTSIDE,
    DELIVERY_FINAL, /* it fails again however often it is tried */
};

/*
 * The disposition of a message.
 *
 * failures   how often this work has failed, this time included (0 if status is STATUS_OK)
 * random     any 64 random bits: full jitter
 *
 * UNAVAILABLE, TIMEOUT and CANCELLED are not caused by the work: it is tried again without limit,
 * and these failures do not count.
 */
struct delivery delivery_settle(enum status status, int32_t failures, uint64_t random);

/*
 * The same with the cause: work that fails by the cause of another part is retried for some hours, and work that
 * cannot succeed is buried at once.
 */
struct delivery delivery_settle_cause(
    enum status status, enum delivery_cause cause, int32_t failures, uint64_t random);

/* Whether to give up work that was begun this often by itself without reporting an outcome. */
bool delivery_is_hopeless(int32_t silent);

#endif
