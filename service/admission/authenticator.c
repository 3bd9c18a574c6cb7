/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authenticator.c - see the header.
 */
#include "service/admission/authenticator.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "domain/digest.h"
#include "domain/reason.h"

enum {
    PLACES = 256,
    REMEMBERED_BYTES = 1000, /* longer credentials are checked every time */
    UNCONFIRMED_US = 10000000,
};

/* One genuine credential, in the place its digest points to. */
struct place {
    pthread_mutex_t lock;
    int64_t generation; /* of the book it was checked with; 0: empty */
    size_t len;
    char text[REMEMBERED_BYTES];
};

struct authenticator_memory {
    uint64_t seed; /* secret, so that nobody can choose who shares a place */
    struct place places[PLACES];
};

void authenticator_init(struct authenticator *authenticator, bool open)
{
    pthread_rwlockattr_t fair;

    *authenticator = (struct authenticator){ .open = open };
    pthread_rwlockattr_init(&fair);
    pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&authenticator->lock, &fair);
    pthread_rwlockattr_destroy(&fair);
    authenticator->memory = xcalloc(1, sizeof(*authenticator->memory));
    if (getrandom(&authenticator->memory->seed, sizeof(authenticator->memory->seed), 0) !=
        sizeof(authenticator->memory->seed))
        abort();
    for (size_t i = 0; i < PLACES; i++)
        pthread_mutex_init(&authenticator->memory->places[i].lock, NULL);
}

void authenticator_cleanup(struct authenticator *authenticator)
{
    if (!authenticator->memory)
        return;
    for (size_t i = 0; i < PLACES; i++)
        pthread_mutex_destroy(&authenticator->memory->places[i].lock);
    free(authenticator->memory);
    access_snapshot_free(authenticator->book);
    pthread_rwlock_destroy(&authenticator->lock);
    *authenticator = (struct authenticator){ 0 };
}

void authenticator_confirm(struct authenticator *authenticator, struct access_snapshot *book)
{
    struct access_snapshot *old = NULL;

    pthread_rwlock_wrlock(&authenticator->lock);
    authenticator->confirmed_us = clock_monotonic_us();
    if (book) {
        old = authenticator->book;
        authenticator->book = book;
        authenticator->generation++;
    }
    pthread_rwlock_unlock(&authenticator->lock);
    access_snapshot_free(old);
}

void authenticator_enter(struct authenticator *authenticator)
{
    pthread_rwlock_rdlock(&authenticator->lock);
}

void authenticator_leave(struct authenticator *authenticator)
{
    pthread_rwlock_unlock(&authenticator->lock);
}

/* ---- signatures that have been checked ---- */

static struct place *place_of(struct authenticator *authenticator, struct str text)
{
    struct authenticator_memory *memory = authenticator->memory;

    return text.len > REMEMBERED_BYTES ? NULL : &memory->places[digest_of(memory->seed, text) % PLACES];
}

static bool is_remembered(struct authenticator *authenticator, struct str text)
{
    struct place *place = place_of(authenticator, text);
    bool same;

    if (!place)
        return false;
    pthread_mutex_lock(&place->lock);
    same = place->generation == authenticator->generation && place->len == text.len &&
           CRYPTO_memcmp(place->text, text.data, text.len) == 0;
    pthread_mutex_unlock(&place->lock);
    return same;
}

static void remember(struct authenticator *authenticator, struct str text)
{
    struct place *place = place_of(authenticator, text);

    if (!place)
        return;
    pthread_mutex_lock(&place->lock);
    place->generation = authenticator->generation;
    place->len = text.len;
    memcpy(place->text, text.data, text.len);
    pthread_mutex_unlock(&place->lock);
}

/* An unknown account is checked against a dummy key, so that timing does not tell which accounts exist. */
static bool is_genuine(struct authenticator *authenticator, const struct account *account,
    const struct credential *credential, struct str text)
{
    static const struct account nobody;

    if (account && is_remembered(authenticator, text))
        return true;
    if (!credential_is_genuine(credential, account ? account : &nobody) || !account)
        return false;
    remember(authenticator, text);
    return true;
}

enum status authenticator_admit(struct authenticator *authenticator, const struct credential *credential,
    struct str text, const struct call_origin *origin, int64_t *generation, struct access *out,
    struct error *err)
{
    const struct account *account;

    if (!authenticator->book || clock_monotonic_us() - authenticator->confirmed_us > UNCONFIRMED_US)
        return reason_set(
            err, REASON_DATABASE_UNAVAILABLE, "the database could not be asked who may do what");
    account = access_snapshot_find(authenticator->book, credential->account);
    if (*generation != authenticator->generation) {
        if (!is_genuine(authenticator, account, credential, text))
            return credential_refuse(err);
        *generation = authenticator->generation;
    }
    return credential_access(
        credential, account, authenticator->book->catalogue, origin, clock_ticks(), out, err);
}
