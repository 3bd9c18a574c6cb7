/*
 * lane.h - a queue of operations and the threads that serve it.
 *
 * Each thread has a session of its own. It takes everything that waits, up to the lane's limits, as one
 * batch: no timer, no added latency when idle, large batches when busy.
 */
#ifndef STORE_LANE_H
#define STORE_LANE_H

#include <pthread.h>
#include <stdbool.h>

#include "domain/operation.h"
#include "store/session.h"

struct lane;

struct lane_options {
    const char *name; /* shows in pg_stat_activity */
    const char *postgres;
    int threads;
    int most_waiting;
    int batch_operations;
    size_t batch_bytes;
    /* Give every operation of the list (linked by next) its outcome; never call done(). */
    void (*run)(struct session *session, struct operation *batch, void *context);
    void *context;
};

struct lane *lane_start(const struct lane_options *options);

/* Answer what waits with SERVER_DRAINING, finish what runs, join, free. */
void lane_stop(struct lane *lane);

/* false: the lane is full, or stopping; the operation is still the caller's. */
bool lane_submit(struct lane *lane, struct operation *operation);

#endif
