/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - a queue of operations and the threads that serve it. Accounts take turns in it:
 * fair_queue.h.
 *
 * Each thread has a session of its own. It takes all waiting operations, up to the lane's limits,
 * as one batch: without a timer, without added latency if the service is idle, and with large
 * batches if it is busy.
 *
 * A lane with steps can also be served by the submitting thread: lane_run borrows the session of an
 * idle thread, sends, and waits a moment for the answer, which saves two thread switches per batch.
 * A batch that is not answered in that moment is handed over to the session's own thread, so a slow
 * database never delays the submitting thread.
 */
#ifndef STORE_LANES_LANE_H
#define STORE_LANES_LANE_H

#include <pthread.h>
#include <stdbool.h>

#include "domain/catalogue/quotas.h"
#include "domain/operations/operation.h"
#include "store/lanes/statistics.h"

struct session;

struct lane;

/*
 * A batch in steps: begin() sends without blocking. Call finish() once pg_wait() has returned true.
 */
struct lane_steps {
    /*
     * Send the batch. NULL: the batch, or the connection in its present state, cannot be run in
     * steps.
     */
    void *(*begin)(struct session *session, struct operation *batch);
    /*
     * Give some operations of the batch their outcome, and move them from the batch to *decided;
     * they are answered while the database works on the others. true: call finish() again. false:
     * call `run` for the rest of the batch.
     */
    bool (*finish)(
        struct session *session, void *begun, struct operation **batch, struct operation **decided);
    /*
     * May be NULL. Called after finish() has returned true. true: the next finish() may wait for the
     * database, so the session's own thread must call it.
     */
    bool (*waits)(const void *begun);
    /*
     * Only an operation that is alone is run in steps: no other waits in the lane, and none runs. So
     * writes that come together become one batch, and its threads share them.
     */
    bool alone;
};

struct lane_options {
    const char *name; /* shows in pg_stat_activity */
    const char *postgres;
    struct remembered *remembered;      /* as `remembered` */
    struct shared_catalogue *catalogue; /* the same */
    struct locked_keys *locked_keys;    /* the same; for lanes of writes, NULL in the others */
    struct quotas quotas;
    const struct chunk_stores *chunks; /* as `chunks` of a session */
    int threads;
    /*
     * Lanes whose operations are more important; none by default. If they have worked while this
     * lane ran a batch, the thread rests for four times as long as they did, so beside continuous
     * work it gets a fifth of the time. They must be freed after this lane has stopped.
     */
    struct lane *const *gives_way_to;
    int gives_way_count;
    int max_waiting; /* operations of one account while no other account has any: fair_queue.h */
    /*
     * Batches of one account that run at once, below `threads`, so that another account finds a thread at once;
     * 0: any number. Above 0, a batch has operations of one account only.
     */
    int max_running;
    int batch_operations;
    size_t batch_bytes;
    /*
     * Microseconds; 0: not at all. For so long after a batch was taken, another one begins beside it only if at
     * least as many operations wait as that one had. So the operations of many callers become large batches, which
     * cost the database less each, and those of two callers do not wait for each other.
     */
    int64_t gather_us;
    int64_t rest_us;   /* after each batch a thread rests for so long; 0: not at all */
    int lock_wait_ms;  /* of the sessions; 0: as in struct pg */
    bool connect_late; /* true: a thread connects with its first batch, not when it starts */
    /*
     * Give every operation of the list (linked by next) its outcome, or leave it to pass_on. It
     * must not call done().
     */
    void (*run)(struct session *session, struct operation *batch, void *context);
    void *context;
    const struct lane_steps *steps; /* may be NULL */
    /*
     * May be NULL. Called after `run` for each operation. true: the operation has no outcome and
     * now waits elsewhere, so the lane does not own it any more.
     */
    bool (*pass_on)(void *context, struct operation *operation);
    void (*answering)(bool begins); /* see store_options; may be NULL */
    /*
     * May be NULL. Called after `run` for each operation: its cost in addition to the one entity
     * that was charged when it was taken, in entities, the unit of cost of lanes with batches
     * (fair_queue.h). At least 0.
     */
    int64_t (*more_cost)(const struct operation *operation);
};

struct lane *lane_start(const struct lane_options *options);

/*
 * Answer waiting operations with SERVER_DRAINING, finish running batches, join the threads. From then on the lane
 * refuses operations, so lanes that pass operations on to each other are all stopped before one of them is freed.
 */
void lane_stop(struct lane *lane);
void lane_free(struct lane *lane);

/* Add an operation. false: the lane is full or stopping, and the caller keeps the operation. */
bool lane_submit(struct lane *lane, struct operation *operation);

/*
 * As lane_submit, but the operation may wait until the next lane_run. For callers that submit many
 * at once.
 */
bool lane_collect(struct lane *lane, struct operation *operation);

/*
 * Run the collected operations: in this thread if the lane has steps and a session is idle,
 * otherwise in the lane's threads. If the file descriptor `arrivals` becomes readable meanwhile, the
 * batch is handed over to the session's thread; -1: there is none, and the batch is handed over only
 * if it takes long.
 */
void lane_run(struct lane *lane, int arrivals);

/* As lane_run, in the lane's threads. */
void lane_wake(struct lane *lane);

/*
 * As lane_wake while more operations are being collected: only if the lane is idle and enough operations wait. Their
 * batch is smaller than it would become, but the database has work meanwhile.
 */
void lane_begin(struct lane *lane);

bool lane_has_work(struct lane *lane);

/* The time that all threads together have spent on batches so far, in microseconds. */
int64_t lane_worked_us(struct lane *lane);

/* Fills all members except the name. */
void lane_read_statistics(struct lane *lane, struct lane_statistics *out);

#endif
