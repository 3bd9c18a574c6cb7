/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - the call machine, as the server sees it. Internal to rpc/.
 *
 * The server arms calls and hands over every event of its queue; the machine does the rest.
 */
#ifndef RPC_CALL_H
#define RPC_CALL_H

#include <grpc/grpc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "rpc/door.h"
#include "rpc/server.h"

/* The part of a server that its calls use. It outlives all calls. */
struct call_host {
    grpc_server *core;
    grpc_completion_queue *queue;
    struct rpc_events events;
    void *context;
    atomic_int open;  /* calls that have begun before `stopping` and not ended */
    atomic_int alive; /* these, and the armed ones */
    pthread_mutex_t lock;
    atomic_bool stopping;
    pthread_cond_t changed;               /* alive or open became 0, or shut_down true */
    _Atomic(struct core_call *) answered; /* by other threads: for a queue thread to finish */
    struct door *door;
    int max_open_calls,
        max_open_calls_per_connection; /* of methods that need no credential; 0: not bounded */
    atomic_int open_calls;
    atomic_uint_least64_t open_calls_refused;
    bool shut_down; /* the server's own: the core has let go of all connections */
};

/* A method as registered with the core; method NULL: the generic one, for everything unknown. */
struct call_slot {
    const struct rpc_method *method;
    void *registered;
    size_t receive_bytes; /* of a message, inflated */
};

/* Ask the core for one more call of this method. The slot must live as long as the server. */
void call_arm(struct call_host *host, const struct call_slot *slot);

/* Calls that got their one message since their thread last drained the queue. */
struct call_list {
    struct core_call *first;
};

/*
 * Handle one event of the queue, whose tag is not the server's own. Calls whose one message has come are put into
 * `fresh`, for call_settle. true: the handler may have got a message.
 */
bool call_complete(void *tag, bool ok, struct call_list *fresh);

/* When the queue is drained: from now on the calls that have not been answered notice when their client goes away. */
void call_settle(struct call_list *fresh);

/*
 * Keep the answers of this thread, until call_post_answers hands them to a queue thread. The core lets one thread at a
 * time work on a connection; work for it from other threads takes a slower path inside the core.
 */
void call_keep_answers(void);
void call_post_answers(void);

#endif
