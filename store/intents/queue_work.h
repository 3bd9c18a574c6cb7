/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_work.h - what workers read of the queues' controls, and what they report as applied.
 */
#ifndef STORE_INTENTS_QUEUE_WORK_H
#define STORE_INTENTS_QUEUE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/queue_control.h"
#include "store/session/worker.h"

/* How work is spread over queues and how operators control these, by queue_slot; *any: some queue is controlled. */
MUST_USE enum status queue_work_read_controls(struct worker *store, struct queue_map *map,
    struct queue_control out[MAX_QUEUES * WORK_KINDS], bool *any, struct error *err);

/* How many of `wanted` intents of a queue that is limited may be worked on now; all, if it is not limited any more. */
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
