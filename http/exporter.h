/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter.h - sends small pieces of bytes to a collector over HTTP, many in one POST, from a
 * thread of its own. A thread that adds a piece never waits: what does not fit the bounded queue is
 * dropped and counted. A collector that is away, slow or refuses costs pieces and nothing else.
 */
#ifndef HTTP_EXPORTER_H
#define HTTP_EXPORTER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct exporter;

struct exporter_options {
    const char *url;          /* http or https; copied */
    const char *content_type; /* borrowed */
    const char *name;         /* of the thing in log lines: "spans" */
    /* Appends the body of one POST. The exporter's thread calls it. */
    void (*write_body)(void *context, const struct str *pieces, size_t count, struct buf *out);
    void *context;
};

enum { EXPORTER_MAX_BYTES = 1 << 20, EXPORTER_MAX_PIECES = 512 /* of one POST */ };

/*
 * STATUS_INTERNAL  the thread or the HTTP library cannot be started
 */
MUST_USE enum status exporter_start(
    const struct exporter_options *options, struct exporter **out, struct error *err);

/*
 * Copy a piece into the queue; from any thread. It is dropped if EXPORTER_MAX_BYTES wait already.
 */
void exporter_add(struct exporter *exporter, struct str piece);

/*
 * Append the metric tavola_spans_total: the pieces that the collector has accepted, and those that
 * did not fit or that it did not accept. exporter NULL: both are 0.
 */
void exporter_collect(struct exporter *exporter, struct buf *out);

/* Send what waits, for a second at most, and end. Accepts NULL. Nothing may be added any more. */
void exporter_stop(struct exporter *exporter);

#endif
