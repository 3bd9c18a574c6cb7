/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - how a call is transported: by gRPC's core (call_parts.h), or by another protocol whose calls
 * run through the same handlers. A transport's structure of a call begins with struct rpc_call. The transport
 * fills struct rpc_call in before the first event, and sends the events in the order that rpc/server.h
 * defines.
 *
 * Handlers use the functions of rpc/server.h and none of these members.
 */
#ifndef RPC_TRANSPORT_H
#define RPC_TRANSPORT_H

#include <stdatomic.h>

#include "rpc/server.h"

/* The functions of a transport. Each implements the function rpc_call_... of the same name. */
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
    const struct rpc_method *method; /* NULL: the method is unknown, and the handler never sees the call */
    void *context;                   /* returned by rpc_call_context */
    void *state;                     /* set by the handler */
    struct arena arena;
    struct arena with_state; /* the state of the arena at the moment when the handler set `state` */
    int64_t begun_us;
    int code;              /* set when the handler ends the call */
    atomic_bool cancelled; /* the client went away, or the deadline passed */
};

/*
 * If the handler has set a state, free all memory that was allocated since then. The handler has finished
 * with the call.
 */
void rpc_call_release(struct rpc_call *call);

#endif
