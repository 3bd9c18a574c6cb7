/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.c - see the header.
 */
#include "store/lanes/lane.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/lanes/fair_queue.h"
#include "store/session/session.h"

enum {
    /*
     * Microseconds: how long lane_run waits for a batch, several times what the database needs for
     * a batch of reads.
     */
    MAX_WAIT_US = 2000,
    /* Operations: if fewer wait, they are one batch, since each batch costs a transaction. */
    MIN_SHARED = 128,
    /* Operations: if fewer wait, lane_begin leaves them, to become part of a larger batch. */
    MIN_BEGUN = 24,
    /*
     * The entities that a batch may have in all. With more, a statement of reads could return too little of each,
     * and those who wait for a write would wait for too many of others.
     */
    MAX_ENTITIES = 1000,
    /*
     * What an account may use in one turn. Lanes with batches count entities: an operation is
     * charged one for each entity and each 4 KiB of its properties. The other lanes count
     * microseconds: an operation is charged the time of a short page in advance.
     */
    ENTITIES_PER_TURN = 32,
    BYTES_PER_ENTITY = 4096,
    US_PER_TURN = 2000,
    /*
     * For each microsecond that threads of the other lanes have worked beside a batch, a lane that
     * gives way rests for this many microseconds.
     */
    RESTS = 4,
    NO_ACCOUNT = -1,
};

struct lane_thread {
    pthread_t id;
    struct lane *lane;
    struct session session; /* used by the thread, or by lane_run while it is lent */

    /* The lane's mutex guards the following members. */
    bool idle;
    bool lent;
    int64_t begun_us;         /* when the thread's batch was taken; 0: it has none */
    int running;              /* of that batch: what fair_queue_begin has returned; NO_ACCOUNT: nothing */
    struct operation *handed; /* a batch that lane_run has begun and not finished */
    void *begun;              /* what lane_steps.begin returned for it, or NULL */
};

/* The time that all threads together have spent on batches. */
struct lane_work {
    int64_t done_us;  /* on batches that have ended */
    int64_t begun_us; /* the sum of the times at which running batches were taken */
    int running;
};

struct lane {
    struct lane_options options;
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    pthread_cond_t stops; /* wakes the threads that rest */
    struct fair_queue queue;
    int idle; /* number of threads that wait for work */
    int lent; /* number of those whose session is lent */
    struct lane_work work;
    struct {
        int64_t begun_us;
        int count;
    } last; /* the batch that was taken last, and its operations */
    bool stopping;
    struct lane_statistics statistics; /* all except `waiting` and `late` */
    atomic_llong late;
    struct lane_thread threads[];
};

static bool has_batches(const struct lane *lane)
{
    return lane->options.batch_operations > 1;
}

static bool has_work(const struct lane *lane)
{
    return fair_queue_has_next(&lane->queue);
}

/*
 * Wake a thread that is idle. The thread of a session that is lent may be the one that is woken, and can do nothing:
 * so then all are. The caller holds the mutex.
 */
static void wake_one(struct lane *lane)
{
    if (lane->lent > 0)
        pthread_cond_broadcast(&lane->arrived);
    else if (lane->idle > 0)
        pthread_cond_signal(&lane->arrived);
}

static bool enqueue(struct lane *lane, struct operation *operation, bool wakes)
{
    bool taken;

    pthread_mutex_lock(&lane->mutex);
    taken = !lane->stopping && fair_queue_add(&lane->queue, operation, clock_monotonic_us());
    if (taken) {
        if (wakes)
            wake_one(lane);
    } else {
        lane->statistics.refused++;
    }
    pthread_mutex_unlock(&lane->mutex);
    return taken;
}

bool lane_submit(struct lane *lane, struct operation *operation)
{
    return enqueue(lane, operation, true);
}

bool lane_collect(struct lane *lane, struct operation *operation)
{
    return enqueue(lane, operation, false);
}

/* Count a batch in the statistics. The caller holds the mutex. */
static void count_batch(struct lane *lane, int operations)
{
    int slot = 0;

    while (slot < LANE_SIZES - 1 && operations > 1 << slot)
        slot++;
    lane->statistics.batches++;
    lane->statistics.operations += operations;
    lane->statistics.sizes[slot]++;
}

/*
 * The size of the next batch, which leaves some waiting operations to idle threads. The caller
 * holds the mutex.
 */
