/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.h - opens the client of a command, with the target, TLS files and token of the settings.
 */
#ifndef CLIENT_CONNECT_H
#define CLIENT_CONNECT_H

#include "base/error.h"
#include "client/client_config.h"
#include "client/lib/tavola.h"
#include "client/time_text.h"

/*
 * Open a client; close it with tavola_close. max_attempts: of each call; 1: no call is repeated.
 *
 * STATUS_INVALID  a file cannot be read or used, or the settings contradict each other
 */
MUST_USE enum status client_connect(
    const struct client_config *config, int max_attempts, struct tavola **out, struct error *err);

/*
 * Whether the token of the settings has expired by the clock of this machine: servers do not say why they
 * refuse one. out: when.
 */
bool connect_token_expired(const struct client_config *config, char out[static TIME_TEXT_BYTES]);

#endif
