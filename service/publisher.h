/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - the fast path of intents: a thread that puts what was just committed into the queue.
 *
 * Hints only: what it drops - too many are waiting, Redis is away - the workers' relay publishes.
 */
#ifndef SERVICE_PUBLISHER_H
#define SERVICE_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "queue/queue.h"
#include "store/session/remembered.h"

struct publisher;

/*
 * remembered: borrowed; what it was told in the program's last life is asked for here, before anybody connects to the
 * database, and kept in the queue once a second. A queue that cannot be reached costs about a second, and is asked
 * again.
 */
MUST_USE enum status publisher_start(const struct queue_options *options, struct remembered *remembered,
    struct publisher **out, struct error *err);

/* Stop after what is being sent; the rest is dropped. Accepts NULL. */
void publisher_stop(struct publisher *publisher);

/* How many streams there are from now on; from any thread. */
void publisher_set_shards(struct publisher *publisher, int shards);

/* Copy the intents and return at once; from any thread. */
void publisher_push(struct publisher *publisher, const struct intent *intents, size_t count);

enum publisher_outcome { PUBLISHER_PUBLISHED, PUBLISHER_FAILED, PUBLISHER_DROPPED, PUBLISHER_OUTCOMES };

/* Whether Redis took what was published last; true before anything was. */
bool publisher_is_heard(const struct publisher *publisher);

/* So many intents had this outcome. */
long long publisher_count(const struct publisher *publisher, enum publisher_outcome outcome);

#endif
