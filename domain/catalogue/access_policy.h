/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_policy.h - stored access policies: what the shared access signatures that name one have in common.
 *
 * A table has at most five. A policy may set start, expiry and permissions; what it sets the signature must
 * not. Changing or removing one changes or ends all signatures that name it. Pure.
 */
#ifndef DOMAIN_CATALOGUE_ACCESS_POLICY_H
#define DOMAIN_CATALOGUE_ACCESS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct access_policy {
    struct str id;         /* 1..64 printable ASCII characters */
    int64_t start, expiry; /* ticks; 0: not set */
    unsigned permissions;  /* 0: not set */
};

struct access_policies {
    struct access_policy *items;
    size_t count;
};

/* INVALID_INPUT: too many, an id that is empty, too long or there twice, an expiry that is not after its start. */
MUST_USE enum status access_policies_check(const struct access_policies *policies, struct error *err);

bool access_policy_id_is_valid(struct str id);

/* NULL: none of this id. */
const struct access_policy *access_policies_find(const struct access_policies *policies, struct str id);

/* As stored. decode borrows; false: not of this form. */
struct str access_policies_encode(const struct access_policies *policies, struct arena *arena);
bool access_policies_decode(struct str bytes, struct arena *arena, struct access_policies *out);

#endif