static int share_of(const struct lane *lane)
{
    int waiting = fair_queue_count(&lane->queue);
    bool is_shared = waiting >= MIN_SHARED && !(lane->options.steps && !lane->options.steps->alone);
    int threads = is_shared ? lane->idle + 1 : 1;
    int share = (waiting + threads - 1) / threads;

    return share < lane->options.batch_operations ? share : lane->options.batch_operations;
}

/* The cost that an account is charged when its operation is taken. */
static int64_t cost_in_advance(const struct lane *lane, const struct operation *operation)
{
    size_t entities = operation_entities(operation) + operation_property_bytes(operation) / BYTES_PER_ENTITY;

    return !has_batches(lane) ? US_PER_TURN : entities > 0 ? (int64_t)entities : 1;
}

/* In a lane without batches, charge the rest of what the operation has cost: the time it took. */
static void charge_time(struct lane *lane, const struct operation *operation, int64_t begun_us)
{
    int64_t time_us = clock_monotonic_us() - begun_us;

    if (has_batches(lane) || time_us <= US_PER_TURN)
        return;
    pthread_mutex_lock(&lane->mutex);
    fair_queue_charge(&lane->queue, operation->account, time_us - US_PER_TURN);
    pthread_mutex_unlock(&lane->mutex);
}

static void append(struct operation ***tail, struct operation *operation)
{
    **tail = operation;
    *tail = &operation->next;
}

/*
 * Take waiting operations, up to the lane's limits; at least one may be taken. Overdue operations do not
 * count against the limits, since drop_all_late only refuses them. The caller holds the mutex.
 */
static struct operation *take_batch(struct lane_thread *thread)
{
    struct lane *lane = thread->lane;
    struct operation *batch = NULL, **tail = &batch, *next;
    const struct operation *first = NULL;
    size_t bytes = 0, entities = 0;
    int64_t now_us = clock_monotonic_us();
    int count = 0, max = share_of(lane);

    while (count < max && (next = fair_queue_next(&lane->queue, now_us))) {
        size_t more_bytes = operation_property_bytes(next), more_entities = operation_entities(next);
        struct operation *overdue = fair_queue_take_overdue(&lane->queue, now_us);

        if (overdue) {
            append(&tail, overdue);
            continue;
        }
        if (count > 0 &&
            (bytes + more_bytes > lane->options.batch_bytes || entities + more_entities > MAX_ENTITIES))
            break;
        if (first && lane->options.max_running > 0 && !str_equal(first->account, next->account))
            break;
        fair_queue_take(&lane->queue, next, cost_in_advance(lane, next));
        append(&tail, next);
        first = first ? first : next;
        bytes += more_bytes;
        entities += more_entities;
        count++;
    }
    *tail = NULL;
    if (first && lane->options.max_running > 0)
        thread->running = fair_queue_begin(&lane->queue, first->account);
    if (count > 0)
        count_batch(lane, count);
    lane->last.count = count;
    return batch;
}

/*
 * Whether more operations are to gather before another batch begins (lane_options.gather_us). If no batch runs, what
 * waits is taken at once. The caller holds the mutex.
 */
static bool must_gather(const struct lane *lane)
{
    return lane->work.running > 0 && fair_queue_count(&lane->queue) < lane->last.count &&
           clock_monotonic_us() < lane->last.begun_us + lane->options.gather_us;
}

/* Wait until the thread has a batch that lane_run has begun, or may take one, or the lane is stopping. */
static void wait_for_batch(const struct lane_thread *thread)
{
    struct lane *lane = thread->lane;

    while (!thread->handed && (thread->lent || !lane->stopping)) {
        if (thread->lent || !has_work(lane))
            pthread_cond_wait(&lane->arrived, &lane->mutex);
        else if (must_gather(lane))
            (void)condition_wait_until(
                &lane->arrived, &lane->mutex, lane->last.begun_us + lane->options.gather_us);
        else
            return;
    }
}

/* Take the next batch for this thread. The caller holds the mutex. */
static struct operation *take_for(struct lane_thread *thread)
{
    struct lane_work *work = &thread->lane->work;

    thread->begun_us = clock_monotonic_us();
    thread->lane->last.begun_us = thread->begun_us;
    work->begun_us += thread->begun_us;
    work->running++;
    return take_batch(thread);
}

