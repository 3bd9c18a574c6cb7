/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_span.c - a request is put together around spans that are encoded already: its last field of
 * each level holds them, so their bytes are appended to what the generated code has made of the
 * levels above.
 */
#include "api/codec_span.h"

#include <stdio.h>
#include <string.h>

#include "api/codec.h"
#include "base/arena.h"
#include "base/wire.h"
#include "private/otlp.pb-c.h"

enum {
    TICKS_PER_SECOND = 10000000,
    NS_PER_TICK = 100,
    STATUS_CODE_ERROR = 2,
    FIELD_RESOURCE_SPANS = 1, /* of a request */
    FIELD_SCOPE_SPANS = 2,    /* of ResourceSpans */
    FIELD_SPANS = 2,          /* of ScopeSpans */
    SOURCE_ATTRIBUTES = 3,
};

static const int64_t seconds_from_1601_to_1970 = 11644473600;

static uint64_t unix_ns(int64_t ticks)
{
    return (uint64_t)(ticks - seconds_from_1601_to_1970 * TICKS_PER_SECOND) * NS_PER_TICK;
}

/* A key with its value, and room for both. */
struct pair {
    Tavola__Otlp__KeyValue key;
    Tavola__Otlp__AnyValue value;
};

static Tavola__Otlp__KeyValue *fill_pair(struct pair *pair, const char *name)
{
    tavola__otlp__key_value__init(&pair->key);
    tavola__otlp__any_value__init(&pair->value);
    pair->key.key = codec_bytes(str_of(name));
    pair->key.value = &pair->value;
    return &pair->key;
}

static Tavola__Otlp__KeyValue *fill_text(struct pair *pair, const char *name, struct str text)
{
    Tavola__Otlp__KeyValue *key = fill_pair(pair, name);

    pair->value.value_case = TAVOLA__OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    pair->value.string_value = codec_bytes(text);
    return key;
}

static Tavola__Otlp__KeyValue *fill_number(struct pair *pair, const char *name, int64_t number)
{
    Tavola__Otlp__KeyValue *key = fill_pair(pair, name);

    pair->value.value_case = TAVOLA__OTLP__ANY_VALUE__VALUE_INT_VALUE;
    pair->value.int_value = number;
    return key;
}

static bool has_parent(const struct span *span)
{
    for (int i = 0; i < SPAN_ID_BYTES; i++)
        if (span->parent_id[i] != 0)
            return true;
    return false;
}

void codec_span_encode(const struct span *span, struct buf *out)
{
    Tavola__Otlp__Span message = TAVOLA__OTLP__SPAN__INIT;
    Tavola__Otlp__Status status = TAVOLA__OTLP__STATUS__INIT;
    Tavola__Otlp__KeyValue *attributes[MAX_SPAN_ATTRIBUTES];
    struct pair pairs[MAX_SPAN_ATTRIBUTES];

    message.trace_id = codec_bytes(str_of_bytes(span->context.trace_id, TRACE_ID_BYTES));
    message.span_id = codec_bytes(str_of_bytes(span->context.span_id, SPAN_ID_BYTES));
    if (has_parent(span))
        message.parent_span_id = codec_bytes(str_of_bytes(span->parent_id, SPAN_ID_BYTES));
    message.name = codec_bytes(str_of(span->name));
    message.kind = (int32_t)span->kind;
    message.start_time_unix_nano = unix_ns(span->begun_ticks);
    message.end_time_unix_nano = unix_ns(span->ended_ticks);
    for (size_t i = 0; i < span->attribute_count; i++) {
        const struct span_attribute *attribute = &span->attributes[i];

        attributes[i] = attribute->text.data ? fill_text(&pairs[i], attribute->name, attribute->text)
                                             : fill_number(&pairs[i], attribute->name, attribute->number);
    }
    message.attributes = attributes;
    message.n_attributes = span->attribute_count;
    if (span->failure) {
        status.code = STATUS_CODE_ERROR;
        status.message = codec_bytes(str_of(span->failure));
        message.status = &status;
    }
    codec_pack(out, 0, &message.base);
}

static void write_resource(const struct codec_span_source *source, struct buf *out)
{
    Tavola__Otlp__Resource resource = TAVOLA__OTLP__RESOURCE__INIT;
    Tavola__Otlp__ResourceSpans message = TAVOLA__OTLP__RESOURCE_SPANS__INIT;
    struct pair pairs[SOURCE_ATTRIBUTES];
    Tavola__Otlp__KeyValue *attributes[SOURCE_ATTRIBUTES] = {
        fill_text(&pairs[0], "service.name", str_of(source->program)),
        fill_text(&pairs[1], "service.version", str_of(source->version)),
    };

    if (source->instance)
        attributes[2] = fill_text(&pairs[2], "service.instance.id", str_of(source->instance));
    resource.attributes = attributes;
    resource.n_attributes = source->instance ? SOURCE_ATTRIBUTES : SOURCE_ATTRIBUTES - 1;
    message.resource = &resource;
    codec_pack(out, 0, &message.base);
}

static void write_scope(const struct codec_span_source *source, struct buf *out)
{
    Tavola__Otlp__InstrumentationScope scope = TAVOLA__OTLP__INSTRUMENTATION_SCOPE__INIT;
    Tavola__Otlp__ScopeSpans message = TAVOLA__OTLP__SCOPE_SPANS__INIT;

    scope.name = codec_bytes(str_of("tavola"));
    scope.version = codec_bytes(str_of(source->version));
    message.scope = &scope;
    codec_pack(out, 0, &message.base);
}

void codec_span_write_request(void *context, const struct str *spans, size_t count, struct buf *out)
{
    const struct codec_span_source *source = context;
    struct arena arena;
    struct buf resource, scope;

    arena_init(&arena);
    buf_init(&resource, &arena);
    buf_init(&scope, &arena);
    write_scope(source, &scope);
    for (size_t i = 0; i < count; i++)
        wire_write_bytes(&scope, FIELD_SPANS, spans[i]);
    write_resource(source, &resource);
    wire_write_bytes(&resource, FIELD_SCOPE_SPANS, buf_str(&scope));
    wire_write_bytes(out, FIELD_RESOURCE_SPANS, buf_str(&resource));
    arena_cleanup(&arena);
}
