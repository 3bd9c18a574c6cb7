/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authenticator.h - what the server knows about who may do what, and whether a credential holds at this moment.
 *
 * The store's monitor delivers a snapshot of accounts and policies (the book) twice a second, and sooner if a
 * credential names a signer that the snapshot does not know (recheck.h). Calls read it under a shared lock for a few
 * microseconds and never ask the database. An authenticator that has not been confirmed for ten seconds admits
 * nobody: a revocation must not wait for a database that cannot be asked.
 *
 * Checking a signature costs two HMACs. The texts of genuine credentials are therefore remembered, up to a bound, and
 * only while the snapshot stays the same. Times, policy and address are checked for every operation.
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

/*
 * Called by the monitor. book: a new snapshot, which the authenticator owns from now on; NULL: the last one still
 * holds.
 */
void authenticator_confirm(struct authenticator *authenticator, struct access_snapshot *book);

/* The snapshot does not change between enter and leave. The caller must not block there. */
void authenticator_enter(struct authenticator *authenticator);
void authenticator_leave(struct authenticator *authenticator);

/*
 * Between enter and leave: decide what a credential allows at this moment. text: the whole credential. *generation: 0
 * on the first check of a call; then the generation of the snapshot that its signature was checked with, so that
 * later checks of the same call need not repeat that.
 *
 * STATUS_UNAUTHENTICATED, STATUS_DENIED: see credential_access. STATUS_UNAVAILABLE: the authenticator does not know.
 */
MUST_USE enum status authenticator_admit(struct authenticator *authenticator,
    const struct credential *credential, struct str text, const struct call_origin *origin,
    int64_t *generation, struct access *out, struct error *err);

#endif
