/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - unary calls that do not block: a queue, one thread that drives the queue, and a function that
 * runs when a call has ended.
 *
 * Any thread may start calls. One thread calls rpc_async_step again and again. Only this thread runs the
 * functions of calls and timers; it holds no lock while it runs them.
 */
#ifndef RPC_ASYNC_H
#define RPC_ASYNC_H

#include "rpc/channel.h"

struct rpc_async;

/* Called when a call has ended. reply and status are valid until the function returns. */
typedef void rpc_async_fn(void *context, struct str reply, const struct rpc_status *status);
typedef void rpc_async_timer_fn(void *context);

struct rpc_async *rpc_async_open(struct rpc_channel *channel);

/* Call it after rpc_async_step has returned false. The channel stays open. */
void rpc_async_close(struct rpc_async *async);

/* Start a call. `ended` runs once when the call has ended, with any status. The message is copied. */
void rpc_async_call(
    struct rpc_async *async, const struct rpc_request *request, rpc_async_fn *ended, void *context);

/* Call `run` after delay_ms. Only the thread of rpc_async_step may set timers. */
void rpc_async_after(struct rpc_async *async, int64_t delay_ms, rpc_async_timer_fn *run, void *context);

/*
 * Wait for the next end of a call or the next timer, and run its function.
 *
 * false: rpc_async_stop was called, and the function of every call and timer has run.
 */
bool rpc_async_step(struct rpc_async *async);

/*
 * Cancel the open calls and let the timers run at once. Call it once, from any thread; start no call
 * afterwards.
 */
void rpc_async_stop(struct rpc_async *async);

#endif
