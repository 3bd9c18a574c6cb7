/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - see the header.
 */
#include "base/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/digits.h"
#include "base/macros.h"

enum { COPIES = 8, CACHE_LINE = 64, PER_LINE = CACHE_LINE / sizeof(uint64_t) };

struct counters {
    size_t stride; /* counters of one copy, rounded up to whole cache lines */
    atomic_ullong *values;
};

static const int64_t bounds_us[METRICS_BOUNDS] = { 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000,
    250000, 500000, 1000000, 2500000, 10000000 };

/* The copy of the counters in which this thread counts. */
static size_t copy_of_thread(void)
{
    static atomic_uint next;
    static _Thread_local unsigned mine; /* the thread's number, from 1; 0: none yet */

    if (mine == 0)
        mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % COPIES + 1;
    return mine - 1;
}

struct counters *counters_new(size_t count)
{
    struct counters *counters = xcalloc(1, sizeof(*counters));

    counters->stride = (count + PER_LINE - 1) / PER_LINE * PER_LINE;
    counters->values = xcalloc(counters->stride * COPIES, sizeof(counters->values[0]));
    return counters;
}

void counters_free(struct counters *counters)
{
    if (!counters)
        return;
    free(counters->values);
    free(counters);
}

void counters_add(struct counters *counters, size_t index, uint64_t more)
{
    atomic_fetch_add_explicit(
        &counters->values[copy_of_thread() * counters->stride + index], more, memory_order_relaxed);
}

uint64_t counters_read(const struct counters *counters, size_t index)
{
    uint64_t sum = 0;

    for (size_t copy = 0; copy < COPIES; copy++)
        sum += atomic_load_explicit(&counters->values[copy * counters->stride + index], memory_order_relaxed);
    return sum;
}

void metrics_observe_us(struct counters *counters, size_t first, int64_t duration_us)
{
    size_t slot = 0;

    while (slot < METRICS_BOUNDS && duration_us > bounds_us[slot])
        slot++;
    counters_add(counters, first + slot, 1);
    counters_add(counters, first + METRICS_BOUNDS + 1, duration_us > 0 ? (uint64_t)duration_us : 0);
}

int64_t metrics_quantile_us(const uint64_t counts[METRICS_BOUNDS + 1], double share)
{
    uint64_t all = 0, before = 0;
    double wanted;
    size_t slot = 0;

    for (size_t i = 0; i <= METRICS_BOUNDS; i++)
        all += counts[i];
    if (all == 0)
        return -1;
    wanted = share * (double)all;
    while (slot < METRICS_BOUNDS && (double)(before + counts[slot]) < wanted)
        before += counts[slot++];
    if (slot == METRICS_BOUNDS)
        return bounds_us[METRICS_BOUNDS - 1];
    return (slot > 0 ? bounds_us[slot - 1] : 0) +
           (int64_t)((double)(bounds_us[slot] - (slot > 0 ? bounds_us[slot - 1] : 0)) *
                     (wanted - (double)before) / (double)(counts[slot] > 0 ? counts[slot] : 1));
}

/* ---- text ---- */

void metrics_family(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_line(
    struct buf *out, const char *name, const char *suffix, const char *labels, double value)
{
    const char *open = *labels ? "{" : "", *close = *labels ? "}" : "";

    buf_format(out, "%s%s%s%s%s %.15g\n", name, suffix, open, labels, close, value);
}

void metrics_value(struct buf *out, const char *name, const char *labels, double value)
{
    write_line(out, name, "", labels, value);
}

void metrics_durations(
    struct buf *out, const char *name, const char *labels, const struct counters *counters, size_t first)
{
    uint64_t total = 0, counts[METRICS_BOUNDS + 1];
    const char *comma = *labels ? "," : "";

    for (size_t i = 0; i <= METRICS_BOUNDS; i++)
        total += counts[i] = counters_read(counters, first + i);
    if (total == 0)
        return;
    total = 0;
    for (size_t i = 0; i < METRICS_BOUNDS; i++) {
        total += counts[i];
        buf_format(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, labels, comma, (double)bounds_us[i] / 1e6,
            (unsigned long long)total);
    }
    total += counts[METRICS_BOUNDS];
    buf_format(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma, (unsigned long long)total);
    write_line(out, name, "_sum", labels, (double)counters_read(counters, first + METRICS_BOUNDS + 1) / 1e6);
    write_line(out, name, "_count", labels, (double)total);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int64_t metrics_resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char text[128] = "";
    uint64_t pages = 0;

    if (!file)
        return 0;
    if (fgets(text, sizeof(text), file)) {
        struct str behind_size = str_from(str_of(text), strcspn(text, " ") + 1);

        if (!digits_take_unsigned(&behind_size, UINT64_MAX, &pages))
            pages = 0;
    }
    fclose(file);
    return (int64_t)pages * (int64_t)sysconf(_SC_PAGESIZE);
}

void metrics_process(struct buf *out, const char *version)
{
    struct rusage usage = { 0 };
    char labels[64];

    snprintf(labels, sizeof(labels), "version=\"%s\"", version);
    metrics_family(out, "tavola_build_info", "gauge", "Always 1; the label says which version runs.");
    metrics_value(out, "tavola_build_info", labels, 1);
    metrics_family(out, "process_resident_memory_bytes", "gauge", "Memory of the process.");
    metrics_value(out, "process_resident_memory_bytes", "", (double)metrics_resident_bytes());
    getrusage(RUSAGE_SELF, &usage);
    metrics_family(out, "process_cpu_seconds_total", "counter", "Processor time of the process.");
    metrics_value(
        out, "process_cpu_seconds_total", "", seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
}
