/* SPDX-License-Identifier: Apache-2.0 */
/* queue_operations.h - operations by which operators list and control queues. */
#ifndef DOMAIN_OPERATIONS_QUEUE_OPERATIONS_H
#define DOMAIN_OPERATIONS_QUEUE_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/intents/queue_control.h"

struct operation_queues {
    int32_t queues; /* QUEUE_RESHARD: how many there are from now on */
    int32_t queue;  /* control: which; below 0: all */
    int16_t kind;   /* control: enum intent_kind; 0: both */
    enum queue_action action;
    int64_t rate;
};

/* One kind of work of one queue. */
struct queue_view {
    int32_t queue;
    int16_t kind;
    enum work_state state;
    struct queue_control control;
    int64_t open_intents, oldest_age_us;
    double per_second; /* intents applied, lately */
};

struct outcome_queues {
    struct queue_map map;
    struct queue_view *views;
    size_t count;
};

#endif
