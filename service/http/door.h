/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - how a protocol over HTTP reaches the methods: a door recognises the requests of its protocol, and
 * defines the form of their messages and errors. Admission, rates, memory shares, audit, metrics, drain and
 * cancellation are the same as over gRPC.
 *
 * A request passes these functions:
 *
 *   find             the headers have arrived: find the method. No part of the body has been read
 *   read_credential  find the credential of the caller; then the body is read
 *   decode_message   make the bytes that the method decodes: by its `decode`, or the functions of a stream
 *   encode_message   make the reply from the bytes that the method's `encode` has appended
 *   encode_error     make the reply of a call that has failed at any point
 *
 * A door may have methods of its own, which no other transport knows. Each is a struct method
 * (service/call.h): `path` is a name for metrics, audit and log ("/azure.Tables/QueryEntities"), `request` is
 * NULL, and `events` is &operation_call_events or &stream_events. Its functions find the call in ctx->http:
 * the request (method, path, query, headers, and from decode on the body) in ctx->http->exchange->request;
 * `encode` appends the body of the reply to `reply`, sets exchange->reply.status (else 200) and adds headers
 * with http_reply_add_header. Memory that must outlive the method's arena is in exchange->arena. If the
 * decoder knows the reply without an operation, it appends the reply to ctx->reply and sets ctx->is_answered.
 *
 * The functions run in the listener's thread, or in a thread of the store; none may block. A door is a static
 * object that service/main.c lists.
 */
#ifndef SERVICE_HTTP_DOOR_H
#define SERVICE_HTTP_DOOR_H

#include "base/buf.h"
#include "base/error.h"
#include "http/server.h"
#include "rpc/transport.h"

struct caller;
struct entity;
struct method;
struct service;
struct http_call;

enum http_found {
    HTTP_FOUND_NOTHING, /* the request belongs to another door */
    HTTP_FOUND_METHOD,  /* call->method is set, and call->deadline_us if the client has sent a deadline */
    /* exchange->reply is filled and is sent at once: unknown path, wrong verb, CORS preflight, ... */
    HTTP_FOUND_REPLY,
};

struct http_door {
    const char *name; /* "connect"; in metrics and in the log */

    /* The door's own methods; method_count 0: the door serves those of service/methods.h. */
    const struct method *const *methods;
    size_t method_count;

    /*
     * Find the method. call->exchange->request has everything but the body. The function may set
     * call->door_state, in exchange->arena.
     */
    enum http_found (*find)(struct http_call *call);

    /*
     * Find the credential in the request and fill caller->presented, or check it and fill caller->access: see
     * caller_identify. Called without authentication too. NULL: the credential is a bearer token in the
     * header Authorization, as over gRPC.
     */
    enum status (*read_credential)(struct http_call *call, struct caller *caller, struct error *err);

    /*
     * Make the next message from the request's body. *has_ended: there is no further message. Called once if
     * the method takes one message; for a stream of requests, until it has ended. NULL: the whole body is the
     * message.
     */
    enum status (*decode_message)(
        struct http_call *call, struct str *message, bool *has_ended, struct error *err);

    /*
     * Append the bytes of a reply message. If call->has_begun is false, set status and headers of
     * exchange->reply too. NULL: the message is sent unchanged.
     */
    enum status (*encode_message)(
        struct http_call *call, struct str message, struct buf *out, struct error *err);

    /* Append the bytes that end a stream with OK. NULL: there are none. */
    void (*encode_end)(struct http_call *call, struct buf *out);

    /*
     * Append the bytes of an error, and set status and headers; if call->has_begun is true, those of a stream
     * have been sent already. conflict: the entity that did not meet a condition, or NULL. call->refusal:
     * whether the body was refused.
     */
    void (*encode_error)(
        struct http_call *call, const struct error *err, const struct entity *conflict, struct buf *out);
};

/* A call over HTTP. */
struct http_call {
    struct rpc_call base; /* the first member: the part that handlers see */
    struct http_exchange *exchange;
    const struct http_door *door;
    const struct method *method;
    int64_t deadline_us; /* clock_monotonic_us; INT64_MAX: none */
    void *door_state;
    const enum http_refusal *refusal; /* why there is no body; NULL: the body was not refused */
    bool has_begun;                   /* the first message of a stream has been sent */
    struct error
        /*
         * why a message of a stream could not be encoded, which ends the call; NULL: all messages were
         * encoded
         */
        *broken;
};

/* The HTTP call that contains this call; NULL: a call over gRPC. */
struct http_call *http_call_of(struct rpc_call *call);

/* The service that the call belongs to. */
struct service *http_call_service(const struct http_call *call);

/* End a call with an error, in the form of the call's door. */
void http_call_fail(struct http_call *call, const struct error *err, const struct entity *conflict);

#endif
