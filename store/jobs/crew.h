/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - a second thread with a connection of its own, which works on a job beside the thread that has claimed it:
 * while the database is at one chunk, the other is planned, and on a machine that is idle the database works at two of
 * them.
 */
#ifndef STORE_JOBS_CREW_H
#define STORE_JOBS_CREW_H

#include "store/session/worker.h"

/* How much of the machine a turn of a job may take. */
enum crew_pace {
    CREW_STEP,     /* one chunk, alone: there is more urgent work */
    CREW_ALONE,    /* chunks for a while, one after the other */
    CREW_TOGETHER, /* two at a time */
};

/*
 * Give the worker a second member; the thread starts at once and connects when it is needed. Without a crew each turn
 * of a job is a step. crew_close ends the thread; it does nothing without a crew.
 */
MUST_USE enum status crew_open(struct worker *leader, struct error *err);
void crew_close(struct worker *leader);

/* Whether there is more urgent work than jobs. */
void crew_give_way(struct worker *leader, bool gives_way);

/*
 * Look whether other sessions of the database are at work at this moment. For some seconds after one was seen, turns
 * are done alone, so that a load in the foreground keeps the larger share of the processors. Does nothing without a
 * crew.
 */
MUST_USE enum status crew_look_around(struct worker *leader, struct error *err);

enum crew_pace crew_pace(const struct worker *leader);

/*
 * Call the task on the leader's thread, and if the pace is CREW_TOGETHER on that of the second member as well, each
 * with the worker of its thread. Returns when both have returned.
 */
typedef void crew_task(struct worker *store, void *context);
void crew_run(struct worker *leader, crew_task *task, void *context);

#endif
