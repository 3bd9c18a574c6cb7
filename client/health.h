/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - asks a server for its health, with the standard health service.
 */
#ifndef CLIENT_HEALTH_H
#define CLIENT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "client/client_config.h"

/*
 * Ask for the health.
 *
 * STATUS_OK           the server answered SERVING STATUS_INVALID      see client_connect
 * STATUS_UNAVAILABLE  the server did not answer in time, or answered NOT_SERVING; the message says
 * which
 */
MUST_USE enum status health_check(const struct client_config *config, int64_t timeout_ms, struct error *err);

/*
 * Whether the server knows a service of this name, which needs no escapes in JSON. false also if it
 * does not answer.
 */
bool health_knows(const struct client_config *config, const char *service, int64_t timeout_ms);

#endif
