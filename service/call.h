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
     * These two: of methods that need a credential. The context of a call that has begun, and the end of a call whose message
     * will not be read.
     */
    const struct call_ctx *(*context)(struct rpc_call *call);
    void (*refuse)(struct rpc_call *call, const struct error *err);
};

struct call_ctx {
    struct arena *arena; /* of the call */
    struct service *service;
    struct caller caller;
    struct str account;              /* the caller's */
    const ProtobufCMessage *request; /* NULL: the method declares none, and reads http->exchange->request */
    struct http_call *http; /* the call, if it came over HTTP: service/http/door.h; NULL: over gRPC */
    struct buf reply;       /* the encoder appends to it; a decoder may let the store write there */
    bool is_answered;       /* set by a decoder that has appended the reply: there is no operation */
    void *state;            /* from decoder to encoder */
    int64_t page_table_id;  /* the table that the request's page token is bound to; 0: none */
};

/* Fill kind, table and in; the rest of out is set already. */
typedef enum status call_decode_fn(struct call_ctx *ctx, struct operation *out, struct error *err);

/* Append the reply of a successful operation. */
typedef enum status call_encode_fn(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err);

struct method {
    const char *path;
    enum rpc_kind kind;
    const struct call_events *events;
    /* Of operation_call_events and stream_events; NULL: the functions read the request of HTTP. */
    const ProtobufCMessageDescriptor *request;
    /*
     * Of these too: the kind that its calls run, or one with the same facts. So operation_kind_facts says what a call needs,
     * and routes_find where it waits, which is what it may cost.
     */
    enum operation_kind operation;
    bool may_get;           /* or OPERATION_GET: only the request says which */
    call_decode_fn *decode; /* these two: of operation_call_events */
    call_encode_fn *encode;
    const struct stream_method *stream; /* of stream_events */
};

/* The events of methods that are one operation, and of methods that are one after another (stream.h). */
extern const struct call_events operation_call_events;
extern const struct call_events stream_events;

static inline const struct method *call_method(const struct rpc_call *call)
{
    const struct method *const *row = rpc_call_method(call)->handler; /* see methods_for_rpc */

    return *row;
}

/* End a call with an error: status, message and details. The cause of an internal error goes to the log. */
void call_fail(struct rpc_call *call, const struct error *err, struct arena *arena);

/* The same with the entity that did not meet a condition; NULL: none. */
void call_fail_with(
    struct rpc_call *call, const struct error *err, const struct entity *entity, struct arena *arena);

/* Check the name of a table, from this field of the request, and put the name into the operation. */
MUST_USE enum status call_table(
    struct operation *operation, const char *field, ProtobufCBinaryData name, struct error *err);

#endif
