/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper.h - a queue thread that serves only while the others are busy (help_pace.h). Internal to rpc/.
 *
 * Every queue thread tells its clock, and calls helper_look after a drain and within. The helper serves whenever
 * helper_wait returns.
 */
#ifndef RPC_HELPER_H
#define RPC_HELPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "rpc/help_pace.h"

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
    struct helper_clock clocks[HELPER_MAX_THREADS];
    int clock_count;
    bool released;               /* the helper serves like the others, for the stop */
    atomic_bool needed;          /* pace.helping, or released */
    atomic_uint_least64_t begun; /* how often the helper has begun to serve */
};

/* threads: those that always serve, at most HELPER_MAX_THREADS - 1; 0: there is no helper. */
void helper_init(struct helper *helper, int threads);
void helper_destroy(struct helper *helper);

/* Call it once from each queue thread, also from the helper. */
void helper_join(struct helper *helper);

/* Called by any queue thread. Cheap; reads the clocks at most every HELP_WINDOW_US. open_calls: those open now. */
void helper_look(struct helper *helper, int open_calls);

/* Called by the helper: return when it is needed, at once if it is. */
void helper_wait(struct helper *helper);

/* From now on the helper is always needed: it is to take part in the stop. */
void helper_release(struct helper *helper);

#endif
