/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_control.h - how operators control queues: each queue has all kinds of work, and each kind
 * can be paused, drained, or limited.
 *
 *                pause                       drain: what was open then is worked on, nothing newer
 *     RUNNING ----------> PAUSED    RUNNING, PAUSED ----------> DRAINING ----------> PAUSED
 *        ^                  |                                       |   nothing is left
 *        '------ resume ----+---------------------------------------'
 *
 * A queue accepts new intents in every state. Pure.
 */
#ifndef DOMAIN_INTENTS_QUEUE_CONTROL_H
#define DOMAIN_INTENTS_QUEUE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum { WORK_KINDS = 4, MAX_QUEUES = 64, DEFAULT_QUEUES = 4 };

/*
 * How work is spread over queues. It can change at any time; a program that still uses the old map
 * works correctly, but on other queues.
 */
struct queue_map {
    int64_t version;
    int queues; /* the queue of an intent is bucket % queues */
};

enum queue_action {
    QUEUE_PAUSE = 1,
    QUEUE_RESUME = 2,
    QUEUE_DRAIN = 3,
    QUEUE_LIMIT_RATE = 4,
    QUEUE_RESHARD = 5
};

enum work_state { WORK_RUNNING = 1, WORK_PAUSED = 2, WORK_DRAINING = 3 };

/* The control of one kind of work of one queue. */
struct queue_control {
    /* only intents made before this time are worked on; 0: none, INT64_MAX: all */
    int64_t intents_before_us;
    int64_t rate; /* intents per second; 0: no limit. Draining ignores it */
};

static inline int queue_control_queue_of(int16_t bucket, int queues)
{
    return bucket % queues;
}

/*
 * The index of a kind of work of a queue in arrays of MAX_QUEUES * WORK_KINDS; below 0: there is no
 * such queue or kind.
 */
static inline int queue_slot(int queue, int kind)
{
    return kind >= 1 && kind <= WORK_KINDS && queue >= 0 && queue < MAX_QUEUES ? queue * WORK_KINDS + kind - 1
                                                                               : -1;
}

/* oldest_us: the time of the oldest open intent; 0: none is open. */
enum work_state work_state_of(const struct queue_control *control, int64_t oldest_us);

/* The time that this much work takes at this rate; below 0: unknown. */
int64_t queue_control_time_to_fresh_us(int64_t open_intents, double per_second);

#endif
