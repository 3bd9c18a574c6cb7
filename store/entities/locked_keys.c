/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locked_keys.c - see the header.
 */
#include "store/entities/locked_keys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/random.h"
#include "domain/limits.h"

enum {
    SLOTS = 4096,
    /* How long writers look for locks first. A transaction that stands still has seldom one lock only. */
    LATELY_US = 1000000,
};

struct locked_key {
    uint64_t hash;
    struct locked_key *next;
};

struct locked_keys {
    uint64_t secret;
    atomic_llong met_us; /* 0: never */
    atomic_int count;    /* without the mutex: whether there is any entry */
    pthread_mutex_t mutex;
    struct locked_key *slots[SLOTS];
};

struct locked_keys *locked_keys_new(void)
{
    struct locked_keys *keys = xcalloc(1, sizeof(*keys));

    keys->secret = random_bits();
    pthread_mutex_init(&keys->mutex, NULL);
    return keys;
}

void locked_keys_free(struct locked_keys *keys)
{
    if (!keys)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        for (struct locked_key *key = keys->slots[i], *next; key; key = next) {
            next = key->next;
            free(key);
        }
    pthread_mutex_destroy(&keys->mutex);
    free(keys);
}

static size_t keys_of(const struct operation *operation)
{
    size_t count = operation->in.write.count;

    return count < LIMIT_BATCH_OPERATIONS ? count : LIMIT_BATCH_OPERATIONS;
}

/*
 * Without the table: names of tables differ in case only for one table, and keys that two tables share cost a detour.
 * The lengths keep the parts apart.
 */
static uint64_t hash_of(const struct locked_keys *keys, const struct operation *operation, size_t i)
{
    const struct entity_key *key = &operation->in.write.writes[i].key;
    uint64_t hash = hash_number(HASH_EMPTY, keys->secret);

    hash = hash_bytes(hash_number(hash, operation->account.len), operation->account);
    hash = hash_bytes(hash_number(hash, key->partition.len), key->partition);
    return hash_bytes(hash, key->row);
}

/* The place of the entry, or the end of its slot's list. The caller holds the mutex. */
static struct locked_key **place_of(struct locked_keys *keys, uint64_t hash)
{
    struct locked_key **place = &keys->slots[(hash ^ hash >> 32) % SLOTS];

    while (*place && (*place)->hash != hash)
        place = &(*place)->next;
    return place;
}

static void add_hash(struct locked_keys *keys, uint64_t hash)
{
    struct locked_key **place = place_of(keys, hash);

    if (*place)
        return;
    *place = xcalloc(1, sizeof(**place));
    (*place)->hash = hash;
    atomic_fetch_add(&keys->count, 1);
}

static void remove_hash(struct locked_keys *keys, uint64_t hash)
{
    struct locked_key **place = place_of(keys, hash), *key = *place;

    if (!key)
        return;
    *place = key->next;
    free(key);
    atomic_fetch_sub(&keys->count, 1);
}

void locked_keys_add(struct locked_keys *keys, const struct operation *operation)
{
    pthread_mutex_lock(&keys->mutex);
    for (size_t i = 0; i < keys_of(operation); i++)
        add_hash(keys, hash_of(keys, operation, i));
    pthread_mutex_unlock(&keys->mutex);
}

void locked_keys_remove(struct locked_keys *keys, const struct operation *operation)
{
    pthread_mutex_lock(&keys->mutex);
    for (size_t i = 0; i < keys_of(operation); i++)
        remove_hash(keys, hash_of(keys, operation, i));
    pthread_mutex_unlock(&keys->mutex);
}

bool locked_keys_has(struct locked_keys *keys, const struct operation *operation)
{
    bool has = false;

    if (atomic_load(&keys->count) == 0)
        return false;
    pthread_mutex_lock(&keys->mutex);
    for (size_t i = 0; i < keys_of(operation) && !has; i++)
        has = *place_of(keys, hash_of(keys, operation, i)) != NULL;
    pthread_mutex_unlock(&keys->mutex);
    return has;
}

void locked_keys_note_met(struct locked_keys *keys, int64_t now_us)
{
    atomic_store(&keys->met_us, now_us);
}

bool locked_keys_met_lately(const struct locked_keys *keys, int64_t now_us)
{
    int64_t met_us = atomic_load(&keys->met_us);

    return met_us != 0 && now_us - met_us < LATELY_US;
}
