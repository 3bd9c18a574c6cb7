/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actors.c - coroutines, the clock, and the faults of processes and servers.
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
    bool is_restarted; /* its process has died: it starts again from the beginning */
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
    return actor < 2 * PROCESSES ? actor / 2 : NONE;
}

static void actor_body(void)
{
    int actor = current;

    if (process_of(actor) == NONE) {
        while (server_turn(actor - 2 * PROCESSES))
            ;
        actors[actor].done = true;
    }
    while (process_of(actor) != NONE)
        worker_turn(process_of(actor), actor % 2 == 1);
    for (;;)
        swapcontext(&actors[actor].context, &scheduler);
}

static void start_actor(int actor)
{
    struct actor *self = &actors[actor];

    if (!self->stack)
        self->stack = xmalloc(STACK_BYTES);
    self->is_restarted = false;
    getcontext(&self->context);
    self->context.uc_stack.ss_sp = self->stack;
    self->context.uc_stack.ss_size = STACK_BYTES;
    self->context.uc_link = NULL;
    makecontext(&self->context, actor_body, 0);
}

/* The consumer and the relay of a process die together; the database rolls their transactions back. */
static void kill_process(int process, int64_t down_us)
{
    for (int i = 2 * process; i < 2 * process + 2; i++) {
        database_actor_died(i);
        stream_actor_died(i);
        worker_begin(process, i % 2 == 1);
        actors[i].is_restarted = true;
        actors[i].wake_us = now_us + down_us;
    }
}

static void switch_to_scheduler(void)
{
    swapcontext(&actors[current].context, &scheduler);
}

void sim_wait(int64_t us)
{
    actors[current].wake_us = now_us + us;
    switch_to_scheduler();
}

static void maybe_stop(const char *what)
{
    if (!sim_chance(4))
        return;
    sim_trace("actor %d stands still at %s", current, what);
    database_actor_died(current); /* the database ends the transaction of a client that stands still */
    sim_wait((int64_t)sim_pick(90) * 1000000);
}

void sim_point(const char *what)
{
    sim_trace("actor %d: %s", current, what);
    if (sim_chance(6) && process_of(current) != NONE) {
        sim_trace("process %d dies", process_of(current));
        kill_process(process_of(current), (int64_t)sim_pick(8000000));
        setcontext(&scheduler);
    }
    maybe_stop(what);
    if (sim_pick(3) == 0)
        sim_wait((int64_t)sim_pick(4000));
}

/* ---- the scheduler ---- */

static void maybe_inject_fault(void)
{
    if (!faults)
        return;
    if (sim_chance(2)) {
        sim_trace("redis is flushed");
        stream_flush();
    }
    if (sim_chance(1)) {
        sim_trace("redis cannot be reached");
        stream_outage((int64_t)sim_pick(5000000));
    }
    if (sim_chance(1)) {
        sim_trace("postgresql restarts");
        database_restart();
    }
}

/* One of the actors that could run now; if there is none, the one that wakes first, and the clock moves there. */
static int choose_actor(void)
{
    int ready[ACTORS], count = 0, next = NONE;

    for (int i = 0; i < ACTORS; i++) {
        if (actors[i].done)
            continue;
        if (actors[i].wake_us <= now_us)
            ready[count++] = i;
        if (next == NONE || actors[i].wake_us < actors[next].wake_us)
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
        if (process_of(i) != NONE)
            worker_begin(process_of(i), i % 2 == 1);
        start_actor(i);
        actors[i].wake_us = now_us + (int64_t)sim_pick(1000000);
        actors[i].done = actors[i].is_restarted = false;
    }
}

void actors_run(uint64_t seed)
{
    int switches = 0;
    int64_t end_us;
    char open[128];

    begin_all(seed);
    end_us = now_us + FAULTY_US;
    while (!sim_failed()) {
        if (faults && servers_are_done() && (now_us >= end_us || database_rests())) {
            sim_trace("faults end");
            faults = false;
        }
        if (!faults && database_rests())
            break;
        if (switches++ == MAX_SWITCHES) {
            database_name_open(open, sizeof(open));
            sim_fail("%s", open);
        }
        maybe_inject_fault();
        current = choose_actor();
        if (actors[current].is_restarted)
            start_actor(current);
        swapcontext(&scheduler, &actors[current].context);
    }
    if (!sim_failed())
        database_check_end();
}
