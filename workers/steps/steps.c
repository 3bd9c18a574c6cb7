/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - the table.
 */
#include "workers/steps/steps.h"

const struct message_step steps[] = {
    { INTENT_RECONCILE, "reconcile", true, WORKER_RECONCILED, step_reconcile },
    { INTENT_TRANSACTION, "transaction", false, WORKER_STEPPED, step_transaction },
    { INTENT_COPY, "copy", true, WORKER_COPY_CHECKED, step_copy },
    { INTENT_VISIT, "visit", false, WORKER_VISITED, step_visit },
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
