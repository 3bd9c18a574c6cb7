/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect_shares.h - which account may perform the next effect outside the database, in one worker process. Pure.
 *
 * At most half of the consumers, and at least one, perform effects at a time, and half of these, and at least one,
 * call over HTTP. So a receiver that hangs for one account could keep the others from calling. Accounts share the
 * places by time (start-time fair queueing): an account that wants an effect comes before every account that has spent
 * more time on effects. It waits at most for the effects that are under way.
 *
 * Nothing waits here: the transaction of an account that is refused is released, and comes again. The place stays free
 * for the account meanwhile, for EFFECT_WANT_US at most, and this time counts as spent: an account that does not come,
 * or comes seldom, has no more than its share. An account that was idle begins with as much time as the others that
 * perform effects, so it cannot save time up. If one account alone wants effects, it has all places.
 *
 * Not thread-safe: the owner has a lock.
 */
#ifndef DOMAIN_TRANSACTIONS_EFFECT_SHARES_H
#define DOMAIN_TRANSACTIONS_EFFECT_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    /* More than have effects at a time: an idle account gives its slot to another. */
    EFFECT_SHARE_ACCOUNTS = 128,
    /* Longer than a consumer pauses that could carry out none of its messages. */
    EFFECT_WANT_US = 5000000,
    /* From the end of an effect to the next one of a consumer that has several of the account at hand. */
    EFFECT_NEXT_US = 200000,
};

/* A call may have only some of the places. */
enum effect_kind { EFFECT_OF_FILES, EFFECT_OF_CALLS, EFFECT_KINDS };

struct effect_share {
    uint64_t account;                     /* a hash; 0: the slot is free */
    int running;                          /* effects under way */
    int64_t spent_us;                     /* on effects, or what others had spent when the account came */
    int64_t counted_us;                   /* up to this time it is part of spent_us */
    int64_t wants_until_us[EFFECT_KINDS]; /* 0: the account does not want such an effect */
};

struct effect_shares {
    int max, max_calls;
    int running, calls;                  /* calls are counted in running too */
    int64_t room_since_us[EFFECT_KINDS]; /* since when a place is free */
    int64_t floor_us;                    /* what the account had spent that began the last effect */
    struct effect_share accounts[EFFECT_SHARE_ACCOUNTS];
};

/* For a worker with so many consumers. */
void effect_shares_init(struct effect_shares *shares, int consumers);

/*
 * Begin an effect. false: there is no place, or another account comes first; the account is noted as one that waits.
 * now_us, here and below: a clock that does not go back.
 */
bool effect_shares_begin(
    struct effect_shares *shares, struct str account, enum effect_kind kind, int64_t now_us);

/* Note that the account wants an effect, without beginning it. */
void effect_shares_want(
    struct effect_shares *shares, struct str account, enum effect_kind kind, int64_t now_us);

/* End an effect that effect_shares_begin has begun. */
void effect_shares_end(
    struct effect_shares *shares, struct str account, enum effect_kind kind, int64_t now_us);

#endif
