/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_policy.h - stored access policies: settings that all shared access signatures with the
 * policy's id share.
 *
 * A table has at most five. A policy may set start, expiry and permissions; a signature must not
 * set a field that its policy sets. Changing or removing a policy changes or ends all signatures
 * that name it. Pure.
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

/*
 * INVALID_INPUT: too many policies, an id that is empty, too long or used twice, an expiry that is
 * not after its start.
 */
MUST_USE enum status access_policies_check(const struct access_policies *policies, struct error *err);

bool access_policy_id_is_valid(struct str id);

/* The policy with this id; NULL if there is none. */
const struct access_policy *access_policies_find(const struct access_policies *policies, struct str id);

/*
 * The stored form of all policies of a table. Decoded strings borrow the bytes. false: the bytes
 * are not of this form.
 */
struct str access_policies_encode(const struct access_policies *policies, struct arena *arena);
bool access_policies_decode(struct str bytes, struct arena *arena, struct access_policies *out);

#endif
