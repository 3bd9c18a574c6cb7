/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c - the functions that a handler calls on its call: those that are common to all transports, and
 * those that call the function of the transport.
 */
#include "rpc/transport.h"

const struct rpc_method *rpc_call_method(const struct rpc_call *call)
{
    return call->method;
}

void *rpc_call_context(const struct rpc_call *call)
{
    return call->context;
}

void *rpc_call_state(const struct rpc_call *call)
{
    return call->state;
}

void rpc_call_set_state(struct rpc_call *call, void *state)
{
    call->state = state;
    call->with_state = call->arena;
}

void rpc_call_release(struct rpc_call *call)
{
    if (call->state)
        arena_rewind(&call->arena, &call->with_state);
}

struct arena *rpc_call_arena(struct rpc_call *call)
{
    return &call->arena;
}

int64_t rpc_call_begun_us(const struct rpc_call *call)
{
    return call->begun_us;
}

int rpc_call_code(const struct rpc_call *call)
{
    return call->code;
}

bool rpc_call_is_cancelled(const struct rpc_call *call)
{
    return atomic_load(&call->cancelled);
}

int64_t rpc_call_deadline_us(const struct rpc_call *call)
{
    return call->transport->deadline_us(call);
}

struct str rpc_call_peer(struct rpc_call *call)
{
    return call->transport->peer(call);
}

struct str rpc_call_metadata(struct rpc_call *call, const char *key)
{
    return call->transport->metadata(call, key);
}

void rpc_call_authenticated(struct rpc_call *call)
{
    call->transport->authenticated(call);
}

void rpc_call_read(struct rpc_call *call)
{
    call->transport->read(call);
}

void rpc_call_send(struct rpc_call *call, struct str message)
{
    call->transport->send(call, message);
}

void rpc_call_reply(struct rpc_call *call, struct str message)
{
    call->transport->reply(call, message);
}

void rpc_call_finish(struct rpc_call *call, int code, struct str message, struct str details)
{
    call->transport->finish(call, code, message, details);
}
