/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counters that many threads raise and one reads, and the text Prometheus reads.
 *
 * A counter costs its thread one relaxed addition in memory of its own: threads are spread over a few copies
 * of all counters, and a reader adds the copies up.
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
 * A histogram of durations is METRICS_SLOTS counters in a row: one per bound, one for what is longer, and the
 * sum in microseconds.
 */
enum { METRICS_BOUNDS = 14, METRICS_SLOTS = METRICS_BOUNDS + 2 };
void metrics_observe_us(struct counters *counters, size_t first, int64_t duration_us);

/* ---- the text: a family's head, then its values ---- */

/* type: "counter", "gauge", "histogram". */
void metrics_family(struct buf *out, const char *name, const char *type, const char *help);

/* labels: "method=\"GetEntity\",code=\"OK\"", or "". */
void metrics_value(struct buf *out, const char *name, const char *labels, double value);

/* All lines of a histogram of durations, in seconds. Nothing if nothing was observed. */
void metrics_durations(
    struct buf *out, const char *name, const char *labels, const struct counters *counters, size_t first);

/* Memory, processor time and version of this process. */
void metrics_process(struct buf *out, const char *version);

#endif
