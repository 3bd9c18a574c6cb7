/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_shares.c - see the header.
 */
#include "base/fair_shares.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"

void fair_shares_init(struct fair_shares *shares, int64_t capacity)
{
    assert(capacity >= 1);
    memset(shares, 0, sizeof(*shares));
    shares->capacity = capacity;
    shares->secret = random_bits();
}

int fair_shares_slot(const struct fair_shares *shares, struct str account)
{
    return hash_slot(shares->secret, account, FAIR_SLOTS);
}

bool fair_shares_take(struct fair_shares *shares, int slot, int64_t count)
{
    int64_t held = shares->slots[slot] + count;
    int64_t left = 2 * shares->capacity - (shares->held + count);

    if (held > left)
        return false;
    shares->slots[slot] = held;
    shares->held += count;
    return true;
}

void fair_shares_give_back(struct fair_shares *shares, int slot, int64_t count)
{
    assert(shares->slots[slot] >= count);
    shares->slots[slot] -= count;
    shares->held -= count;
}
