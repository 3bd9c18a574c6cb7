/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery.c - see the header.
 */
#include "domain/intents/delivery.h"

#include "domain/intents/backoff.h"

static const struct backoff delay_ms = { .first = 100, .longest = 60000 };

/* Whether a failure counts against the work: not if the database or the network caused it. */
static bool counts_as_failure(enum status status)
{
    switch (status) {
    case STATUS_UNAVAILABLE:
    case STATUS_TIMEOUT:
    case STATUS_CANCELLED:
        return false;
    case STATUS_OK:
    case STATUS_INVALID:
    case STATUS_OUT_OF_RANGE:
    case STATUS_NOT_FOUND:
    case STATUS_EXISTS:
    case STATUS_STALE:
    case STATUS_PRECONDITION:
    case STATUS_LIMIT:
    case STATUS_UNIMPLEMENTED:
    case STATUS_UNAUTHENTICATED:
    case STATUS_DENIED:
    case STATUS_MAYBE_DONE:
    case STATUS_INTERNAL:
    case STATUS_COUNT:
        return true;
    }
    return true;
}

struct delivery delivery_settle(enum status status, int32_t failures, uint64_t random)
{
    if (status == STATUS_OK)
        return (struct delivery){ .verdict = DELIVERY_ACKNOWLEDGE };
    if (counts_as_failure(status) && failures >= DELIVERY_MAX_FAILURES)
        return (struct delivery){ .verdict = DELIVERY_BURY };
    return (struct delivery){ .verdict = DELIVERY_RETRY,
        .retry_after_ms = backoff_pause(&delay_ms, failures, random) };
}

/* The number of failures of the work itself that has the same consequence. */
static int32_t weigh_failures(enum delivery_cause cause, int32_t failures)
{
    switch (cause) {
    case DELIVERY_OF_WORK:
        return failures;
    case DELIVERY_OF_OUTSIDE:
        if (failures >= DELIVERY_MAX_FAILURES && failures < DELIVERY_MAX_OUTSIDE)
            return DELIVERY_MAX_FAILURES - 1;
        return failures;
    case DELIVERY_FINAL:
        return DELIVERY_MAX_FAILURES;
    }
    return failures;
}

struct delivery delivery_settle_cause(
    enum status status, enum delivery_cause cause, int32_t failures, uint64_t random)
{
    return delivery_settle(status, weigh_failures(cause, failures), random);
}

bool delivery_is_hopeless(int32_t silent)
{
    return silent >= DELIVERY_MAX_SILENT;
}
