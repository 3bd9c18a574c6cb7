/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - what a consumer has in hand at the moment, for its worker's keeper (lease_renewal.h) to renew.
 */
#ifndef WORKERS_CLAIM_H
#define WORKERS_CLAIM_H

#include <pthread.h>
#include <stdbool.h>

#include "queue/queue.h"
#include "store/dead_letters/claim_work.h"
#include "store/session/worker.h"

enum {
    CLAIM_HOLD_MS = 5000
}; /* how long a batch that did not come from the queue is in hand, unless renewed */

struct hand {
    pthread_mutex_t mutex;
    char holder[128];                     /* the consumer's name, in Redis too */
    char life[17];                        /* another one each time the worker starts */
    const struct queue_message *messages; /* borrowed until the hand is emptied */
    size_t count;
    bool from_queue;
    int64_t since_us;
};

void claim_init(struct hand *hand, struct str holder, uint64_t life);
void claim_cleanup(struct hand *hand);
struct claim_owner claim_owner(const struct hand *hand);

/* Messages stay as they are until claim_empty. */
void claim_fill(
    struct hand *hand, const struct queue_message *messages, size_t count, bool from_queue, int64_t now_us);
void claim_empty(struct hand *hand);

/* A copy without the intents' texts: of an empty hand nothing. Returns how many messages. */
size_t claim_copy(
    struct hand *hand, struct arena *arena, struct queue_message **out, bool *from_queue, int64_t *since_us);

#endif
