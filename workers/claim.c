/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c - the mutex is held for the time of a copy at most.
 */
#include "workers/claim.h"
#include "store/dead_letters/claim_work.h"

#include <stdio.h>
#include <string.h>

void claim_init(struct claim *claim, struct str consumer, uint64_t start_id)
{
    *claim = (struct claim){ .count = 0 };
    pthread_mutex_init(&claim->mutex, NULL);
    snprintf(claim->consumer, sizeof(claim->consumer), "%.*s", STR_ARG(consumer));
    snprintf(claim->start_id, sizeof(claim->start_id), "%016llx", (unsigned long long)start_id);
}

void claim_cleanup(struct claim *claim)
{
    pthread_mutex_destroy(&claim->mutex);
}

struct claim_owner claim_owner(const struct claim *claim)
{
    return (struct claim_owner){
        .consumer = claim->consumer, .start_id = claim->start_id, .duration_ms = CLAIM_DURATION_MS
    };
}

void claim_fill(
    struct claim *claim, const struct queue_message *messages, size_t count, bool from_queue, int64_t now_us)
{
    pthread_mutex_lock(&claim->mutex);
    claim->messages = messages;
    claim->count = count;
    claim->from_queue = from_queue;
    claim->since_us = now_us;
    pthread_mutex_unlock(&claim->mutex);
}

void claim_empty(struct claim *claim)
{
    claim_fill(claim, NULL, 0, false, 0);
}

size_t claim_copy(
    struct claim *claim, struct arena *arena, struct queue_message **out, bool *from_queue, int64_t *since_us)
{
    size_t count;

    pthread_mutex_lock(&claim->mutex);
    count = claim->count;
    *from_queue = claim->from_queue;
    *since_us = claim->since_us;
    *out = ARENA_ARRAY(arena, struct queue_message, count);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = claim->messages[i];
        (*out)[i].intent = (struct intent){ .bucket = claim->messages[i].intent.bucket };
    }
    pthread_mutex_unlock(&claim->mutex);
    return count;
}

size_t claim_count(struct claim *claim)
{
    size_t count;

    pthread_mutex_lock(&claim->mutex);
    count = claim->messages ? claim->count : 0;
    pthread_mutex_unlock(&claim->mutex);
    return count;
}
