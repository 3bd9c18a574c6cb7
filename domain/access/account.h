/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - accounts: who owns tables, and the two keys that sign for them.
 *
 * Either key is accepted. Rotating makes a new first key, the old first key becomes the second, the old second
 * one is gone: callers change over in the time between two rotations. A key never travels; what it signs does.
 */
#ifndef DOMAIN_ACCESS_ACCOUNT_H
#define DOMAIN_ACCESS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { ACCOUNT_KEYS = 2, ACCOUNT_KEY_BYTES = 32 };

struct account_key {
    uint8_t bytes[ACCOUNT_KEY_BYTES];
};

struct account {
    struct str name;
    bool administrator;
    struct account_key keys[ACCOUNT_KEYS];
};

/* 3 to 63 lower-case letters and digits. */
bool account_name_is_valid(struct str name);

/* As an operator keeps it: "tvk1." and base64url. */
struct str account_key_format(const struct account_key *key, struct arena *arena);
bool account_key_parse(struct str text, struct arena *arena, struct account_key *out);

#endif
