/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - the worker program on simulated time: its relay, its loop, its batches, steps and delivery run as
 * they are, on a store, a queue, a clock and a random source that a seed decides.
 *
 * Actors are coroutines. At every call of the store or the queue another actor may go on, or this one may stand still
 * for long, or its process may die and start again. Invariants are checked after every commit. At the end faults stop,
 * and all intents must be done. The same seed gives the same schedule.
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
    NONE = -1,
};

/* ---- random decisions ---- */

uint32_t sim_pick(uint32_t below);
bool sim_chance(uint32_t in_a_thousand); /* for faults only: false once they have ended */

/* ---- actors (actors.c) ---- */

int64_t sim_now_us(void);
int sim_actor(void); /* the actor that runs */

/* Another actor may run now. Does not return if this actor's process dies here. */
void sim_point(const char *what);

/* Let other actors run until that time has passed. */
void sim_wait(int64_t us);

/* Run until the servers have done their writes, faults have ended and no intent is open; or until a failure. */
void actors_run(uint64_t seed);

/* ---- failures and the trace (main.c) ---- */

__attribute__((format(printf, 1, 2))) void sim_fail(const char *format, ...);
bool sim_failed(void);
__attribute__((format(printf, 1, 2))) void sim_trace(const char *format, ...);

/*
 * A step of the actor that runs, for the trace. about: the keys, transactions or ranges of intents that it concerns, as
 * about_key() and its like name them; tests/sim/diagram.py draws the steps about one of them.
 */
__attribute__((format(printf, 2, 3))) void sim_step(const char *about, const char *format, ...);

/* Whether this guard is left out, to show that the simulation detects it. */
bool sim_without(const char *guard);

/* ---- what the actors do ---- */

void worker_begin(int process, bool relay); /* worker.c: forget everything, as a new process does */
void worker_turn(int process, bool relay);
void server_begin(int server, uint32_t writes); /* server.c */
bool server_turn(int server);                   /* false: all its writes are done */

void database_begin(void); /* database.c: empty */
void database_actor_died(int actor);
void database_restart(void);
bool database_rests(void); /* no intent is open */
void database_name_open(char *out, size_t size);
void database_check_end(void);

void stream_begin(void); /* stream.c: empty */
void stream_actor_died(int actor);
void stream_flush(void);
void stream_outage(int64_t us);

#endif
