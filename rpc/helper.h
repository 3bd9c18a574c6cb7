/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper.h - a queue thread that serves only while the others are busy (help_pace.h), and the pauses of all of them
 * (pause_pace.h). Internal to rpc/.
 *
 * Every queue thread tells its clock, calls helper_look within a drain, and helper_look and helper_pause after it. The
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
#include "rpc/pause_pace.h"

enum { HELPER_MAX_THREADS = 65 };

/* What tells the times of a queue thread. */
struct helper_clock {
    clockid_t used;
    int schedstat; /* its file in /proc; -1: there is none, and the time that it waits is not known */
};

struct helper {
    pthread_mutex_t lock; /* guards the members that are not atomic */
    pthread_cond_t changed;
    int (*waiting)(
        void *context); /* the number of operations that wait in the lanes; NULL: threads never pause */
    void *context;
    struct help_pace pace;
    struct pause_pace pauses;
    struct helper_clock clocks[HELPER_MAX_THREADS];
    int clock_count;
    bool released;                          /* the helper serves like the others, for the stop */
    atomic_bool needed;                     /* pace.helping, or released */
    atomic_uint_least64_t begun;            /* how often the helper has begun to serve */
    atomic_bool pausing;                    /* pauses.pausing, and not released */
    atomic_llong paused_us, drains, events; /* as in struct pause_times */
};

/*
 * threads: those that always serve, at most HELPER_MAX_THREADS - 1; 0: there is no helper, and no thread pauses.
 * waiting, context: as the members.
 */
void helper_init(struct helper *helper, int threads, int (*waiting)(void *context), void *context);
void helper_destroy(struct helper *helper);

/* Call it once from each queue thread, also from the helper. */
void helper_join(struct helper *helper);

/*
 * Called by any queue thread. Cheap; reads the clocks at most every HELP_WINDOW_US. events: those that this thread has
 * handled since it looked last. open_calls: unary calls open now.
 */
void helper_look(struct helper *helper, int events, int open_calls);

/* Call it once after each drain, which has handled so many events. It may block for PAUSE_US. */
void helper_pause(struct helper *helper, int events);

/* Called by the helper: return when it is needed, at once if it is. */
void helper_wait(struct helper *helper);

/* From now on the helper is always needed: it is to take part in the stop. */
void helper_release(struct helper *helper);

#endif
