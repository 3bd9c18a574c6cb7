/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - a second thread with a connection of its own, which works on a job together with the
 * thread that has claimed it. While the database runs one chunk, the other thread plans another; on
 * an idle machine the database runs two chunks at a time.
 */
#ifndef STORE_JOBS_CREW_H
#define STORE_JOBS_CREW_H

#include "base/error.h"

struct worker;

/* How much of the machine's time a turn of a job may take. */
enum crew_pace {
    CREW_STEP,     /* one chunk, without the second member, because there is more urgent work */
    CREW_ALONE,    /* several chunks, one after the other */
    CREW_TOGETHER, /* several chunks, two at a time */
};

/*
 * Give the worker a second member, whose thread starts at once and connects when it is needed.
 * Without a crew, each turn of a job is a CREW_STEP. crew_close ends the thread; it does nothing
 * without a crew.
 */
MUST_USE enum status crew_open(struct worker *leader, struct error *err);
void crew_close(struct worker *leader);

/* Set whether there is more urgent work than jobs. */
void crew_give_way(struct worker *leader, bool gives_way);

/*
 * Check whether other sessions of the database are at work at this moment. For some seconds after
 * one was seen, turns are CREW_ALONE, so that the other sessions keep most of the processor time.
 * Does nothing without a crew.
 */
MUST_USE enum status crew_look_around(struct worker *leader, struct error *err);

enum crew_pace crew_pace(const struct worker *leader);

/*
 * Call the task in the leader's thread and, if the pace is CREW_TOGETHER, in the second member's
 * thread as well, each with the worker of its thread. Returns when both calls have returned.
 */
typedef void crew_task(struct worker *store, void *context);
void crew_run(struct worker *leader, crew_task *task, void *context);

#endif
