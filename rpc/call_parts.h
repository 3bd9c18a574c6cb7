/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_parts.h - shared by the files of the call machine: a call, its batches, its answer. Other files must
 * not include it.
 *
 *   call.c          the state machine: completed batches, events of the handler
 *   call_batch.c    starts batches of the core
 *   call_answer.c   sends the last batch: at once, or with the last batches of other calls
 *   call_handler.c  the functions of the transport, which a handler calls
 *   call_count.c    counts a call at its connection, and among those that need no credential
 */
#ifndef RPC_CALL_PARTS_H
#define RPC_CALL_PARTS_H

#include <grpc/grpc.h>

#include "rpc/bytes.h"
#include "rpc/call.h"
#include "rpc/transport.h"

enum call_state {
    CALL_ARMED,     /* the core has the call; next event: a call arrived, or the server stops */
    CALL_OPEN,      /* the handler has the call, and may read and send */
    CALL_FINISHING, /* the handler has finished the call; next: the last batches complete */
};

enum call_batch {
    BATCH_ARRIVE,
    BATCH_CLOSE,
    BATCH_READ,
    BATCH_SEND,
    BATCH_FINISH,
    BATCH_POST, /* an empty batch that wakes a queue thread; see call_post_answers */
    BATCH_COUNT,
};

/* More bits of in_flight, which are no batches: the call is in a list and must not be freed. */
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
    struct rpc_call base; /* the first member: the part that handlers see */
    struct call_host *host;
    const struct call_slot *slot;

    pthread_mutex_t lock; /* guards the members up to the blank line */
    enum call_state state;
    unsigned in_flight; /* bits 1 << batch */
    unsigned pending;   /* bits of enum call_event */
    bool delivering;
    bool metadata_sent;
    bool close_started;
    bool is_watched;  /* counted in the host's `watched` */
    bool status_held; /* the status waits for the send that is in flight */
    grpc_slice status_message;
    grpc_slice details;

    struct core_call *next_fresh;
    struct core_call *next_answered;
    /* the message that is sent with the status of an answered call, or NULL */
    grpc_byte_buffer *answer;
    struct door_connection *connection; /* the connection that counts the call; NULL: none does */
    bool silent;                        /* the handler has never seen the call */
    bool counts_as_open;                /* host->open_calls counts the call */
    bool late; /* the call arrived while the server was stopping; the stop does not wait for it */
    grpc_call *core;
    gpr_timespec deadline;
    grpc_metadata_array metadata;
    grpc_call_details generic; /* used by a call of an unknown method: the method's name */
    struct bytes message;      /* the message that the handler has, or the one that is being read */
    int close_cancelled;       /* written by the core */
    struct call_tag tags[BATCH_COUNT];
};

/* The client sends exactly one message. */
static inline bool call_takes_one_message(const struct rpc_method *method)
{
    return method->kind == RPC_UNARY || method->kind == RPC_SERVER_STREAM;
}

/* ---- call_batch.c ---- */

/* Mark a batch as in flight and return its tag. Enter with the lock held. */
void *call_fly(struct core_call *call, enum call_batch batch);

/* Enter without the lock. If nothing else is in flight, the completion of the batch may free the call. */
void call_start_read(struct core_call *call, void *tag);
void call_start_send(struct core_call *call, struct str message, bool with_metadata, void *tag);
void call_start_post(struct core_call *call, void *tag);

/* Enter with the lock held; return without it. */
void call_start_close(struct core_call *call);

/*
 * Send the status. The batch includes the metadata, if it has not been sent yet, and the last message
 * (buffer, which stays the caller's; NULL: none), so a unary reply is one batch. Enter with the lock held;
 * the function releases the lock. When the batch has started, the call may be freed at any moment.
 */
void call_start_finish(struct core_call *call, grpc_byte_buffer *buffer);

/* ---- call_count.c ---- */

/* Count a call that has arrived. false: the call exceeds a bound and must be refused. */
bool call_enter(struct core_call *call);
void call_leave(struct core_call *call);
void call_note_authenticated(struct core_call *call);

/* ---- call_handler.c ---- */

extern const struct rpc_transport call_transport;

/* The implementation of rpc_call_finish. */
void call_end(struct core_call *call, int code, struct str message, struct str details);

/* ---- call_answer.c ---- */

/*
 * Send the status and the last message (buffer, which this function then owns; NULL: none): at once, or
 * together with the other replies that coalesce_replies holds. Enter with the lock held; the function
 * releases the lock.
 */
void call_finish(struct core_call *call, grpc_byte_buffer *buffer);

#endif
