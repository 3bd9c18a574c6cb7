/*
 * authenticator.h - what the server knows about who may do what, and whether a credential holds at this moment.
 *
 * The store's monitor brings the book of accounts and policies twice a second, and sooner for a credential that nobody in
 * the book has signed (recheck.h); calls read it under a shared lock
 * for a few microseconds and never ask the database. A gate that has not been confirmed for ten seconds admits
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

struct gate_memory;

struct gate {
    bool open; /* without authentication: everybody is the account `default` and may do everything */
    pthread_rwlock_t lock;
    struct access_book *book; /* NULL: the database has not been reached yet */
    int64_t generation;       /* of the book, from 1 */
    int64_t confirmed_us;     /* clock_monotonic_us */
    struct gate_memory *memory;
};

void gate_init(struct gate *gate, bool open);
void gate_cleanup(struct gate *gate);

/* What the monitor found: a new book, now the gate's, or NULL: the one before still holds. */
void gate_confirm(struct gate *gate, struct access_book *book);

/* Between the two the book does not change; nothing may block there. */
void gate_enter(struct gate *gate);
void gate_leave(struct gate *gate);

/*
 * Inside: what a credential comes to now. text: the whole of it. *generation: 0 at first; of the book its signature
 * was checked with, so that later checks of the same call need not repeat that.
 *
 * STATUS_UNAUTHENTICATED, STATUS_DENIED: see credential_access. STATUS_UNAVAILABLE: the gate does not know.
 */
MUST_USE enum status gate_admit(struct gate *gate, const struct credential *credential, struct str text,
    const struct call_origin *origin, int64_t *generation, struct access *out, struct error *err);

#endif
