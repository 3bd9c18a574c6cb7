/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.h - what the load generators share: the end after an error, the clock and, for those that make calls
 * (bench_load, bench_h2_load), requests from a file and the line with the results. It needs nothing of gRPC.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_PREFIX = 5, CALLS_MAX = 65536 /* calls in flight at most */ };

/* A message as it travels: a byte 0, four bytes of length (big-endian), the message. */
struct frame {
    const uint8_t *bytes;
    size_t size; /* with the prefix */
};

struct tally {
    int64_t begin_ns;
    double begin_cpu;
    uint64_t done, failed, reply_bytes;
    uint32_t *samples; /* microseconds */
    size_t sample_count;
};

/* End the program with this message unless the condition holds. */
void require(bool condition, const char *what);
int64_t now_ns(void);

/* All requests of a file, at least one. They stay for as long as the program; the caller may free the array. */
struct frame *frames_read(const char *path, size_t *count);

void tally_begin(struct tally *tally);
/* Note the end of a call; a failed call has no latency. */
void tally_call(struct tally *tally, bool worked, int64_t took_ns);
/* The line that load.c describes. */
void tally_print(struct tally *tally);

#endif
