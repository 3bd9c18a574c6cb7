/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - the table.
 */
#include "workers/steps/steps.h"

const struct message_step steps[] = {
    { INTENT_RECONCILE, "reconcile", true, step_reconcile },
    { INTENT_TRANSACTION, "transaction", false, step_transaction },
};
const size_t step_count = ARRAY_LEN(steps);

const struct message_step *step_find(int kind)
{
    for (size_t i = 0; i < step_count; i++) {
        if ((int)steps[i].kind == kind)
            return &steps[i];
    }
    return NULL;
}
