/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - the operations that wait in a lane, in an order that is fair between accounts.
 *
 * Each account has a queue of its own, first in, first out. The queues take turns (deficit round robin): a turn ends when the
 * account has used up its credit, of which each turn brings the same amount. What an operation costs is charged when it is
 * taken, or after it ran, when its time is known; credit may become debt, which later turns pay. While only one account
 * waits, it gets everything.
 *
 * How many operations may wait is shared between the accounts as well: base/fair_shares.h. Accounts of one slot there share a
 * queue here.
 *
 * Not safe for several threads: the lane has a lock.
 */
#ifndef STORE_LANES_FAIR_QUEUE_H
#define STORE_LANES_FAIR_QUEUE_H

#include <stdbool.h>

#include "base/fair_shares.h"
#include "domain/operations/operation.h"

/* The operations of one slot that wait. */
struct fair_flow {
    struct operation *first;
    struct operation **last;
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

/* false: the account has used up its share of the queue's capacity; the caller keeps the operation. */
MUST_USE bool fair_queue_add(struct fair_queue *queue, struct operation *operation);

/* The number of operations that wait. */
int fair_queue_count(const struct fair_queue *queue);

/* The operation that is next; it stays in the queue. NULL: nothing waits. */
struct operation *fair_queue_next(struct fair_queue *queue);

/* Remove what fair_queue_next has just returned, and charge its account with the cost. */
void fair_queue_take(struct fair_queue *queue, int64_t cost);

/* Charge an account with what its operations turned out to cost. */
void fair_queue_charge(struct fair_queue *queue, struct str account, int64_t cost);

#endif
