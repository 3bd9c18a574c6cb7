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
    CACHE_SLOTS = 256,
    CACHED_BYTES = 2000, /* longer credentials are not cached: each call checks them */
    UNCONFIRMED_US = 10000000,
    BEARER_SIGNER = 1, /* in the cache: it needs some number */
};

/*
 * The key of devstoreaccount1, which the documentation of storage emulators publishes; clients have it as
 * base64.
 */
static const uint8_t development_key[] = {
    0x11,
    0xBC,
    0xBC,
    0xBD,
    0xD3,
    0x34,
    0xDB,
    0x13,
    0x4E,
    0x72,
    0xA1,
    0x65,
    0xA9,
    0x4C,
    0x09,
    0x3C,
    0xB9,
    0x66,
    0x12,
    0xD9,
    0x42,
    0x0D,
    0x72,
    0x75,
    0x39,
    0x4C,
    0xC5,
    0x4F,
    0x9D,
    0x2E,
    0x49,
    0x16,
    0x7A,
    0x20,
    0x5B,
    0x2E,
    0x16,
    0xAD,
    0x94,
    0x54,
    0x4A,
    0xC2,
    0xCF,
    0x82,
    0x3A,
    0xB6,
    0xAF,
    0xCA,
    0xD5,
    0x26,
    0x45,
    0x3D,
    0x33,
    0xAD,
    0xAF,
    0xF2,
    0x81,
    0x1C,
    0x17,
    0xA4,
    0xB2,
    0x81,
    0x8C,
    0x1B,
};
static const struct account development_account = {
    .name = { "devstoreaccount1", 16 },
    .id = { "default", 7 },
};

/* One genuine credential. Its digest selects the slot. */
struct cache_slot {
    pthread_mutex_t lock;
    int64_t generation; /* of the snapshot that the credential was checked with; 0: the slot is empty */
    int signer;         /* the number of the key that has signed it */
    size_t len;
    char text[CACHED_BYTES];
};

struct authenticator_memory {
    uint64_t seed; /* keys the digest, so that no caller can choose the slot of its credential */
    struct cache_slot slots[CACHE_SLOTS];
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
    for (size_t i = 0; i < CACHE_SLOTS; i++)
        pthread_mutex_init(&authenticator->memory->slots[i].lock, NULL);
}

void authenticator_cleanup(struct authenticator *authenticator)
{
    if (!authenticator->memory)
        return;
    for (size_t i = 0; i < CACHE_SLOTS; i++)
        pthread_mutex_destroy(&authenticator->memory->slots[i].lock);
    free(authenticator->memory);
    access_snapshot_free(authenticator->snapshot);
    bearer_authority_close(&authenticator->bearers);
    pthread_rwlock_destroy(&authenticator->lock);
    *authenticator = (struct authenticator){ 0 };
}

void authenticator_confirm(struct authenticator *authenticator, struct access_snapshot *snapshot)
{
    struct access_snapshot *old = NULL;

    pthread_rwlock_wrlock(&authenticator->lock);
    authenticator->confirmed_us = clock_monotonic_us();
    if (snapshot) {
        old = authenticator->snapshot;
        authenticator->snapshot = snapshot;
        authenticator->generation++;
    }
    pthread_rwlock_unlock(&authenticator->lock);
    access_snapshot_free(old);
}

void authenticator_look_at_bearers(struct authenticator *authenticator)
{
    struct web_keys *fresh = bearer_authority_look(&authenticator->bearers), *old;

    if (!fresh)
        return;
    pthread_rwlock_wrlock(&authenticator->lock);
    old = authenticator->bearers.keys;
    authenticator->bearers.keys = fresh;
    authenticator->generation++;
    pthread_rwlock_unlock(&authenticator->lock);
    web_keys_free(old);
}

void authenticator_enter(struct authenticator *authenticator)
{
    pthread_rwlock_rdlock(&authenticator->lock);
}

void authenticator_leave(struct authenticator *authenticator)
{
    pthread_rwlock_unlock(&authenticator->lock);
}

bool authenticator_checks(const struct authenticator *authenticator, struct str account)
{
    return !authenticator->open || str_equal(account, development_account.name);
}

/* ---- the cache of genuine credentials ---- */

static struct cache_slot *slot_of(struct authenticator *authenticator, struct str text)
{
    struct authenticator_memory *memory = authenticator->memory;

    return text.len > CACHED_BYTES ? NULL : &memory->slots[digest_of(memory->seed, text) % CACHE_SLOTS];
}

