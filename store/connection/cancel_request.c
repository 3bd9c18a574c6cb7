/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_request.c - see the header. */
#include "store/connection/cancel_request.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/condition.h"

struct cancel_request {
    PGcancel *cancel;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_over;
    int owners; /* the thread, and who has sent the request */
};

static void free_request(struct cancel_request *request)
{
    PQfreeCancel(request->cancel);
    pthread_cond_destroy(&request->changed);
    pthread_mutex_destroy(&request->lock);
    free(request);
}

void cancel_request_release(struct cancel_request *request)
{
    bool is_last;

    if (!request)
        return;
    pthread_mutex_lock(&request->lock);
    is_last = --request->owners == 0;
    pthread_mutex_unlock(&request->lock);
    if (is_last)
        free_request(request);
}

static void *run(void *argument)
{
    struct cancel_request *request = argument;
    char ignored[256];

    (void)PQcancel(request->cancel, ignored, sizeof(ignored));
    pthread_mutex_lock(&request->lock);
    request->is_over = true;
    pthread_cond_broadcast(&request->changed);
    pthread_mutex_unlock(&request->lock);
    cancel_request_release(request);
    return NULL;
}

struct cancel_request *cancel_request_send(PGconn *conn)
{
    struct cancel_request *request = xcalloc(1, sizeof(*request));
    pthread_t thread;

    request->cancel = PQgetCancel(conn);
    request->owners = 2;
    pthread_mutex_init(&request->lock, NULL);
    condition_init(&request->changed);
    if (!request->cancel || pthread_create(&thread, NULL, run, request) != 0) {
        free_request(request);
        return NULL;
    }
    pthread_detach(thread);
    return request;
}

bool cancel_request_wait(struct cancel_request *request, int64_t deadline_us)
{
    bool is_over;

    if (!request)
        return true;
    pthread_mutex_lock(&request->lock);
    while (!request->is_over && condition_wait_until(&request->changed, &request->lock, deadline_us))
        continue;
    is_over = request->is_over;
    pthread_mutex_unlock(&request->lock);
    return is_over;
}
