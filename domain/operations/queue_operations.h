/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_operations.h - the operations with which operators list and control queues.
 */
#ifndef DOMAIN_OPERATIONS_QUEUE_OPERATIONS_H
#define DOMAIN_OPERATIONS_QUEUE_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/intents/queue_control.h"

struct operation_queues {
    int32_t queues; /* QUEUE_RESHARD: the new number of queues */
    int32_t queue;  /* control: which queue; below 0: all */
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
    double per_second; /* intents applied per second in recent time */
};

/* What a worker has said of itself last. */
struct worker_view {
    struct str name;
    int64_t started_us, report_age_us; /* since 1970; ago */
    int32_t threads, leases, claimed_keys;
    int64_t reconciled, stepped, retried, buried; /* since its start */
    struct str operations;                        /* kind and target, one a line */
};

struct outcome_queues {
    struct queue_map map;
    struct queue_view *views;
    size_t count;
    struct worker_view *workers; /* lists only */
    size_t worker_count;
};

/* What all workers together have not done. */
struct outcome_backlog {
    int64_t lag_us; /* how long the oldest open intent has waited; 0: none is open */
    int64_t
        dead_letters; /* those that are not discarded; more than 10,000 of a kind of work count as 10,000 */
};

#endif
