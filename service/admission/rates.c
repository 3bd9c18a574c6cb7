/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.c - see the header. Times of buckets are in nanoseconds.
 */
#include "service/admission/rates.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/token_bucket.h"
#include "domain/reason.h"

enum { SETS = 1024, WAYS = 8, LOCKS = 64, NS_PER_US = 1000 };

static const int64_t second_ns = 1000000000;

/* The size of a bucket, as the time in which it fills. */
static const int64_t bursts_ns[RATE_SCOPES] = { 1000000000, 1000000000, 5000000000, 250000000, 1000000000 };

struct slot {
    uint64_t owner; /* a hash; 0: the slot is free */
    struct token_bucket bucket;
};

struct rates {
    struct rate_limits limits;
    uint64_t secret; /* keys the hashes of owners, so that no caller can choose the bucket of another */
    atomic_llong refused[RATE_SCOPES];
    pthread_mutex_t locks[LOCKS]; /* lock i guards the sets i, i + LOCKS, and so on */
    struct slot slots[SETS][WAYS];
};

static const char *const scope_names[RATE_SCOPES] = { "account has", "partition has",
    "account's changes of tables and indexes have", "account's compressed requests have",
    "account's traces have" };

struct rates *rates_new(const struct rate_limits *limits)
{
    struct rates *rates = xcalloc(1, sizeof(*rates));

    rates->limits = *limits;
    rates->secret = random_bits();
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

/* The length is part of the hash, so that "a","bc" and "ab","c" differ. */
static uint64_t mix_hash(uint64_t hash, struct str text)
{
    hash = hash_bytes(hash_byte(hash, (uint8_t)text.len), text);
    return hash ^ (hash >> 29);
}

/*
 * The owner's slot in its set. If it has none, it gets the slot of the fullest bucket, and that bucket is
 * dropped.
 */
static struct slot *find_slot(struct slot set[WAYS], uint64_t owner)
{
    struct slot *fullest = &set[0];

    for (int i = 0; i < WAYS; i++) {
        if (set[i].owner == owner)
            return &set[i];
        if (set[i].bucket.full_at < fullest->bucket.full_at)
            fullest = &set[i];
    }
    *fullest = (struct slot){ .owner = owner };
    return fullest;
}

/* Draw from the owner's bucket. If the bucket has too little, nothing is drawn unless `overdraws` is set. */
static bool draw_cost(struct rates *rates, enum rate_scope scope, uint64_t owner, int64_t cost_ns,
    int64_t now_ns, bool overdraws)
{
    size_t set = owner % SETS;
    pthread_mutex_t *lock = &rates->locks[set % LOCKS];
    struct token_bucket *bucket;
    bool has_room = true;

    pthread_mutex_lock(lock);
    bucket = &find_slot(rates->slots[set], owner | 1)->bucket;
    if (overdraws)
        token_bucket_overdraw(bucket, now_ns, cost_ns);
    else
        has_room = token_bucket_draw(bucket, now_ns, bursts_ns[scope], cost_ns);
    pthread_mutex_unlock(lock);
    if (!has_room)
        atomic_fetch_add(&rates->refused[scope], 1);
    return has_room;
}

/* Draw `count` tokens of the owner. true: the scope has no limit, or the owner was within it. */
static bool draw_tokens(
    struct rates *rates, enum rate_scope scope, uint64_t owner, size_t count, int64_t now_ns)
{
    int64_t limit = rates->limits.per_second[scope];

    return limit == 0 || draw_cost(rates, scope, owner, (int64_t)count * second_ns / limit, now_ns, false);
}

static enum status refuse_operation(const struct rates *rates, enum rate_scope scope, struct error *err)
{
    reason_set(err, REASON_SERVER_BUSY, "the %s used up the rate on this server", scope_names[scope]);
    error_add_meta_int(err, "limit", rates->limits.per_second[scope]);
    return STATUS_LIMIT;
}

/* The number of entities that the operation names by key; 0: its kind does not name entities. */
static size_t count_entities(const struct operation *operation)
{
    enum operation_input input = operation_kind_facts(operation->kind)->input;

    if (input == OPERATION_IN_GET)
        return operation->in.get.count;
    return input == OPERATION_IN_WRITE ? operation->in.write.count : 0;
}

/* The partition key of the operation's i-th entity. */
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

/* The owner of a bucket that is one per account, in this scope. */
static uint64_t owner_in(const struct rates *rates, enum rate_scope scope, struct str account)
{
    return mix_hash(hash_byte(hash_number(HASH_EMPTY, rates->secret), (uint8_t)scope), account);
}

static enum status admit_entities(
    struct rates *rates, const struct operation *operation, int64_t now_ns, struct error *err)
{
    uint64_t account = owner_in(rates, RATE_ACCOUNT, operation->account);
    size_t entities = count_entities(operation);

    if (!draw_tokens(rates, RATE_ACCOUNT, account, entities > 0 ? entities : 1, now_ns))
        return refuse_operation(rates, RATE_ACCOUNT, err);
    if (rates->limits.per_second[RATE_PARTITION] > 0 &&
        !take_partitions(rates, operation, owner_in(rates, RATE_PARTITION, operation->account), now_ns))
        return refuse_operation(rates, RATE_PARTITION, err);
    return STATUS_OK;
}

enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err)
{
    const int64_t *limits = rates->limits.per_second;
    int64_t now_ns = now_us * NS_PER_US;

    if (changes_catalogue(operation) &&
        !draw_tokens(rates, RATE_CATALOGUE, owner_in(rates, RATE_CATALOGUE, operation->account), 1, now_ns))
        return refuse_operation(rates, RATE_CATALOGUE, err);
    if (limits[RATE_ACCOUNT] == 0 && limits[RATE_PARTITION] == 0)
        return STATUS_OK;
    return admit_entities(rates, operation, now_ns, err);
}

enum status rates_admit_inflating(struct rates *rates, struct str account, int64_t now_us, struct error *err)
{
    if (draw_tokens(rates, RATE_INFLATED, owner_in(rates, RATE_INFLATED, account), 0, now_us * NS_PER_US))
        return STATUS_OK;
    return refuse_operation(rates, RATE_INFLATED, err);
}

void rates_note_inflated(struct rates *rates, struct str account, size_t bytes, int64_t now_us)
{
    int64_t limit = rates->limits.per_second[RATE_INFLATED];

    if (limit > 0)
        draw_cost(rates, RATE_INFLATED, owner_in(rates, RATE_INFLATED, account),
            (int64_t)bytes * second_ns / limit, now_us * NS_PER_US, true);
}

bool rates_admit_traced(struct rates *rates, struct str account, int64_t now_us)
{
    return draw_tokens(rates, RATE_TRACED, owner_in(rates, RATE_TRACED, account), 1, now_us * NS_PER_US);
}

long long rates_refused(const struct rates *rates, enum rate_scope scope)
{
    return atomic_load(&rates->refused[scope]);
}
