/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.c - see the header.
 */
#include "store/lanes/fair_queue.h"

#include "domain/operations/operation_times.h"

/*
 * In turns: the maximum debt of an account, so that one expensive operation does not exclude the
 * account for long.
 */
enum { MAX_DEBT_TURNS = 64 };

void fair_queue_init(struct fair_queue *queue, int max_waiting, int64_t credit_per_turn, int max_running)
{
    fair_shares_init(&queue->shares, max_waiting);
    queue->credit_per_turn = credit_per_turn;
    queue->max_running = max_running;
    queue->turn = NULL;
    queue->last_turn = &queue->turn;
    for (int i = 0; i < FAIR_SLOTS; i++)
        queue->flows[i] = (struct fair_flow){ .credit = 0 };
}

static void append_turn(struct fair_queue *queue, struct fair_flow *flow)
{
    flow->next = NULL;
    *queue->last_turn = flow;
    queue->last_turn = &flow->next;
}

static struct fair_flow *remove_turn(struct fair_queue *queue)
{
    struct fair_flow *flow = queue->turn;

    queue->turn = flow->next;
    if (!queue->turn)
        queue->last_turn = &queue->turn;
    return flow;
}

static void append(struct fair_flow *flow, struct operation *operation)
{
    operation->next = NULL;
    operation->previous = flow->last;
    *(flow->last ? &flow->last->next : &flow->first) = operation;
    flow->last = operation;
    flow->waiting++;
}

static void unlink_operation(struct fair_flow *flow, struct operation *operation)
{
    *(operation->previous ? &operation->previous->next : &flow->first) = operation->next;
    *(operation->next ? &operation->next->previous : &flow->last) = operation->previous;
    flow->waiting--;
}

bool fair_queue_add(struct fair_queue *queue, struct operation *operation, int64_t now_us)
{
    int slot = fair_shares_slot(&queue->shares, operation->account);
    struct fair_flow *flow = &queue->flows[slot];

    if (!fair_shares_take(&queue->shares, slot, 1))
        return false;
    if (!flow->first) {
        flow->busy_since_us = flow->counted_since_us = now_us;
        flow->taken = 0;
        flow->credit += queue->credit_per_turn;
        append_turn(queue, flow);
    }
    append(flow, operation);
    return true;
}

int fair_queue_count(const struct fair_queue *queue)
{
    return (int)queue->shares.held;
}

/* Count anew from now on, at times FAIR_QUEUE_MAX_BUSY_US apart. */
static void count_taken(struct fair_flow *flow, int64_t now_us)
{
    int64_t time_us = now_us - flow->counted_since_us;

    if (time_us < FAIR_QUEUE_MAX_BUSY_US)
        return;
    flow->taken_before = (int)((int64_t)flow->taken * FAIR_QUEUE_MAX_BUSY_US / time_us);
    flow->taken = 0;
    flow->counted_since_us = now_us;
}

static bool is_overloaded(const struct fair_flow *flow, int64_t now_us)
{
    return now_us - flow->busy_since_us > FAIR_QUEUE_MAX_BUSY_US &&
           (int64_t)flow->waiting * FAIR_QUEUE_MAX_BUSY_US >
               (int64_t)flow->taken_before * FAIR_QUEUE_MAX_DELAY_US;
}

static bool may_run(const struct fair_queue *queue, const struct fair_flow *flow)
{
    return queue->max_running == 0 || flow->running < queue->max_running;
}

bool fair_queue_has_next(const struct fair_queue *queue)
{
    for (const struct fair_flow *flow = queue->turn; flow; flow = flow->next)
        if (may_run(queue, flow))
            return true;
    return false;
}

/* An account that is passed over, because enough of its operations run, gets no credit for it. */
struct operation *fair_queue_next(struct fair_queue *queue, int64_t now_us)
{
    if (!fair_queue_has_next(queue))
        return NULL;
    while (!may_run(queue, queue->turn) || queue->turn->credit <= 0) {
        struct fair_flow *flow = remove_turn(queue);

        if (may_run(queue, flow))
            flow->credit += queue->credit_per_turn;
        append_turn(queue, flow);
    }
    count_taken(queue->turn, now_us);
    return is_overloaded(queue->turn, now_us) ? queue->turn->last : queue->turn->first;
}

static void charge(const struct fair_queue *queue, struct fair_flow *flow, int64_t cost)
{
    int64_t min_credit = -MAX_DEBT_TURNS * queue->credit_per_turn;

    flow->credit -= cost;
    if (flow->credit < min_credit)
        flow->credit = min_credit;
}

void fair_queue_take(struct fair_queue *queue, struct operation *next, int64_t cost)
{
    struct fair_flow *flow = queue->turn;

    unlink_operation(flow, next);
    flow->taken++;
    charge(queue, flow, cost);
    fair_shares_give_back(&queue->shares, (int)(flow - queue->flows), 1);
    if (flow->first)
        return;
    (void)remove_turn(queue);
    if (flow->credit > 0)
        /* an idle account does not save up credit */
        flow->credit = 0;
}

bool fair_queue_waited_too_long(const struct operation *operation, int64_t now_us)
{
    int64_t arrived_us = operation_times_arrived_us(operation), waited_us = now_us - arrived_us;

    if (arrived_us == 0)
        return false;
    return waited_us > FAIR_QUEUE_MAX_WAIT_US ||
           (waited_us > FAIR_QUEUE_MAX_BUSY_US &&
               operation->deadline_us - now_us < waited_us / FAIR_QUEUE_LAST_FRACTION);
}

struct operation *fair_queue_take_overdue(struct fair_queue *queue, int64_t now_us)
{
    struct operation *oldest = queue->turn ? queue->turn->first : NULL;

    if (!oldest || (!atomic_load(&oldest->cancelled) && oldest->deadline_us > now_us &&
                       !fair_queue_waited_too_long(oldest, now_us)))
        return NULL;
    fair_queue_take(queue, oldest, 0);
    return oldest;
}

void fair_queue_charge(struct fair_queue *queue, struct str account, int64_t cost)
{
    charge(queue, &queue->flows[fair_shares_slot(&queue->shares, account)], cost);
}

int fair_queue_begin(struct fair_queue *queue, struct str account)
{
    int slot = fair_shares_slot(&queue->shares, account);

    queue->flows[slot].running++;
    return slot;
}

void fair_queue_end(struct fair_queue *queue, int running)
{
    queue->flows[running].running--;
}

void fair_queue_let_all_run(struct fair_queue *queue)
{
    queue->max_running = 0;
}
