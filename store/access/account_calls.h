/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_calls.h - what an operator does with accounts. Servers take it over within a second, and new
 * accounts and keys when they are first used: every change raises the catalogue's version.
 *
 * Keys come from the operating system's random numbers and are returned once, by the call that made them.
 */
#ifndef STORE_ACCESS_ACCOUNT_CALLS_H
#define STORE_ACCESS_ACCOUNT_CALLS_H

#include "domain/access/account.h"
#include "domain/access/key_wrap.h"
#include "store/connection/pg.h"

/* Of account_list.sql. */
enum account_column {
    ACCOUNT_NAME,
    ACCOUNT_ADMINISTRATOR,
    ACCOUNT_FIRST_KEY,
    ACCOUNT_SECOND_KEY,
    ACCOUNT_CREATED,
    ACCOUNT_ROTATED,
    ACCOUNT_ID,
    ACCOUNT_ENTITIES,
    ACCOUNT_BYTES,
    ACCOUNT_MAX_ENTITIES,
    ACCOUNT_MAX_BYTES,
};

struct account_view {
    struct str name;
    bool administrator;
    int64_t created, rotated; /* ticks */
};

/* Fills in the keys, and stores them as wrapping_keys say. STATUS_EXISTS, STATUS_INVALID: the name. */
MUST_USE enum status account_calls_create(struct pg *pg, const struct wrapping_keys *wrapping_keys,
    struct account *account, struct arena *arena, struct error *err);

/* All, by name; in the arena. */
MUST_USE enum status account_calls_list(
    struct pg *pg, struct arena *arena, struct account_view **out, size_t *count, struct error *err);

/* STATUS_NOT_FOUND. *key: the new first key, stored as wrapping_keys say. */
MUST_USE enum status account_calls_rotate(struct pg *pg, const struct wrapping_keys *wrapping_keys,
    struct str name, struct arena *arena, struct account_key *key, struct error *err);

/*
 * Store all keys as target says: wrapped with its first wrapping key or, if it has none, in clear. keys: what opens
 * them. Each account is a transaction of its own. *count: the accounts whose keys were stored anew.
 * STATUS_INVALID: some cannot be opened; none behind them has been changed. STATUS_STALE: one changed meanwhile, repeat
 * it.
 */
MUST_USE enum status account_calls_rewrap(struct pg *pg, const struct wrapping_keys *keys,
    const struct wrapping_keys *target, struct arena *arena, int64_t *count, struct error *err);

/* A quota in account_calls_set_quota; others: QUOTA_OF_SETTINGS, QUOTA_NONE, numbers. */
enum { QUOTA_AS_IT_IS = -2 };

/* Set quotas that hold for this account instead of those of the servers' settings. STATUS_NOT_FOUND. */
MUST_USE enum status account_calls_set_quota(struct pg *pg, struct str name, int64_t max_entities,
    int64_t max_bytes, struct arena *arena, struct error *err);

/* STATUS_NOT_FOUND: no such account, or it still has tables. */
MUST_USE enum status account_calls_delete(
    struct pg *pg, struct str name, struct arena *arena, struct error *err);

#endif
