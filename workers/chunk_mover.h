/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_mover.h - the thread that moves chunks of blobs between their stores. It is a thread of its own, so that a slow
 * store delays nothing else.
 */
#ifndef WORKERS_CHUNK_MOVER_H
#define WORKERS_CHUNK_MOVER_H

#include <stdint.h>

struct worker_ctx;

struct chunk_mover {
    struct worker_ctx *ctx;
    int32_t store_failures; /* turns in a row in which a store was down */
};

/* Move some chunks; returns the pause after it, in milliseconds. */
int64_t chunk_mover_turn(struct chunk_mover *mover);

/* argument: the thread's struct worker_ctx. */
void *chunk_mover_thread(void *argument);

#endif
