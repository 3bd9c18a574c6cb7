/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.h - what the threads of a worker know about queues: how operators control them, and how
 * many intents were applied.
 *
 * Work that is held back (paused, or newer than a drain) is not begun: its messages are
 * acknowledged, because the intents stay in PostgreSQL and are published again once they are
 * allowed. Work with a rate limit never goes through Redis: consumers take it from PostgreSQL, as
 * many intents as they have permits for.
 */
#ifndef WORKERS_QUEUES_H
#define WORKERS_QUEUES_H

#include <pthread.h>
#include <stdatomic.h>

#include "domain/intents/intent.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"
#include "store/session/worker.h"

enum { QUEUE_SLOTS = MAX_QUEUES * WORK_KINDS, MAX_APPLIED = 1024 };

struct queues {
    atomic_int count;
    atomic_bool controlled; /* some work is held back or limited */
    atomic_llong intents_before_us[QUEUE_SLOTS];
    atomic_llong rates[QUEUE_SLOTS];
    atomic_llong open_intents[QUEUE_SLOTS], lag_us[QUEUE_SLOTS]; /* in the bucket ranges held */
    atomic_llong applied_total[QUEUE_SLOTS];

    pthread_mutex_t mutex; /* of the rest */
    struct applied applied[MAX_APPLIED];
    size_t applied_count;
};

void queues_init(struct queues *queues);
void queues_cleanup(struct queues *queues);

/* true: the number of queues, or a control, has changed. */
bool queues_set_count(struct queues *queues, int count);
bool queues_set_controls(struct queues *queues, const struct queue_control controls[QUEUE_SLOTS], bool any);

/* Whether an intent that came as a message may be worked on now. */
bool queues_allow(const struct queues *queues, const struct intent *intent);

/* The scope of the work without a rate limit, in `out`; NULL: no work is controlled, so it is all. */
const struct scan_scope *queues_free_scope(const struct queues *queues, struct scan_scope *out);

/* The next kind of work, from `slot` on, that has a rate limit; QUEUE_SLOTS: there is none. */
int queues_next_limited(const struct queues *queues, int slot);

/* Count applied intents. */
void queues_count_applied(struct queues *queues, const struct intent *intent, size_t count);

/* Take the counts, and reset them; returns their number. */
size_t queues_take_applied(struct queues *queues, struct applied out[MAX_APPLIED]);

#endif
