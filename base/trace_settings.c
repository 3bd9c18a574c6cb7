/* SPDX-License-Identifier: Apache-2.0 */
/* trace_settings.c - see the header. */
#include "base/trace_settings.h"

#include <stdlib.h>
#include <string.h>

static const char standard_name[] = "OTEL_EXPORTER_OTLP_ENDPOINT";

bool trace_settings_is_endpoint(const char *value)
{
    size_t scheme = strncmp(value, "http://", 7) == 0 ? 7 : strncmp(value, "https://", 8) == 0 ? 8 : 0;

    return scheme > 0 && value[scheme] != '\0' && value[scheme] != '/' && !strpbrk(value, " ?#@");
}

/*
 * Other programs of the machine share the standard name, so a value that cannot be used counts as
 * none.
 */
const char *trace_settings_endpoint(const struct trace_settings *settings)
{
    const char *standard = getenv(standard_name);

    if (settings->endpoint)
        return settings->endpoint;
    return standard && trace_settings_is_endpoint(standard) ? standard : NULL;
}
