/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_settings.h - the settings of a program that sends spans to a collector: where it is, and
 * the headers and the authority with which it is called. Each has a standard name too (OTEL_...),
 * which counts when our own is not set. Other programs of the machine share the standard names, so
 * a value there that cannot be used counts as none.
 */
#ifndef BASE_TRACE_SETTINGS_H
#define BASE_TRACE_SETTINGS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/error.h"

struct trace_settings {
    const char *endpoint;     /* NULL: OTEL_EXPORTER_OTLP_ENDPOINT, or none: nothing is traced */
    const char *headers;      /* secret; NULL: OTEL_EXPORTER_OTLP_HEADERS, or none */
    const char *headers_file; /* NULL: none */
    const char *ca;           /* NULL: OTEL_EXPORTER_OTLP_CERTIFICATE, or those of the system */
};

enum { TRACE_MAX_HEADERS = 16, TRACE_MAX_HEADER_BYTES = 16384 /* of all together */ };

struct trace_header {
    struct str name, value; /* visible ASCII; the value may have spaces */
};

struct trace_headers {
    struct trace_header items[TRACE_MAX_HEADERS];
    size_t count;
};

/* "http://host:port" or "https://host:port", with or without a path. */
bool trace_settings_is_endpoint(const char *value);

/*
 * Read "name=value,name=value", each value percent-encoded; a line end separates as a comma does.
 * Empty parts are left out. Texts are in the arena. false: the text has another form, a character
 * that a header cannot have, or too many of them; *out is undefined.
 */
bool trace_headers_parse(struct str text, struct arena *arena, struct trace_headers *out);

/* Whether trace_headers_parse takes the value. */
bool trace_settings_are_headers(const char *value);

/*
 * A row of a program's table of settings; the program's struct has a member `struct trace_settings
 * trace`.
 */
#define TRACE_SETTINGS(config)                                                                               \
    { .name = "TAVOLA_OTLP_ENDPOINT",                                                                        \
        .type = CONFIG_STRING,                                                                               \
        .offset = offsetof(config, trace) + offsetof(struct trace_settings, endpoint),                       \
        .accepts = trace_settings_is_endpoint,                                                               \
        .allowed = "http://HOST:PORT or https://HOST:PORT",                                                  \
        .help = "a collector of traces: spans are sent to /v1/traces there (OTLP over HTTP); "               \
                "OTEL_EXPORTER_OTLP_ENDPOINT counts when this is not set" },                                 \
        { .name = "TAVOLA_OTLP_HEADERS",                                                                     \
            .type = CONFIG_SECRET,                                                                           \
            .offset = offsetof(config, trace) + offsetof(struct trace_settings, headers),                    \
            .accepts = trace_settings_are_headers,                                                           \
            .allowed = "NAME=VALUE,NAME=VALUE with values percent-encoded",                                  \
            .help = "headers of each request to the collector, such as its credential; "                     \
                    "OTEL_EXPORTER_OTLP_HEADERS counts when this is not set" },                              \
        { .name = "TAVOLA_OTLP_HEADERS_FILE",                                                                \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, trace) + offsetof(struct trace_settings, headers_file),               \
            .help = "a file with such headers, one a line or as above, in place of TAVOLA_OTLP_HEADERS; "    \
                    "it is read again for each request" },                                                   \
    {                                                                                                        \
        .name = "TAVOLA_OTLP_CA", .type = CONFIG_STRING,                                                     \
        .offset = offsetof(config, trace) + offsetof(struct trace_settings, ca),                             \
        .help = "the authorities of the collector's certificate (PEM); OTEL_EXPORTER_OTLP_CERTIFICATE, "     \
                "or else those of the system, when this is not set"                                          \
    }

/* The endpoint that counts; NULL: none. Borrows the settings and the environment. */
const char *trace_settings_endpoint(const struct trace_settings *settings);

/* The file of authorities that counts; NULL: those of the system. */
const char *trace_settings_ca(const struct trace_settings *settings);

/*
 * Read the headers that count, from the file or the environment, into the arena.
 *
 * STATUS_INVALID  both settings are set, or the file cannot be read, or it has another form. The
 *                 message names the file and never what is in it
 */
MUST_USE enum status trace_settings_read_headers(
    const struct trace_settings *settings, struct arena *arena, struct trace_headers *out, struct error *err);

#endif