/* If the thread has a batch, note that the batch has ended. The caller holds the mutex. */
static void note_end(struct lane_thread *thread)
{
    struct lane_work *work = &thread->lane->work;

    if (thread->begun_us == 0)
        return;
    work->done_us += clock_monotonic_us() - thread->begun_us;
    work->begun_us -= thread->begun_us;
    work->running--;
    thread->begun_us = 0;
    if (thread->running != NO_ACCOUNT)
        fair_queue_end(&thread->lane->queue, thread->running);
    thread->running = NO_ACCOUNT;
}

/*
 * Wait for a batch: one that lane_run has begun, or waiting operations. NULL: the lane is stopping.
 */
static struct operation *next_batch(struct lane_thread *thread, void **begun)
{
    struct lane *lane = thread->lane;
    struct operation *batch = NULL;

    pthread_mutex_lock(&lane->mutex);
    note_end(thread);
    thread->idle = true;
    lane->idle++;
    wait_for_batch(thread);
    thread->idle = false;
    lane->idle--;
    *begun = thread->begun;
    if (thread->handed) {
        batch = thread->handed;
        thread->handed = NULL;
        thread->begun = NULL;
        thread->lent = false;
        lane->lent--;
    } else if (has_work(lane)) {
        batch = take_for(thread);
    }
    if (has_work(lane))
        wake_one(lane);
    pthread_mutex_unlock(&lane->mutex);
    return batch;
}

/*
 * Refuse an operation that need not be sent any more: it was cancelled, its deadline has passed, or
 * it has waited for too long. false: the operation is to be sent.
 */
static bool drop_late(struct operation *operation, int64_t now_us)
{
    struct error err;

    if (atomic_load(&operation->cancelled))
        reason_set(&err, REASON_CANCELLED, "the call was cancelled");
    else if (operation->deadline_us <= now_us)
        reason_set(&err, REASON_OPERATION_TIMED_OUT, "the deadline passed before the operation began");
    else if (fair_queue_waited_too_long(operation, now_us))
        reason_set(&err, REASON_SERVER_BUSY,
            "too many operations are waiting: this one has waited for %.1f seconds",
            (double)(now_us - operation_times_arrived_us(operation)) / 1e6);
    else
        return false;
    operation_fail(operation, &err);
    return true;
}

/* Charge the costs that are known only after the batch; the accounts pay with their next turns. */
static void charge_more(struct lane *lane, const struct operation *operation)
{
    if (!lane->options.more_cost || !operation)
        return;
    pthread_mutex_lock(&lane->mutex);
    for (; operation; operation = operation->next)
        fair_queue_charge(&lane->queue, operation->account, lane->options.more_cost(operation));
    pthread_mutex_unlock(&lane->mutex);
}

static void answer(struct lane *lane, struct operation *operation)
{
    bool tells = lane->options.answering && operation && operation->next;

    charge_more(lane, operation);
    if (tells)
        lane->options.answering(true);
    while (operation) {
        struct operation *next = operation->next;

        if (!lane->options.pass_on || !lane->options.pass_on(lane->options.context, operation))
            operation->done(operation);
        operation = next;
    }
    if (tells)
        lane->options.answering(false);
}

/* Answer the operations that are too late, and return the others. */
static struct operation *drop_all_late(struct lane *lane, struct operation *batch)
{
    struct operation *live = NULL, **live_tail = &live, *late = NULL, **late_tail = &late;
    int64_t now_us = clock_monotonic_us();
    int dropped = 0;

    for (struct operation *operation = batch, *next; operation; operation = next) {
        bool is_late = drop_late(operation, now_us);
        struct operation ***tail = is_late ? &late_tail : &live_tail;

        dropped += is_late;
        next = operation->next;
        operation->next = NULL;
        **tail = operation;
        *tail = &operation->next;
    }
    if (dropped > 0)
        atomic_fetch_add(&lane->late, dropped);
    answer(lane, late);
    return live;
}

int64_t lane_worked_us(struct lane *lane)
{
    const struct lane_work *work = &lane->work;
    int64_t out;

    pthread_mutex_lock(&lane->mutex);
    out = work->done_us + work->running * clock_monotonic_us() - work->begun_us;
    pthread_mutex_unlock(&lane->mutex);
    return out;
}

static void rest(struct lane *lane, int64_t until_us)
{
    pthread_mutex_lock(&lane->mutex);
    while (!lane->stopping && condition_wait_until(&lane->stops, &lane->mutex, until_us))
        continue;
    pthread_mutex_unlock(&lane->mutex);
}

