/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - a piece of work with a beginning and an end, as a part of a trace.
 *
 * Names and attributes name methods, tables, indexes and counts, never keys, values or tokens.
 */
#ifndef DOMAIN_TRACING_SPAN_H
#define DOMAIN_TRACING_SPAN_H

#include "domain/tracing/trace_context.h"

/* The numbers of OTLP. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER = 2, SPAN_CONSUMER = 5 };

enum { MAX_SPAN_ATTRIBUTES = 8 };

/* text NULL: the value is the number. */
struct span_attribute {
    const char *name;
    struct str text;
    int64_t number;
};

struct span {
    struct trace_context context;           /* with the span's own id */
    unsigned char parent_id[SPAN_ID_BYTES]; /* all zeros: it is the first span of its trace */
    const char *name;
    enum span_kind kind;
    int64_t begun_ticks, ended_ticks; /* 100 ns since 1601 */
    const char *failure;              /* the reason or status; NULL: it succeeded */
    struct span_attribute attributes[MAX_SPAN_ATTRIBUTES];
    size_t attribute_count;
};

static inline void span_add_text(struct span *span, const char *name, struct str text)
{
    if (span->attribute_count < MAX_SPAN_ATTRIBUTES && text.len > 0)
        span->attributes[span->attribute_count++] = (struct span_attribute){ .name = name, .text = text };
}

static inline void span_add_number(struct span *span, const char *name, int64_t number)
{
    if (span->attribute_count < MAX_SPAN_ATTRIBUTES)
        span->attributes[span->attribute_count++] = (struct span_attribute){ .name = name, .number = number };
}

/* A span that is a child of `parent`; random: bits of its id. */
static inline struct span span_below(
    const struct trace_context *parent, const char *name, enum span_kind kind, uint64_t random)
{
    struct span span = { .context = *parent, .name = name, .kind = kind };
    uint64_t id = random | 1;

    for (int i = 0; i < SPAN_ID_BYTES; i++) {
        span.parent_id[i] = parent->span_id[i];
        span.context.span_id[i] = (unsigned char)(id >> (8 * i));
    }
    return span;
}

#endif
