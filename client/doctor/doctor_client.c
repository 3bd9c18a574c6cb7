/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_client.c - see the header.
 */
#include "client/doctor/doctor_client.h"

#include <stdio.h>

enum {
    ATTEMPTS = 1,
    TIMEOUT_MS = 30000
}; /* a failure is a finding, so it is not hidden by another attempt */

struct tavola *doctor_client_open(
    const struct client_config *config, bool with_credential, struct tavola_error *error)
{
    const struct tavola_options options = {
        .target = config->target,
        .ca = config->ca,
        .certificate = config->certificate,
        .key = config->key,
        .token = with_credential ? config->token : NULL,
        .max_attempts = ATTEMPTS,
        .timeout_ms = TIMEOUT_MS,
    };
    struct tavola *client = NULL;

    return tavola_open(&options, &client, error) == TAVOLA_OK ? client : NULL;
}

void doctor_client_describe(const struct tavola_error *error, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s: %s", tavola_code_name(error->code), *error->reason ? " / " : "",
        error->reason, error->message);
}
