/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_queue.c - see the header. The first call starts the thread, so a program without asynchronous calls
 * has no thread.
 */
#include "client/lib/call_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/lib/call_error.h"
#include "rpc/async.h"

struct call_queue {
    struct tavola *client;
    int descriptor; /* an eventfd that is readable while answers wait; -1: callbacks run in the thread */
    struct rpc_async *async;
    pthread_t thread;

    pthread_mutex_t lock;   /* guards the members below */
    pthread_cond_t changed; /* signalled when `open` or `answered` changes */
    bool has_thread, is_closing;
    int open; /* number of calls whose callback has not returned */
    struct queued_call *answered, **last_answered;
};

/* ---- answers ---- */

static void run_callback(struct queued_call *call)
{
    struct call_queue *queue = call->queue;
    struct tavola_answer answer = { .error = call->error };

    if (answer.error.code == TAVOLA_OK)
        call->read(call, call->reply, &answer);
    call->done.run(call->done.context, &answer);
    tavola_entity_free(call->entity);
    arena_cleanup(&call->arena);
    free(call);
    pthread_mutex_lock(&queue->lock);
    queue->open--;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void note_answers(struct call_queue *queue)
{
    uint64_t one = 1;
    ssize_t done;

    do
        done = write(queue->descriptor, &one, sizeof(one));
    while (done < 0 && errno == EINTR);
}

static void answer_call(struct queued_call *call)
{
    struct call_queue *queue = call->queue;

    if (queue->descriptor < 0) {
        run_callback(call);
        return;
    }
    pthread_mutex_lock(&queue->lock);
    call->next = NULL;
    *queue->last_answered = call;
    queue->last_answered = &call->next;
    pthread_cond_broadcast(&queue->changed);
    /* before the answer can be taken, so that the descriptor is not readable once all are */
    note_answers(queue);
    pthread_mutex_unlock(&queue->lock);
}

/* Take the next answer. NULL: no answer waits. */
static struct queued_call *take_answer(struct call_queue *queue)
{
    struct queued_call *call;

    pthread_mutex_lock(&queue->lock);
    call = queue->answered;
    if (call && !(queue->answered = call->next))
        queue->last_answered = &queue->answered;
    pthread_mutex_unlock(&queue->lock);
    return call;
}

/* ---- attempts ---- */

static void attempt_call(void *context);

static void attempt_ended(void *context, struct str reply, const struct rpc_status *status)
{
    struct queued_call *call = context;
    struct tavola *client = call->queue->client;
    int64_t delay_ms;

    (void)call_error_of_status(status, &call->arena, &call->error);
    delay_ms = session_end_attempt(client, &call->call, &call->error);
    if (delay_ms >= 0) {
        rpc_async_after(call->queue->async, delay_ms, attempt_call, call);
        return;
    }
    call->reply = arena_copy(&call->arena, reply);
    answer_call(call);
}

/* With the lock: no call may begin after rpc_async_stop. */
static void attempt_call(void *context)
{
    struct queued_call *call = context;
    struct call_queue *queue = call->queue;
    struct rpc_request request = session_begin_attempt(queue->client, &call->call);
    bool is_closing;

    pthread_mutex_lock(&queue->lock);
    is_closing = queue->is_closing;
    if (!is_closing)
        rpc_async_call(queue->async, &request, attempt_ended, call);
    pthread_mutex_unlock(&queue->lock);
    if (is_closing) {
        (void)call_error_set(&call->error, TAVOLA_CANCELLED, "the client was closed");
        answer_call(call);
    }
}

static void *drive(void *context)
{
    struct call_queue *queue = context;

    while (rpc_async_step(queue->async))
        continue;
    return NULL;
}

static void start_thread(struct call_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->open++;
    if (!queue->has_thread && !queue->is_closing) {
        if (pthread_create(&queue->thread, NULL, drive, queue) != 0)
            abort(); /* treated like memory that has run out */
        queue->has_thread = true;
    }
    pthread_mutex_unlock(&queue->lock);
}

struct queued_call *call_queue_new(struct call_queue *queue)
{
    struct queued_call *call = xcalloc(1, sizeof(*call));

    call->queue = queue;
    arena_init(&call->arena);
    buf_init(&call->request, &call->arena);
    return call;
}

void call_queue_start(struct queued_call *call, const char *path, int64_t timeout_ms)
{
    session_call_init(call->queue->client, path, &call->request, timeout_ms, &call->call);
    start_thread(call->queue);
    attempt_call(call);
}

void call_queue_refuse(struct queued_call *call, const struct tavola_error *error)
{
    call->error = *error;
    start_thread(call->queue);
    answer_call(call);
}

/* ---- the queue ---- */

struct call_queue *call_queue_open(struct tavola *client, bool dispatches)
{
    struct call_queue *queue = xcalloc(1, sizeof(*queue));

    queue->client = client;
    queue->descriptor = dispatches ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (dispatches && queue->descriptor < 0)
        abort(); /* no descriptor is left: treated like memory that has run out */
    queue->async = rpc_async_open(client->channel);
    queue->last_answered = &queue->answered;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    return queue;
}

static int run_answers(struct call_queue *queue)
{
    struct queued_call *call;
    int count = 0;

    while ((call = take_answer(queue))) {
        run_callback(call);
        count++;
    }
    return count;
}

void call_queue_close(struct call_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->is_closing = true;
    rpc_async_stop(queue->async);
    pthread_mutex_unlock(&queue->lock);
    if (queue->has_thread)
        pthread_join(queue->thread, NULL);
    else
        (void)drive(queue);
    (void)run_answers(queue);
    rpc_async_close(queue->async);
    if (queue->descriptor >= 0)
        close(queue->descriptor);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

int tavola_descriptor(struct tavola *client)
{
    return client->queue->descriptor;
}

int tavola_dispatch(struct tavola *client)
{
    uint64_t count;

    if (client->queue->descriptor < 0)
        return -1;
    /* Clear the descriptor before the answers are taken: a later answer makes it readable again. */
    if (read(client->queue->descriptor, &count, sizeof(count)) < 0 && errno != EAGAIN && errno != EINTR)
        return 0;
    return run_answers(client->queue);
}

void tavola_drain(struct tavola *client)
{
    struct call_queue *queue = client->queue;
    bool is_open = true;

    while (is_open) {
        (void)run_answers(queue);
        pthread_mutex_lock(&queue->lock);
        while (queue->open > 0 && !queue->answered)
            pthread_cond_wait(&queue->changed, &queue->lock);
        is_open = queue->open > 0;
        pthread_mutex_unlock(&queue->lock);
    }
}
