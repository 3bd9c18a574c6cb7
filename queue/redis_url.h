/*
 * redis_url.h - where a Redis is and how to log in there, read from one line of configuration.
 *
 * "redis://[[user]:password@]host:port[/db]" or "unix:/path". User and password may hold %XX escapes; an
 * IPv6 address stands in square brackets.
 */
#ifndef QUEUE_REDIS_URL_H
#define QUEUE_REDIS_URL_H

#include "base/arena.h"
#include "base/error.h"

struct redis_url {
    const char *path; /* of a Unix socket; NULL: host and port */
    const char *host;
    int port;
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

#endif
