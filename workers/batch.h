/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the messages of one claim: coalesced by key, run by kind, each given its disposition.
 */
#ifndef WORKERS_BATCH_H
#define WORKERS_BATCH_H

#include "workers/steps/steps.h"

enum disposition {
    DISPOSITION_OPEN,  /* not tried yet */
    DISPOSITION_DONE,  /* what there is to say about it is in PostgreSQL: acknowledge */
    DISPOSITION_AGAIN, /* no fault of the work, or no time: hand back */
    DISPOSITION_LEAVE, /* not for this version of the program: keep silent, somebody else will get it */
};

/* Messages that name the same work. */
struct item {
    struct intent intent;
    const struct message_step *step; /* NULL: unknown kind */
    int64_t deliveries;              /* the most any of the messages has */
    enum disposition disposition;
    size_t first, count; /* the messages */
};

struct batch {
    struct queue_message *messages; /* sorted */
    struct item *items;
    size_t item_count;
    int culprits;      /* parts of few keys that failed together */
    int failed;        /* keys that failed alone */
    int troubles;      /* keys that others kept locked, that took too long, or whose blocks cannot be read */
    bool store_failed; /* the database could not be used: pause before the next claim */
};

/* Sort and group; messages is sorted in place and borrowed. Items are in ctx' arena. */
void batch_init(struct batch *batch, struct worker_ctx *ctx, struct queue_message *messages, size_t count);

/*
 * Run it. Kinds that can be done together are, in one transaction; if that fails each quarter of them is, and so on,
 * until a culprit has few beside it; those run alone, so that it harms nobody else. A key that was delivered before
 * without a report runs alone, with a count in the database that outlives a crash. After this no item is
 * DISPOSITION_OPEN. Where very many fail, the rest of them is DISPOSITION_AGAIN: what is new must not wait for all of
 * it.
 */
void batch_run(struct batch *batch, struct worker_ctx *ctx);

#endif
