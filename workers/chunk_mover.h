/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_mover.h - the thread that moves chunks of blobs between their stores. It is a thread of its own, so that a slow
 * store delays nothing else.
 */
#ifndef WORKERS_CHUNK_MOVER_H
#define WORKERS_CHUNK_MOVER_H

/* argument: the thread's struct worker_ctx. */
void *chunk_mover_thread(void *argument);

#endif
