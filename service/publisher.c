/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.c - see the header. Batches wait in a list; the number of intents in it is bounded.
 */
#include "service/publisher.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/log_repeat.h"

enum {
    MAX_WAITING = 20000,
    /*
     * Intents of one round trip to Redis. With a round trip for each commit, the messages of a stall would wait for as
     * many round trips as there were commits, while more commits come.
     */
    MAX_TOGETHER = 1024,
    HINT_EVERY_US = 1000000,
};

/* The intents of one commit. Their keys follow them in the same allocation. */
struct batch {
    struct batch *next;
    size_t count;
    struct intent intents[];
};

struct publisher {
    struct queue *queue;      /* used by the thread alone, like the next member */
    struct log_repeat outage; /* the same */
    struct remembered *remembered;
    int64_t next_hint_us;
    pthread_t thread;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    struct batch *first;
    struct batch **end;
    size_t waiting; /* the number of intents that wait */
    bool stopping;

    atomic_int shards;
    atomic_llong counts[PUBLISHER_OUTCOMES];
    atomic_bool is_heard;
};

/* Batches that are published in one round trip. */
struct taken {
    struct batch *first;
    size_t count; /* of the intents in all of them */
};

/* Take batches from the list, at least one, up to MAX_TOGETHER intents. The caller holds the lock. */
static struct taken take_waiting(struct publisher *publisher)
{
    struct taken taken = { .first = publisher->first };
    struct batch *last, *next = publisher->first;

    do {
        last = next;
        taken.count += last->count;
        next = last->next;
    } while (next && taken.count + next->count <= MAX_TOGETHER);
    last->next = NULL;
    publisher->first = next;
    if (!next)
        publisher->end = &publisher->first;
    publisher->waiting -= taken.count;
    return taken;
}

/* Wait for batches, or until the hint has to be stored: then *out is empty. false: the thread must stop. */
static bool take_batches(struct publisher *publisher, struct taken *out)
{
    bool goes_on;

    *out = (struct taken){ 0 };
    pthread_mutex_lock(&publisher->lock);
    while (!publisher->first && !publisher->stopping &&
           condition_wait_until(&publisher->changed, &publisher->lock, publisher->next_hint_us))
        continue;
    goes_on = !publisher->stopping;
    if (goes_on && publisher->first)
        *out = take_waiting(publisher);
    pthread_mutex_unlock(&publisher->lock);
    return goes_on;
}

/* ---- the history of the database ---- */

static void recall_hint(struct publisher *publisher)
{
    struct str hint;
    ARENA_SCOPE arena;

    arena_init(&arena);
    if (remembered_wants_hint(publisher->remembered) &&
        queue_recall(publisher->queue, &arena, &hint, NULL) == STATUS_OK)
        remembered_offer(publisher->remembered, hint);
}

/* Store the hint. A failure is ignored: the next turn stores it again. */
static void keep_hint(struct publisher *publisher)
{
    struct error err = { 0 };
    struct str hint;
    int64_t epoch;
    ARENA_SCOPE arena;

    arena_init(&arena);
    publisher->next_hint_us = clock_monotonic_us() + HINT_EVERY_US;
    recall_hint(publisher);
    if (remembered_hint(publisher->remembered, &arena, &hint) &&
        queue_remember(publisher->queue, hint, &err) != STATUS_OK)
        log_event(LOG_DEBUG, "keep_history_failed", log_text("why", err.message));
    if (remembered_take_raise(publisher->remembered, &epoch))
        log_event(LOG_WARN, "epoch_raised", log_text("why", "the database was restored or has failed over"),
            log_number("epoch", epoch));
}

/* ---- the thread ---- */

/*
 * Log a change of Redis' availability. While Redis cannot be reached, workers read the intents from the
 * database.
 */
static void say_queue(struct log_repeat *outage, bool reachable, const struct error *err)
{
    struct log_repeat ended;

    if (!reachable && log_repeat_failed(outage, err->message, clock_monotonic_us()))
        log_event(LOG_WARN, "queue", log_text("queue", "unavailable"), log_text("why", err->message),
            log_number("failures", outage->failures));
    else if (reachable && log_repeat_worked(outage, clock_monotonic_us(), &ended))
        log_event(LOG_INFO, "queue", log_text("queue", "available"), log_number("failures", ended.failures));
}

/* The intents of all batches. They borrow the keys from these. */
static struct intent *collect_intents(struct taken taken, struct arena *arena)
{
    struct intent *intents = ARENA_ARRAY(arena, struct intent, taken.count);
    size_t count = 0;

    for (const struct batch *batch = taken.first; batch; batch = batch->next) {
        memcpy(intents + count, batch->intents, batch->count * sizeof(*intents));
        count += batch->count;
    }
    return intents;
}