/* The number of the key that has signed the credential; 0: the cache does not have the credential. */
static int find_cached(struct authenticator *authenticator, struct str text)
{
    struct cache_slot *slot = slot_of(authenticator, text);
    int signer = 0;

    if (!slot)
        return 0;
    pthread_mutex_lock(&slot->lock);
    if (slot->generation == authenticator->generation && slot->len == text.len &&
        CRYPTO_memcmp(slot->text, text.data, text.len) == 0)
        signer = slot->signer;
    pthread_mutex_unlock(&slot->lock);
    return signer;
}

static void cache_credential(struct authenticator *authenticator, struct str text, int signer)
{
    struct cache_slot *slot = slot_of(authenticator, text);

    if (!slot)
        return;
    pthread_mutex_lock(&slot->lock);
    slot->generation = authenticator->generation;
    slot->signer = signer;
    slot->len = text.len;
    memcpy(slot->text, text.data, text.len);
    pthread_mutex_unlock(&slot->lock);
}

/*
 * The number of the account's key that has signed the credential; 0: none has. An unknown account is checked
 * against a dummy key, so that timing does not tell which accounts exist. A server without authentication has
 * one account, with the key that every emulator has. A signed REST request is not
 * cached: it is never repeated, and would only take the slot of another credential.
 */
static int find_signer(struct authenticator *authenticator, const struct account *account,
    const struct credential *credential, struct str text)
{
    static const struct account unknown_account;

    bool may_come_again = credential->kind != CREDENTIAL_SIGNED_REQUEST;
    int signer = account && may_come_again ? find_cached(authenticator, text) : 0;

    if (signer != 0)
        return signer;
    signer = authenticator->open ? credential_is_signed_with(
                                       credential, str_of_bytes(development_key, sizeof(development_key)))
                                 : credential_signer(credential, account ? account : &unknown_account);
    if (signer == 0 || !account)
        return 0;
    if (may_come_again)
        cache_credential(authenticator, text, signer);
    return signer;
}

static const struct account *find_account(const struct authenticator *authenticator, struct str name)
{
    if (authenticator->open)
        return str_equal(name, development_account.name) ? &development_account : NULL;
    return access_snapshot_find(authenticator->snapshot, name);
}

const struct service_properties *authenticator_service(
    const struct authenticator *authenticator, struct str account)
{
    const struct account *found;

    if (!authenticator->snapshot)
        return NULL;
    if (authenticator->open)
        return access_snapshot_service(authenticator->snapshot, development_account.id);
    found = find_account(authenticator, account);
    return found ? access_snapshot_service(authenticator->snapshot, found->id) : NULL;
}

/*
 * A bearer token is verified with the keys of the authority, not with those of the account. The check of an
 * unknown account takes as long as that of a known one.
 */
static bool is_genuine_bearer(
    struct authenticator *authenticator, const struct account *account, struct str text)
{
    if (find_cached(authenticator, text) != 0)
        return account;
    if (!bearer_authority_verify(&authenticator->bearers, text))
        return false;
    cache_credential(authenticator, text, BEARER_SIGNER);
    return account;
}

static bool is_genuine(struct authenticator *authenticator, const struct account *account,
    struct presented_credential *presented)
{
    const struct credential *credential = &presented->credential;

    if (credential->kind == CREDENTIAL_BEARER)
        return is_genuine_bearer(authenticator, account, presented->text);
    presented->signer = find_signer(authenticator, account, credential, presented->text);
    return presented->signer != 0;
}

enum status authenticator_admit(struct authenticator *authenticator, struct presented_credential *presented,
    struct access *out, struct error *err)
{
    const struct credential *credential = &presented->credential;
    struct credential_context context = { .origin = &presented->origin, .now = clock_ticks() };

    if (!authenticator->snapshot || clock_monotonic_us() - authenticator->confirmed_us > UNCONFIRMED_US)
        return reason_set(err, REASON_STORE_UNAVAILABLE,
            "the server has not been able to read accounts and policies from the database");
    context.catalogue = authenticator->snapshot->catalogue;
    context.account = find_account(authenticator, credential->account);
    if (presented->generation != authenticator->generation) {
        if (!is_genuine(authenticator, context.account, presented))
            return credential_refuse(err);
        presented->generation = authenticator->generation;
    }
    presented->account = context.account;
    return credential_access(credential, &context, out, err);
}
