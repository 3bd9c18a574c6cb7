/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - HTTP requests and replies as values. Nothing here uses sockets.
 *
 * The parts of a request are the bytes that the client has sent: neither the target nor a header is decoded,
 * so that a signature over them can be checked. Only a compressed body is replaced by its inflated form.
 */
#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct http_header {
    struct str name, value; /* name: in the client's case; value: without white space around it */
};

/* Valid until the exchange has ended; `body` only from the event `body` on. */
struct http_request {
    struct str method; /* "GET"; in the client's case */
    struct str target; /* as sent: "/t()?$top=1" */
    /* the part of target before "?", percent-encoded as sent; begins with "/", or is "*" */
    struct str path;
    struct str query; /* the part of target behind the first "?", as sent; empty: none */
    const struct http_header *headers;
    size_t header_count;
    struct str body; /* the whole body, inflated if it was compressed */
    struct str peer; /* "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312", "unix:" */
    bool is_tls;
};

/* A reply. Its memory belongs to the arena of the exchange. Status 0: not decided yet. */
struct http_reply {
    int status; /* 200..599 */
    struct http_header *headers;
    size_t header_count;
    /*
     * The body, which is sent with its length. The server adds Content-Length, Date and Connection: never add
     * these.
     */
    struct buf body;
    bool closes; /* close the connection after the reply */
};

/* The first value of a header; empty if it was not sent. Names are compared without regard to case. */
struct str http_request_header(const struct http_request *request, const char *name);

/* Whether the header was sent, even with an empty value. */
bool http_request_has_header(const struct http_request *request, const char *name);

/*
 * Whether one of the comma-separated elements of a header is this token, without regard to case. Parameters
 * behind ";" are ignored, but an element with "q=0" does not count.
 */
bool http_request_header_lists(const struct http_request *request, const char *name, const char *token);

/* Whether the method is this one. Methods are compared with regard to case. */
bool http_request_is(const struct http_request *request, const char *method);

/* Add a header. The texts are copied. A header whose value has CR, LF or NUL is left out. */
void http_reply_add_header(struct http_reply *reply, struct arena *arena, const char *name, struct str value);

/* Remove status, headers and body, such as before an error is written instead. */
void http_reply_reset(struct http_reply *reply);

#endif
