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

static const int64_t second_ns = 1000000000;

/* What may be drawn at once, as the time in which the bucket fills. */
static const int64_t bursts_ns[RATE_SCOPES] = { 1000000000, 1000000000, 5000000000 };

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

static const char *const scope_names[RATE_SCOPES] = { "account has", "partition has",
    "account's changes of tables and indexes have" };

static int64_t cost_of(int64_t per_second)
{
    return per_second > 0 ? second_ns / per_second : 0;
}

struct rates *rates_new(int64_t per_account, int64_t per_partition, int64_t changes)
{
    struct rates *rates = xcalloc(1, sizeof(*rates));

    rates->cost_ns[RATE_ACCOUNT] = cost_of(per_account);
    rates->cost_ns[RATE_PARTITION] = cost_of(per_partition);
    rates->cost_ns[RATE_CATALOGUE] = cost_of(changes);
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
    has_room = slot->full_ns - now_ns < bursts_ns[scope];
    if (has_room)
        slot->full_ns += rates->cost_ns[scope] * (int64_t)count;
    pthread_mutex_unlock(lock);
    if (!has_room)
        atomic_fetch_add(&rates->refused[scope], 1);
    return has_room;
}

static enum status refuse_operation(const struct rates *rates, enum rate_scope scope, struct error *err)
{
    reason_set(err, REASON_SERVER_BUSY, "the %s used up the rate on this server", scope_names[scope]);
    error_add_meta_int(err, "limit", second_ns / rates->cost_ns[scope]);
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

static bool changes_catalogue(const struct operation *operation)
{
    const struct operation_facts *facts = operation_kind_facts(operation->kind);

    return !facts->only_reads && (facts->input == OPERATION_IN_TABLES || facts->input == OPERATION_IN_INDEX);
}

static enum status admit_change(
    struct rates *rates, const struct operation *operation, int64_t now_ns, struct error *err)
{
    uint64_t owner = mix_hash(hash_byte(HASH_EMPTY, RATE_CATALOGUE), operation->account);

    if (rates->cost_ns[RATE_CATALOGUE] == 0 || draw_tokens(rates, RATE_CATALOGUE, owner, 1, now_ns))
        return STATUS_OK;
    return refuse_operation(rates, RATE_CATALOGUE, err);
}

static enum status admit_entities(
    struct rates *rates, const struct operation *operation, int64_t now_ns, struct error *err)
{
    uint64_t account = mix_hash(HASH_EMPTY, operation->account);
    size_t entities = count_entities(operation);

    if (rates->cost_ns[RATE_ACCOUNT] > 0 &&
        !draw_tokens(rates, RATE_ACCOUNT, account, entities > 0 ? entities : 1, now_ns))
        return refuse_operation(rates, RATE_ACCOUNT, err);
    if (rates->cost_ns[RATE_PARTITION] > 0 && !take_partitions(rates, operation, account, now_ns))
        return refuse_operation(rates, RATE_PARTITION, err);
    return STATUS_OK;
}

enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err)
{
    int64_t now_ns = now_us * NS_PER_US;

    if (changes_catalogue(operation))
        TRY(admit_change(rates, operation, now_ns, err));
    if (rates->cost_ns[RATE_ACCOUNT] == 0 && rates->cost_ns[RATE_PARTITION] == 0)
        return STATUS_OK;
    return admit_entities(rates, operation, now_ns, err);
}

long long rates_refused(const struct rates *rates, enum rate_scope scope)
{
    return atomic_load(&rates->refused[scope]);
}
