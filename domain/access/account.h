/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - accounts: the owners of tables, with the two keys that sign their credentials.
 *
 * Either key is accepted. A rotation makes a new first key, turns the old first key into the
 * second, and drops the old second one: callers change over in the time between two rotations. A
 * key is never sent; only signatures made with it are.
 */
#ifndef DOMAIN_ACCESS_ACCOUNT_H
#define DOMAIN_ACCESS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "domain/access/account_usage.h"

enum { ACCOUNT_KEYS = 2, ACCOUNT_KEY_BYTES = 32 };

struct account_key {
    uint8_t bytes[ACCOUNT_KEY_BYTES];
};

struct account {
    struct str name;
    struct str id; /* account_id.h; empty where an account is about to be made */
    bool administrator;
    struct account_key keys[ACCOUNT_KEYS];
    struct account_usage usage;
};

/* 3 to 63 lower-case letters and digits. */
bool account_name_is_valid(struct str name);

/* The text of a key: "tvk1." and base64url. */
struct str account_key_format(const struct account_key *key, struct arena *arena);
bool account_key_parse(struct str text, struct arena *arena, struct account_key *out);

#endif
