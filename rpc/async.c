/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.c - see the header. Only the thread that waits for the queue sets timers. The time of the first timer
 * is the timeout of that wait, so nothing has to wake the thread.
 */
#include "rpc/async.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "rpc/channel_parts.h"

struct async_call {
    struct rpc_stream stream;
    struct bytes received;
    struct arena arena;
    rpc_async_fn *ended;
    void *context;
    struct async_call *next, **link; /* links of the list of open calls */
};

struct async_timer {
    struct async_timer *next; /* the list is sorted by time */
    gpr_timespec time;
    rpc_async_timer_fn *run;
    void *context;
};

struct rpc_async {
    struct rpc_channel *channel;
    grpc_completion_queue *queue;
    struct async_timer *timers; /* used by the thread of rpc_async_step alone */
    pthread_mutex_t lock;       /* guards the members below */
    struct async_call *calls;
    bool is_stopping;
};

struct rpc_async *rpc_async_open(struct rpc_channel *channel)
{
    struct rpc_async *async = xcalloc(1, sizeof(*async));

    async->channel = channel;
    async->queue = grpc_completion_queue_create_for_next(NULL);
    pthread_mutex_init(&async->lock, NULL);
    return async;
}

void rpc_async_close(struct rpc_async *async)
{
    if (!async)
        return;
    grpc_completion_queue_destroy(async->queue);
    pthread_mutex_destroy(&async->lock);
    free(async);
}

/* ---- calls ---- */

static void list_call(struct rpc_async *async, struct async_call *call)
{
    call->next = async->calls;
    call->link = &async->calls;
    if (call->next)
        call->next->link = &call->next;
    async->calls = call;
}

static void unlist_call(struct rpc_async *async, struct async_call *call)
{
    pthread_mutex_lock(&async->lock);
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    pthread_mutex_unlock(&async->lock);
}

void rpc_async_call(
    struct rpc_async *async, const struct rpc_request *request, rpc_async_fn *ended, void *context)
{
    struct async_call *call = xcalloc(1, sizeof(*call));

    call->ended = ended;
    call->context = context;
    arena_init(&call->arena);
    channel_call_init(&call->stream, async->channel, request->path, request->timeout_ms, async->queue);
    pthread_mutex_lock(&async->lock);
    list_call(async, call);
    pthread_mutex_unlock(&async->lock);
    /*
     * The operations are valid and the queue is open, so a batch that fails to start is a defect of this
     * program.
     */
    if (!channel_call_start(&call->stream, request->message, &call->received, call))
        abort();
}

static void end_call(struct rpc_async *async, struct async_call *call)
{
    struct rpc_status status;
    struct str reply = STR_EMPTY;

    unlist_call(async, call);
    channel_call_result(&call->stream, &call->received, &call->arena, &reply, &status);
    bytes_release(&call->received);
    channel_call_cleanup(&call->stream);
    call->ended(call->context, reply, &status);
    arena_cleanup(&call->arena);
    free(call);
}

/* ---- timers ---- */

void rpc_async_after(struct rpc_async *async, int64_t delay_ms, rpc_async_timer_fn *run, void *context)
{
    struct async_timer *timer = xcalloc(1, sizeof(*timer)), **link = &async->timers;

    timer->time = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(delay_ms, GPR_TIMESPAN));
    timer->run = run;
    timer->context = context;
    while (*link && gpr_time_cmp((*link)->time, timer->time) <= 0)
        link = &(*link)->next;
    timer->next = *link;
    *link = timer;
}

static void run_first_timer(struct rpc_async *async)
{
    struct async_timer *timer = async->timers;

    async->timers = timer->next;
    timer->run(timer->context);
    free(timer);
}

/* ---- the driving thread ---- */

/* While the object stops, a timer runs at once: its time does not matter. */
static gpr_timespec next_time(struct rpc_async *async)
{
    bool is_stopping;

    pthread_mutex_lock(&async->lock);
    is_stopping = async->is_stopping;
    pthread_mutex_unlock(&async->lock);
    if (!async->timers)
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    return is_stopping ? gpr_inf_past(GPR_CLOCK_MONOTONIC) : async->timers->time;
}

bool rpc_async_step(struct rpc_async *async)
{
    grpc_event event = grpc_completion_queue_next(async->queue, next_time(async), NULL);

    if (event.type == GRPC_OP_COMPLETE)
        end_call(async, event.tag);
    else if (async->timers)
        run_first_timer(async);
    return event.type != GRPC_QUEUE_SHUTDOWN || async->timers;
}

void rpc_async_stop(struct rpc_async *async)
{
    pthread_mutex_lock(&async->lock);
    async->is_stopping = true;
    for (struct async_call *call = async->calls; call; call = call->next)
        grpc_call_cancel(call->stream.core, NULL);
    pthread_mutex_unlock(&async->lock);
    grpc_completion_queue_shutdown(async->queue);
}
