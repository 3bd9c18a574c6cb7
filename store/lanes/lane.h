/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - a queue of operations and the threads that serve it. Accounts take turns in it: fair_queue.h.
 *
 * Each thread has a session of its own. It takes everything that waits, up to the lane's limits, as one
 * batch: no timer, no added latency when idle, large batches when busy.
 *
 * A lane with steps can also be served by the thread that submits: lane_run borrows the session of an idle
 * thread, sends, and waits a moment for the answer. That saves two changes of threads per batch. What does not
 * come in that moment is handed over to the session's own thread, so a slow database never holds up a caller.
 */
#ifndef STORE_LANES_LANE_H
#define STORE_LANES_LANE_H

#include <pthread.h>
#include <stdbool.h>

#include "domain/catalogue/quotas.h"
#include "domain/operations/operation.h"
#include "store/lanes/statistics.h"
#include "store/session/session.h"

struct lane;

/* A batch in steps: begin() sends without blocking. Call finish() once pg_wait() has returned true. */
struct lane_steps {
    /* Send; NULL: this batch or the connection's state is not for this way. */
    void *(*begin)(struct session *session, struct operation *batch);
    /*
     * Give some operations of the batch their outcome, and move them from the batch to *decided: they are answered
     * while the database works on the others. true: call finish() again; false: `run` has to do what is left of the
     * batch.
     */
    bool (*finish)(
        struct session *session, void *begun, struct operation **batch, struct operation **decided);
};

struct lane_options {
    const char *name; /* shows in pg_stat_activity */
    const char *postgres;
    struct remembered *remembered;      /* see session.h; may be NULL */
    struct shared_catalogue *catalogue; /* the same */
    struct quotas quotas;
    int threads;
    /*
     * Lanes whose operations matter more, none by default. When they were at work while this one ran a batch, the
     * thread rests for four times as long as they were: beside work without a pause it takes a fifth of its time. They
     * must be stopped after this one.
     */
    struct lane *const *gives_way_to;
    int gives_way_count;
    int max_waiting; /* of one account while no other waits: fair_queue.h */
    int batch_operations;
    size_t batch_bytes;
    bool connect_late; /* true: a thread connects with its first batch, not when it starts */
    /* Give every operation of the list (linked by next) its outcome, or leave it to pass_on; never call done(). */
    void (*run)(struct session *session, struct operation *batch, void *context);
    void *context;
    const struct lane_steps *steps; /* may be NULL */
    /*
     * May be NULL. Called behind `run` for each operation. true: it has no outcome yet, and now waits elsewhere: it is
     * the lane's no longer.
     */
    bool (*pass_on)(void *context, struct operation *operation);
    void (*answering)(bool begins); /* see store_options; may be NULL */
    /*
     * May be NULL. Called behind `run` for each operation: what it has cost, beside the one entity that it was charged
     * for when it was taken; in entities, as fair_queue.h counts in lanes of batches. At least 0.
     */
    int64_t (*more_cost)(const struct operation *operation);
};

struct lane *lane_start(const struct lane_options *options);

/* Answer what waits with SERVER_DRAINING, finish what runs, join, free. */
void lane_stop(struct lane *lane);

/* false: the lane is full, or stopping; the operation is still the caller's. */
bool lane_submit(struct lane *lane, struct operation *operation);

/* The same, but the operation may wait until the next lane_run: for callers that submit many at once. */
bool lane_collect(struct lane *lane, struct operation *operation);

/*
 * Run the collected operations: in this thread if the lane has steps and a session is free, else in the lane's threads.
 */
void lane_run(struct lane *lane);

/* All of it but the name. */
void lane_read_statistics(struct lane *lane, struct lane_statistics *out);

#endif
