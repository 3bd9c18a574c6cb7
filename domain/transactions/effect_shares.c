/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect_shares.c - see the header. Two accounts with the same hash share one share.
 */
#include "domain/transactions/effect_shares.h"

#include "base/hash.h"
#include "base/macros.h"

static int at_least_one(int count)
{
    return count > 1 ? count : 1;
}

void effect_shares_init(struct effect_shares *shares, int consumers)
{
    int max = at_least_one(consumers / 2);

    *shares = (struct effect_shares){ .max = max, .max_calls = at_least_one(max / 2) };
}

/* ---- accounts ---- */

static bool wants(const struct effect_share *share, enum effect_kind kind, int64_t now_us)
{
    return share->wants_until_us[kind] > now_us;
}

/* Whether the slot may be given to another account: first the free ones, then those that are idle for longest. */
static bool is_better_slot(const struct effect_share *a, const struct effect_share *b)
{
    return b->running > 0 || (a->running == 0 && a->counted_us < b->counted_us);
}

/* The account's share; if it has none, the one that was used longest ago becomes its. */
static struct effect_share *find_share(struct effect_shares *shares, struct str account)
{
    uint64_t hash = hash_bytes(HASH_EMPTY, account) | 1;
    struct effect_share *oldest = &shares->accounts[0];

    for (size_t i = 0; i < EFFECT_SHARE_ACCOUNTS; i++) {
        struct effect_share *share = &shares->accounts[i];

        if (share->account == hash)
            return share;
        if (is_better_slot(share, oldest))
            oldest = share;
    }
    *oldest = (struct effect_share){ .account = hash };
    return oldest;
}

/* Count the time that has gone by since the account's time was counted last. */
static void count_time(struct effect_shares *shares, struct effect_share *share, int64_t now_us)
{
    share->spent_us += share->running * (now_us - share->counted_us);
    share->counted_us = now_us;
    if (share->spent_us < shares->floor_us)
        share->spent_us = shares->floor_us;
}

/* ---- places ---- */

static bool has_room(const struct effect_shares *shares, enum effect_kind kind)
{
    return shares->running < shares->max && (kind != EFFECT_OF_CALLS || shares->calls < shares->max_calls);
}

static void add_running(struct effect_shares *shares, enum effect_kind kind, int count)
{
    shares->running += count;
    if (kind == EFFECT_OF_CALLS)
        shares->calls += count;
}

/* Whether a free place is kept for the account `other`, which then pays for it. */
static bool is_kept_for(struct effect_shares *shares, struct effect_share *other,
    const struct effect_share *share, enum effect_kind kind, int64_t now_us)
{
    int64_t from_us =
        other->counted_us > shares->room_since_us[kind] ? other->counted_us : shares->room_since_us[kind];

    if (other == share || !wants(other, kind, now_us) || !has_room(shares, kind))
        return false;
    count_time(shares, other, now_us);
    if (other->spent_us >= share->spent_us)
        return false;
    other->spent_us += now_us - from_us;
    return true;
}

static bool comes_first(struct effect_shares *shares, const struct effect_share *share, int64_t now_us)
{
    for (size_t i = 0; i < EFFECT_SHARE_ACCOUNTS; i++) {
        struct effect_share *other = &shares->accounts[i];

        for (int kind = 0; kind < EFFECT_KINDS; kind++)
            if (is_kept_for(shares, other, share, (enum effect_kind)kind, now_us))
                return false;
    }
    return true;
}

/* ---- effects ---- */

void effect_shares_want(
    struct effect_shares *shares, struct str account, enum effect_kind kind, int64_t now_us)
{
    struct effect_share *share = find_share(shares, account);

    count_time(shares, share, now_us);
    share->wants_until_us[kind] = now_us + EFFECT_WANT_US;
}

bool effect_shares_begin(
    struct effect_shares *shares, struct str account, enum effect_kind kind, int64_t now_us)
{
    struct effect_share *share = find_share(shares, account);

    count_time(shares, share, now_us);
    if (!has_room(shares, kind) || !comes_first(shares, share, now_us)) {
        share->wants_until_us[kind] = now_us + EFFECT_WANT_US;
        return false;
    }
    share->wants_until_us[kind] = 0;
    share->running++;
    if (share->spent_us > shares->floor_us)
        shares->floor_us = share->spent_us;
    add_running(shares, kind, 1);
    return true;
}

void effect_shares_end(
    struct effect_shares *shares, struct str account, enum effect_kind kind, int64_t now_us)
{
    struct effect_share *share = find_share(shares, account);

    count_time(shares, share, now_us);
    share->running--;
    if (share->wants_until_us[kind] < now_us + EFFECT_NEXT_US)
        share->wants_until_us[kind] = now_us + EFFECT_NEXT_US;
    for (int i = 0; i < EFFECT_KINDS; i++)
        if (!has_room(shares, (enum effect_kind)i))
            shares->room_since_us[i] = now_us;
    add_running(shares, kind, -1);
}
