/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_usage.h - what an account holds and may hold, and whether it may have more.
 *
 * Pure. Usage is as of the last count (store/background/usage_count.h), so an account gets past a quota by what it
 * writes between two counts, and is refused until the next count has seen what it deleted. An account at or past a
 * quota:
 *
 *                                        entities used up             bytes used up
 *   insert, upsert, a step of these      refused                      refused
 *   replace, merge                       taken: no entity more        refused
 *   a move, a delete, DeleteRange        taken                        taken
 *   create or replace an index           taken                        refused: its entries need room
 *
 * A batch, a chunk of an import and a transaction are refused as a whole if one of their operations is. Entries of
 * indexes that a taken write has made are written whatever the quota says, and a transaction that was taken is carried
 * to its end.
 */
#ifndef DOMAIN_ACCESS_ACCOUNT_USAGE_H
#define DOMAIN_ACCESS_ACCOUNT_USAGE_H

#include <stdint.h>

#include "base/error.h"
#include "domain/catalogue/quotas.h"
#include "domain/operations/operation.h"

enum { QUOTA_OF_SETTINGS = -1, QUOTA_NONE = 0 };

struct account_usage {
    int64_t entities;                /* of callers' tables; entries of indexes do not count */
    int64_t bytes;                   /* of keys and properties, entries of indexes included */
    int64_t max_entities, max_bytes; /* of the account's own: QUOTA_OF_SETTINGS, QUOTA_NONE or a number */
};

/* The quotas in force. QUOTA_NONE: not bounded. */
int64_t account_usage_max_entities(const struct account_usage *usage, const struct quotas *settings);
int64_t account_usage_max_bytes(const struct account_usage *usage, const struct quotas *settings);

/* STATUS_LIMIT QUOTA_EXCEEDED: the account holds as much as it may, and the operation may add to it. */
MUST_USE enum status account_usage_admit(const struct account_usage *usage, const struct quotas *settings,
    const struct operation *operation, struct error *err);

#endif
