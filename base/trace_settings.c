/* SPDX-License-Identifier: Apache-2.0 */
/* trace_settings.c - see the header. */
#include "base/trace_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/header_name.h"

static const char standard_endpoint[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
static const char standard_headers[] = "OTEL_EXPORTER_OTLP_HEADERS";
static const char standard_ca[] = "OTEL_EXPORTER_OTLP_CERTIFICATE";

bool trace_settings_is_endpoint(const char *value)
{
    size_t scheme = strncmp(value, "http://", 7) == 0 ? 7 : strncmp(value, "https://", 8) == 0 ? 8 : 0;

    return scheme > 0 && value[scheme] != '\0' && value[scheme] != '/' && !strpbrk(value, " ?#@");
}

/* ---- headers ---- */

static bool is_separator(char c)
{
    return c == ',' || c == '\n' || c == '\r';
}

/* Undo the percent-encoding. false: an escape or a character that a header's value cannot have. */
static bool decode_value(struct str text, struct arena *arena, struct str *out)
{
    char *decoded = arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (c == '%') {
            if (text.len - i < 3 || !digits_decode_hex(str_of_bytes(text.data + i + 1, 2), &c))
                return false;
            i += 2;
        }
        if (c < ' ' || c > '~')
            return false;
        decoded[len++] = c;
    }
    *out = str_of_bytes(decoded, len);
    return true;
}

static bool parse_header(struct str text, struct arena *arena, struct trace_headers *out)
{
    const char *equals = memchr(text.data, '=', text.len);
    struct trace_header header;

    if (!equals || out->count == TRACE_MAX_HEADERS)
        return false;
    header.name = str_trim(str_of_bytes(text.data, (size_t)(equals - text.data)), " \t");
    if (!header_name_is_valid(header.name) ||
        !decode_value(str_trim(str_of_bytes(equals + 1, (size_t)(text.data + text.len - equals - 1)), " \t"),
            arena, &header.value))
        return false;
    header.name = arena_copy(arena, header.name);
    out->items[out->count++] = header;
    return true;
}

bool trace_headers_parse(struct str text, struct arena *arena, struct trace_headers *out)
{
    size_t at = 0;

    out->count = 0;
    if (text.len > TRACE_MAX_HEADER_BYTES)
        return false;
    while (at < text.len) {
        size_t end = at;
        struct str part;

        while (end < text.len && !is_separator(text.data[end]))
            end++;
        part = str_trim(str_of_bytes(text.data + at, end - at), " \t");
        if (part.len > 0 && !parse_header(part, arena, out))
            return false;
        at = end + 1;
    }
    return true;
}

bool trace_settings_are_headers(const char *value)
{
    struct trace_headers headers;
    struct arena arena;
    bool are_headers;

    arena_init(&arena);
    are_headers = trace_headers_parse(str_of(value), &arena, &headers);
    arena_cleanup(&arena);
    return are_headers;
}

static enum status read_headers_file(
    const char *path, struct arena *arena, struct trace_headers *out, struct error *err)
{
    char *text = arena_alloc(arena, TRACE_MAX_HEADER_BYTES + 1);
    FILE *file = fopen(path, "re");
    size_t len;
    bool failed;

    if (!file)
        return error_set(err, STATUS_INVALID, "TAVOLA_OTLP_HEADERS_FILE: %s: %s", path, strerror(errno));
    len = fread(text, 1, TRACE_MAX_HEADER_BYTES + 1, file);
    failed = ferror(file) != 0;
    fclose(file);
    if (!failed && trace_headers_parse(str_of_bytes(text, len), arena, out))
        return STATUS_OK;
    return error_set(err, STATUS_INVALID,
        "TAVOLA_OTLP_HEADERS_FILE: %s: does not hold NAME=VALUE lines with values percent-encoded", path);
}

enum status trace_settings_read_headers(
    const struct trace_settings *settings, struct arena *arena, struct trace_headers *out, struct error *err)
{
    const char *standard = getenv(standard_headers);

    if (settings->headers && settings->headers_file)
        return error_set(err, STATUS_INVALID,
            "TAVOLA_OTLP_HEADERS and TAVOLA_OTLP_HEADERS_FILE are set both: unset one of them");
    if (settings->headers_file)
        return read_headers_file(settings->headers_file, arena, out, err);
    if (settings->headers)
        standard = settings->headers;
    if (!standard || !trace_headers_parse(str_of(standard), arena, out))
        out->count = 0;
    return STATUS_OK;
}

/* ---- where to ---- */

const char *trace_settings_endpoint(const struct trace_settings *settings)
{
    const char *standard = getenv(standard_endpoint);

    if (settings->endpoint)
        return settings->endpoint;
    return standard && trace_settings_is_endpoint(standard) ? standard : NULL;
}

const char *trace_settings_ca(const struct trace_settings *settings)
{
    const char *standard = getenv(standard_ca);

    if (settings->ca)
        return settings->ca;
    return standard && standard[0] ? standard : NULL;
}
