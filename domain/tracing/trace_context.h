/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_context.h - the place of a piece of work in a trace (W3C Trace Context): which trace it
 * belongs to, and which span of it is the parent of what follows. Pure.
 */
#ifndef DOMAIN_TRACING_TRACE_CONTEXT_H
#define DOMAIN_TRACING_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    TRACE_ID_BYTES = 16,
    SPAN_ID_BYTES = 8,
    TRACE_STORED_BYTES = TRACE_ID_BYTES + SPAN_ID_BYTES,
    TRACE_ID_TEXT_BYTES = 2 * TRACE_ID_BYTES + 1,
};

struct trace_context {
    unsigned char trace_id[TRACE_ID_BYTES]; /* not all zeros */
    unsigned char span_id[SPAN_ID_BYTES];   /* not all zeros */
    bool is_sampled;                        /* its spans are wanted */
};

/*
 * Read the header or metadata `traceparent`: "00-" 32 hexadecimal digits "-" 16 digits "-" 2 digits
 * of flags, in lower case. Of a later version than 00 the same part counts, and more may follow.
 *
 * false: text is of another form, and the caller counts as one without a trace; *out is unchanged
 */
bool trace_context_parse(struct str text, struct trace_context *out);

/* 32 lower-case hexadecimal digits and a NUL; returns out. */
const char *trace_context_format_id(
    const struct trace_context *context, char out[static TRACE_ID_TEXT_BYTES]);

/* The form that an intent has in the database; out: TRACE_STORED_BYTES. */
void trace_context_store(const struct trace_context *context, char *out);

/* What is stored was sampled. false: the bytes are not of that form; *out is unchanged. */
bool trace_context_load(struct str stored, struct trace_context *out);

/*
 * Begin a trace of our own, for a caller who has none.
 *
 * random       64 random bits each; the span id is made of the third
 * per_million  how many traces of a million are sampled, 0 to 1,000,000: decided by the trace's id,
 *              so that every program which asks with the same number decides the same
 */
struct trace_context trace_context_begin(const uint64_t random[static 3], int64_t per_million);

#endif