static void free_batches(struct batch *batch)
{
    while (batch) {
        struct batch *next = batch->next;

        free(batch);
        batch = next;
    }
}

static void publish_batches(struct publisher *publisher, struct taken taken)
{
    struct error err = { 0 };
    size_t published;
    bool reachable;
    ARENA_SCOPE arena;

    arena_init(&arena);
    queue_set_shards(publisher->queue, atomic_load(&publisher->shards));
    reachable = queue_publish(publisher->queue, collect_intents(taken, &arena), taken.count, &published,
                    &err) == STATUS_OK;
    atomic_store(&publisher->is_heard, reachable);
    say_queue(&publisher->outage, reachable, &err);
    FAILPOINT("publisher.after_publish");
    atomic_fetch_add(
        &publisher->counts[reachable ? PUBLISHER_PUBLISHED : PUBLISHER_FAILED], (long long)taken.count);
    free_batches(taken.first);
}

static void *run_publisher(void *context)
{
    struct publisher *publisher = context;
    struct taken taken;

    while (take_batches(publisher, &taken)) {
        if (taken.first)
            publish_batches(publisher, taken);
        if (clock_monotonic_us() >= publisher->next_hint_us)
            keep_hint(publisher);
    }
    return NULL;
}

enum status publisher_start(const struct queue_options *options, struct remembered *remembered,
    struct publisher **out, struct error *err)
{
    struct publisher *publisher;
    struct queue *queue;

    TRY(queue_open(options, &queue, err));
    publisher = xcalloc(1, sizeof(*publisher));
    publisher->queue = queue;
    publisher->remembered = remembered;
    recall_hint(publisher);
    atomic_init(&publisher->is_heard, true);
    atomic_init(&publisher->shards, options->shards);
    publisher->end = &publisher->first;
    pthread_mutex_init(&publisher->lock, NULL);
    condition_init(&publisher->changed);
    if (pthread_create(&publisher->thread, NULL, run_publisher, publisher) != 0) {
        queue_close(queue);
        free(publisher);
        return error_set(err, STATUS_INTERNAL, "cannot start the publisher's thread");
    }
    *out = publisher;
    return STATUS_OK;
}

void publisher_stop(struct publisher *publisher)
{
    if (!publisher)
        return;
    pthread_mutex_lock(&publisher->lock);
    publisher->stopping = true;
    pthread_cond_signal(&publisher->changed);
    pthread_mutex_unlock(&publisher->lock);
    pthread_join(publisher->thread, NULL);
    free_batches(publisher->first);
    queue_close(publisher->queue);
    pthread_cond_destroy(&publisher->changed);
    pthread_mutex_destroy(&publisher->lock);
    free(publisher);
}

static struct str copy_text(char **end, struct str text)
{
    struct str copy = str_of_bytes(*end, text.len);

    if (text.len > 0)
        memcpy(*end, text.data, text.len);
    *end += text.len;
    return copy;
}

static struct batch *batch_of(const struct intent *intents, size_t count)
{
    size_t bytes = sizeof(struct batch) + count * sizeof(struct intent);
    struct batch *batch;
    char *end;

    for (size_t i = 0; i < count; i++)
        bytes += intents[i].key.partition.len + intents[i].key.row.len + intents[i].account.len;
    batch = xmalloc(bytes);
    batch->next = NULL;
    batch->count = count;
    end = (char *)&batch->intents[count];
    for (size_t i = 0; i < count; i++) {
        batch->intents[i] = intents[i];
        batch->intents[i].key.partition = copy_text(&end, intents[i].key.partition);
        batch->intents[i].key.row = copy_text(&end, intents[i].key.row);
        batch->intents[i].account = copy_text(&end, intents[i].account);
    }
    return batch;
}

void publisher_push(struct publisher *publisher, const struct intent *intents, size_t count)
{
    struct batch *batch = batch_of(intents, count);

    pthread_mutex_lock(&publisher->lock);
    if (publisher->waiting + count <= MAX_WAITING && !publisher->stopping) {
        *publisher->end = batch;
        publisher->end = &batch->next;
        publisher->waiting += count;
        batch = NULL;
        pthread_cond_signal(&publisher->changed);
    }
    pthread_mutex_unlock(&publisher->lock);
    if (batch)
        atomic_fetch_add(&publisher->counts[PUBLISHER_DROPPED], (long long)count);
    free(batch);
}

void publisher_set_shards(struct publisher *publisher, int shards)
{
    atomic_store(&publisher->shards, shards);
}

bool publisher_is_heard(const struct publisher *publisher)
{
    return atomic_load(&publisher->is_heard);
}

long long publisher_count(const struct publisher *publisher, enum publisher_outcome outcome)
{
    return atomic_load(&publisher->counts[outcome]);
}
