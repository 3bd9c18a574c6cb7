/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - the parts of a method, and the context that its functions get.
 *
 * Most methods are one operation: `decode` turns the request into an operation, the store runs the operation, and
 * `encode` turns the outcome into the reply (operation_call.c connects these). Neither function waits, locks or knows
 * the transport. Imports, scans and watches are one operation after another (stream.h). Health and reflection handle
 * the events of their calls themselves.
 */
#ifndef SERVICE_CALL_H
#define SERVICE_CALL_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "domain/operations/operation.h"
#include "rpc/server.h"
#include "service/admission/caller.h"
#include "service/http/door.h"
#include "service/service.h"

struct call_ctx;

/* The events of a call, as in rpc/server.h; NULL: the method ignores the event. */
struct call_events {
    void (*begin)(struct rpc_call *call);
    void (*message)(struct rpc_call *call, struct str message);
    void (*half_closed)(struct rpc_call *call);
    void (*sent)(struct rpc_call *call);
    void (*cancelled)(struct rpc_call *call);
    void (*ended)(struct rpc_call *call);
    /*
     * The next two are set for methods that need a credential. context returns the context of a call that has
     * begun; refuse ends a call whose message will not be read.
     */
    const struct call_ctx *(*context)(struct rpc_call *call);
    void (*refuse)(struct rpc_call *call, const struct error *err);
};

struct call_ctx {
    struct arena *arena; /* the arena of the call */
    struct service *service;
    struct caller caller;
    struct str account; /* the caller's account */
    /* NULL: the method has no protobuf request, and reads http->exchange->request */
    const ProtobufCMessage *request;
    struct http_call *http; /* the call over HTTP (service/http/door.h); NULL: a call over gRPC */
    struct buf reply;       /* the encoder appends the reply; a decoder may let the store append to it */
    bool is_answered;       /* set by a decoder that has appended the reply itself, so no operation is run */
    void *state;            /* passed from the decoder to the encoder */
    size_t state_bytes;     /* of a stream: what its state holds outside of the call's arenas */
    int64_t page_table_id;  /* the table that the request's page token is bound to; 0: none */
};

/* Fill in kind, table and input of the operation. Its other members are set already. */
typedef enum status call_decode_fn(struct call_ctx *ctx, struct operation *out, struct error *err);

/* Append the reply of a successful operation. */
typedef enum status call_encode_fn(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err);

struct method {
    const char *path;
    enum rpc_kind kind;
    const struct call_events *events;
    /*
     * Used by operation_call_events and stream_events: the type of the request; NULL: the functions read the
     * request of HTTP.
     */
    const ProtobufCMessageDescriptor *request;
    /*
     * Used by both too: the kind of operation that the method runs, or a kind with the same facts.
     * operation_kind_facts says what a call needs; routes_find says in which lane it waits, and so how much a
     * call may cost.
     */
    enum operation_kind operation;
    bool may_get;           /* the method runs this kind or OPERATION_GET, as the request says */
    bool may_look_up;       /* likewise OPERATION_LOOKUP */
    call_decode_fn *decode; /* the functions that operation_call_events calls */
    call_encode_fn *encode;
    const struct stream_method *stream; /* the functions that stream_events calls */
};

/*
 * operation_call_events: the events of a method that is one operation. stream_events: those of a method that
 * is one operation after another (stream.h).
 */
extern const struct call_events operation_call_events;
extern const struct call_events stream_events;

static inline const struct method *call_method(const struct rpc_call *call)
{
    const struct method *const *row = rpc_call_method(call)->handler; /* see methods_for_rpc */

    return *row;
}

/*
 * End a call with an error: status, message and details. The cause of an internal error goes only to the log.
 */
void call_fail(struct rpc_call *call, const struct error *err, struct arena *arena);

/* The same; the error's details have the entity that did not meet a condition. NULL: none. */
void call_fail_with(
    struct rpc_call *call, const struct error *err, const struct entity *entity, struct arena *arena);

/* Check the name of a table and put it into the operation. field: the request's field, for the message. */
MUST_USE enum status call_table(
    struct operation *operation, const char *field, ProtobufCBinaryData name, struct error *err);

#endif
