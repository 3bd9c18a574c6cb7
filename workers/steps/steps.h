/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - what a worker does for each kind of intent: one file per kind, found in a table.
 *
 * A step is idempotent, uses short transactions and keeps no state between messages. It returns a
 * status; batch.c decides from that what becomes of the message.
 */
#ifndef WORKERS_STEPS_STEPS_H
#define WORKERS_STEPS_STEPS_H

#include "workers/worker.h"

typedef enum status step_fn(
    struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err);

struct message_step {
    enum intent_kind kind;
    const char *name;
    bool together;               /* takes many keys at once; after a failure any of them may come again */
    enum worker_counter counter; /* of work that is done */
    step_fn *run;
};

extern const struct message_step steps[];
extern const size_t step_count;

/* NULL: this version does not know the kind. */
const struct message_step *step_find(int kind);

step_fn step_reconcile;
step_fn step_transaction;
step_fn step_copy;
step_fn step_visit;

#endif
