/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_shares.h - bounds the memory that the calls of an account hold: requests, the data made from them,
 * and replies that the caller has not read yet. The accounts share a quarter of the memory bound by the rule
 * of base/fair_shares.h.
 */
#ifndef SERVICE_ADMISSION_MEMORY_SHARES_H
#define SERVICE_ADMISSION_MEMORY_SHARES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/fair_shares.h"

/* The bytes that every call counts for, its share of a connection included. */
enum { MEMORY_OF_A_CALL = 16384 };

struct memory_shares {
    pthread_mutex_t lock;
    struct fair_shares shares; /* bytes */
    atomic_llong refused;
};

/* The bytes that one call holds. All members zero: none. Used by one thread at a time. */
struct memory_hold {
    int slot;
    int64_t bytes;
};

/* bound_bytes: the memory bound of the server (struct memory_bound). */
void memory_shares_init(struct memory_shares *shares, int64_t bound_bytes);
void memory_shares_cleanup(struct memory_shares *shares);

/*
 * Change the bytes that a call of the account holds to `bytes`. A decrease always succeeds.
 *
 * STATUS_LIMIT  SERVER_BUSY: the account's calls hold too much; this call holds as many bytes as before
 */
MUST_USE enum status memory_shares_hold(struct memory_shares *shares, struct str account,
    struct memory_hold *hold, int64_t bytes, struct error *err);

/* The call has ended: it holds no bytes any more. */
void memory_shares_release(struct memory_shares *shares, struct memory_hold *hold);

#endif
