/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - the operations that wait in a lane, in an order that is fair between accounts.
 *
 * Each account has a queue of its own. The queues take turns (deficit round robin): a turn ends when the account has
 * used up its credit, of which each turn brings the same amount. What an operation costs is charged when it is taken,
 * or after it ran, when its time, or what it has read, is known; credit may become debt, which later turns pay. While
 * only one account waits, it gets everything.
 *
 * An account's operations are taken in the order of their arrival. In an overload, which is when its queue has not been
 * empty for FAIR_QUEUE_MAX_BUSY_US, they are taken in the opposite order: the newest are answered soon, while in order
 * of arrival each would wait as long as the queue is, and be answered when its caller has given up. The oldest wait
 * until the overload is over, their deadline has passed, or they have waited for FAIR_QUEUE_MAX_WAIT_US.
 *
 * How many operations may wait is shared between the accounts as well: base/fair_shares.h. Accounts of one slot there
 * share a queue here.
 *
 * Not safe for several threads: the lane has a lock.
 */
#ifndef STORE_LANES_FAIR_QUEUE_H
#define STORE_LANES_FAIR_QUEUE_H

#include <stdbool.h>

#include "base/fair_shares.h"
#include "domain/operations/operation.h"

enum {
    FAIR_QUEUE_MAX_BUSY_US =
        500000, /* more than the time in which a lane catches up after a stall of the disk */
    FAIR_QUEUE_MAX_WAIT_US = 5000000,
};

/* The operations of one slot that wait, linked by next and previous in the order of their arrival. */
struct fair_flow {
    struct operation *first, *last;
    int64_t busy_since_us;  /* not empty since then */
    struct fair_flow *next; /* in the order of turns; only while operations wait */
    int64_t credit;         /* in the queue's unit of cost; below 0: debt */
};

struct fair_queue {
    struct fair_shares shares;
    int64_t credit_per_turn;
    struct fair_flow *turn; /* whose turn it is; NULL: nothing waits */
    struct fair_flow **last_turn;
    struct fair_flow flows[FAIR_SLOTS];
};

/*
 * max_waiting: operations of one account that may wait while no other waits; fewer than twice as many wait in all.
 * credit_per_turn: above 0, in the unit that the lane counts cost in.
 */
void fair_queue_init(struct fair_queue *queue, int max_waiting, int64_t credit_per_turn);

/*
 * now_us here and below: clock_monotonic_us. false: the account has used up its share of the queue's capacity; the
 * caller keeps the operation.
 */
MUST_USE bool fair_queue_add(struct fair_queue *queue, struct operation *operation, int64_t now_us);

/* The number of operations that wait. */
int fair_queue_count(const struct fair_queue *queue);

/* The operation that is next; it stays in the queue. NULL: nothing waits. */
struct operation *fair_queue_next(struct fair_queue *queue, int64_t now_us);

/* Remove what fair_queue_next has just returned, and charge its account with the cost. */
void fair_queue_take(struct fair_queue *queue, struct operation *next, int64_t cost);

/*
 * Remove the oldest operation of the account whose turn it is, if it is not worth serving: cancelled, past its
 * deadline, or waiting for more than FAIR_QUEUE_MAX_WAIT_US. NULL: it is worth it, or nothing waits.
 */
struct operation *fair_queue_take_overdue(struct fair_queue *queue, int64_t now_us);

/* Whether the operation has waited for more than FAIR_QUEUE_MAX_WAIT_US. */
bool fair_queue_waited_too_long(const struct operation *operation, int64_t now_us);

/* Charge an account with what its operations turned out to cost. */
void fair_queue_charge(struct fair_queue *queue, struct str account, int64_t cost);

#endif
