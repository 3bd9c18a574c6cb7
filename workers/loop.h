/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - a consumer: claim, work, settle, acknowledge, again.
 */
#ifndef WORKERS_LOOP_H
#define WORKERS_LOOP_H

#include "workers/scan_marks.h"
#include "workers/worker.h"

struct loop {
    struct worker_ctx *ctx;
    struct scan_marks scan_marks; /* for polling */
    /* where the next scan begins, so that no bucket range is favoured */
    int first_range;
    int64_t next_reclaim_us;
    bool reclaimed;            /* the last claim had reclaimed messages: look for new ones first */
    int64_t next_suspicion_us; /* when to look for claims of dead workers next */
    int64_t next_limited_us;   /* when to look for limited work next */
    int64_t failure_pause_ms;  /* grows while the database fails */
    int first_limited;         /* the queue_slot where the next look for limited work begins */
    size_t claim_size;         /* of the next claim; 0: none was made yet */
};

/*
 * One turn: claim messages that other consumers have left, or new ones, from Redis; if Redis cannot
 * be relied on, claim open intents of the leased bucket ranges from PostgreSQL. Work with a rate
 * limit is always claimed from PostgreSQL. Run them and settle them: what is done is acknowledged
 * with the next claim, or before anything else that may take long. Returns the number of messages or
 * intents.
 */
size_t loop_turn(struct loop *loop);

/* Turns until the worker stops; argument: a struct worker_ctx *. */
void *loop_thread(void *argument);

#endif
