/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help_pace.h - when one more thread helps those that always serve the queue.
 *
 * Two threads on one queue answer more calls than one, but each call costs them up to 60 % more processor time: they
 * wait for each other's locks, and their batches are smaller. So the helper serves only while the others have hardly
 * any time left.
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
};

struct help_pace {
    int threads; /* those that always serve, 1 or more; set it, all other members are 0 at first */
    bool helping;
    int64_t begun_us; /* of the present window; 0: no window has begun */
    int64_t cpu_us;   /* what all had used then */
    int64_t busy_us;  /* the length of the windows in a row in which they were busy */
};

/* Whether a window is over at this time, which is above 0: then read the processor time, and note it. */
bool help_pace_is_due(const struct help_pace *pace, int64_t now_us);

/*
 * A window is over, and the next one begins. Returns `helping` from now on.
 *
 * cpu_us  the processor time that all threads have used since they began, the helper too
 */
bool help_pace_note(struct help_pace *pace, int64_t now_us, int64_t cpu_us);

#endif
