/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_shares.h - a capacity that accounts share without reservations. An account that is alone may
 * hold all of it; an account that comes while others hold much still gets a share.
 *
 * An account may hold at most what is left of twice the capacity. If it is alone, that is the whole
 * capacity; if it and k other accounts take as much as they can get, each holds 2 * capacity / (k +
 * 2). So a new account always gets a share as large as any other's, and all together hold less than
 * 2 * capacity. Accounts need no configuration, and no account has to give up what it holds.
 *
 * Accounts are counted in slots, by a hash that is secret to the process. Two accounts in one slot
 * share its share. Not thread-safe: the owner has a lock.
 */
#ifndef BASE_FAIR_SHARES_H
#define BASE_FAIR_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/str.h"

enum { FAIR_SLOTS = 1024 };

struct fair_shares {
    int64_t capacity;
    int64_t held; /* the sum over all slots */
    uint64_t secret;
    int64_t slots[FAIR_SLOTS];
};

/* capacity: at least 1. */
void fair_shares_init(struct fair_shares *shares, int64_t capacity);

/* The slot of an account: 0 to FAIR_SLOTS - 1. */
int fair_shares_slot(const struct fair_shares *shares, struct str account);

/* Let the slot hold `count` more. false: that is more than its share, and nothing has changed. */
MUST_USE bool fair_shares_take(struct fair_shares *shares, int slot, int64_t count);

/* Let the slot hold `count` less. */
void fair_shares_give_back(struct fair_shares *shares, int slot, int64_t count);

#endif
