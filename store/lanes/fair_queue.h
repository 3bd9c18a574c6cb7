/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - the operations that wait in a lane, in an order that is fair between accounts.
 *
 * Each account has a queue of its own. The queues take turns (deficit round robin): each turn
 * brings the same amount of credit, and ends when the credit is used up. The cost of an operation
 * is charged when it is taken, or after it has run, when its time, or the bytes it has read, are
 * known. Credit may become debt, which later turns pay. If only one account waits, it gets all
 * turns.
 *
 * The operations of an account are taken in the order of arrival. In an overload they are taken in
 * the opposite order: the newest are answered soon, whereas in the order of arrival each would wait
 * for the whole queue, and be answered after its caller has given up. It is an overload if an
 * account's queue has not been empty for FAIR_QUEUE_MAX_BUSY_US, and more operations wait in it than
 * were taken lately in FAIR_QUEUE_MAX_DELAY_US. The oldest operations wait until the overload is
 * over, or are refused when they have waited for FAIR_QUEUE_MAX_WAIT_US or for nearly as long as
 * their callers wait.
 *
 * A turn cannot end an operation that runs: the one that comes behind it waits, however short it is itself. So a lane
 * with long operations also bounds how many batches of one account run at once, and has a thread more than that.
 *
 * The number of waiting operations is shared between the accounts as well: base/fair_shares.h.
 * Accounts with the same slot there share a queue here.
 *
 * Not thread-safe: the lane has a lock.
 */
#ifndef STORE_LANES_FAIR_QUEUE_H
#define STORE_LANES_FAIR_QUEUE_H

#include <stdbool.h>

#include "base/fair_shares.h"
#include "domain/operations/operation.h"

enum {
    /* Longer than a lane needs to catch up after a stall of the disk. */
    FAIR_QUEUE_MAX_BUSY_US = 500000,
    FAIR_QUEUE_MAX_DELAY_US = 50000,
    /*
     * Longer than the 5 seconds after which PostgreSQL ends a session that holds locks and does
     * nothing: operations behind such a lock then run, and are not refused a moment before.
     */
    FAIR_QUEUE_MAX_WAIT_US = 7000000,
    /*
     * An operation that has waited for at least FAIR_QUEUE_MAX_BUSY_US is refused when this fraction
     * of that time is left before its deadline. A call that is answered costs gRPC's core a fraction
     * of one that expires or is cancelled, and its caller learns that nothing was done.
     */
    FAIR_QUEUE_LAST_FRACTION = 16,
};

/* The waiting operations of one slot, linked by next and previous in the order of arrival. */
struct fair_flow {
    struct operation *first, *last;
    int64_t busy_since_us; /* since when the queue has not been empty */
    int waiting, running;
    /* Operations taken since counted_since_us, and in the FAIR_QUEUE_MAX_BUSY_US before. */
    int taken, taken_before;
    int64_t counted_since_us;
    struct fair_flow *next; /* in the order of turns, while operations wait */
    int64_t credit;         /* in the queue's unit of cost; below 0: debt */
};

struct fair_queue {
    struct fair_shares shares;
    int64_t credit_per_turn;
    int max_running;
    struct fair_flow *turn; /* the flow whose turn it is; NULL: nothing waits */
    struct fair_flow **last_turn;
    struct fair_flow flows[FAIR_SLOTS];
};

/*
 * max_waiting: how many operations of one account may wait while no other account has any; in all,
 * fewer than twice as many wait.
 * credit_per_turn: above 0, in the lane's unit of cost. max_running: how many batches of one account may run at once;
 * 0: any number.
 */
void fair_queue_init(struct fair_queue *queue, int max_waiting, int64_t credit_per_turn, int max_running);

/*
 * Add an operation. false: the account has used up its share of the queue, and the caller keeps the
 * operation. now_us, here and below: clock_monotonic_us.
 */
MUST_USE bool fair_queue_add(struct fair_queue *queue, struct operation *operation, int64_t now_us);

/* The number of operations that wait. */
int fair_queue_count(const struct fair_queue *queue);

/* Whether an operation may be taken: one waits, and not so many batches of its account run as may. */
bool fair_queue_has_next(const struct fair_queue *queue);

/* The operation that is to be taken next; it stays in the queue. NULL: there is none that may be taken. */
struct operation *fair_queue_next(struct fair_queue *queue, int64_t now_us);

/*
 * Remove the operation that fair_queue_next has just returned, and charge its account with the
 * cost.
 */
void fair_queue_take(struct fair_queue *queue, struct operation *next, int64_t cost);

/*
 * Remove the oldest operation of the account whose turn it is, if serving it is useless: it is
 * cancelled, past its deadline, or has waited for too long. NULL: it is not useless, or nothing
 * waits.
 */
struct operation *fair_queue_take_overdue(struct fair_queue *queue, int64_t now_us);

/*
 * Whether the operation has waited for more than FAIR_QUEUE_MAX_WAIT_US, or for so long that it is
 * refused before its deadline passes.
 */
bool fair_queue_waited_too_long(const struct operation *operation, int64_t now_us);

/* Charge an account with costs of its operations that became known later. */
void fair_queue_charge(struct fair_queue *queue, struct str account, int64_t cost);

/*
 * A batch of the account runs from now on, until fair_queue_end gets the number that is returned. With max_running
 * 0 they need not be called.
 */
int fair_queue_begin(struct fair_queue *queue, struct str account);
void fair_queue_end(struct fair_queue *queue, int running);

/* From now on any number of batches of one account may run. */
void fair_queue_let_all_run(struct fair_queue *queue);

#endif
