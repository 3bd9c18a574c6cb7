/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_usage.h - the usage of an account, its quotas, and whether it may have more.
 *
 * Pure. Usage is as of the last count (store/background/usage_count.h). So an account can exceed a
 * quota by what it writes between two counts, and is refused until the next count has noticed its
 * deletes. If an account is at or above a quota:
 *
 *                                        entities used up             bytes used up
 *   insert, upsert, a step of these      refused                      refused
 *   replace, merge                       accepted: adds no entity     refused
 *   a move, a delete, DeleteRange        accepted                     accepted
 *   create or replace an index           accepted                     refused: its entries need room
 *   a part of a put of a blob            accepted                     refused
 *   a step that puts a blob              accepted                     refused
 *
 * A batch, a chunk of an import or a transaction is refused as a whole if one of its operations is.
 * The entries of an accepted write are written whatever the quota, and an accepted transaction is
 * carried to its end; a step that puts a blob is tried again until there is room.
 */
#ifndef DOMAIN_ACCESS_ACCOUNT_USAGE_H
#define DOMAIN_ACCESS_ACCOUNT_USAGE_H

#include <stdint.h>

#include "base/error.h"
#include "domain/catalogue/quotas.h"
#include "domain/operations/operation.h"

enum { QUOTA_OF_SETTINGS = -1, QUOTA_NONE = 0 };

struct account_usage {
    int64_t entities; /* of callers' tables; entries of indexes do not count */
    int64_t bytes;    /* of keys and properties, entries of indexes included */
    /* set for this account: QUOTA_OF_SETTINGS, QUOTA_NONE or a number */
    int64_t max_entities, max_bytes;
};

/* The quotas in force; QUOTA_NONE: there is no bound. */
int64_t account_usage_max_entities(const struct account_usage *usage, const struct quotas *settings);
int64_t account_usage_max_bytes(const struct account_usage *usage, const struct quotas *settings);

/* STATUS_LIMIT  QUOTA_EXCEEDED: a quota is used up, and the operation may add to it. */
MUST_USE enum status account_usage_admit(const struct account_usage *usage, const struct quotas *settings,
    const struct operation *operation, struct error *err);

/* STATUS_LIMIT  QUOTA_EXCEEDED: the quota of bytes is used up. */
MUST_USE enum status account_usage_admit_bytes(
    const struct account_usage *usage, const struct quotas *settings, struct error *err);

#endif
