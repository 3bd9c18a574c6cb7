/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - GET requests to another service, one at a time, over a connection that is kept. For tools: a call
 * blocks until its answer is complete.
 */
#ifndef HTTP_FETCH_H
#define HTTP_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct fetch;

enum { FETCH_MAX_BYTES = 64 << 20 /* of a body, and of the headers */ };

struct fetch_reply {
    int code; /* of HTTP */
    struct str body, headers;
};

/* is_given_up: asked several times a second while a request waits. NULL: out of memory. */
struct fetch *fetch_open(bool (*is_given_up)(void));
void fetch_close(struct fetch *fetch);

/*
 * Send a request. headers: "Name: value", behind the last one NULL. The reply is in the arena. An error of HTTP is a
 * reply too; redirections are not followed.
 *
 * STATUS_UNAVAILABLE  no connection, no complete answer within a minute, or given up
 * STATUS_LIMIT        the body is larger than FETCH_MAX_BYTES, or the headers are
 * STATUS_INVALID      no URL of http or https
 */
MUST_USE enum status fetch_get(struct fetch *fetch, const char *url, const char *const *headers,
    struct arena *arena, struct fetch_reply *out, struct error *err);

/* The value of a header of the reply; empty: it has none. */
struct str fetch_header(const struct fetch_reply *reply, const char *name);

#endif
