/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - the call machine, as the server sees it. Internal to rpc/.
 *
 * The server arms calls and passes every event of its queue to the machine, which does the rest.
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
    atomic_int open;       /* calls that began before `stopping` was set and have not ended */
    atomic_int open_unary; /* the unary ones of them: other calls may be idle */
    atomic_int alive;      /* all calls, armed ones too */
    pthread_mutex_t lock;
    atomic_bool stopping;
    /* signalled when alive or open becomes 0, or shut_down becomes true */
    pthread_cond_t changed;
    /* calls that other threads have answered, for a queue thread to finish */
    _Atomic(struct core_call *) answered;
    atomic_int unsent;        /* answers of other threads that are in `answered`, or are being sent */
    atomic_int unsent_writes; /* those of them whose methods write */
    atomic_uint refused;      /* calls that ended with RESOURCE_EXHAUSTED */
    atomic_int watched;       /* unary calls for which CLOSE was started, see call_settle */
    atomic_bool overload;     /* what the last drain of a queue thread took the load for; see drain_pace.h */
    pthread_cond_t sent;      /* signalled when `unsent` decreases */
    int posters;              /* threads in call_post_answers */
    struct door *door;
    int max_open_calls,
        max_open_calls_per_connection; /* calls of methods that need no credential; 0: not bounded */
    atomic_int open_calls;
    atomic_uint_least64_t open_calls_refused;
    bool shut_down; /* the core has closed all connections; set by the server, not by calls */
};

/*
 * A method as registered with the core. method NULL: the generic method, which gets the calls of unknown
 * methods.
 */
struct call_slot {
    const struct rpc_method *method;
    void *registered;
    size_t receive_bytes; /* bound of a message, after inflating */
};

/* Ask the core for one more call of this method. The slot must live as long as the server. */
void call_arm(struct call_host *host, const struct call_slot *slot);

/* What a queue thread leaves for the time when it has drained the queue. */
struct call_list {
    struct core_call *first; /* calls whose only message has arrived meanwhile */
    bool drains;             /* true: answers of other threads are left too, for call_send_answers */
};

/*
 * Handle one event of the queue, unless its tag belongs to the server itself. A call whose only message has
 * arrived is added to `fresh`, for call_settle. true: the handler may have got a message, or threads wait until
 * their answers are sent, so the queue must be drained.
 */
bool call_complete(void *tag, bool ok, struct call_list *fresh);

/*
 * Call it when the queue is drained. From then on, an unanswered call in the list notices when its client
 * goes away. If very many calls wait, the others notice it only when they are answered.
 */
void call_settle(struct call_list *fresh);

/*
 * Keep the answers of this thread until call_post_answers passes them to a queue thread. The core lets one
 * thread at a time work on a connection, and work from other threads takes a slower path in the core.
 * call_post_answers blocks while the queue threads have more than a batch of answers to send.
 */
void call_keep_answers(void);
void call_post_answers(void);

/*
 * Finish the calls that other threads have answered, which lets these threads go on. true: there were many, so
 * the caller must drain its queue before it sends more.
 */
bool call_send_answers(struct call_host *host);

#endif
