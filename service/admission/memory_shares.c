/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_shares.c - see the header.
 */
#include "service/admission/memory_shares.h"

#include "domain/reason.h"

enum { SHARE_OF_BOUND = 4 };

void memory_shares_init(struct memory_shares *shares, int64_t bound_bytes)
{
    pthread_mutex_init(&shares->lock, NULL);
    fair_shares_init(&shares->shares, bound_bytes / SHARE_OF_BOUND);
    atomic_init(&shares->refused, 0);
}

void memory_shares_cleanup(struct memory_shares *shares)
{
    pthread_mutex_destroy(&shares->lock);
}

static bool change_hold(struct memory_shares *shares, struct memory_hold *hold, int64_t bytes)
{
    bool held = true;

    pthread_mutex_lock(&shares->lock);
    if (bytes > hold->bytes)
        held = fair_shares_take(&shares->shares, hold->slot, bytes - hold->bytes);
    else
        fair_shares_give_back(&shares->shares, hold->slot, hold->bytes - bytes);
    pthread_mutex_unlock(&shares->lock);
    if (held)
        hold->bytes = bytes;
    return held;
}

enum status memory_shares_hold(struct memory_shares *shares, struct str account, struct memory_hold *hold,
    int64_t bytes, struct error *err)
{
    if (hold->bytes == 0)
        hold->slot = fair_shares_slot(&shares->shares, account);
    if (change_hold(shares, hold, bytes))
        return STATUS_OK;
    atomic_fetch_add(&shares->refused, 1);
    return reason_set(err, REASON_SERVER_BUSY,
        "the open calls of this account hold too much memory of the server: read answers, and send less at "
        "once");
}

void memory_shares_release(struct memory_shares *shares, struct memory_hold *hold)
{
    if (hold->bytes > 0)
        (void)change_hold(shares, hold, 0);
}
