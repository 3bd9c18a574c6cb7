/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweeper.h - one thread per worker that purges now and then: dead rows through the floor (guard
 * G3), old commit markers, finished transactions past their retention. Only the holder of bucket
 * range 0 does it.
 */
#ifndef WORKERS_SWEEPER_H
#define WORKERS_SWEEPER_H

/* Runs rounds until the worker stops; argument: a struct worker_ctx *. */
void *sweeper_thread(void *argument);

#endif
