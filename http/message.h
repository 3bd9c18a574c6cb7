/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - requests and replies of HTTP as values. Nothing here knows sockets.
 *
 * The bytes of a request are as its client has sent them: neither the target nor a header is decoded, so that a signature over
 * them can be checked. Only the body is as it was before it was compressed.
 */
#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct http_header {
    struct str name, value; /* the name in the client's case; the value without white space around it */
};

/* Lives until the exchange has ended; the body only from the event `body` on. */
struct http_request {
    struct str method; /* "GET": in the client's case */
    struct str target; /* as sent: "/t()?$top=1" */
    struct str path;   /* of the target, up to the "?", percent-encoded as sent; begins with "/", or is "*" */
    struct str query;  /* of the target, behind the first "?", as sent; empty: none */
    const struct http_header *headers;
    size_t header_count;
    struct str body; /* whole, and inflated if it came compressed */
    struct str peer; /* "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312", "unix:" */
    bool is_tls;
};

/* Status 0: not decided. The memory belongs to the arena of the exchange. */
struct http_reply {
    int status; /* 200..599 */
    struct http_header *headers;
    size_t header_count;
    /* Sent with its length. Content-Length, Date and Connection are the server's own headers: never add them. */
    struct buf body;
    bool closes; /* the connection is closed behind the reply */
};

/* The first value of a header, whose name is compared without regard to case; empty: it was not sent. */
struct str http_request_header(const struct http_request *request, const char *name);

/* Whether the header was sent, and be it empty. */
bool http_request_has_header(const struct http_request *request, const char *name);

/*
 * Whether one of the comma-separated elements of a header is this token, without regard to case; parameters behind ";" are
 * ignored, but an element with "q=0" does not count.
 */
bool http_request_header_lists(const struct http_request *request, const char *name, const char *token);

/* Whether the method is this one; methods are compared with regard to case. */
bool http_request_is(const struct http_request *request, const char *method);

/* Add a header. The texts are copied; the value must have neither CR, LF nor NUL: such a header is left out. */
void http_reply_add_header(struct http_reply *reply, struct arena *arena, const char *name, struct str value);

/* Forget status, headers and body, such as before an error is written in their place. */
void http_reply_reset(struct http_reply *reply);

#endif
