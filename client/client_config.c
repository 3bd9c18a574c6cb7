/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config.c - the table of the command line's settings.
 */
#include "client/client_config.h"

#include <stddef.h>

static const char *const switches[] = { "off", "on", NULL };

static const struct config_setting settings[] = {
    {
        .name = "TAVOLA_TARGET",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, target),
        .fallback = "127.0.0.1:50051",
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "the address of the server",
    },
    {
        .name = "TAVOLA_CA",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, ca),
        .help = "file in PEM with the authorities of the server's certificate: use TLS",
    },
    {
        .name = "TAVOLA_CLIENT_CERT",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, certificate),
        .help = "file in PEM with the client certificate, for a server that requires one",
    },
    {
        .name = "TAVOLA_CLIENT_KEY",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, key),
        .help = "file in PEM with the key of TAVOLA_CLIENT_CERT",
    },
    {
        .name = "TAVOLA_TOKEN",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct client_config, token),
        .help = "bearer token to send with every call",
    },
    {
        .name = "TAVOLA_TOKEN_FILE",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, token_file),
        .help = "file that holds the bearer token, in place of TAVOLA_TOKEN",
    },
    {
        .name = "TAVOLA_ACCOUNT_KEY",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct client_config, account_key),
        .help = "a key of an account: token create and sas create sign with it; it is never sent",
    },
    {
        .name = "TAVOLA_POSTGRES",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct client_config, postgres),
        .help = "the database, for migrate and account: a libpq connection string or postgresql:// URL",
    },
    {
        .name = "TAVOLA_WRAPPING_KEY",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct client_config, wrapping_key),
        .help = "64 hexadecimal digits: the keys of accounts are encrypted with it in the database; "
                "up to 4, with spaces between them, of which the first encrypts and all decrypt",
    },
    {
        .name = "TAVOLA_WRAPPING_KEY_FILE",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, wrapping_key_file),
        .help = "file that holds them, in place of TAVOLA_WRAPPING_KEY",
    },
    {
        .name = "TAVOLA_ALLOW_DATA_LOSS",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct client_config, allow_data_loss),
        .fallback = "off",
        .choices = switches,
        .help = "on: account works on a database whose settings may lose acknowledged writes; for tests",
    },
    {
        .name = "TAVOLA_REDIS",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct client_config, redis.url),
        .help = "the queue, for doctor: redis[s]://[user:password@]host:port[/db], "
                "sentinel[s]://[user:password@]host:port[,host:port]/master[/db] or unix:/path",
    },
    {
        .name = "TAVOLA_REDIS_CA",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, redis.ca),
        .help = "with rediss:// or sentinels://: the authorities of Redis' certificates (PEM); when not set "
                "those of the system",
    },
    {
        .name = "TAVOLA_REDIS_CERT",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, redis.certificate),
        .help = "client certificate for a Redis that requires one (PEM)",
    },
    {
        .name = "TAVOLA_REDIS_KEY",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, redis.key),
        .help = "the key of TAVOLA_REDIS_CERT (PEM)",
    },
    {
        .name = "TAVOLA_SENTINEL_PASSWORD",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct client_config, redis.sentinel_password),
        .help = "password of the Sentinels, if they require one; that of Redis is in TAVOLA_REDIS",
    },
    CHUNK_SETTINGS(struct client_config),
    {
        .name = "TAVOLA_DEV_DATA",
        .type = CONFIG_STRING,
        .offset = offsetof(struct client_config, data),
        .help = "the folder in which dev keeps its data; "
                "without it /var/lib/tavola-dev for root, ~/.local/share/tavola for others",
    },
};

const struct config_program client_program = {
    .name = "tavola",
    .version = TAVOLA_VERSION,
    .summary = "the command line of the table service",
    .settings = settings,
    .count = ARRAY_LEN(settings),
};
