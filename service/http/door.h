/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - how a protocol over HTTP reaches the methods: a door recognises its requests, and says how their messages and
 * errors look. All else is the same as over gRPC: admission, rates, memory shares, audit, metrics, drain, cancellation.
 *
 * The way of a request:
 *
 *   find             its headers are there: which method is it? Nothing of the body has been read
 *   read_credential  whose call it is; then the body is read
 *   decode_message   the bytes that the method decodes: its struct method's `decode`, or the functions of a stream
 *   encode_message   what becomes of the bytes that the method's `encode` has appended
 *   encode_error     or what is sent instead, wherever the call has failed
 *
 * A method of a door's own is a struct method (service/call.h) that no other transport knows: `path` is a name for metrics,
 * audit and log ("/azure.Tables/QueryEntities"), `request` is NULL, and `events` is &operation_call_events or &stream_events. Its
 * functions find the call in ctx->http: the request (method, path, query, headers, and from decode on the body) in
 * ctx->http->exchange->request; `encode` appends the body of the reply to `reply`, sets exchange->reply.status (else 200)
 * and adds headers with http_reply_add_header. Memory that must outlive the method's arena is in exchange->arena. A decoder
 * that needs no operation (the answer is known) appends the reply to ctx->reply and sets ctx->is_answered.
 *
 * The functions run in the listener's thread, or in a thread of the store; none may block. A door is static, and is listed
 * in service/main.c.
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
    HTTP_FOUND_NOTHING, /* the request is another door's */
    HTTP_FOUND_METHOD,  /* call->method is set, and call->deadline_us if the client has sent a deadline */
    HTTP_FOUND_REPLY, /* exchange->reply is filled, and is sent at once: no such path, wrong verb, CORS preflight, ... */
};

struct http_door {
    const char *name; /* "connect": in metrics and in the log */

    /* The methods of its own; 0: those of service/methods.h. */
    const struct method *const *methods;
    size_t method_count;

    /* call->exchange->request has everything but the body. May set call->door_state, in exchange->arena. */
    enum http_found (*find)(struct http_call *call);

    /*
     * Find the credential in the request and fill caller->presented, or check it and fill caller->access: see
     * caller_identify; called without authentication too. NULL: a bearer token in the header Authorization, as over gRPC.
     */
    enum status (*read_credential)(struct http_call *call, struct caller *caller, struct error *err);

    /*
     * Make the next message of the request's body. *has_ended: there is none. NULL: the body is the one message. Called once
     * for methods of one message, and for streams of requests until it has ended.
     */
    enum status (*decode_message)(
        struct http_call *call, struct str *message, bool *has_ended, struct error *err);

    /*
     * Append what is sent for a message that the method has made; set status and headers of exchange->reply if
     * call->has_begun is false. NULL: the message as it is.
     */
    enum status (*encode_message)(
        struct http_call *call, struct str message, struct buf *out, struct error *err);

    /* Append what is sent behind the last message of a stream that ends with OK. NULL: nothing. */
    void (*encode_end)(struct http_call *call, struct buf *out);

    /*
     * Append what is sent for an error, and set status and headers; of a stream, call->has_begun says whether those have left
     * already. conflict: the entity that did not meet a condition, or NULL. call->refusal says whether the body was refused.
     */
    void (*encode_error)(
        struct http_call *call, const struct error *err, const struct entity *conflict, struct buf *out);
};

/* A call that came over HTTP. */
struct http_call {
    struct rpc_call base; /* first: what handlers see */
    struct http_exchange *exchange;
    const struct http_door *door;
    const struct method *method;
    int64_t deadline_us; /* clock_monotonic_us; INT64_MAX: none */
    void *door_state;
    const enum http_refusal *refusal; /* why there is no body; NULL: it was not refused */
    bool has_begun;                   /* the first message of a stream has been sent */
    struct error
        *broken; /* why a message of a stream could not be encoded: it ends the call; NULL: all could */
};

/* The call, if it came over HTTP; NULL: over gRPC. */
struct http_call *http_call_of(struct rpc_call *call);

/* The service that the call is made of. */
struct service *http_call_service(const struct http_call *call);

/* End a call with an error, in the form of its door. */
void http_call_fail(struct http_call *call, const struct error *err, const struct entity *conflict);

#endif
