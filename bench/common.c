/* SPDX-License-Identifier: Apache-2.0 */
/* common.c - requests from a file, and the line with the results. */
#include "bench/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { SAMPLES_MAX = 4000000, FRAMES_FIRST = 1024 };

void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- requests ---- */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long length = 0;

    require(file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0, "cannot read the requests");
    rewind(file);
    bytes = malloc((size_t)length + 1);
    require(bytes && fread(bytes, 1, (size_t)length, file) == (size_t)length, "cannot read the requests");
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

struct frame *frames_read(const char *path, size_t *count)
{
    size_t size, room = 0, found = 0;
    const uint8_t *bytes = read_file(path, &size);
    struct frame *frames = NULL;

    for (size_t at = 0; at + FRAME_PREFIX <= size;) {
        const uint8_t *frame = bytes + at;
        size_t length = (size_t)frame[1] << 24 | (size_t)frame[2] << 16 | (size_t)frame[3] << 8 | frame[4];

        require(length <= size - at - FRAME_PREFIX, "the last request is cut short");
        if (found == room) {
            room = room ? room * 2 : FRAMES_FIRST;
            frames = reallocarray(frames, room, sizeof(*frames));
            require(frames != NULL, "out of memory");
        }
        frames[found++] = (struct frame){ .bytes = frame, .size = FRAME_PREFIX + length };
        at += FRAME_PREFIX + length;
    }
    require(found > 0, "there are no requests");
    *count = found;
    return frames;
}

/* ---- the result ---- */

void tally_begin(struct tally *tally)
{
    *tally = (struct tally){ .samples = malloc(SAMPLES_MAX * sizeof(*tally->samples)) };
    require(tally->samples != NULL, "out of memory");
    tally->begin_cpu = cpu_seconds();
    tally->begin_ns = now_ns();
}

void tally_call(struct tally *tally, bool worked, int64_t took_ns)
{
    if (worked && tally->sample_count < SAMPLES_MAX)
        tally->samples[tally->sample_count++] = (uint32_t)(took_ns / 1000);
    tally->done++;
    tally->failed += !worked;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The smallest sample that this share of the samples does not exceed; 0 if there is none. */
static uint32_t percentile(const struct tally *tally, double share)
{
    size_t count = tally->sample_count;

    return count ? tally->samples[(size_t)((double)(count - 1) * share)] : 0;
}

void tally_print(struct tally *tally)
{
    double seconds = (double)(now_ns() - tally->begin_ns) / 1e9, cpu = cpu_seconds() - tally->begin_cpu;

    require(tally->done > 0, "no call was made");
    qsort(tally->samples, tally->sample_count, sizeof(*tally->samples), by_value);
    printf(
        "calls %llu failed %llu seconds %.4f p50_us %u p99_us %u p999_us %u cpu_us %.2f reply_bytes %.1f\n",
        (unsigned long long)tally->done, (unsigned long long)tally->failed, seconds, percentile(tally, 0.5),
        percentile(tally, 0.99), percentile(tally, 0.999), cpu * 1e6 / (double)tally->done,
        (double)tally->reply_bytes / (double)tally->done);
    free(tally->samples);
}
