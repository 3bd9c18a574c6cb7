/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_answer.c - sends the last batch of a call: at once, or together with the last batches of other calls.
 *
 * The core lets one thread at a time work on a connection. So a thread that serves no queue passes its
 * answers to a queue thread, all of them with one empty batch.
 */
#include "rpc/call_parts.h"
#include "rpc/coalesce.h"

/*
 * The answers that may wait for a queue thread before the thread that made them rests. Unless there is an overload,
 * the queue thread sends those of writes soon (drain_pace.h), and it would only cost time to rest.
 */
enum { MAX_UNSENT_WRITES = 511, MAX_UNSENT = 127 };

/* The calls that this thread has answered since call_keep_answers; all belong to one host. */
static _Thread_local struct {
    bool active;
    int count;
    int writes; /* those of them whose methods write */
    struct core_call *first;
    struct core_call **last;
} kept;

void call_keep_answers(void)
{
    kept.active = true;
    kept.count = kept.writes = 0;
    kept.first = NULL;
    kept.last = &kept.first;
}

static int max_unsent(const struct call_host *host, bool writes)
{
    return writes && !atomic_load(&host->overload) ? MAX_UNSENT_WRITES : MAX_UNSENT;
}

static bool is_write(const struct core_call *call)
{
    return call->slot->method && call->slot->method->writes;
}

/*
 * Wait until a queue thread has sent most of the answers. It sends answers only between two drains of its queue. The
 * core reads from connections only while it has no event, and each answer is an event. If the lanes answered without
 * a pause, requests would wait in the sockets in the order of their arrival, and the lanes could not choose which
 * calls to answer first. While the queue thread reads, the lanes work on the next batch.
 */
static void await_sending(struct call_host *host, bool writes)
{
    pthread_mutex_lock(&host->lock);
    while (atomic_load(&host->unsent) > max_unsent(host, writes))
        pthread_cond_wait(&host->sent, &host->lock);
    host->posters--;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

/*
 * The call whose empty batch is sent must stay until the batch has completed. The other calls may end before.
 */
void call_post_answers(void)
{
    struct core_call *first = kept.first, *others;
    struct call_host *host = first ? first->host : NULL;
    void *tag;

    kept.active = false;
    if (!first)
        return;
    pthread_mutex_lock(&host->lock);
    host->posters++;
    pthread_mutex_unlock(&host->lock);
    pthread_mutex_lock(&first->lock);
    tag = call_fly(first, BATCH_POST);
    pthread_mutex_unlock(&first->lock);
    atomic_fetch_add(&host->unsent, kept.count);
    atomic_fetch_add(&host->unsent_writes, kept.writes);
    others = atomic_load(&host->answered);
    do {
        *kept.last = others;
    } while (!atomic_compare_exchange_weak(&host->answered, &others, first));
    call_start_post(first, tag);
    await_sending(host, kept.writes > 0);
}

bool call_send_answers(struct call_host *host)
{
    struct core_call *call = atomic_exchange(&host->answered, NULL);
    int count = 0, writes = 0;

    coalesce_replies(true);
    for (; call; count++) {
        struct core_call *next = call->next_answered;
        grpc_byte_buffer *buffer = call->answer;

        writes += is_write(call);
        pthread_mutex_lock(&call->lock);
        call->in_flight &= ~(1U << ANSWERED);
        call_start_finish(call, buffer);
        if (buffer)
            grpc_byte_buffer_destroy(buffer);
        call = next;
    }
    coalesce_replies(false);
    atomic_fetch_sub(&host->unsent_writes, writes);
    if (count == 0 || atomic_fetch_sub(&host->unsent, count) <= MAX_UNSENT)
        return false;
    pthread_mutex_lock(&host->lock);
    pthread_cond_broadcast(&host->sent);
    pthread_mutex_unlock(&host->lock);
    return true;
}

void call_finish(struct core_call *call, grpc_byte_buffer *buffer)
{
    if (kept.active && (!kept.first || kept.first->host == call->host)) {
        call->in_flight |= 1U << ANSWERED;
        call->answer = buffer;
        call->next_answered = NULL;
        *kept.last = call;
        kept.last = &call->next_answered;
        kept.count++;
        kept.writes += is_write(call);
        pthread_mutex_unlock(&call->lock);
        return;
    }
    call_start_finish(call, buffer);
    if (buffer)
        grpc_byte_buffer_destroy(buffer);
}
