/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.c - see the header.
 */
#include "domain/intents/intent.h"

enum {
    RECONCILE_US = 20, /* of one key among many, measured */
    COMMIT_COST = 25,  /* a commit of its own waits for the disk */
    MAX_SPENT_US = 20000,
};

int64_t intent_cost(const struct intent *intent)
{
    return intent->kind == INTENT_RECONCILE || intent->kind == INTENT_COPY ? 1 : COMMIT_COST;
}

int64_t intent_debt(const struct intent *intent)
{
    int64_t spent_us = intent->spent_us < MAX_SPENT_US ? intent->spent_us : MAX_SPENT_US;
    int64_t debt = spent_us / RECONCILE_US - intent_cost(intent);

    return debt > 0 ? debt : 0;
}
