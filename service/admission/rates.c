/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.c - see the header. A bucket is stored as the time at which it is full again.
 */
#include "service/admission/rates.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "domain/reason.h"

enum { SETS = 1024, WAYS = 8, LOCKS = 64, NS_PER_US = 1000 };

static const int64_t burst_ns = 1000000000;

struct slot {
    uint64_t owner; /* a hash; 0: free */
    int64_t full_ns;
};

struct rates {
    int64_t cost_ns[RATE_SCOPES]; /* of one entity; 0: no limit */
    atomic_llong refused[RATE_SCOPES];
    pthread_mutex_t locks[LOCKS]; /* lock i guards the sets i, i + LOCKS, and so on */
    struct slot slots[SETS][WAYS];
};

static const char *const scope_names[RATE_SCOPES] = { "account", "partition" };

struct rates *rates_new(int64_t per_account, int64_t per_partition)
{
    struct rates *rates = xcalloc(1, sizeof(*rates));

    rates->cost_ns[RATE_ACCOUNT] = per_account > 0 ? burst_ns / per_account : 0;
    rates->cost_ns[RATE_PARTITION] = per_partition > 0 ? burst_ns / per_partition : 0;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&rates->locks[i], NULL);
    return rates;
}

void rates_free(struct rates *rates)
{
    if (!rates)
        return;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&rates->locks[i]);
    free(rates);
}

/* The length keeps "a","bc" and "ab","c" apart. */
static uint64_t mix_hash(uint64_t hash, struct str text)
{
    hash = hash_bytes(hash_byte(hash, (uint8_t)text.len), text);
    return hash ^ (hash >> 29);
}

/* The owner's slot in its set. If it has none: the slot with the fullest bucket, which is dropped. */
static struct slot *find_slot(struct slot set[WAYS], uint64_t owner)
{
    struct slot *fullest = &set[0];

    for (int i = 0; i < WAYS; i++) {
        if (set[i].owner == owner)
            return &set[i];
        if (set[i].full_ns < fullest->full_ns)
            fullest = &set[i];
    }
    *fullest = (struct slot){ .owner = owner };
    return fullest;
}

static bool draw_tokens(
    struct rates *rates, enum rate_scope scope, uint64_t owner, size_t count, int64_t now_ns)
{
    size_t set = owner % SETS;
    pthread_mutex_t *lock = &rates->locks[set % LOCKS];
    struct slot *slot;
    bool has_room;

    pthread_mutex_lock(lock);
    slot = find_slot(rates->slots[set], owner | 1);
    if (slot->full_ns < now_ns)
        slot->full_ns = now_ns;
    has_room = slot->full_ns - now_ns < burst_ns;
    if (has_room)
        slot->full_ns += rates->cost_ns[scope] * (int64_t)count;
    pthread_mutex_unlock(lock);
    if (!has_room)
        atomic_fetch_add(&rates->refused[scope], 1);
    return has_room;
}

static enum status refuse_operation(const struct rates *rates, enum rate_scope scope, struct error *err)
{
    reason_set(err, REASON_SERVER_BUSY, "the %s has used up its rate on this server", scope_names[scope]);
    error_add_meta_int(err, "limit", burst_ns / rates->cost_ns[scope]);
    return STATUS_LIMIT;
}

/* The number of entities that the operation names by key; 0: its kind names none. */
static size_t count_entities(const struct operation *operation)
{
    enum operation_input input = operation_kind_facts(operation->kind)->input;

    if (input == OPERATION_IN_GET)
        return operation->in.get.count;
    return input == OPERATION_IN_WRITE ? operation->in.write.count : 0;
}

/* The partition key of entity i of count_entities. */
static struct str partition_of(const struct operation *operation, size_t i)
{
    return operation_kind_facts(operation->kind)->input == OPERATION_IN_GET
               ? operation->in.get.keys[i].partition
               : operation->in.write.writes[i].key.partition;
}

static bool take_partitions(
    struct rates *rates, const struct operation *operation, uint64_t seed, int64_t now_ns)
{
    size_t count = count_entities(operation), run;

    for (size_t i = 0; i < count; i += run) {
        struct str partition = partition_of(operation, i);

        for (run = 1; i + run < count && str_equal(partition_of(operation, i + run), partition); run++)
            continue;
        if (!draw_tokens(
                rates, RATE_PARTITION, mix_hash(mix_hash(seed, operation->table), partition), run, now_ns))
            return false;
    }
    return true;
}

enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err)
{
    uint64_t account = mix_hash(HASH_EMPTY, operation->account);
    size_t entities = count_entities(operation);
    int64_t now_ns = now_us * NS_PER_US;

    if (rates->cost_ns[RATE_ACCOUNT] > 0 &&
        !draw_tokens(rates, RATE_ACCOUNT, account, entities > 0 ? entities : 1, now_ns))
        return refuse_operation(rates, RATE_ACCOUNT, err);
    if (rates->cost_ns[RATE_PARTITION] > 0 && !take_partitions(rates, operation, account, now_ns))
        return refuse_operation(rates, RATE_PARTITION, err);
    return STATUS_OK;
}

long long rates_refused(const struct rates *rates, enum rate_scope scope)
{
    return atomic_load(&rates->refused[scope]);
}
