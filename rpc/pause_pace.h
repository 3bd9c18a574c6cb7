/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause_pace.h - when the threads that serve the queue pause after a drain.
 *
 * In an overload of calls that each cost much, calls wait for the lanes, not for the queue threads. These read a few
 * calls at a time, which will wait or be refused, and each time they take a processor from the lanes and the database.
 * If no processor is free, they come less often: they pause after a drain of few events, and the next one has more.
 * Answers and other calls wait for the end of a pause too, so it is short.
 */
#ifndef RPC_PAUSE_PACE_H
#define RPC_PAUSE_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PAUSE_US = 3000, /* the length of a pause */
    /* A thread does not pause after a drain that has handled at least so many events. */
    PAUSE_MAX_EVENTS = 64,
    /* Whether threads pause is decided once in such a time, for the next one. */
    PAUSE_WINDOW_US = 50000,
    /* They do if at least so many operations wait in the lanes at the end of the window, */
    PAUSE_MIN_OPERATIONS = 1024,
    /* the threads waited for a processor for this share of the time in which they did not pause, */
    PAUSE_MIN_WAIT_PERCENT = 10,
    /*
     * and a drain had fewer than PAUSE_MAX_EVENTS on average. They go on while at least half of both minima is met and
     * a drain has fewer events than this.
     */
    PAUSE_ON_MAX_EVENTS = 256,
};

/* Of all threads that serve the queue, since they began. */
struct pause_times {
    int64_t waited_us; /* when they could have run, and had no processor */
    int64_t paused_us;
    int64_t drains; /* that have ended */
    int64_t events; /* handled so far, those of drains that have not ended too */
};

struct pause_pace {
    int threads; /* those that serve now, 1 or more; set it, all other members are 0 at first */
    bool pausing;
    int64_t begun_us;         /* of the present window; 0: no window has begun */
    struct pause_times times; /* as they were then */
};

/* Whether a window is over at this time, which is above 0: then read the times, and note them. */
bool pause_pace_is_due(const struct pause_pace *pace, int64_t now_us);

/* A window is over, and the next one begins. Sets `pausing`. operations: those that wait in the lanes now. */
void pause_pace_note(struct pause_pace *pace, int64_t now_us, struct pause_times times, int operations);

#endif
