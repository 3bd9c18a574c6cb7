/* SPDX-License-Identifier: Apache-2.0 */
/* trace_context.c - see the header. */
#include "domain/tracing/trace_context.h"

#include <string.h>

#include "base/digits.h"

enum {
    MILLION = 1000000,
    FLAG_SAMPLED = 1,
    /* "00-<trace id>-<span id>-<flags>" */
    AT_TRACE_ID = 3,
    AT_SPAN_ID = AT_TRACE_ID + 2 * TRACE_ID_BYTES + 1,
    AT_FLAGS = AT_SPAN_ID + 2 * SPAN_ID_BYTES + 1,
    TRACEPARENT_BYTES = AT_FLAGS + 2,
};

static bool read_hex(struct str text, size_t at, size_t bytes, unsigned char *out)
{
    struct str digits = str_of_bytes(text.data + at, 2 * bytes);

    return digits_are_lower_hex(digits) && digits_decode_hex(digits, (char *)out);
}

static bool is_zero(const unsigned char *id, size_t bytes)
{
    unsigned char any = 0;

    for (size_t i = 0; i < bytes; i++)
        any |= id[i];
    return any == 0;
}

static bool is_valid(const struct trace_context *context)
{
    return !is_zero(context->trace_id, TRACE_ID_BYTES) && !is_zero(context->span_id, SPAN_ID_BYTES);
}

static bool has_form(struct str text, unsigned char version)
{
    if (text.data[AT_TRACE_ID - 1] != '-' || text.data[AT_SPAN_ID - 1] != '-' ||
        text.data[AT_FLAGS - 1] != '-')
        return false;
    if (version == 0)
        return text.len == TRACEPARENT_BYTES;
    return version != UINT8_MAX && (text.len == TRACEPARENT_BYTES || text.data[TRACEPARENT_BYTES] == '-');
}

bool trace_context_parse(struct str text, struct trace_context *out)
{
    struct trace_context context;
    unsigned char version, flags;

    if (text.len < TRACEPARENT_BYTES || !read_hex(text, 0, 1, &version) || !has_form(text, version) ||
        !read_hex(text, AT_TRACE_ID, TRACE_ID_BYTES, context.trace_id) ||
        !read_hex(text, AT_SPAN_ID, SPAN_ID_BYTES, context.span_id) || !read_hex(text, AT_FLAGS, 1, &flags))
        return false;
    context.is_sampled = (flags & FLAG_SAMPLED) != 0;
    if (!is_valid(&context))
        return false;
    *out = context;
    return true;
}

const char *trace_context_format_id(const struct trace_context *context, char out[static TRACE_ID_TEXT_BYTES])
{
    digits_encode_hex(str_of_bytes(context->trace_id, TRACE_ID_BYTES), out);
    out[TRACE_ID_TEXT_BYTES - 1] = '\0';
    return out;
}

void trace_context_store(const struct trace_context *context, char *out)
{
    memcpy(out, context->trace_id, TRACE_ID_BYTES);
    memcpy(out + TRACE_ID_BYTES, context->span_id, SPAN_ID_BYTES);
}

bool trace_context_load(struct str stored, struct trace_context *out)
{
    struct trace_context context = { .is_sampled = true };

    if (stored.len != TRACE_STORED_BYTES)
        return false;
    memcpy(context.trace_id, stored.data, TRACE_ID_BYTES);
    memcpy(context.span_id, stored.data + TRACE_ID_BYTES, SPAN_ID_BYTES);
    if (!is_valid(&context))
        return false;
    *out = context;
    return true;
}

struct trace_context trace_context_begin(const uint64_t random[static 3], int64_t per_million)
{
    struct trace_context context;
    uint64_t span = random[2] | 1;

    memcpy(context.trace_id, random, TRACE_ID_BYTES);
    context.trace_id[0] |= 1;
    memcpy(context.span_id, &span, SPAN_ID_BYTES);
    context.is_sampled = (int64_t)(random[1] % MILLION) < per_million;
    return context;
}
