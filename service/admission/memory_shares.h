/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_shares.h - the memory that the calls of an account may hold: requests, what is made of them, and answers that the
 * caller has not read yet. Accounts share a quarter of the memory bound by the rule of base/fair_shares.h.
 */
#ifndef SERVICE_ADMISSION_MEMORY_SHARES_H
#define SERVICE_ADMISSION_MEMORY_SHARES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/fair_shares.h"

/* Bytes that any call costs, the part of its connection included. */
enum { MEMORY_OF_A_CALL = 16384 };

struct memory_shares {
    pthread_mutex_t lock;
    struct fair_shares shares; /* bytes */
    atomic_llong refused;
};

/* What one call holds; all zero: nothing. One thread at a time. */
struct memory_hold {
    int slot;
    int64_t bytes;
};

/* bound_bytes: the memory bound of the server, struct memory_bound. */
void memory_shares_init(struct memory_shares *shares, int64_t bound_bytes);
void memory_shares_cleanup(struct memory_shares *shares);

/*
 * Change the bytes that a call of the account holds to `bytes`. A decrease always succeeds.
 * STATUS_LIMIT SERVER_BUSY  the account's calls hold too much; the call holds as many bytes as before
 */
MUST_USE enum status memory_shares_hold(struct memory_shares *shares, struct str account,
    struct memory_hold *hold, int64_t bytes, struct error *err);

/* The call holds nothing any more. */
void memory_shares_release(struct memory_shares *shares, struct memory_hold *hold);

#endif
