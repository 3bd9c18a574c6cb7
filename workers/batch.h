/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the messages of one claim: merged by key, run by kind, each with its disposition.
 */
#ifndef WORKERS_BATCH_H
#define WORKERS_BATCH_H

#include "workers/steps/steps.h"

enum disposition {
    DISPOSITION_OPEN, /* not tried yet */
    /* the result, or the time of the next try, is in PostgreSQL: acknowledge */
    DISPOSITION_DONE,
    DISPOSITION_PUT_BACK, /* not tried, and published again: acknowledge */
    DISPOSITION_AGAIN,    /* not done, and not because of the work itself: release */
    /* a kind that this version does not know: do nothing, so that another worker reclaims it */
    DISPOSITION_LEAVE,
};

/* The messages of a batch that name the same work. */
struct item {
    struct intent intent;
    const struct message_step *step; /* NULL: unknown kind */
    int64_t deliveries;              /* the maximum over the messages */
    enum disposition disposition;
    bool is_due;         /* asked: the key does not wait for its next try */
    size_t first, count; /* its messages in the batch */
};

struct batch {
    struct queue_message *messages; /* sorted */
    struct item *items;
    size_t item_count;
    int culprits;                  /* smallest parts that failed */
    int failed;                    /* keys that failed alone */
    int troubles;                  /* keys that were locked, timed out, or whose blocks cannot be read */
    bool gave_way;                 /* many keys failed: the others are released, for new messages */
    int64_t looked_us;             /* when the last look for new messages was */
    size_t put_back;               /* messages that were given back because the work before them took long */
    bool store_failed;             /* the database could not be used: pause before the next claim */
    int64_t together_us, alone_us; /* what the items took that ran together, and one by one */
};

/*
 * Sort the messages in place and group them into items, which are in the arena of ctx. Borrows the
 * messages.
 */
void batch_init(struct batch *batch, struct worker_ctx *ctx, struct queue_message *messages, size_t count);

/*
 * Run every item. Items of a kind that can share a transaction do. If the transaction fails, the
 * items are split into quarters, down to few items, which then run alone, so a failing item does no
 * harm to others. An item that was delivered before without a report runs alone, with a count in
 * the database that survives a crash. An item whose key has failed and whose next try is not due is
 * not tried alone.
 *
 * Afterwards no item is DISPOSITION_OPEN. If many items fail while new messages wait, or very many,
 * the rest is DISPOSITION_AGAIN, so that new messages need not wait for them. If items that run alone
 * take long while new messages wait, those that were not begun are DISPOSITION_PUT_BACK, or DISPOSITION_AGAIN
 * if the queue does not take them all, or such an item was delivered before.
 */
void batch_run(struct batch *batch, struct worker_ctx *ctx);

#endif
