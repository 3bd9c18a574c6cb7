/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_budget.h - limits retries so that they cannot overload the service: how soon failed work
 * may be tried again, and how many messages are put into the streams ahead of the workers. Pure.
 *
 * Retries take permits from a bucket. Every piece of work done adds a quarter of a permit, so under
 * load retries are at most a fifth of all work; every second adds 25 permits, so retries continue
 * if no work is done. If the bucket is empty, a retry waits until its permit will be available, at
 * most ten minutes, so many failed keys come back one after the other.
 */
#ifndef DOMAIN_INTENTS_RETRY_BUDGET_H
#define DOMAIN_INTENTS_RETRY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RETRY_DONE_PER_PERMIT = 4,
    RETRY_PERMITS_PER_SECOND = 25,
    RETRY_PERMITS_SAVED = 50, /* a full bucket, as in the beginning */
    RETRY_LONGEST_WAIT_MS = 600 * 1000,
    REFILL_MAX_WAITING = 4096,
};

struct retry_budget {
    double spent; /* permits that were taken; above RETRY_PERMITS_SAVED: future ones */
    int64_t at_us;
};

/* Note that this many pieces of work were done. */
void retry_budget_earn(struct retry_budget *budget, size_t done);

/* Take a permit for one retry; returns the milliseconds until the permit is available. */
int64_t retry_budget_spend(struct retry_budget *budget, int64_t now_us);

/*
 * How many messages may be added to the streams, of which `waiting` messages are not claimed, up to
 * REFILL_MAX_WAITING in all. 0 if at least `claim` messages (one claim) wait; while a backlog is
 * published in portions (behind), 0 if at least half of REFILL_MAX_WAITING wait.
 */
size_t retry_budget_refill_room(int64_t waiting, int64_t claim, bool behind);

#endif
