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
    int first_lane;               /* of the next look: each in its turn */
    int64_t next_reclaim_us;
    bool reclaimed;            /* and nothing new since */
    int64_t next_suspicion_us; /* when to look after dead pollers again */
    int64_t next_limited_us;   /* when limited work is looked for next */
    int64_t failure_pause_ms;  /* grows while the database fails */
};

/*
 * One turn: messages of silent consumers, or new ones from Redis; where Redis cannot be relied on, open intents of
 * the leased lanes from PostgreSQL; work that is limited always from there. Returns how many messages or intents
 * there were.
 */
size_t loop_turn(struct loop *loop);

/* Turns until the worker stops; argument: a struct worker_ctx *. */
void *loop_thread(void *argument);

#endif
