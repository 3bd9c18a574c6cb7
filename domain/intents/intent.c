/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.c - see the header.
 */
#include "domain/intents/intent.h"

enum {
    RECONCILE_US = 20, /* of one key among many, measured */
    COMMIT_COST = 25,  /* a commit of its own waits for the disk */
};

int64_t intent_cost(const struct intent *intent)
{
    int64_t usual = intent->kind == INTENT_RECONCILE || intent->kind == INTENT_COPY ? 1 : COMMIT_COST,
            spent = intent->spent_us / RECONCILE_US;

    return spent > usual ? spent : usual;
}
