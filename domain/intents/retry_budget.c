/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_budget.c - see the header.
 */
#include "domain/intents/retry_budget.h"

static const double permits_per_us = RETRY_PERMITS_PER_SECOND / 1e6;
static const double max_spent =
    RETRY_PERMITS_SAVED + (double)RETRY_PERMITS_PER_SECOND * RETRY_LONGEST_WAIT_MS / 1000;

static void add_permits(struct retry_budget *budget, double permits)
{
    budget->spent = permits < budget->spent ? budget->spent - permits : 0;
}

void retry_budget_earn(struct retry_budget *budget, size_t done)
{
    add_permits(budget, (double)done / RETRY_DONE_PER_PERMIT);
}

int64_t retry_budget_spend(struct retry_budget *budget, int64_t now_us)
{
    double missing;

    if (now_us > budget->at_us) {
        add_permits(budget, (double)(now_us - budget->at_us) * permits_per_us);
        budget->at_us = now_us;
    }
    if (budget->spent + 1 <= max_spent)
        budget->spent += 1;
    missing = budget->spent - RETRY_PERMITS_SAVED;
    return missing > 0 ? (int64_t)(missing * 1000 / RETRY_PERMITS_PER_SECOND) : 0;
}

size_t retry_budget_refill_room(int64_t waiting, int64_t claim, bool behind)
{
    int64_t min = behind ? REFILL_MAX_WAITING / 2 : 0, max = claim > min ? claim : min;

    if (max > REFILL_MAX_WAITING)
        max = REFILL_MAX_WAITING;

    return waiting < max ? (size_t)(REFILL_MAX_WAITING - waiting) : 0;
}
