/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - the methods with a stream of requests or answers: an operation, a message, the next operation.
 *
 * Such a method consists of three functions. read_request() checks a request, fill_operation() makes the next
 * operation, and write_message() turns the operation's outcome into a message. None of them waits, locks, or knows the
 * transport. A call holds at most one operation and one message, and frees both before the next operation. Memory is
 * therefore bounded by one page, however slow the client is, and by what the method's state holds: it says in
 * ctx->state_bytes how much that is outside of the arenas.
 *
 * In struct call_ctx: `arena` is the call's in read_request() and the operation's in the two other functions;
 * `request` lives until the next request is read; `state` belongs to the method, which sets it in read_request();
 * `reply` is the message.
 */
#ifndef SERVICE_STREAM_H
#define SERVICE_STREAM_H

#include "service/call.h"

/* What the machine does next. */
enum stream_step {
    STREAM_RUN, /* from fill_operation: run the operation, then call write_message */
    STREAM_READ, /* from fill_operation: read the next request; if the client has ended its stream, end with OK */
    STREAM_SEND, /* from both: send the message; when the transport has taken the message, call fill_operation */
    STREAM_SEND_LAST, /* send the message, then end with OK */
    STREAM_NEXT,      /* from write_message: send no message, call fill_operation at once */
    STREAM_END,       /* end with OK */
};

struct stream_method {
    /* Check and keep ctx->request. */
    enum status (*read_request)(struct call_ctx *ctx, struct error *err);

    /*
     * Fill kind, table and in; the other members of out are set, and *step is STREAM_RUN. An operation must pass
     * stream_admit before it is run.
     */
    enum status (*fill_operation)(
        struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err);

    /* Append the message of an operation that succeeded to ctx->reply. *step is STREAM_SEND. */
    enum status (*write_message)(
        struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err);

    /*
     * The client has ended its stream: fill_operation is called next. NULL: the call ends with OK.
     */
    void (*end_requests)(struct call_ctx *ctx);

    /* Beside its own kind of operation the method writes entities. */
    bool writes_entities;

    /* The bytes that a call counts for from its first message to its end, at least. */
    int64_t min_bytes;

    /* Called with 1 when a call begins and with -1 when it ends. May be NULL. */
    void (*count)(struct service *service, int difference);

    /* Release what ctx->state holds beside memory. Called when the call has ended, after read_request. May be NULL. */
    void (*release)(struct call_ctx *ctx);
};

/*
 * Check that the server is not stopping, that the deadline has not passed, that the caller may run the
 * operation, and that its account is within its rate. A page counts as one operation, and so does a check for
 * changes.
 *
 * advice  what the client should do if the server is stopping; ends the error's message
 *
 * STATUS_UNAVAILABLE  SERVER_DRAINING
 * STATUS_TIMEOUT      OPERATION_TIMED_OUT
 * others              those of caller_authorize and rates_admit
 */
MUST_USE enum status stream_admit(
    struct call_ctx *ctx, struct operation *operation, const char *advice, struct error *err);

#endif
