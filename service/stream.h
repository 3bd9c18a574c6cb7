/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - the calls that answer with a stream: an operation, a message, the next operation.
 *
 * A method of this kind is three straight functions, none of which waits, locks or knows how the call came: `take`
 * reads a request, `ask` makes the next operation, `tell` turns its outcome into a message. The memory of an
 * operation and of its message goes before the next one; there is at most one of either, so memory holds one page,
 * however slow the client is.
 *
 * ctx: the arena is the call's for `take`, else that of the operation at hand; `request` lives until the next one is
 * read; `state` is the method's own, made by `take`; `reply` is the message.
 */
#ifndef SERVICE_STREAM_H
#define SERVICE_STREAM_H

#include "service/call.h"

enum stream_step {
    STREAM_RUN,       /* from ask: run the operation, then tell */
    STREAM_READ,      /* from ask: take the next request; end well if there is none */
    STREAM_SEND,      /* from either: send the message, and ask when it has left */
    STREAM_SEND_LAST, /* from either: send the message, and end well behind it */
    STREAM_ASK,       /* from tell: there is nothing to tell, ask at once */
    STREAM_END,       /* from either: end well */
};

struct stream_method {
    /* Read ctx->request. */
    enum status (*take)(struct call_ctx *ctx, struct error *err);

    /*
     * Fill kind, table and in; the rest of out is set already, and *step to STREAM_RUN. What is run must have passed
     * stream_admit.
     */
    enum status (*ask)(
        struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err);

    /* Append the message of an operation that succeeded to ctx->reply; *step is STREAM_SEND already. */
    enum status (*tell)(
        struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err);

    /* A call has begun: 1, or ended: -1. May be NULL. */
    void (*count)(struct service *service, int difference);
};

/*
 * Whether the caller may do this now, at a server that goes on. otherwise: what to do when it does not.
 *
 * STATUS_UNAVAILABLE  SERVER_DRAINING, or as caller_authorize, whose other outcomes are possible, too
 */
MUST_USE enum status stream_admit(
    struct call_ctx *ctx, struct operation *operation, const char *otherwise, struct error *err);

#endif
