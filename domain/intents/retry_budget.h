/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_budget.h - recovery that cannot collapse: how soon work that has failed may be tried again, and how much is put
 * into the streams ahead of the workers. Pure.
 *
 * Retries take permits from a bucket: every piece of work done adds a quarter of one, so that retries are at most a
 * fifth of all work where much is done, and every second adds 25, so that they go on where nothing is. What finds the
 * bucket empty waits until its permit will be there, at most ten minutes: many keys that fail come back one after
 * the other.
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
    double spent; /* permits; above RETRY_PERMITS_SAVED: permits of the future */
    int64_t at_us;
};

/* Note that this many pieces of work were done. */
void retry_budget_earn(struct retry_budget *budget, size_t done);

/* Take a permit for one retry; returns the milliseconds until the permit is available. */
int64_t retry_budget_spend(struct retry_budget *budget, int64_t now_us);

/*
 * How many messages may be added to streams in which `waiting` unclaimed messages wait, up to REFILL_MAX_WAITING in
 * all: none while as many as a claim takes wait; if a backlog is published in portions, none while half of
 * REFILL_MAX_WAITING wait.
 */
size_t retry_budget_refill_room(int64_t waiting, int64_t claim, bool behind);

#endif
