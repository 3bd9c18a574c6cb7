/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config.h - the settings of the `tavola` command line.
 */
#ifndef CLIENT_CLIENT_CONFIG_H
#define CLIENT_CLIENT_CONFIG_H

#include "base/config.h"

struct client_config {
    const char *target; /* the server that commands talk to */
    const char *ca;     /* the server speaks TLS, and one of these signed its certificate; NULL: plain text */
    const char *certificate; /* ours, for servers that ask for one; NULL: none */
    const char *key;
    const char *token;                            /* sent with every call; NULL: none */
    const char *token_file;                       /* holds the token */
    const char *account_key;                      /* signs; NULL: not set */
    const char *wrapping_key, *wrapping_key_file; /* NULL: not set */
    const char *postgres;                         /* for migrate and account; NULL: not set */
    int allow_data_loss;                          /* 0 or 1; for account */
    const char *redis;                            /* NULL: not set */
    const char *data;                             /* for dev; NULL: the default of the user */
};

extern const struct config_program client_program;

#endif
