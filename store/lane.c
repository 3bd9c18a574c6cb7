/*
 * lane.c - see the header.
 */
#include "store/lane.h"

#include <stdlib.h>

#include "base/clock.h"
#include "domain/reason.h"

struct lane_thread {
    pthread_t id;
    struct lane *lane;
    struct session session;
};

struct lane {
    struct lane_options options;
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct operation *first;
    struct operation **last;
    int waiting;
    int idle; /* threads waiting for work */
    bool stopping;
    struct lane_thread threads[];
};

bool lane_submit(struct lane *lane, struct operation *operation)
{
    bool taken;

    operation->next = NULL;
    pthread_mutex_lock(&lane->mutex);
    taken = !lane->stopping && lane->waiting < lane->options.most_waiting;
    if (taken) {
        *lane->last = operation;
        lane->last = &operation->next;
        lane->waiting++;
        if (lane->idle > 0)
            pthread_cond_signal(&lane->arrived);
    }
    pthread_mutex_unlock(&lane->mutex);
    return taken;
}

static size_t operation_bytes(const struct operation *operation)
{
    size_t bytes = 64;

    if (operation->kind == OPERATION_WRITE)
        for (size_t i = 0; i < operation->in.write.count; i++)
            bytes += 64 + operation->in.write.writes[i].properties.bytes.len;
    return bytes;
}

/* Wait for work and take a batch; NULL: the lane is stopping. */
static struct operation *take_batch(struct lane *lane)
{
    struct operation *batch = NULL, **tail = &batch;
    size_t bytes = 0;
    int count = 0;

    pthread_mutex_lock(&lane->mutex);
    lane->idle++;
    while (!lane->first && !lane->stopping)
        pthread_cond_wait(&lane->arrived, &lane->mutex);
    lane->idle--;
    while (lane->first && count < lane->options.batch_operations) {
        size_t more = operation_bytes(lane->first);

        if (count > 0 && bytes + more > lane->options.batch_bytes)
            break;
        *tail = lane->first;
        tail = &lane->first->next;
        lane->first = lane->first->next;
        bytes += more;
        count++;
    }
    *tail = NULL;
    lane->waiting -= count;
    if (!lane->first)
        lane->last = &lane->first;
    else if (lane->idle > 0)
        pthread_cond_signal(&lane->arrived);
    pthread_mutex_unlock(&lane->mutex);
    return batch;
}

/* Not worth sending any more: its caller has gone, or its time has passed. */
static bool drop_late(struct operation *operation, int64_t now_us)
{
    struct error err;

    if (atomic_load(&operation->cancelled))
        error_reason(&err, REASON_CANCELLED, "the call was cancelled");
    else if (operation->deadline_us <= now_us)
        error_reason(&err, REASON_OPERATION_TIMED_OUT, "the deadline passed before the operation began");
    else
        return false;
    operation_fail(operation, &err);
    return true;
}

static void answer(struct operation *operation)
{
    while (operation) {
        struct operation *next = operation->next;

        operation->done(operation);
        operation = next;
    }
}

static void fail_all(struct operation *batch, enum reason reason, const char *text, const char *detail)
{
    struct error err;

    error_reason(&err, reason, "%s%s", text, detail);
    for (struct operation *operation = batch; operation; operation = operation->next)
        operation_fail(operation, &err);
}

static void run_batch(struct lane_thread *thread, struct operation *batch)
{
    struct lane *lane = thread->lane;
    struct operation *live = NULL, **live_tail = &live, *late = NULL, **late_tail = &late;
    int64_t now_us = clock_monotonic_us();
    struct error err = { 0 };
    enum status status;

    for (struct operation *operation = batch, *next; operation; operation = next) {
        struct operation ***tail = drop_late(operation, now_us) ? &late_tail : &live_tail;

        next = operation->next;
        operation->next = NULL;
        **tail = operation;
        *tail = &operation->next;
    }
    answer(late);
    if (!live)
        return;
    status = session_ensure(&thread->session, &err);
    if (status == STATUS_OK)
        lane->options.run(&thread->session, live, lane->options.context);
    else
        fail_all(live, REASON_STORE_UNAVAILABLE, "the store cannot be reached: ", err.message);
    arena_cleanup(&thread->session.arena);
    answer(live);
}

static void *serve(void *argument)
{
    struct lane_thread *thread = argument;
    struct operation *batch;

    while ((batch = take_batch(thread->lane)))
        run_batch(thread, batch);
    return NULL;
}

struct lane *lane_start(const struct lane_options *options)
{
    struct lane *lane = xcalloc(1, sizeof(*lane) + (size_t)options->threads * sizeof(lane->threads[0]));

    lane->options = *options;
    lane->last = &lane->first;
    pthread_mutex_init(&lane->mutex, NULL);
    pthread_cond_init(&lane->arrived, NULL);
    for (int i = 0; i < options->threads; i++) {
        struct lane_thread *thread = &lane->threads[i];

        thread->lane = lane;
        session_init(&thread->session, options->postgres, options->name);
        if (pthread_create(&thread->id, NULL, serve, thread) != 0)
            abort();
    }
    return lane;
}

void lane_stop(struct lane *lane)
{
    struct operation *rest;

    pthread_mutex_lock(&lane->mutex);
    lane->stopping = true;
    rest = lane->first;
    lane->first = NULL;
    lane->last = &lane->first;
    pthread_cond_broadcast(&lane->arrived);
    pthread_mutex_unlock(&lane->mutex);

    fail_all(rest, REASON_SERVER_DRAINING, "the server is stopping", "");
    answer(rest);
    for (int i = 0; i < lane->options.threads; i++) {
        pthread_join(lane->threads[i].id, NULL);
        session_cleanup(&lane->threads[i].session);
    }
    pthread_cond_destroy(&lane->arrived);
    pthread_mutex_destroy(&lane->mutex);
    free(lane);
}
