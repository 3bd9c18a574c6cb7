/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - the worker program on simulated time: its relay, its loop, its batches, steps and delivery run as
 * they are, on a store, a queue, a clock and a random source that a seed decides.
 *
 * Actors are coroutines. Every call of the store or the queue is a point at which another actor may go on, or this
 * one may stop for long, or its process may die and come back. Invariants are checked after every commit; in the end
 * faults cease, and everything must come to rest. The same seed gives the same schedule.
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROCESSES = 2, /* workers, each with one consumer and a relay */
    SERVERS = 2,
    ACTORS = 2 * PROCESSES + SERVERS,
    NOBODY = -1,
};

/* ---- chance: everything that is decided at random ---- */

uint32_t sim_pick(uint32_t below);
bool sim_chance(uint32_t in_a_thousand); /* false once faults have ceased: for faults only */

/* ---- actors (actors.c) ---- */

int64_t sim_now_us(void);
int sim_actor(void); /* who runs */

/* Somebody else may run now. Does not return when this actor's process dies here. */
void sim_point(const char *what);

/* Not before so much time has passed. */
void sim_wait(int64_t us);

/* Run until the servers have done their work, faults cease and everything rests; or until a failure. */
void actors_run(uint64_t seed);

/* ---- failures and the trace (main.c) ---- */

__attribute__((format(printf, 1, 2))) void sim_fail(const char *format, ...);
bool sim_failed(void);
__attribute__((format(printf, 1, 2))) void sim_trace(const char *format, ...);

/* Is this guard left out? For showing that the simulation would notice. */
bool sim_without(const char *guard);

/* ---- what the actors do ---- */

void worker_begin(int process, bool relay); /* worker.c: forget everything, as a process that starts */
void worker_turn(int process, bool relay);
void server_begin(int server, uint32_t writes); /* server.c */
bool server_turn(int server);                   /* false: all its writes are done */

void database_begin(void); /* database.c: empty */
void database_actor_died(int actor);
void database_restart(void);
bool database_rests(void); /* nothing is open */
void database_check_end(void);

void stream_begin(void); /* stream.c: empty */
void stream_flush(void);
void stream_outage(int64_t us);

#endif
