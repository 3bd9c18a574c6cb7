/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url.h - where a Redis is and how to log in there, read from one line of configuration.
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

/* How to reach Redis, as configured. The strings outlive whoever is told of them. */
struct redis_access {
    const char *url;
    /* For the schemes with TLS, files in PEM. */
    const char *ca;          /* authorities of Redis' certificates; NULL: those of the system */
    const char *certificate; /* ours, for a Redis that wants one; NULL: none */
    const char *key;
    const char *sentinel_password; /* NULL: Sentinels want none */
};

/* For the help of settings and for refusals. */
#define REDIS_URL_ALLOWED                                                                                    \
    "redis[s]://[user:password@]host:port[/db], "                                                            \
    "sentinel[s]://[user:password@]host:port[,host:port]/master[/db] or unix:/path"

enum { REDIS_MAX_PLACES = 16 };

struct redis_place {
    const char *host;
    int port;
};

struct redis_url {
    const char *path; /* of a Unix socket; NULL: places */
    bool tls;
    struct redis_place places[REDIS_MAX_PLACES]; /* of Redis, or of Sentinels */
    size_t place_count;
    const char *master;   /* what the Sentinels call it; NULL: no Sentinels */
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

/* The same as a check of a setting. */
bool redis_url_is_valid(const char *text);

#endif
