/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authenticator.h - what the server knows about who may do what, and whether a credential holds at this moment.
 *
 * The store's monitor brings the book of accounts and policies twice a second, and sooner for a credential that nobody in
 * the book has signed (recheck.h); calls read it under a shared lock
 * for a few microseconds and never ask the database. A authenticator that has not been confirmed for ten seconds admits
 * nobody: revocation must not wait for a database that cannot be asked.
 *
 * Checking a signature costs two HMACs, so the texts of genuine credentials are remembered, a bounded number of
 * them and only while the book stays the same. Times, policy and address are looked at for every operation.
 */
#ifndef SERVICE_ADMISSION_AUTHENTICATOR_H
#define SERVICE_ADMISSION_AUTHENTICATOR_H

#include <pthread.h>

#include "domain/access/credential.h"
#include "store/access/access_snapshot.h"

struct authenticator_memory;

struct authenticator {
    bool open; /* without authentication: everybody is the account `default` and may do everything */
    pthread_rwlock_t lock;
    struct access_snapshot *book; /* NULL: the database has not been reached yet */
    int64_t generation;           /* of the book, from 1 */
    int64_t confirmed_us;         /* clock_monotonic_us */
    struct authenticator_memory *memory;
};

void authenticator_init(struct authenticator *authenticator, bool open);
void authenticator_cleanup(struct authenticator *authenticator);

/* What the monitor found: a new book, now the authenticator's, or NULL: the one before still holds. */
void authenticator_confirm(struct authenticator *authenticator, struct access_snapshot *book);

/* Between the two the book does not change; nothing may block there. */
void authenticator_enter(struct authenticator *authenticator);
void authenticator_leave(struct authenticator *authenticator);

/*
 * Inside: what a credential comes to now. text: the whole of it. *generation: 0 at first; of the book its signature
 * was checked with, so that later checks of the same call need not repeat that.
 *
 * STATUS_UNAUTHENTICATED, STATUS_DENIED: see credential_access. STATUS_UNAVAILABLE: the authenticator does not know.
 */
MUST_USE enum status authenticator_admit(struct authenticator *authenticator,
    const struct credential *credential, struct str text, const struct call_origin *origin,
    int64_t *generation, struct access *out, struct error *err);

#endif
