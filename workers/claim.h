/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - the batch that a consumer is working on, for the thread that renews claims
 * (lease_renewal.h).
 */
#ifndef WORKERS_CLAIM_H
#define WORKERS_CLAIM_H

#include <pthread.h>
#include <stdbool.h>

#include "queue/queue.h"
#include "store/dead_letters/claim_work.h"
#include "store/session/worker.h"

/* How long a claim of polled intents lasts in the database, unless it is renewed. */
enum { CLAIM_DURATION_MS = 5000 };

struct claim {
    pthread_mutex_t mutex;
    char consumer[128];                   /* the consumer's name, in Redis too */
    char start_id[17];                    /* random; another one each time the worker starts */
    const struct queue_message *messages; /* borrowed until claim_empty */
    size_t count;
    bool from_queue; /* claimed in Redis; else in the database (store/dead_letters/claim_work.h) */
    int64_t since_us;
};

void claim_init(struct claim *claim, struct str consumer, uint64_t start_id);
void claim_cleanup(struct claim *claim);
struct claim_owner claim_owner(const struct claim *claim);

/* The caller keeps the messages unchanged until claim_empty. */
void claim_fill(
    struct claim *claim, const struct queue_message *messages, size_t count, bool from_queue, int64_t now_us);
void claim_empty(struct claim *claim);

/* The number of messages of the claim. */
size_t claim_count(struct claim *claim);

/* Copy the messages without the intents' keys. Returns their number: 0 if the claim is empty. */
size_t claim_copy(struct claim *claim, struct arena *arena, struct queue_message **out, bool *from_queue,
    int64_t *since_us);

#endif
