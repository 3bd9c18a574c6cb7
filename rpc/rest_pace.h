/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest_pace.h - when the threads that serve the queue rest after a drain.
 *
 * In an overload of calls that each cost much, calls wait for the lanes, not for the queue threads. These read a few
 * calls at a time, which will wait or be refused, and each time they take a processor from the lanes and the database.
 * If no processor is free, they come less often: they rest after a drain of few events, and the next one has more.
 * Answers and other calls wait for the end of a rest too, so it is short.
 */
#ifndef RPC_REST_PACE_H
#define RPC_REST_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REST_US = 3000, /* the length of a rest */
    /* No rest follows a drain that has handled so many events, nor one after which something else may be there. */
    REST_MAX_EVENTS = 64,
    /* Whether threads rest is decided once in such a time, for the next one. */
    REST_WINDOW_US = 50000,
    /* They do if at least so many calls wait for the lanes at the end of the window, */
    REST_MIN_WAITING = 1024,
    /* drains had fewer than REST_MAX_EVENTS on average, and threads waited for a processor for so much of the time. */
    REST_MIN_WAITED_PERCENT = 10,
    /* They go on while half of both is left, and drains have fewer events than this. */
    REST_ON_MAX_EVENTS = 256,
};

/* Of all threads that serve the queue, since they began. */
struct rest_times {
    int64_t waited_us; /* when they could have run, and had no processor */
    int64_t rested_us;
    int64_t drains; /* that have ended */
    int64_t events; /* handled so far, those of drains that have not ended too */
};

struct rest_pace {
    bool resting;
    int64_t begun_us;        /* of the present window; 0: no window has begun. All members are 0 at first */
    struct rest_times times; /* as they were then */
};

/* Whether a window is over at this time, which is above 0: then read the times, and note them. */
bool rest_pace_is_due(const struct rest_pace *pace, int64_t now_us);

/* A window is over, and the next one begins. Sets `resting`. waiting: calls that wait for the lanes now. */
void rest_pace_note(struct rest_pace *pace, int64_t now_us, struct rest_times times, int waiting);

#endif
