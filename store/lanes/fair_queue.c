/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.c - see the header.
 */
#include "store/lanes/fair_queue.h"

/* Turns: what an account owes at most, so that one expensive operation does not shut it out for long. */
enum { MAX_DEBT_TURNS = 64 };

void fair_queue_init(struct fair_queue *queue, int max_waiting, int64_t credit_per_turn)
{
    fair_shares_init(&queue->shares, max_waiting);
    queue->credit_per_turn = credit_per_turn;
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

bool fair_queue_add(struct fair_queue *queue, struct operation *operation)
{
    int slot = fair_shares_slot(&queue->shares, operation->account);
    struct fair_flow *flow = &queue->flows[slot];

    if (!fair_shares_take(&queue->shares, slot, 1))
        return false;
    if (!flow->first) {
        flow->last = &flow->first;
        flow->credit += queue->credit_per_turn;
        append_turn(queue, flow);
    }
    operation->next = NULL;
    *flow->last = operation;
    flow->last = &operation->next;
    return true;
}

int fair_queue_count(const struct fair_queue *queue)
{
    return (int)queue->shares.held;
}

struct operation *fair_queue_next(struct fair_queue *queue)
{
    if (!queue->turn)
        return NULL;
    while (queue->turn->credit <= 0) {
        struct fair_flow *flow = remove_turn(queue);

        flow->credit += queue->credit_per_turn;
        append_turn(queue, flow);
    }
    return queue->turn->first;
}

static void charge(const struct fair_queue *queue, struct fair_flow *flow, int64_t cost)
{
    int64_t min_credit = -MAX_DEBT_TURNS * queue->credit_per_turn;

    flow->credit -= cost;
    if (flow->credit < min_credit)
        flow->credit = min_credit;
}

void fair_queue_take(struct fair_queue *queue, int64_t cost)
{
    struct fair_flow *flow = queue->turn;

    flow->first = flow->first->next;
    charge(queue, flow, cost);
    fair_shares_give_back(&queue->shares, (int)(flow - queue->flows), 1);
    if (flow->first)
        return;
    (void)remove_turn(queue);
    if (flow->credit > 0)
        flow->credit = 0; /* an idle account saves up no turns */
}

void fair_queue_charge(struct fair_queue *queue, struct str account, int64_t cost)
{
    charge(queue, &queue->flows[fair_shares_slot(&queue->shares, account)], cost);
}
