/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_handler.c - gRPC's implementation of the functions that a handler calls on its call (rpc/transport.h).
 */
#include <assert.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/clock.h"
#include "rpc/call_parts.h"

static struct core_call *core_of(struct rpc_call *call)
{
    return (struct core_call *)call;
}

/*
 * Clients on gRPC's core send a timeout in few digits, rounded up by a hundredth at most: 10.01 s as 10.1. So that a
 * call is answered before its client gives up, its deadline is so much earlier than what was sent.
 */
static int64_t deadline_us(const struct rpc_call *base)
{
    const struct core_call *call = (const struct core_call *)base;
    gpr_timespec left;
    int64_t sent_us;

    if (gpr_time_cmp(call->deadline, gpr_inf_future(call->deadline.clock_type)) == 0)
        return INT64_MAX;
    left = gpr_time_sub(call->deadline, gpr_now(call->deadline.clock_type));
    sent_us = clock_monotonic_us() + left.tv_sec * 1000000 + left.tv_nsec / 1000;
    return sent_us - (sent_us - base->begun_us) / 101;
}

static struct str find_peer(struct rpc_call *call)
{
    char *peer = grpc_call_get_peer(core_of(call)->core);
    struct str copy = arena_copy(&call->arena, str_of(peer));

    gpr_free(peer);
    return copy;
}

static struct str find_metadata(struct rpc_call *call, const char *key)
{
    return bytes_metadata(&core_of(call)->metadata, str_of(key));
}

static void note_authenticated(struct rpc_call *call)
{
    call_note_authenticated(core_of(call));
}

static void read_message(struct rpc_call *base)
{
    struct core_call *call = core_of(base);
    void *tag;

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    if (atomic_load(&call->base.cancelled)) {
        pthread_mutex_unlock(&call->lock);
        return;
    }
    bytes_release(&call->message);
    tag = call_fly(call, BATCH_READ);
    pthread_mutex_unlock(&call->lock);

    call_start_read(call, tag);
}

static void send_message(struct rpc_call *base, struct str message)
{
    struct core_call *call = core_of(base);
    bool with_metadata;
    void *tag;

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    if (atomic_load(&call->base.cancelled)) {
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
 * Free the request of an answered unary call, and everything that was made from it, at once. The call itself
 * ends later, when its thread comes to the event; without this, the requests of all calls in the queue would
 * stay in memory until then. Enter with the lock held.
 */
static void release_request(struct core_call *call)
{
    const struct rpc_method *method = call->slot->method;

    if (!method || method->kind != RPC_UNARY || call->in_flight & (1U << BATCH_READ))
        return;
    bytes_release(&call->message);
    rpc_call_release(&call->base);
}

static void reply_message(struct rpc_call *base, struct str message)
{
    struct core_call *call = core_of(base);
    grpc_byte_buffer *buffer = bytes_copy(message);

    pthread_mutex_lock(&call->lock);
    release_request(call);
    assert(call->state == CALL_OPEN && !(call->in_flight & (1U << BATCH_SEND)));
    call->state = CALL_FINISHING;
    call->base.code = GRPC_STATUS_OK;
    if (call->connection)
        door_note_answer(call->connection);
    call_finish(call, buffer);
}

void call_end(struct core_call *call, int code, struct str message, struct str details)
{
    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    call->state = CALL_FINISHING;
    call->base.code = code;
    if (code == GRPC_STATUS_RESOURCE_EXHAUSTED)
        atomic_fetch_add(&call->host->refused, 1);
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

static void finish_call(struct rpc_call *call, int code, struct str message, struct str details)
{
    call_end(core_of(call), code, message, details);
}

const struct rpc_transport call_transport = {
    .deadline_us = deadline_us,
    .peer = find_peer,
    .metadata = find_metadata,
    .authenticated = note_authenticated,
    .read = read_message,
    .send = send_message,
    .reply = reply_message,
    .finish = finish_call,
};
