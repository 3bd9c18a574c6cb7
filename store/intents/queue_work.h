/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_work.h - how workers read the controls of queues and take permits, and report what they
 * have applied.
 */
#ifndef STORE_INTENTS_QUEUE_WORK_H
#define STORE_INTENTS_QUEUE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/queue_control.h"

struct worker;

/*
 * Read how work is spread over queues, and how operators control each queue, by queue_slot. *any:
 * at least one queue is controlled.
 */
MUST_USE enum status queue_work_read_controls(struct worker *store, struct queue_map *map,
    struct queue_control out[MAX_QUEUES * WORK_KINDS], bool *any, struct error *err);

/*
 * Take permits for up to `wanted` intents of a queue with a rate limit; returns how many may be
 * worked on now. If the queue has no limit any more, that is all of them.
 */
MUST_USE enum status queue_work_take_permits(
    struct worker *store, int queue, int kind, int64_t wanted, int64_t *granted, struct error *err);

/* Store the number of intents applied since the last call. */
struct applied {
    int64_t table_id;
    int16_t queue, kind;
    int64_t count;
};
MUST_USE enum status queue_work_add_applied(
    struct worker *store, const struct applied *applied, size_t count, struct error *err);

#endif
