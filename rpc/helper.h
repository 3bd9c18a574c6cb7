/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper.h - a queue thread that serves only while the others are busy (help_pace.h), and the rests of all of them
 * (rest_pace.h). Internal to rpc/.
 *
 * Every queue thread tells its clock, calls helper_look within a drain, and helper_look and helper_rest after it. The
 * helper serves whenever helper_wait returns.
 */
#ifndef RPC_HELPER_H
#define RPC_HELPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "rpc/help_pace.h"
#include "rpc/rest_pace.h"

enum { HELPER_MAX_THREADS = 65 };

/* What tells the times of a queue thread. */
struct helper_clock {
    clockid_t used;
    int schedstat; /* its file in /proc; -1: there is none, and the time that it waits is not known */
};

struct helper {
    pthread_mutex_t lock; /* guards all members; `needed` and `begun` are also read without it */
    pthread_cond_t changed;
    struct help_pace pace;
    struct rest_pace rests;
    struct helper_clock clocks[HELPER_MAX_THREADS];
    int clock_count;
    bool released;                          /* the helper serves like the others, for the stop */
    atomic_bool needed;                     /* pace.helping, or released */
    atomic_bool resting;                    /* pace.resting, and not released */
    atomic_llong rested_us, drains, events; /* as in struct help_times */
    atomic_uint_least64_t begun;            /* how often the helper has begun to serve */
};

/* threads: those that always serve, at most HELPER_MAX_THREADS - 1; 0: there is no helper. */
void helper_init(struct helper *helper, int threads);
void helper_destroy(struct helper *helper);

/* Call it once from each queue thread, also from the helper. */
void helper_join(struct helper *helper);

/* Unary calls at present. */
struct helper_load {
    int open;
    int waiting; /* for the lanes; need not be known while fewer than REST_MIN_WAITING / 2 are open */
};

/*
 * Called by any queue thread. Cheap; reads the clocks at most every HELP_WINDOW_US. events: those that this thread has
 * handled since it looked last.
 */
void helper_look(struct helper *helper, int events, struct helper_load load);

/* A drain has ended, which has handled so many events: rest, if the threads come too often. */
void helper_rest(struct helper *helper, int events);

/* Called by the helper: return when it is needed, at once if it is. */
void helper_wait(struct helper *helper);

/* From now on the helper is always needed: it is to take part in the stop. */
void helper_release(struct helper *helper);

#endif
