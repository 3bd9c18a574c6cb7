/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authenticator.h - checks credentials against the access snapshot, at any moment and without the database.
 *
 * The store's monitor delivers a snapshot of accounts and policies, or confirms the last one, twice a second,
 * and sooner if a credential names a signer that the snapshot does not know (recheck.h). Calls read the
 * snapshot under a shared lock for a few microseconds. If no confirmation came for ten seconds, the
 * authenticator admits no call: a revocation must take effect even if the server cannot reach the database.
 *
 * The check of a signature costs two HMACs. Therefore the texts of genuine credentials are cached, up to a
 * bound, while the snapshot stays the same. Times, policy and address are checked for every operation.
 *
 * Bearer tokens of identity providers are verified with the keys of the authority (bearer_authority.h), and
 * cached like other credentials.
 *
 * Without authentication, the account devstoreaccount1 with its public key means the account `default`.
 * Requests that are signed with this key are checked, so that a mistake in a signature shows during
 * development.
 */
#ifndef SERVICE_ADMISSION_AUTHENTICATOR_H
#define SERVICE_ADMISSION_AUTHENTICATOR_H

#include <pthread.h>

#include "domain/access/credential.h"
#include "service/admission/bearer_authority.h"
#include "store/access/access_snapshot.h"

struct authenticator_memory;

struct authenticator {
    bool
        /* no authentication: a caller without a credential has all permissions of the account `default` */
        open;
    pthread_rwlock_t lock;
    struct access_snapshot *snapshot; /* NULL: the database has not been reached yet */
    int64_t generation;               /* of the snapshot and of the keys for bearer tokens; begins with 1 */
    int64_t confirmed_us;             /* clock_monotonic_us */
    struct authenticator_memory *memory;
    struct quotas quotas; /* quotas of entities and bytes of accounts that have no quotas of their own */
    struct bearer_authority bearers; /* its keys under the lock */
};

void authenticator_init(struct authenticator *authenticator, bool open);
void authenticator_cleanup(struct authenticator *authenticator);

/*
 * Called by the monitor. snapshot: a new snapshot, which the authenticator then owns; NULL: the last snapshot
 * is still current.
 */
void authenticator_confirm(struct authenticator *authenticator, struct access_snapshot *snapshot);

/* Called by the monitor's thread: if the file of the keys for bearer tokens has changed, take its keys. */
void authenticator_look_at_bearers(struct authenticator *authenticator);

/*
 * The snapshot and the keys do not change between authenticator_enter and authenticator_leave. The caller must
 * not block between the two.
 */
void authenticator_enter(struct authenticator *authenticator);
void authenticator_leave(struct authenticator *authenticator);

/*
 * Whether a credential of this account is checked. A server without authentication checks only those of
 * devstoreaccount1.
 */
bool authenticator_checks(const struct authenticator *authenticator, struct str account);

/*
 * The settings of the account's table service, found by the account's name; NULL: it has set none. Call it
 * between authenticator_enter and authenticator_leave.
 */
const struct service_properties *authenticator_service(
    const struct authenticator *authenticator, struct str account);

/* A credential as a call has presented it. */
struct presented_credential {
    struct str text; /* the whole credential; empty: the call has presented none */
    struct credential credential;
    struct call_origin origin; /* the address is filled only if the credential names addresses */

    /*
     * The generation of the snapshot that the signature was checked with; 0: not checked yet. While the
     * snapshot stays the same, later checks of the call do not check the signature again.
     */
    int64_t generation;
    /* the number of the account's key that has signed it, 1 or 2; 0: not checked yet, or none of the keys */
    int signer;
    const struct account *account; /* set by authenticator_admit; valid until authenticator_leave */
};

/*
 * Decide what a credential allows at this moment. Call it between authenticator_enter and
 * authenticator_leave.
 *
 * STATUS_UNAUTHENTICATED, STATUS_DENIED  as credential_access
 * STATUS_UNAVAILABLE                     there is no snapshot, or the last one was confirmed too long ago
 */
MUST_USE enum status authenticator_admit(struct authenticator *authenticator,
    struct presented_credential *presented, struct access *out, struct error *err);

#endif
