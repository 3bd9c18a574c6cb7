/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_queue.h - the asynchronous calls of a client: a thread that drives them, and the answers that wait for
 * tavola_dispatch.
 *
 *   started --attempt--> in flight --ends--> answered --callback--> freed
 *                           ^   |
 *                           '---' a pause, then the next attempt
 */
#ifndef CLIENT_LIB_CALL_QUEUE_H
#define CLIENT_LIB_CALL_QUEUE_H

#include "client/lib/session.h"

struct call_queue;
struct queued_call;

/*
 * Fill the answer of a call that has succeeded from its reply. If the reply cannot be read, set
 * answer->error.
 */
typedef void call_queue_read_fn(struct queued_call *call, struct str reply, struct tavola_answer *answer);

/* An asynchronous call, on the heap; the queue frees it. */
struct queued_call {
    struct session_call call;
    struct arena arena; /* allocates the request, the reply, and what `read` makes of it */
    struct buf request;
    call_queue_read_fn *read;
    struct tavola_done done;
    struct tavola_entity *entity; /* may be set by `read`; freed with the call */
    struct tavola_written written;

    struct call_queue *queue; /* this and the members below are used by the queue only */
    struct str reply;
    struct tavola_error error;
    struct queued_call *next;
};

struct call_queue *call_queue_open(struct tavola *client, bool dispatches);

/* Cancel the open calls, and run every callback. Accepts NULL. */
void call_queue_close(struct call_queue *queue);

/* Make a call. The caller writes its request and sets `read` and `done`. */
struct queued_call *call_queue_new(struct call_queue *queue);

/* Send a call. The queue owns it from now on. */
void call_queue_start(struct queued_call *call, const char *path, int64_t timeout_ms);

/* End a call that cannot be sent: its callback gets the error, like that of any other call. */
void call_queue_refuse(struct queued_call *call, const struct tavola_error *error);

#endif
