/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_handler.c - the functions that a handler calls on its call.
 */
#include <assert.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/clock.h"
#include "rpc/call_parts.h"

const struct rpc_method *rpc_call_method(const struct rpc_call *call)
{
    return call->slot->method;
}

void *rpc_call_context(const struct rpc_call *call)
{
    return call->host->context;
}

struct arena *rpc_call_arena(struct rpc_call *call)
{
    return &call->arena;
}

void *rpc_call_state(const struct rpc_call *call)
{
    return call->handler_state;
}

void rpc_call_set_state(struct rpc_call *call, void *state)
{
    call->handler_state = state;
    call->with_state = call->arena;
}

int64_t rpc_call_deadline_us(const struct rpc_call *call)
{
    gpr_timespec left;

    if (gpr_time_cmp(call->deadline, gpr_inf_future(call->deadline.clock_type)) == 0)
        return INT64_MAX;
    left = gpr_time_sub(call->deadline, gpr_now(call->deadline.clock_type));
    return clock_monotonic_us() + left.tv_sec * 1000000 + left.tv_nsec / 1000;
}

int64_t rpc_call_begun_us(const struct rpc_call *call)
{
    return call->begun_us;
}

int rpc_call_code(const struct rpc_call *call)
{
    return (int)call->code;
}

bool rpc_call_is_cancelled(const struct rpc_call *call)
{
    return atomic_load(&call->cancelled);
}

struct str rpc_call_peer(struct rpc_call *call)
{
    char *peer = grpc_call_get_peer(call->core);
    struct str copy = arena_copy(&call->arena, str_of(peer));

    gpr_free(peer);
    return copy;
}

struct str rpc_call_metadata(struct rpc_call *call, const char *key)
{
    return bytes_metadata(&call->metadata, str_of(key));
}

void rpc_call_read(struct rpc_call *call)
{
    void *tag;

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    if (atomic_load(&call->cancelled)) {
        pthread_mutex_unlock(&call->lock);
        return;
    }
    bytes_release(&call->message);
    tag = call_fly(call, BATCH_READ);
    pthread_mutex_unlock(&call->lock);

    call_start_read(call, tag);
}

void rpc_call_send(struct rpc_call *call, struct str message)
{
    bool with_metadata;
    void *tag;

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    if (atomic_load(&call->cancelled)) {
        pthread_mutex_unlock(&call->lock);
        return;
    }
    with_metadata = !call->metadata_sent;
    call->metadata_sent = true;
    if (call->connection)
        door_note_answer(call->connection);
    tag = call_fly(call, BATCH_SEND);
    pthread_mutex_unlock(&call->lock);

    call_start_send(call, message, with_metadata, tag);
}

/*
 * A unary call has been answered: its request and what was made of it go at once. The call itself ends when its thread comes
 * to the event, behind the requests that arrived meanwhile, and they would wait in memory together. With the lock.
 */
static void release_request(struct rpc_call *call)
{
    const struct rpc_method *method = call->slot->method;

    if (!method || method->kind != RPC_UNARY || call->in_flight & (1U << BATCH_READ))
        return;
    bytes_release(&call->message);
    if (call->handler_state)
        arena_rewind(&call->arena, &call->with_state);
}

void rpc_call_reply(struct rpc_call *call, struct str message)
{
    grpc_byte_buffer *buffer = bytes_copy(message);

    pthread_mutex_lock(&call->lock);
    release_request(call);
    assert(call->state == CALL_OPEN && !(call->in_flight & (1U << BATCH_SEND)));
    call->state = CALL_FINISHING;
    call->code = GRPC_STATUS_OK;
    if (call->connection)
        door_note_answer(call->connection);
    call_finish(call, buffer);
}

void rpc_call_finish(struct rpc_call *call, int code, struct str message, struct str details)
{
    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    call->state = CALL_FINISHING;
    call->code = (grpc_status_code)code;
    call->status_message = bytes_slice(message);
    call->details = bytes_slice(details);
    release_request(call);
    if (call->in_flight & (1U << BATCH_SEND)) {
        call->status_held = true;
        pthread_mutex_unlock(&call->lock);
        return;
    }
    call_finish(call, NULL);
}
