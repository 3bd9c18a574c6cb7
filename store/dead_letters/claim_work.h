/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_work.h - records which intents a consumer works on if it has polled them from PostgreSQL,
 * so that other workers notice if the consumer dies.
 */
#ifndef STORE_DEAD_LETTERS_CLAIM_WORK_H
#define STORE_DEAD_LETTERS_CLAIM_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"

struct worker;

/* Identifies a consumer in one start of its worker. */
struct claim_owner {
    const char *consumer;
    const char *start_id; /* random, different for each start of the worker */
    int64_t duration_ms;  /* a claim expires this long after it was made or renewed */
};

/*
 * Claim a batch that was polled, before work on it begins. The claim replaces the consumer's
 * previous one.
 *
 * suspects  has room for count; true for each intent whose key is a suspect: work on it began
 * before and was never reported
 */
MUST_USE enum status claim_work_take(struct worker *store, const struct claim_owner *owner,
    const struct intent *intents, size_t count, bool *suspects, struct error *err);

/*
 * Find the intents whose keys have failed and whose next try is not due.
 *
 * waiting  has room for count; true for each such intent; no suspect is among them
 */
MUST_USE enum status claim_work_find_waiting(
    struct worker *store, const struct intent *intents, size_t count, bool *waiting, struct error *err);

MUST_USE enum status claim_work_renew(
    struct worker *store, const struct claim_owner *owner, struct error *err);
MUST_USE enum status claim_work_release(
    struct worker *store, const struct claim_owner *owner, struct error *err);

/*
 * Mark the keys of intents that are still open in the claims of dead consumers as suspects, and
 * delete the claims.
 * STATUS_TIMEOUT: other transactions hold the locks of some keys; their claims are left for the
 * next call.
 */
MUST_USE enum status claim_work_suspect_dead(
    struct worker *store, const struct claim_owner *owner, struct error *err);

#endif
