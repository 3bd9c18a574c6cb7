/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrubber.h - one thread per worker that verifies all indexes, a chunk at a time, and rests
 * between the chunks so that it takes TAVOLA_SCRUB_SHARE of the time. Only the holder of bucket
 * range 0 does it.
 */
#ifndef WORKERS_SCRUBBER_H
#define WORKERS_SCRUBBER_H

#include <stdint.h>

/*
 * Milliseconds to rest after a chunk that has taken busy_us, so that chunks take `share` percent of
 * the time.
 */
int64_t scrubber_rest_ms(int64_t busy_us, int64_t share);

/* Verifies chunk after chunk until the worker stops; argument: a struct worker_ctx *. */
void *scrubber_thread(void *argument);

#endif
