/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help_pace.h - when one more thread helps those that always serve the queue.
 *
 * Two threads on one queue answer more calls than one, but each call costs them up to 60 % more processor time: they
 * wait for each other's locks, and their batches are smaller. So the helper serves only while the others have hardly
 * any time left, or are late: many calls are open, and the others work or wait for a processor. While many are open,
 * batches are large in any case.
 */
#ifndef RPC_HELP_PACE_H
#define RPC_HELP_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* The threads are busy if they use this share of as many processors as there are threads. */
    HELP_BUSY_PERCENT = 90,
    HELP_WINDOW_US = 5000, /* the shortest time over which that share is measured */
    /* The helper begins when the threads have been busy for so long without a pause, */
    HELP_AFTER_US = 20000,
    /* and ends when all, the helper too, have used less than this share during a window of this length. */
    HELP_IDLE_PERCENT = 75,
    HELP_IDLE_WINDOW_US = 50000,
    /*
     * The threads are late if they used or waited for HELP_BUSY_PERCENT of their processors during a window, and more
     * calls than this are open at its end. Then the helper begins at once. It ends when all have used or waited for
     * less than HELP_IDLE_PERCENT, or when at most half as many calls are open.
     */
    HELP_LATE_CALLS = 128,
};

/* Of all threads that serve the queue, the helper too, since they began. */
struct help_times {
    int64_t used_us;   /* processor time */
    int64_t waited_us; /* when they could have run, and had no processor */
};

struct help_pace {
    int threads; /* those that always serve, 1 or more; set it, all other members are 0 at first */
    bool helping;
    bool late;               /* while it helps: because the others were late, not because they were busy */
    int64_t begun_us;        /* of the present window; 0: no window has begun */
    struct help_times times; /* as they were then */
    int64_t busy_us;         /* the length of the windows in a row in which they were busy */
};

/* Whether a window is over at this time, which is above 0: then read the times, and note them. */
bool help_pace_is_due(const struct help_pace *pace, int64_t now_us);

/* A window is over, and the next one begins. Returns `helping` from now on. open_calls: unary calls open now. */
bool help_pace_note(struct help_pace *pace, int64_t now_us, struct help_times times, int open_calls);

#endif
