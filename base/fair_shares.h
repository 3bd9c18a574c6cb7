/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_shares.h - places that accounts share without reservations: whoever is alone may hold all of `places`, and whoever comes
 * when others hold much still finds room.
 *
 * An account may hold at most what is left of twice the places. Alone it holds `places`; beside k others that want all they can
 * get each holds 2 * places / (k + 2), so a newcomer always finds a share as large as anybody's, and in all fewer than
 * 2 * places are held. Nothing is configured per account, and nothing needs to be taken back.
 *
 * Accounts are counted in slots by a hash that is secret to the process. Two accounts in one slot share its share.
 *
 * Not safe for several threads: the owner has a lock.
 */
#ifndef BASE_FAIR_SHARES_H
#define BASE_FAIR_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/str.h"

enum { FAIR_SLOTS = 1024 };

struct fair_shares {
    int64_t places;
    int64_t held; /* by all */
    uint64_t secret;
    int64_t slots[FAIR_SLOTS];
};

/* places: at least 1. */
void fair_shares_init(struct fair_shares *shares, int64_t places);

/* The slot of an account: 0 to FAIR_SLOTS - 1. */
int fair_shares_slot(const struct fair_shares *shares, struct str account);

/* Let the slot hold so many more. false: that is more than its share, and nothing has changed. */
MUST_USE bool fair_shares_take(struct fair_shares *shares, int slot, int64_t count);

/* The slot holds so many fewer. */
void fair_shares_give_back(struct fair_shares *shares, int slot, int64_t count);

#endif
