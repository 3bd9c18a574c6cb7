/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - a thread that publishes intents to the queue just after their commit.
 *
 * If too many intents wait, or Redis cannot be reached, the thread drops intents. The workers' relay publishes them
 * later.
 */
#ifndef SERVICE_PUBLISHER_H
#define SERVICE_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "queue/queue.h"
#include "store/connection/remembered.h"

struct publisher;

/*
 * remembered  borrowed. The history that an earlier run of the program stored in the queue is read here, before the
 *             first connection to the database, and stored once a second. If the queue cannot be reached, this takes
 *             about a second, and the thread tries again.
 */
MUST_USE enum status publisher_start(const struct queue_options *options, struct remembered *remembered,
    struct publisher **out, struct error *err);

/* Finish what is being sent, and drop the rest. Accepts NULL. */
void publisher_stop(struct publisher *publisher);

/* Set the number of streams. May be called from any thread. */
void publisher_set_shards(struct publisher *publisher, int shards);

/* Copy the intents and return at once. May be called from any thread. */
void publisher_push(struct publisher *publisher, const struct intent *intents, size_t count);

enum publisher_outcome { PUBLISHER_PUBLISHED, PUBLISHER_FAILED, PUBLISHER_DROPPED, PUBLISHER_OUTCOMES };

/* Whether Redis has accepted what was sent last. true before anything was sent. */
bool publisher_is_heard(const struct publisher *publisher);

/* The number of intents with this outcome. */
long long publisher_count(const struct publisher *publisher, enum publisher_outcome outcome);

#endif
