/* SPDX-License-Identifier: Apache-2.0 */
/*
 * post.h - one POST or PUT to another service, over a connection of its own. A call blocks until the answer is there.
 *
 * No redirection is followed, no proxy is taken from the environment, no cookies and no credentials are sent, and
 * certificates are verified.
 */
#ifndef HTTP_POST_H
#define HTTP_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { POST_REPLY_BYTES = 64 << 10 /* of a body; the rest is not read */, POST_HEADER_BYTES = 64 << 10 };

struct post_request {
    const char *url;
    bool is_put;
    const char *const *headers; /* "Name: value", behind the last one NULL */
    struct str body;
    const char *ca;                     /* the authorities of certificates (PEM); NULL: those of the system */
    int64_t timeout_ms;                 /* for all of it; a connection may take half of it */
    bool (*is_given_up)(void *context); /* asked several times a second */
    void *context;
};

struct post_reply {
    int code;        /* of HTTP */
    struct str body; /* at most its first POST_REPLY_BYTES, in the arena */
};

/*
 * Send the request. An error of HTTP is a reply too.
 *
 * STATUS_CANCELLED    given up
 * STATUS_UNAVAILABLE  no connection, no valid certificate, or no complete answer in time
 */
MUST_USE enum status post_send(
    const struct post_request *request, struct arena *arena, struct post_reply *out, struct error *err);

#endif
