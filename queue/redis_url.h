/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url.h - the address of Redis and its login, parsed from one setting.
 *
 *     redis://[[user]:password@]host:port[/db]                          one Redis
 *     sentinel://[[user]:password@]host:port[,host:port]/master[/db]    the master that Sentinels name
 *     rediss:// and sentinels://                                        the same over TLS
 *     unix:/path
 *
 * User and password may hold %XX escapes; an IPv6 address stands in square brackets.
 */
#ifndef QUEUE_REDIS_URL_H
#define QUEUE_REDIS_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* How to reach Redis, as configured. The strings must outlive every object that is made from it. */
struct redis_access {
    const char *url;
    /* For the schemes with TLS, files in PEM. */
    /* authorities that sign Redis' certificates; NULL: those of the system */
    const char *ca;
    const char *certificate; /* the client's, if Redis wants one; NULL: none */
    const char *key;
    const char *sentinel_password; /* NULL: the Sentinels want no password */
};

/* The allowed forms, for help texts and error messages. */
#define REDIS_URL_ALLOWED                                                                                    \
    "redis[s]://[user:password@]host:port[/db], "                                                            \
    "sentinel[s]://[user:password@]host:port[,host:port]/master[/db] or unix:/path"

enum { REDIS_MAX_ENDPOINTS = 16 };

struct redis_endpoint {
    const char *host;
    int port;
};

struct redis_url {
    const char *path; /* of a Unix socket; NULL: see endpoints */
    bool tls;
    struct redis_endpoint endpoints[REDIS_MAX_ENDPOINTS]; /* of Redis, or of Sentinels */
    size_t endpoint_count;
    /* the master's name in the Sentinels' configuration; NULL: no Sentinels */
    const char *master;
    const char *user;     /* NULL: none */
    const char *password; /* NULL: none */
    int database;
};

/*
 * Strings of out are in the arena.
 * STATUS_INVALID  INVALID_INPUT: the message says which part is wrong; it never quotes the password
 */
MUST_USE enum status redis_url_parse(
    const char *text, struct arena *arena, struct redis_url *out, struct error *err);

/* Whether redis_url_parse accepts the text; an `accepts` function of config.h. */
bool redis_url_is_valid(const char *text);

#endif
