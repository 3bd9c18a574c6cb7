/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - runs the threads of the worker program as actors, and replaces the functions of workers/worker.h that
 * would wait for real time.
 */
#include "store/intents/lease_work.h"
#include "store/intents/scan_reach.h"
#include "tests/sim/sim.h"
#include "workers/loop.h"
#include "workers/relay.h"

struct worker {
    int process; /* C requires a member */
};

static struct process {
    struct worker_shared shared;
    struct worker store;
    struct worker_ctx consumer, relaying;
    struct loop loop;
    struct relay relay;
} processes[PROCESSES];

static const struct worker_config config = {
    .name = "sim", .threads = 1, .claim_batch = 4, .visibility_s = 30, .drain_s = 1, .sweep_s = 60
};

static void begin_ctx(struct worker_ctx *ctx, struct process *process)
{
    arena_cleanup(&ctx->arena);
    *ctx = (struct worker_ctx){ .shared = &process->shared,
        .store = &process->store,
        .now_us = sim_now_us,
        .random = sim_pick(1000000) };
    arena_init(&ctx->arena);
}

void worker_begin(int number, bool relay)
{
    struct process *process = &processes[number];

    if (relay) {
        begin_ctx(&process->relaying, process);
        process->relay = (struct relay){ .ctx = &process->relaying };
        return;
    }
    for (int range = 0; range < LEASE_RANGES; range++)
        atomic_store(&process->shared.held[range], false);
    process->shared.config = &config;
    queues_init(&process->shared.queues);
    atomic_store(&process->shared.streaming, false);
    begin_ctx(&process->consumer, process);
    process->loop = (struct loop){ .ctx = &process->consumer };
}

void worker_turn(int number, bool relay)
{
    struct process *process = &processes[number];

    if (relay)
        sim_wait(relay_pass(&process->relay) ? 20000 : 250000);
    else if (loop_turn(&process->loop) == 0)
        sim_wait(1000);
}

/* ---- workers/worker.h ---- */

bool worker_is_stopping(const struct worker_shared *shared)
{
    (void)shared;
    return false;
}

bool worker_publish(struct worker_ctx *ctx, const struct intent *intents, size_t count)
{
    size_t published = 0;

    if (atomic_load(&ctx->shared->streaming))
        (void)!queue_publish(ctx->queue, intents, count, &published, NULL);
    return published == count;
}

uint64_t worker_random(struct worker_ctx *ctx)
{
    (void)ctx;
    return (uint64_t)sim_pick(UINT32_MAX) << 32 | sim_pick(UINT32_MAX);
}

bool worker_pause(struct worker_ctx *ctx, int64_t ms)
{
    (void)ctx;
    sim_wait(ms * 1000);
    return true;
}

void metrics_report(struct worker_shared *shared, struct worker_report *out)
{
    (void)shared;
    *out = (struct worker_report){ 0 };
}

void metrics_count(struct worker_shared *shared, enum worker_counter counter, size_t more)
{
    (void)shared, (void)counter, (void)more;
}
