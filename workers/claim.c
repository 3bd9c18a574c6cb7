/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c - the mutex is held for a copy at most.
 */
#include "workers/claim.h"
#include "store/dead_letters/claim_work.h"

#include <stdio.h>
#include <string.h>

void claim_init(struct hand *hand, struct str holder, uint64_t life)
{
    *hand = (struct hand){ .count = 0 };
    pthread_mutex_init(&hand->mutex, NULL);
    snprintf(hand->holder, sizeof(hand->holder), "%.*s", STR_ARG(holder));
    snprintf(hand->life, sizeof(hand->life), "%016llx", (unsigned long long)life);
}

void claim_cleanup(struct hand *hand)
{
    pthread_mutex_destroy(&hand->mutex);
}

struct claim_owner claim_owner(const struct hand *hand)
{
    return (struct claim_owner){ .holder = hand->holder, .life = hand->life, .hold_ms = CLAIM_HOLD_MS };
}

void claim_fill(
    struct hand *hand, const struct queue_message *messages, size_t count, bool from_queue, int64_t now_us)
{
    pthread_mutex_lock(&hand->mutex);
    hand->messages = messages;
    hand->count = count;
    hand->from_queue = from_queue;
    hand->since_us = now_us;
    pthread_mutex_unlock(&hand->mutex);
}

void claim_empty(struct hand *hand)
{
    claim_fill(hand, NULL, 0, false, 0);
}

size_t claim_copy(
    struct hand *hand, struct arena *arena, struct queue_message **out, bool *from_queue, int64_t *since_us)
{
    size_t count;

    pthread_mutex_lock(&hand->mutex);
    count = hand->count;
    *from_queue = hand->from_queue;
    *since_us = hand->since_us;
    *out = ARENA_ARRAY(arena, struct queue_message, count);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = hand->messages[i];
        (*out)[i].intent = (struct intent){ .bucket = hand->messages[i].intent.bucket };
    }
    pthread_mutex_unlock(&hand->mutex);
    return count;
}
