/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_work.h - carries out long-running operations (jobs), a chunk at a time.
 */
#ifndef STORE_JOB_WORK_H
#define STORE_JOB_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/session/worker.h"

/*
 * Do one chunk of one running operation that no other worker is working on. *worked is false if
 * there is none. Each chunk ends with its checkpoint committed.
 */
MUST_USE enum status job_work_run(struct worker *store, bool *worked, struct error *err);

/*
 * As job_work_run, for the passes of the scrub. If another pass is due, it is begun first:
 * store/verification/scrub.h.
 */
MUST_USE enum status job_work_scrub(struct worker *store, bool *worked, struct error *err);

/* What a turn of a move of chunks has met. */
struct chunk_turn {
    bool worked;        /* as of job_work_run */
    bool is_store_down; /* it has failed: a store of chunks, with every chunk */
};

/*
 * As job_work_run, for a move of chunks of blobs: store/background/chunk_move.h. is_stopping(who) is asked while a
 * store works.
 */
MUST_USE enum status job_work_move_chunks(struct worker *store, bool (*is_stopping)(const void *who),
    const void *who, struct chunk_turn *turn, struct error *err);

#endif
