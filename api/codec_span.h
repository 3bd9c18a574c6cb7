/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_span.h - spans in the form of OTLP, the protocol of collectors of traces
 * (api/private/otlp.proto).
 */
#ifndef API_CODEC_SPAN_H
#define API_CODEC_SPAN_H

#include "base/buf.h"
#include "domain/tracing/span.h"

/* Append one span as a message without its tag. */
void codec_span_encode(const struct span *span, struct buf *out);

/* The program that the spans of a request come from. */
struct codec_span_source {
    const char *program, *version;
    const char *instance; /* tells its processes apart; NULL: not said */
};

/*
 * Append the body of a request, with spans that codec_span_encode has made. The signature fits
 * struct exporter_options of http/exporter.h; context: struct codec_span_source.
 */
void codec_span_write_request(void *context, const struct str *spans, size_t count, struct buf *out);

#endif
