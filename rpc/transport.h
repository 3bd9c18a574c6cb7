/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - what a call came over: gRPC's core (call_parts.h), or another protocol, whose calls then run through the same
 * handlers. A transport begins its own structure of a call with struct rpc_call, fills that in before it tells the handler of
 * the call, and sends the events of rpc/server.h in the order that stands there.
 *
 * Handlers use the functions of rpc/server.h and none of these members.
 */
#ifndef RPC_TRANSPORT_H
#define RPC_TRANSPORT_H

#include <stdatomic.h>

#include "rpc/server.h"

/* The functions of a transport; each does what the function rpc_call_... of its name says. */
struct rpc_transport {
    int64_t (*deadline_us)(const struct rpc_call *call);
    struct str (*peer)(struct rpc_call *call);
    struct str (*metadata)(struct rpc_call *call, const char *key);
    void (*authenticated)(struct rpc_call *call);
    void (*read)(struct rpc_call *call);
    void (*send)(struct rpc_call *call, struct str message);
    void (*reply)(struct rpc_call *call, struct str message);
    void (*finish)(struct rpc_call *call, int code, struct str message, struct str details);
};

/* The part of a call that all transports have. */
struct rpc_call {
    const struct rpc_transport *transport;
    const struct rpc_method *method; /* NULL: unknown; then the handler never sees the call */
    void *context;                   /* of the server's owner */
    void *state;                     /* the handler's */
    struct arena arena;
    struct arena with_state; /* the arena as it was when the handler had its state */
    int64_t begun_us;
    int code;              /* set when the handler ends the call */
    atomic_bool cancelled; /* the peer went away, or the deadline passed */
};

/* Release what the handler has made since its state was set, if it has one: the handler is done with the call. */
void rpc_call_release(struct rpc_call *call);

#endif
