/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - only the main thread takes signals (sigwait), so no signal handler runs.
 */
#include "workers/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "chunks/chunk_open.h"
#include "http/metrics_server.h"
#include "workers/builder.h"
#include "workers/chunk_mover.h"
#include "workers/history.h"
#include "workers/lease_renewal.h"
#include "workers/loop.h"
#include "workers/relay.h"
#include "workers/scrubber.h"
#include "workers/stray_remover.h"
#include "workers/sweeper.h"
#include "workers/usage_counter.h"
#include "workers/worker.h"

enum { ROLES = 9 }; /* threads other than consumers */

struct thread {
    struct worker_ctx ctx;
    pthread_t id;
    bool running;
};

struct process {
    struct worker_shared shared;
    struct thread *threads;
    size_t count;
    struct metrics_server *metrics; /* NULL: not configured */
    struct metrics_server *probes;  /* NULL: not configured */
};

typedef void *thread_fn(void *argument);

static enum status start_thread(
    struct process *process, const char *role, int index, thread_fn *run, struct error *err)
{
    struct thread *thread = &process->threads[process->count++];
    int failure;

    TRY(worker_ctx_init(&thread->ctx, &process->shared, index, role, err));
    /* before any thread of this worker writes to the database */
    if (process->count == 1)
        history_recall(&process->shared, thread->ctx.queue);
    failure = pthread_create(&thread->id, NULL, run, &thread->ctx);
    if (failure != 0)
        return error_set(err, STATUS_INTERNAL, "cannot start a thread: error %d", failure);
    thread->running = true;
    return STATUS_OK;
}

static enum status start_threads(struct process *process, struct error *err)
{
    const struct worker_config *config = process->shared.config;
    int consumers = (int)config->threads;

    TRY(chunk_open(&config->chunks, &process->shared.chunks, err));
    process->shared.chunks.kept_s = config->chunk_retention_s;
    if (config->scaler_listen)
        TRY(scaler_start(config->scaler_listen, &process->shared.scaler, err));
    TRY(worker_tracing_start(&process->shared.tracing, &config->trace, config->name, err));
    TRY(start_thread(process, "relay", 0, relay_thread, err));
    TRY(start_thread(process, "builder", 0, builder_thread, err));
    TRY(start_thread(process, "sweeper", 0, sweeper_thread, err));
    TRY(start_thread(process, "scrubber", 0, scrubber_thread, err));
    TRY(start_thread(process, "usage_counter", 0, usage_counter_thread, err));
    if (chunk_open_used(&process->shared.chunks)) {
        TRY(start_thread(process, "remover", 0, stray_remover_thread, err));
        TRY(start_thread(process, "mover", 0, chunk_mover_thread, err));
    }
    TRY(start_thread(process, "renewal", 0, lease_renewal_thread, err));
    if (process->shared.scaler)
        TRY(start_thread(process, "scaler", 0, scaler_thread, err));
    for (int i = 0; i < consumers; i++)
        TRY(start_thread(process, WORKER_CONSUMER, i, loop_thread, err));
    return STATUS_OK;
}

/* The relay's last pass reached the database, and the worker is not stopping. */
static bool is_ready(void *context)
{
    const struct worker_shared *shared = context;

    return atomic_load(&shared->store_available) && !worker_is_stopping(shared);
}

static enum status start_listeners(struct process *process, struct error *err)
{
    const struct worker_config *config = process->shared.config;

    if (config->metrics_listen)
        TRY(metrics_server_start(
            config->metrics_listen, metrics_collect_worker, &process->shared, &process->metrics, err));
    if (config->health_listen)
        TRY(metrics_server_start_probes(
            config->health_listen, is_ready, &process->shared, &process->probes, err));
    return STATUS_OK;
}

/* Join all threads. false: the time limit has passed. */
static bool join_threads(struct process *process, int64_t limit_s)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)limit_s;
    for (size_t i = 0; i < process->count; i++) {
        struct thread *thread = &process->threads[i];

        if (thread->running && pthread_clockjoin_np(thread->id, NULL, CLOCK_MONOTONIC, &until) != 0)
            return false;
        thread->running = false;
    }
    return true;
}

static void free_process(struct process *process)
{
    for (size_t i = 0; i < process->count; i++)
        worker_ctx_cleanup(&process->threads[i].ctx);
    free(process->threads);
    scaler_stop(process->shared.scaler);
    worker_tracing_stop(&process->shared.tracing);
    worker_shared_cleanup(&process->shared);
}

static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    log_settings_add_signals(set);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int process_run_worker(const struct worker_config *config)
{
    struct process process = { .count = 0 };
    struct error err = { 0 };
    sigset_t signals;
    int received = 0, exit_code = EXIT_SUCCESS;

    block_signals(&signals);
    worker_allow_data_loss(config->allow_data_loss != 0);
    worker_shared_init(&process.shared, config);
    process.threads = xcalloc((size_t)config->threads + ROLES, sizeof(*process.threads));
    if (start_threads(&process, &err) == STATUS_OK && start_listeners(&process, &err) == STATUS_OK) {
        log_event(LOG_INFO, "ready", log_text("name", config->name), log_number("threads", config->threads));
        while (sigwait(&signals, &received) != 0 || log_settings_take_signal(&config->log, received))
            continue;
        log_event(LOG_INFO, "stopping", log_number("signal", received));
    } else {
        log_event(LOG_ERROR, "cannot_start", log_text("why", err.message));
        exit_code = EXIT_FAILURE;
    }
    metrics_server_stop(process.metrics);
    worker_stop(&process.shared);
    if (!join_threads(&process, config->drain_s)) {
        log_event(LOG_WARN, "not_drained",
            log_text("then", "claimed work comes back after its visibility timeout"));
        _exit(EXIT_FAILURE);
    }
    metrics_server_stop(process.probes);
    free_process(&process);
    log_write(LOG_INFO, "stopped", NULL);
    return exit_code;
}
