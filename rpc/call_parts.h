/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_parts.h - shared by the files of the call machine: a call, its batches, its answer. Other files must not
 * include it.
 *
 *   call.c          the state machine: completed batches, events of the handler
 *   call_batch.c    starts batches of the core
 *   call_answer.c   the last batch: at once, or with those of other calls
 *   call_handler.c  the functions of the transport, which a handler calls
 *   call_count.c    where a call is counted: at its connection, and among those that need no credential
 */
#ifndef RPC_CALL_PARTS_H
#define RPC_CALL_PARTS_H

#include <grpc/grpc.h>

#include "rpc/bytes.h"
#include "rpc/call.h"
#include "rpc/transport.h"

enum call_state {
    CALL_ARMED,     /* with the core; next event: a call arrived, or the server stops */
    CALL_OPEN,      /* with the handler, which may read and send */
    CALL_FINISHING, /* the handler is done with it; next: the last batches complete */
};

enum call_batch {
    BATCH_ARRIVE,
    BATCH_CLOSE,
    BATCH_READ,
    BATCH_SEND,
    BATCH_FINISH,
    BATCH_POST, /* an empty one: wakes a queue thread, see call_post */
    BATCH_COUNT,
};

/* More bits of in_flight, but no batches: the call is in a list and must not be freed. */
enum { FRESH = BATCH_COUNT, ANSWERED };

/* Events for the handler: bits of `pending`, delivered in this order. */
enum call_event {
    EVENT_CANCELLED = 1,
    EVENT_MESSAGE = 2,
    EVENT_HALF_CLOSED = 4,
    EVENT_SENT = 8,
};

struct call_tag {
    struct core_call *call;
    enum call_batch batch;
};

struct core_call {
    struct rpc_call base; /* first: what handlers see */
    struct call_host *host;
    const struct call_slot *slot;

    pthread_mutex_t lock; /* guards what follows, up to the blank line */
    enum call_state state;
    unsigned in_flight; /* bits 1 << batch */
    unsigned pending;   /* bits of enum call_event */
    bool delivering;
    bool metadata_sent;
    bool close_started;
    bool status_held; /* the status waits for the send in flight */
    grpc_slice status_message;
    grpc_slice details;

    struct core_call *next_fresh;
    struct core_call *next_answered;
    grpc_byte_buffer *answer;           /* what an answered call is to send with its status, or NULL */
    struct door_connection *connection; /* where the call is counted; NULL: nowhere */
    bool silent;                        /* never shown to the handler */
    bool counts_as_open;                /* among the host's open_calls */
    bool late; /* came while the server was stopping: the stop does not wait for it */
    grpc_call *core;
    gpr_timespec deadline;
    grpc_metadata_array metadata;
    grpc_call_details generic; /* of the generic call: the method's name */
    struct bytes message;      /* the one the handler looks at, or the one being read */
    int close_cancelled;       /* written by the core */
    struct call_tag tags[BATCH_COUNT];
};

/* The request is one message. */
static inline bool call_takes_one_message(const struct rpc_method *method)
{
    return method->kind == RPC_UNARY || method->kind == RPC_SERVER_STREAM;
}

/* ---- call_batch.c ---- */

/* Under the lock: count a batch as started. Returns its tag. */
void *call_fly(struct core_call *call, enum call_batch batch);

/* Without the lock; their completion may free the call, if nothing else is in flight. */
void call_start_read(struct core_call *call, void *tag);
void call_start_send(struct core_call *call, struct str message, bool with_metadata, void *tag);
void call_start_post(struct core_call *call, void *tag);

/* Enter with the lock held; return without it. */
void call_start_close(struct core_call *call);

/*
 * Send the status; with the metadata if that has not left yet, and with the last message (buffer, which stays the
 * caller's, or NULL), which makes a unary reply one batch. Enter with the lock held; it returns without it: the
 * call may be gone when the batch has started.
 */
void call_start_finish(struct core_call *call, grpc_byte_buffer *buffer);

/* ---- call_count.c ---- */

/* The call has arrived: count it. false: it is one too many. */
bool call_enter(struct core_call *call);
void call_leave(struct core_call *call);
void call_note_authenticated(struct core_call *call);

/* ---- call_handler.c ---- */

extern const struct rpc_transport call_transport;

/* What rpc_call_finish does. */
void call_end(struct core_call *call, int code, struct str message, struct str details);

/* ---- call_answer.c ---- */

/*
 * Send the status and the last message, if any (buffer, which this function then owns): at once, or together with the other
 * replies that coalesce_replies holds. The caller holds the lock; the function releases it.
 */
void call_finish(struct core_call *call, grpc_byte_buffer *buffer);

/* In a queue thread, when a BATCH_POST has completed: finish the calls that other threads have answered. */
void call_send_answers(struct call_host *host);

#endif
