/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_queue.h - the asynchronous calls of a client: a thread that drives them, and the answers that wait for tavola_dispatch.
 *
 *   started --attempt--> in flight --ends--> answered --callback--> gone
 *                           ^   |
 *                           '---' a pause, then the next attempt
 */
#ifndef CLIENT_LIB_CALL_QUEUE_H
#define CLIENT_LIB_CALL_QUEUE_H

#include "client/lib/session.h"

struct call_queue;
struct queued_call;

/* Fill the answer of a call that has succeeded from its reply; a failure is put into answer->error. */
typedef void call_queue_read_fn(struct queued_call *call, struct str reply, struct tavola_answer *answer);

/* On the heap; the queue frees it. */
struct queued_call {
    struct session_call call;
    struct arena arena; /* of the request, the reply, and what read makes of it */
    struct buf request;
    call_queue_read_fn *read;
    struct tavola_done done;
    struct tavola_entity *entity; /* for read: freed with the call */
    struct tavola_written written;

    struct call_queue *queue; /* what follows is the queue's own */
    struct str reply;
    struct tavola_error error;
    struct queued_call *next;
};

struct call_queue *call_queue_open(struct tavola *client, bool dispatches);

/* Cancel what is open, and run every callback. Accepts NULL. */
void call_queue_close(struct call_queue *queue);

/* A call whose request is to be written, with read and done to be set. */
struct queued_call *call_queue_new(struct call_queue *queue);

/* Send it: the queue owns it from now on. */
void call_queue_start(struct queued_call *call, const char *path, int64_t timeout_ms);

/* The call cannot be sent: its callback gets the error, as that of any other call. */
void call_queue_refuse(struct queued_call *call, const struct tavola_error *error);

#endif
