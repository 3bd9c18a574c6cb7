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

struct gate_memory {
    uint64_t seed; /* secret, so that nobody can choose who shares a place */
    struct place places[PLACES];
};

void gate_init(struct gate *gate, bool open)
{
    pthread_rwlockattr_t fair;

    *gate = (struct gate){ .open = open };
    pthread_rwlockattr_init(&fair);
    pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&gate->lock, &fair);
    pthread_rwlockattr_destroy(&fair);
    gate->memory = xcalloc(1, sizeof(*gate->memory));
    if (getrandom(&gate->memory->seed, sizeof(gate->memory->seed), 0) != sizeof(gate->memory->seed))
        abort();
    for (size_t i = 0; i < PLACES; i++)
        pthread_mutex_init(&gate->memory->places[i].lock, NULL);
}

void gate_cleanup(struct gate *gate)
{
    if (!gate->memory)
        return;
    for (size_t i = 0; i < PLACES; i++)
        pthread_mutex_destroy(&gate->memory->places[i].lock);
    free(gate->memory);
    access_book_free(gate->book);
    pthread_rwlock_destroy(&gate->lock);
    *gate = (struct gate){ 0 };
}

void gate_confirm(struct gate *gate, struct access_book *book)
{
    struct access_book *old = NULL;

    pthread_rwlock_wrlock(&gate->lock);
    gate->confirmed_us = clock_monotonic_us();
    if (book) {
        old = gate->book;
        gate->book = book;
        gate->generation++;
    }
    pthread_rwlock_unlock(&gate->lock);
    access_book_free(old);
}

void gate_enter(struct gate *gate)
{
    pthread_rwlock_rdlock(&gate->lock);
}

void gate_leave(struct gate *gate)
{
    pthread_rwlock_unlock(&gate->lock);
}

/* ---- signatures that have been checked ---- */

static struct place *place_of(struct gate *gate, struct str text)
{
    struct gate_memory *memory = gate->memory;

    return text.len > REMEMBERED_BYTES ? NULL : &memory->places[digest_of(memory->seed, text) % PLACES];
}

static bool is_remembered(struct gate *gate, struct str text)
{
    struct place *place = place_of(gate, text);
    bool same;

    if (!place)
        return false;
    pthread_mutex_lock(&place->lock);
    same = place->generation == gate->generation && place->len == text.len &&
           CRYPTO_memcmp(place->text, text.data, text.len) == 0;
    pthread_mutex_unlock(&place->lock);
    return same;
}

static void remember(struct gate *gate, struct str text)
{
    struct place *place = place_of(gate, text);

    if (!place)
        return;
    pthread_mutex_lock(&place->lock);
    place->generation = gate->generation;
    place->len = text.len;
    memcpy(place->text, text.data, text.len);
    pthread_mutex_unlock(&place->lock);
}

/* Accounts nobody has take as long as those that are there. */
static bool is_genuine(
    struct gate *gate, const struct account *account, const struct credential *credential, struct str text)
{
    static const struct account nobody;

    if (account && is_remembered(gate, text))
        return true;
    if (!credential_is_genuine(credential, account ? account : &nobody) || !account)
        return false;
    remember(gate, text);
    return true;
}

enum status gate_admit(struct gate *gate, const struct credential *credential, struct str text,
    const struct call_origin *origin, int64_t *generation, struct access *out, struct error *err)
{
    const struct account *account;

    if (!gate->book || clock_monotonic_us() - gate->confirmed_us > UNCONFIRMED_US)
        return error_reason(err, REASON_STORE_UNAVAILABLE, "the database could not be asked who may do what");
    account = access_book_find(gate->book, credential->account);
    if (*generation != gate->generation) {
        if (!is_genuine(gate, account, credential, text))
            return credential_refuse(err);
        *generation = gate->generation;
    }
    return credential_access(credential, account, gate->book->catalogue, origin, clock_ticks(), out, err);
}
