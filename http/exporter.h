/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter.h - sends spans to a collector of traces over HTTP, many in one POST, from a thread of
 * its own. A thread that adds a span never waits: what does not fit the bounded queue is dropped and
 * counted. A collector that is away, slow or refuses costs spans and nothing else.
 */
#ifndef HTTP_EXPORTER_H
#define HTTP_EXPORTER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/trace_settings.h"

struct exporter;

struct exporter_options {
    const struct trace_settings *settings; /* the collector; borrowed */
    /* Appends the body of one POST (OTLP). The exporter's thread calls it. */
    void (*write_body)(void *context, const struct str *spans, size_t count, struct buf *out);
    void *context;
};

enum { EXPORTER_MAX_BYTES = 1 << 20, EXPORTER_MAX_SPANS = 512 /* of one POST */ };

/*
 * *out is NULL if the settings name no collector: then nothing is traced.
 *
 * STATUS_INVALID   the headers or the authorities that the settings name cannot be read
 * STATUS_INTERNAL  the thread or the HTTP library cannot be started
 */
MUST_USE enum status exporter_start(
    const struct exporter_options *options, struct exporter **out, struct error *err);

/*
 * Copy a span into the queue; from any thread. It is dropped if EXPORTER_MAX_BYTES wait already.
 */
void exporter_add(struct exporter *exporter, struct str span);

/*
 * Append the metric tavola_spans_total: the spans that the collector has accepted, and those that
 * did not fit or that it did not accept. exporter NULL: both are 0.
 */
void exporter_collect(struct exporter *exporter, struct buf *out);

/* Send what waits, for a second at most, and end. Accepts NULL. Nothing may be added any more. */
void exporter_stop(struct exporter *exporter);

#endif
