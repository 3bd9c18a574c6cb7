/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_calls.h - GET, PUT and DELETE requests to one service, by several threads, over connections that are kept.
 * A call blocks until its answer is there.
 *
 * No redirection is followed, neither a proxy nor credentials are taken from the environment, and certificates are
 * verified.
 */
#ifndef HTTP_OBJECT_CALLS_H
#define HTTP_OBJECT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct object_calls;

struct object_request {
    const char *method; /* GET, PUT, DELETE */
    const char *url;
    const char *const *headers;           /* "Name: value", behind the last one NULL */
    struct str body;                      /* PUT */
    size_t max_bytes;                     /* of the body of the answer */
    int64_t timeout_ms;                   /* for all of it; a connection may take half of it */
    bool (*is_given_up)(const void *who); /* asked several times a second; NULL: never */
    const void *who;
};

struct object_reply {
    int code; /* of HTTP */
    bool has_etag;
    struct str body; /* in the arena */
};

/* ca: the authorities of certificates (PEM); NULL: those of the system. */
struct object_calls *object_calls_open(const char *ca);
void object_calls_close(struct object_calls *calls);

/*
 * Send a request. An error of HTTP is a reply too.
 *
 * STATUS_CANCELLED    given up
 * STATUS_LIMIT        the body of the answer is larger than max_bytes
 * STATUS_UNAVAILABLE  no connection, no valid certificate, or no complete answer in time
 */
MUST_USE enum status object_calls_send(struct object_calls *calls, const struct object_request *request,
    struct arena *arena, struct object_reply *out, struct error *err);

#endif