static void run_batch(struct lane_thread *thread, struct operation *batch)
{
    const struct lane_options *options = &thread->lane->options;
    int64_t begun_us = clock_monotonic_us();

    operation_times_set_begun(batch, begun_us);
    options->run(&thread->session, batch, options->context);
    charge_time(thread->lane, batch, begun_us);
}

/* How long the lanes with more important operations have worked, and when that was measured. */
struct foreground {
    int64_t worked_us, counted_us;
};

static struct foreground count_foreground(const struct lane *lane)
{
    struct foreground out = { 0, 0 };

    if (lane->options.gives_way_count > 0)
        out.counted_us = clock_monotonic_us();
    for (int i = 0; i < lane->options.gives_way_count; i++)
        out.worked_us += lane_worked_us(lane->options.gives_way_to[i]);
    return out;
}

/*
 * Rest, to give way to other lanes. Several busy threads of the other lanes count as one, so that
 * they cannot stop this lane altogether.
 */
static void give_way(struct lane *lane, const struct foreground *before)
{
    struct foreground now = count_foreground(lane);
    int64_t own_us = now.counted_us - before->counted_us, others_us = now.worked_us - before->worked_us;

    if (others_us > 0)
        rest(lane, now.counted_us + RESTS * (others_us < own_us ? others_us : own_us));
}

static void *serve(void *argument)
{
    struct lane_thread *thread = argument;
    struct operation *batch;
    void *begun;

    if (!thread->lane->options.connect_late)
        session_connect_early(&thread->session);
    while ((batch = next_batch(thread, &begun))) {
        struct foreground before = count_foreground(thread->lane);

        while (begun) {
            struct operation *decided;

            if (!thread->lane->options.steps->finish(&thread->session, begun, &batch, &decided))
                begun = NULL;
            answer(thread->lane, decided);
        }
        batch = drop_all_late(thread->lane, batch);
        if (batch)
            run_batch(thread, batch);
        arena_cleanup(&thread->session.arena);
        answer(thread->lane, batch);
        give_way(thread->lane, &before);
        if (thread->lane->options.rest_us > 0)
            rest(thread->lane, clock_monotonic_us() + thread->lane->options.rest_us);
    }
    return NULL;
}

/* ---- in the submitter's thread ---- */

/* Whether what waits may be run by the submitter. The caller holds the mutex. */
static bool may_lend(const struct lane *lane)
{
    if (!lane->options.steps || !has_work(lane))
        return false;
    return !lane->options.steps->alone || (fair_queue_count(&lane->queue) == 1 && lane->work.running == 0);
}

/* An idle session and a batch for it; NULL if no session is idle or no work waits. */
static struct operation *borrow_session(struct lane *lane, struct lane_thread **out)
{
    struct operation *batch = NULL;

    pthread_mutex_lock(&lane->mutex);
    for (int i = 0; i < lane->options.threads && may_lend(lane) && !batch; i++) {
        struct lane_thread *thread = &lane->threads[i];

        if (!thread->idle || thread->lent)
            continue;
        thread->lent = true;
        lane->lent++;
        *out = thread;
        batch = take_for(thread);
    }
    pthread_mutex_unlock(&lane->mutex);
    return batch;
}

/* Return the session to its thread, with the rest of the batch, or NULL. */
static void give_back(struct lane_thread *thread, struct operation *batch, void *begun)
{
    struct lane *lane = thread->lane;

    pthread_mutex_lock(&lane->mutex);
    thread->handed = batch;
    thread->begun = begun;
    thread->lent = batch != NULL; /* the session is lent until the batch is done */
    if (!batch) {
        lane->lent--;
        note_end(thread);
    }
    if (batch || lane->stopping)
        pthread_cond_broadcast(&lane->arrived);
    pthread_mutex_unlock(&lane->mutex);
}

