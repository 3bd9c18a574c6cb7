/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authenticator.h - checks credentials against the access snapshot, at any moment and without the database.
 *
 * The store's monitor delivers a snapshot of accounts and policies, or confirms the last one, twice a second, and sooner
 * if a credential names a signer that the snapshot does not know (recheck.h). Calls read the snapshot under a shared
 * lock for a few microseconds. If no confirmation came for ten seconds, the authenticator admits no call: a revocation
 * must take effect even if the server cannot reach the database.
 *
 * The check of a signature costs two HMACs. Therefore the texts of genuine credentials are cached, up to a bound, while
 * the snapshot stays the same. Times, policy and address are checked for every operation.
 *
 * Without authentication the account devstoreaccount1 and its key, which the documentation of storage emulators publishes,
 * stand for the account `default`: tools that sign with them are answered as by a service that checks, so that a mistake in
 * a signature shows during development.
 */
#ifndef SERVICE_ADMISSION_AUTHENTICATOR_H
#define SERVICE_ADMISSION_AUTHENTICATOR_H

#include <pthread.h>

#include "domain/access/credential.h"
#include "store/access/access_snapshot.h"

struct authenticator_memory;

struct authenticator {
    bool
        open; /* no authentication: a caller without a credential is the account `default` with all permissions */
    pthread_rwlock_t lock;
    struct access_snapshot *snapshot; /* NULL: the database has not been reached yet */
    int64_t generation;               /* of the snapshot, from 1 */
    int64_t confirmed_us;             /* clock_monotonic_us */
    struct authenticator_memory *memory;
    struct quotas quotas; /* of accounts without their own; entities and bytes */
};

void authenticator_init(struct authenticator *authenticator, bool open);
void authenticator_cleanup(struct authenticator *authenticator);

/*
 * Called by the monitor. snapshot: a new snapshot, which the authenticator owns from now on; NULL: the last one is still
 * current.
 */
void authenticator_confirm(struct authenticator *authenticator, struct access_snapshot *snapshot);

/* The snapshot does not change between enter and leave. The caller must not block there. */
void authenticator_enter(struct authenticator *authenticator);
void authenticator_leave(struct authenticator *authenticator);

/* Whether a credential that names this account is checked: on an open server only that of devstoreaccount1. */
bool authenticator_checks(const struct authenticator *authenticator, struct str account);

/* Between enter and leave: the settings of the account's table service, by its name; NULL: it has set none. */
const struct service_properties *authenticator_service(
    const struct authenticator *authenticator, struct str account);

/* A credential as a call presents it. */
struct presented_credential {
    struct str text; /* the whole credential; empty: the call has none */
    struct credential credential;
    struct call_origin origin; /* the address only if the credential names addresses */

    /*
     * The generation of the snapshot with which the signature was checked; 0: not checked yet. Later checks of the same
     * call do not check the signature again while the snapshot stays the same.
     */
    int64_t generation;
    int signer; /* the key that has signed it: 1 or 2; 0: not checked yet, or none of the account's */
    const struct account *account; /* after authenticator_admit, until authenticator_leave */
};

/*
 * Between enter and leave: decide what a credential allows at this moment.
 *
 * STATUS_UNAUTHENTICATED, STATUS_DENIED  as credential_access
 * STATUS_UNAVAILABLE                     there is no snapshot, or the last one was confirmed too long ago
 */
MUST_USE enum status authenticator_admit(struct authenticator *authenticator,
    struct presented_credential *presented, struct access *out, struct error *err);

#endif
