/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.h - opens the channel of a command with the target, TLS files and token of the settings.
 */
#ifndef CLIENT_CONNECT_H
#define CLIENT_CONNECT_H

#include "client/client_config.h"
#include "rpc/channel.h"

/* STATUS_INVALID: a file cannot be read or used, or the settings contradict each other. */
MUST_USE enum status client_connect(
    const struct client_config *config, struct rpc_channel **out, struct error *err);

#endif