static void run_lent(struct lane_thread *thread, struct operation *batch, int arrivals)
{
    const struct lane_steps *steps = thread->lane->options.steps;
    struct operation *decided = NULL;
    int64_t now_us = clock_monotonic_us(), until_us = now_us + MAX_WAIT_US;
    void *begun;

    batch = drop_all_late(thread->lane, batch);
    operation_times_set_begun(batch, now_us);
    begun = batch ? steps->begin(&thread->session, batch) : NULL;
    while (begun && pg_wait(&thread->session.pg, until_us - clock_monotonic_us(), arrivals)) {
        if (!steps->finish(&thread->session, begun, &batch, &decided))
            begun = NULL;
        else if (steps->waits && steps->waits(begun))
            break;
        if (batch) {
            answer(thread->lane, decided);
            decided = NULL;
        }
    }
    if (!batch)
        arena_cleanup(&thread->session.arena);
    give_back(thread, batch, begun);
    answer(thread->lane, decided);
}

void lane_wake(struct lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    if (has_work(lane))
        wake_one(lane);
    pthread_mutex_unlock(&lane->mutex);
}

void lane_begin(struct lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    if (lane->idle == lane->options.threads && lane->lent == 0 && fair_queue_count(&lane->queue) >= MIN_BEGUN)
        wake_one(lane);
    pthread_mutex_unlock(&lane->mutex);
}

bool lane_has_work(struct lane *lane)
{
    bool has;

    pthread_mutex_lock(&lane->mutex);
    has = has_work(lane);
    pthread_mutex_unlock(&lane->mutex);
    return has;
}

void lane_run(struct lane *lane, int arrivals)
{
    struct lane_thread *thread;
    struct operation *batch = borrow_session(lane, &thread);

    if (batch)
        run_lent(thread, batch, arrivals);
    lane_wake(lane);
}

/* ---- start and stop ---- */

struct lane *lane_start(const struct lane_options *options)
{
    struct lane *lane = xcalloc(1, sizeof(*lane) + (size_t)options->threads * sizeof(lane->threads[0]));

    lane->options = *options;
    fair_queue_init(&lane->queue, options->max_waiting, has_batches(lane) ? ENTITIES_PER_TURN : US_PER_TURN,
        options->max_running);
    pthread_mutex_init(&lane->mutex, NULL);
    condition_init(&lane->arrived);
    condition_init(&lane->stops);
    for (int i = 0; i < options->threads; i++) {
        struct lane_thread *thread = &lane->threads[i];

        thread->lane = lane;
        thread->running = NO_ACCOUNT;
        session_init(&thread->session, options->postgres, options->name);
        thread->session.remembered = options->remembered;
        thread->session.shared_catalogue = options->catalogue;
        thread->session.quotas = options->quotas;
        thread->session.locked_keys = options->locked_keys;
        thread->session.pg.lock_wait_ms = options->lock_wait_ms;
        thread->session.chunks = options->chunks;
        if (pthread_create(&thread->id, NULL, serve, thread) != 0)
            abort();
    }
    return lane;
}

/* Take all waiting operations. The caller holds the mutex. */
static struct operation *take_all(struct lane *lane)
{
    struct operation *all = NULL, **tail = &all, *next;

    fair_queue_let_all_run(&lane->queue);
    while ((next = fair_queue_next(&lane->queue, 0))) {
        fair_queue_take(&lane->queue, next, 0);
        *tail = next;
        tail = &next->next;
    }
    *tail = NULL;
    return all;
}

void lane_stop(struct lane *lane)
{
    struct operation *rest;
    struct error err;

    pthread_mutex_lock(&lane->mutex);
    lane->stopping = true;
    rest = take_all(lane);
    pthread_cond_broadcast(&lane->arrived);
    pthread_cond_broadcast(&lane->stops);
    pthread_mutex_unlock(&lane->mutex);

    (void)reason_set(&err, REASON_SERVER_DRAINING, "the server is stopping");
    for (struct operation *operation = rest; operation; operation = operation->next)
        operation_fail(operation, &err);
    answer(lane, rest);
    for (int i = 0; i < lane->options.threads; i++) {
        pthread_join(lane->threads[i].id, NULL);
        session_cleanup(&lane->threads[i].session);
    }
}

void lane_free(struct lane *lane)
{
    pthread_cond_destroy(&lane->arrived);
    pthread_cond_destroy(&lane->stops);
    pthread_mutex_destroy(&lane->mutex);
    free(lane);
}

void lane_read_statistics(struct lane *lane, struct lane_statistics *out)
{
    const char *name = out->name;

    pthread_mutex_lock(&lane->mutex);
    *out = lane->statistics;
    out->waiting = fair_queue_count(&lane->queue);
    pthread_mutex_unlock(&lane->mutex);
    out->late = atomic_load(&lane->late);
    out->name = name;
}
