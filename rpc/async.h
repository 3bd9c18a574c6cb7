/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - unary calls that do not block: a queue, one thread that drives it, and a function for each call that ends.
 *
 * Any thread may start calls. One thread calls rpc_async_step again and again; it alone runs the functions of calls and
 * timers, without a lock held.
 */
#ifndef RPC_ASYNC_H
#define RPC_ASYNC_H

#include "rpc/channel.h"

struct rpc_async;

/* reply, status: valid until the function returns. */
typedef void rpc_async_fn(void *context, struct str reply, const struct rpc_status *status);
typedef void rpc_async_timer_fn(void *context);

struct rpc_async *rpc_async_open(struct rpc_channel *channel);

/* After rpc_async_step has returned false. The channel stays open. */
void rpc_async_close(struct rpc_async *async);

/* Start a call; ended runs when it has ended, however it ends. The message is copied. */
void rpc_async_call(
    struct rpc_async *async, const struct rpc_request *request, rpc_async_fn *ended, void *context);

/* Only in the thread of rpc_async_step: let run run after that time. */
void rpc_async_after(struct rpc_async *async, int64_t delay_ms, rpc_async_timer_fn *run, void *context);

/*
 * Wait for the next end of a call or the next timer, and run its function. false: rpc_async_stop was called, and every call and
 * timer has had its function.
 */
bool rpc_async_step(struct rpc_async *async);

/* From any thread, once: cancel the open calls and let the timers run at once. No call may begin from now on. */
void rpc_async_stop(struct rpc_async *async);

#endif
