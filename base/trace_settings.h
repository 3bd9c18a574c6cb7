/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_settings.h - the settings of a program that sends spans to a collector.
 */
#ifndef BASE_TRACE_SETTINGS_H
#define BASE_TRACE_SETTINGS_H

#include <stddef.h>

#include "base/config.h"

struct trace_settings {
    const char *endpoint; /* NULL: OTEL_EXPORTER_OTLP_ENDPOINT, or none: nothing is traced */
};

/* "http://host:port" or "https://host:port", with or without a path. */
bool trace_settings_is_endpoint(const char *value);

/*
 * A row of a program's table of settings; the program's struct has a member `struct trace_settings
 * trace`.
 */
#define TRACE_SETTINGS(config)                                                                               \
    {                                                                                                        \
        .name = "TAVOLA_OTLP_ENDPOINT", .type = CONFIG_STRING,                                               \
        .offset = offsetof(config, trace) + offsetof(struct trace_settings, endpoint),                       \
        .accepts = trace_settings_is_endpoint, .allowed = "http://HOST:PORT or https://HOST:PORT",           \
        .help = "a collector of traces: spans are sent to /v1/traces there (OTLP over HTTP); "               \
                "OTEL_EXPORTER_OTLP_ENDPOINT counts when this is not set"                                    \
    }

/* The endpoint that counts; NULL: none. Borrows the settings and the environment. */
const char *trace_settings_endpoint(const struct trace_settings *settings);

#endif
