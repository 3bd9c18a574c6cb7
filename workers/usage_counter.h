/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_counter.h - one thread per worker that counts what accounts hold, a chunk at a time, and
 * rests between the chunks so that it takes TAVOLA_USAGE_SHARE of the time. Only the holder of
 * bucket range 0 does it.
 */
#ifndef WORKERS_USAGE_COUNTER_H
#define WORKERS_USAGE_COUNTER_H

/* Counts chunk after chunk until the worker stops; argument: a struct worker_ctx *. */
void *usage_counter_thread(void *argument);

#endif
