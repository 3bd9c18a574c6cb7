/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_calls.h - an operator's commands on accounts. Every change raises the catalogue's
 * version, so servers apply it within a second; a server that does not know an account or a key
 * reads the accounts at once.
 *
 * Account keys come from the operating system's random numbers. Only the call that makes a key
 * returns it.
 */
#ifndef STORE_ACCESS_ACCOUNT_CALLS_H
#define STORE_ACCESS_ACCOUNT_CALLS_H

#include "domain/access/account.h"
#include "domain/access/key_wrap.h"

struct pg;

/* The columns of account_list.sql. */
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

/*
 * Create the account, set its keys to new random ones, and store them wrapped as wrapping_keys say.
 *
 * STATUS_EXISTS: the name is taken. STATUS_INVALID: the name is not valid.
 */
MUST_USE enum status account_calls_create(struct pg *pg, const struct wrapping_keys *wrapping_keys,
    struct account *account, struct arena *arena, struct error *err);

/* List all accounts in the order of their names. *out lies in the arena. */
MUST_USE enum status account_calls_list(
    struct pg *pg, struct arena *arena, struct account_view **out, size_t *count, struct error *err);

/*
 * Replace the first key by a new one, which becomes *key; the old first key becomes the second one.
 * The new key is stored wrapped as wrapping_keys say. STATUS_NOT_FOUND: no account has this name.
 */
MUST_USE enum status account_calls_rotate(struct pg *pg, const struct wrapping_keys *wrapping_keys,
    struct str name, struct arena *arena, struct account_key *key, struct error *err);

/*
 * Store the keys of all accounts as target says: wrapped with its first wrapping key or, if it has
 * none, in clear. `keys` opens the stored account keys. Each account is changed in a transaction of
 * its own. *count: the accounts whose keys were stored anew.
 *
 * STATUS_INVALID: `keys` cannot open an account's keys; this account and those behind it, by name,
 * are unchanged.
 * STATUS_STALE: another program has changed an account meanwhile; call again.
 */
MUST_USE enum status account_calls_rewrap(struct pg *pg, const struct wrapping_keys *keys,
    const struct wrapping_keys *target, struct arena *arena, int64_t *count, struct error *err);

/*
 * An argument of account_calls_set_quota: leave this quota as it is. The other values are
 * QUOTA_OF_SETTINGS, QUOTA_NONE and numbers.
 */
enum { QUOTA_AS_IT_IS = -2 };

/*
 * Set an account's own quotas, which replace the quotas of the servers' settings for it.
 * STATUS_NOT_FOUND: no account has this name.
 */
MUST_USE enum status account_calls_set_quota(struct pg *pg, struct str name, int64_t max_entities,
    int64_t max_bytes, struct arena *arena, struct error *err);

/* Delete an account. STATUS_NOT_FOUND: no account has this name, or the account still has tables. */
MUST_USE enum status account_calls_delete(
    struct pg *pg, struct str name, struct arena *arena, struct error *err);

#endif
