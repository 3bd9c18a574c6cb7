/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_answer.c - sends the last batch of a call: at once, or together with the last batches of other calls.
 *
 * The core lets one thread at a time work on a connection. So a thread that serves no queue passes its
 * answers to a queue thread, all of them with one empty batch.
 */
#include "rpc/call_parts.h"
#include "rpc/coalesce.h"

/* The calls that this thread has answered since call_keep_answers; all belong to one host. */
static _Thread_local struct {
    bool active;
    struct core_call *first;
    struct core_call **last;
} kept;

void call_keep_answers(void)
{
    kept.active = true;
    kept.first = NULL;
    kept.last = &kept.first;
}

/*
 * The call whose empty batch is sent must stay until the batch has completed. The other calls may end before.
 */
void call_post_answers(void)
{
    struct core_call *first = kept.first, *others;
    void *tag;

    kept.active = false;
    if (!first)
        return;
    pthread_mutex_lock(&first->lock);
    tag = call_fly(first, BATCH_POST);
    pthread_mutex_unlock(&first->lock);
    others = atomic_load(&first->host->answered);
    do {
        *kept.last = others;
    } while (!atomic_compare_exchange_weak(&first->host->answered, &others, first));
    call_start_post(first, tag);
}

void call_send_answers(struct call_host *host)
{
    struct core_call *call = atomic_exchange(&host->answered, NULL);

    coalesce_replies(true);
    while (call) {
        struct core_call *next = call->next_answered;
        grpc_byte_buffer *buffer = call->answer;

        pthread_mutex_lock(&call->lock);
        call->in_flight &= ~(1U << ANSWERED);
        call_start_finish(call, buffer);
        if (buffer)
            grpc_byte_buffer_destroy(buffer);
        call = next;
    }
    coalesce_replies(false);
}

void call_finish(struct core_call *call, grpc_byte_buffer *buffer)
{
    if (kept.active && (!kept.first || kept.first->host == call->host)) {
        call->in_flight |= 1U << ANSWERED;
        call->answer = buffer;
        call->next_answered = NULL;
        *kept.last = call;
        kept.last = &call->next_answered;
        pthread_mutex_unlock(&call->lock);
        return;
    }
    call_start_finish(call, buffer);
    if (buffer)
        grpc_byte_buffer_destroy(buffer);
}
