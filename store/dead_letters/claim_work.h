/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_work.h - which intents a consumer works on when they did not come from the queue, so that others notice its
 * death.
 */
#ifndef STORE_DEAD_LETTERS_CLAIM_WORK_H
#define STORE_DEAD_LETTERS_CLAIM_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "store/session/worker.h"

/* A consumer by its name, and one of its lives by anything that no other life had. */
struct claim_owner {
    const char *holder, *life;
    int64_t hold_ms; /* a claim ends that was not taken or renewed for as long */
};

/*
 * Before a batch runs that did not come from the queue: claim it, in place of the batch before.
 *
 * suspects  room for count; set to true for each intent whose key was begun before and never reported
 */
MUST_USE enum status claim_work_take(struct worker *store, const struct claim_owner *owner,
    const struct intent *intents, size_t count, bool *suspects, struct error *err);
MUST_USE enum status claim_work_renew(
    struct worker *store, const struct claim_owner *owner, struct error *err);
MUST_USE enum status claim_work_release(
    struct worker *store, const struct claim_owner *owner, struct error *err);

/*
 * What is still open of batches whose consumers have died becomes suspect: it has begun once without a report.
 * STATUS_TIMEOUT: others are at some of it, which is left for the next time.
 */
MUST_USE enum status claim_work_suspect_dead(
    struct worker *store, const struct claim_owner *owner, struct error *err);

#endif
