/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_pace.h - when a queue thread that handles events stops, to send answers and to run what it has collected.
 *
 * A drain ends at the end of the queue, or earlier. If it ends too early, batches are small. If it ends too late,
 * answers wait, and the lanes that have made them rest meanwhile, so the database is idle. The database is idle too
 * while a drain collects what has arrived during a pause, so within a long drain what was collected may begin. And in
 * an overload what has arrived must be read before anything is answered or begun, so that the lanes can choose the
 * newest calls: what is not read waits in the sockets, in the order of its arrival.
 */
#ifndef RPC_DRAIN_PACE_H
#define RPC_DRAIN_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /*
     * The number of empty polls in a row after which the queue counts as drained. One poll serves one
     * connection, so the first empty poll says little about the others, and each further poll lets a batch
     * grow. If only one call was there, this time and the last, one empty poll is enough: no other caller is
     * sending.
     */
    DRAIN_GRACE_POLLS = 3,
    DRAIN_GRACE_POLLS_ALONE = 1,
    /* After so many events a drain ends even if more events are there. */
    DRAIN_EVENTS_MAX = 2048,
    /* The same while answers of writes wait, unless there is an overload. */
    DRAIN_EVENTS_ANSWERS_WAIT = 512,
    /* Within a drain, what was collected may begin whenever so many more events were handled. */
    DRAIN_EVENTS_BEGIN = 32,
    /* A call that is refused counts as so many events, so that refusals do not take the time of answers. */
    DRAIN_EVENTS_PER_REFUSAL = 8,
    /* There is an overload if so many calls were open when the end of the queue was last reached, */
    DRAIN_OVERLOAD_CALLS = 1024,
    /* or if drains have missed the end for so long. */
    DRAIN_OVERLOAD_US = 50000,
};

/* What a queue thread knows of its drains; all members are 0 at first. */
struct drain_pace {
    /* of the present drain */
    int events;    /* handled so far, the first message included */
    int empty;     /* polls in a row that found nothing */
    bool overload; /* decided when it began */

    /* of earlier ones */
    bool others_came;  /* the last one found more than its first message */
    bool many_open;    /* unary calls, when the end of the queue was last reached */
    bool end_missed;   /* by the last one */
    int64_t missed_us; /* when the first drain began that has missed it since it was reached */
};

/* A drain begins, with one message. */
void drain_pace_begin(struct drain_pace *pace, int64_t now_us);

/* A poll has found an event, or nothing. */
void drain_pace_polled(struct drain_pace *pace, bool found);

/*
 * Whether the drain is to end.
 *
 * refused   calls that were refused since it began
 * unsent    answers of writes that wait for its end; those of reads are few, because a queue thread makes most itself
 */
bool drain_pace_is_over(const struct drain_pace *pace, int refused, int unsent);

/* Whether what was collected may begin now, though the drain goes on. Ask after each poll. */
bool drain_pace_may_begin(const struct drain_pace *pace);

/* The drain has ended. open_calls: unary calls that are open now. */
void drain_pace_end(struct drain_pace *pace, int open_calls);

#endif
