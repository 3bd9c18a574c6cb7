/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config.h - the settings of the `tavola` command line.
 */
#ifndef CLIENT_CLIENT_CONFIG_H
#define CLIENT_CLIENT_CONFIG_H

#include "base/chunk_settings.h"
#include "base/config.h"
#include "queue/redis_url.h"

struct client_config {
    const char *target;      /* the server that commands call */
    const char *ca;          /* the authorities of the server's certificate, for TLS; NULL: plain text */
    const char *certificate; /* the client's own certificate, for servers that require one; NULL: none */
    const char *key;
    const char *token;                            /* sent with every call; NULL: none */
    const char *token_file;                       /* path of a file with the token */
    const char *account_key;                      /* signs tokens; NULL: not set */
    const char *wrapping_key, *wrapping_key_file; /* NULL: not set */
    const char *postgres;                         /* used by migrate, account and doctor; NULL: not set */
    int allow_data_loss;                          /* 0 or 1; used by account */
    struct redis_access redis;                    /* used by doctor; url is NULL: not set */
    struct chunk_settings chunks;                 /* used by doctor */
    const char *data;                             /* used by dev; NULL: the user's default */
};

extern const struct config_program client_program;

#endif
