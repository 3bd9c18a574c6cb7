/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actors.c - coroutines, the clock, and what befalls processes.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "base/arena.h"
#include "tests/sim/sim.h"

enum {
    STACK_BYTES = 128 * 1024,
    MAX_SWITCHES = 60000,
    FAULTY_US = 20 * 1000000,
};

static struct actor {
    ucontext_t context;
    char *stack;
    int64_t wake_us;
    bool done;
    bool reborn; /* begins anew instead of going on */
} actors[ACTORS];

static ucontext_t scheduler;
static int current;
static int64_t now_us;
static uint64_t random_state;
static bool faults;

/* ---- chance and time ---- */

static uint64_t next_random(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t sim_pick(uint32_t below)
{
    return (uint32_t)((next_random() >> 32) * below >> 32);
}

bool sim_chance(uint32_t in_a_thousand)
{
    return faults && sim_pick(1000) < in_a_thousand;
}

int64_t sim_now_us(void)
{
    return now_us;
}

int sim_actor(void)
{
    return current;
}

/* ---- actors ---- */

static int process_of(int actor)
{
    return actor < 2 * PROCESSES ? actor / 2 : NOBODY;
}

static void body(void)
{
    int actor = current;

    if (process_of(actor) == NOBODY) {
        while (server_turn(actor - 2 * PROCESSES))
            ;
        actors[actor].done = true;
    }
    while (process_of(actor) != NOBODY)
        worker_turn(process_of(actor), actor % 2 == 1);
    for (;;)
        swapcontext(&actors[actor].context, &scheduler);
}

static void begin(int actor)
{
    struct actor *self = &actors[actor];

    if (!self->stack)
        self->stack = xmalloc(STACK_BYTES);
    self->reborn = false;
    getcontext(&self->context);
    self->context.uc_stack.ss_sp = self->stack;
    self->context.uc_stack.ss_size = STACK_BYTES;
    self->context.uc_link = NULL;
    makecontext(&self->context, body, 0);
}

/* The consumer and the relay of a process die together; what they held in the database is let go. */
static void kill_process(int process, int64_t down_us)
{
    for (int i = 2 * process; i < 2 * process + 2; i++) {
        database_actor_died(i);
        worker_begin(process, i % 2 == 1);
        actors[i].reborn = true;
        actors[i].wake_us = now_us + down_us;
    }
}

static void yield(void)
{
    swapcontext(&actors[current].context, &scheduler);
}

void sim_wait(int64_t us)
{
    actors[current].wake_us = now_us + us;
    yield();
}

static void maybe_stop(const char *what)
{
    if (!sim_chance(4))
        return;
    sim_trace("%d stands still at %s", current, what);
    database_actor_died(current); /* the database does not wait for it: its transaction is over */
    sim_wait((int64_t)sim_pick(90) * 1000000);
}

void sim_point(const char *what)
{
    sim_trace("%d %s", current, what);
    if (sim_chance(6) && process_of(current) != NOBODY) {
        sim_trace("process %d dies", process_of(current));
        kill_process(process_of(current), (int64_t)sim_pick(8000000));
        setcontext(&scheduler);
    }
    maybe_stop(what);
    if (sim_pick(3) == 0)
        sim_wait((int64_t)sim_pick(4000));
}

/* ---- the scheduler ---- */

static void befall(void)
{
    if (!faults)
        return;
    if (sim_chance(2)) {
        sim_trace("redis is flushed");
        stream_flush();
    }
    if (sim_chance(1)) {
        sim_trace("redis is away");
        stream_outage((int64_t)sim_pick(5000000));
    }
    if (sim_chance(1)) {
        sim_trace("postgresql restarts");
        database_restart();
    }
}

/* Any of those who could run by now, or whoever is next to wake. */
static int choose(void)
{
    int ready[ACTORS], count = 0, next = NOBODY;

    for (int i = 0; i < ACTORS; i++) {
        if (actors[i].done)
            continue;
        if (actors[i].wake_us <= now_us)
            ready[count++] = i;
        if (next == NOBODY || actors[i].wake_us < actors[next].wake_us)
            next = i;
    }
    if (count > 0)
        return ready[sim_pick((uint32_t)count)];
    now_us = actors[next].wake_us;
    return next;
}

static bool servers_are_done(void)
{
    for (int i = 2 * PROCESSES; i < ACTORS; i++) {
        if (!actors[i].done)
            return false;
    }
    return true;
}

static void begin_all(uint64_t seed)
{
    random_state = seed * UINT64_C(0xd1342543de82ef95) + 1;
    now_us = 1000000000;
    faults = true;
    database_begin();
    stream_begin();
    for (int i = 0; i < SERVERS; i++)
        server_begin(i, 2 + sim_pick(5));
    for (int i = 0; i < ACTORS; i++) {
        if (process_of(i) != NOBODY)
            worker_begin(process_of(i), i % 2 == 1);
        begin(i);
        actors[i].wake_us = now_us + (int64_t)sim_pick(1000000);
        actors[i].done = actors[i].reborn = false;
    }
}

void actors_run(uint64_t seed)
{
    int switches = 0;
    int64_t end_us;

    begin_all(seed);
    end_us = now_us + FAULTY_US;
    while (!sim_failed()) {
        if (faults && servers_are_done() && (now_us >= end_us || database_rests())) {
            sim_trace("faults cease");
            faults = false;
        }
        if (!faults && database_rests())
            break;
        if (switches++ == MAX_SWITCHES)
            sim_fail("it does not come to rest: something stays open");
        befall();
        current = choose();
        if (actors[current].reborn)
            begin(current);
        swapcontext(&scheduler, &actors[current].context);
    }
    if (!sim_failed())
        database_check_end();
}
