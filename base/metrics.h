/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counters that many threads increase and one thread reads, and the text format of
 * Prometheus.
 *
 * Counting is one relaxed atomic addition. Each counter exists in a few copies, over which the
 * threads are spread; a reader adds the copies up.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include <stdint.h>

#include "base/buf.h"

struct counters;

struct counters *counters_new(size_t count);
void counters_free(struct counters *counters);
void counters_add(struct counters *counters, size_t index, uint64_t more);
uint64_t counters_read(const struct counters *counters, size_t index);

/*
 * A histogram of durations is METRICS_SLOTS counters in a row: one per bound, one for longer
 * durations, and the sum in microseconds.
 */
enum { METRICS_BOUNDS = 14, METRICS_SLOTS = METRICS_BOUNDS + 2 };
void metrics_observe_us(struct counters *counters, size_t first, int64_t duration_us);

/*
 * The duration that this share of the observed durations did not exceed, estimated within its slot.
 * counts: per bound, and at the end for longer durations, for which the last bound is returned. -1:
 * nothing was observed.
 */
int64_t metrics_quantile_us(const uint64_t counts[METRICS_BOUNDS + 1], double share);

/* Resident memory of this process. */
int64_t metrics_resident_bytes(void);

/* ---- the text: first the head of a family, then its values ---- */

/* type: "counter", "gauge", "histogram". */
void metrics_family(struct buf *out, const char *name, const char *type, const char *help);

/* labels: "method=\"GetEntity\",code=\"OK\"", or "". */
void metrics_value(struct buf *out, const char *name, const char *labels, double value);

/* All lines of a histogram of durations, in seconds; nothing if nothing was observed. */
void metrics_durations(
    struct buf *out, const char *name, const char *labels, const struct counters *counters, size_t first);

/* Memory, processor time and version of this process. */
void metrics_process(struct buf *out, const char *version);

#endif
