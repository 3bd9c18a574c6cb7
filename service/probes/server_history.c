/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_history.c - see the header.
 */
#include "service/probes/server_history.h"

#include "base/clock.h"

void server_history_init(struct server_history *history)
{
    *history = (struct server_history){ .count = 0 };
    pthread_mutex_init(&history->lock, NULL);
}

void server_history_cleanup(struct server_history *history)
{
    pthread_mutex_destroy(&history->lock);
}

/* The calls of the interval: the difference of two counts. */
static struct metrics_calls calls_between(const struct metrics_calls *before, const struct metrics_calls *now)
{
    struct metrics_calls out = { .ended = now->ended - before->ended,
        .failed = now->failed - before->failed };

    for (size_t i = 0; i <= METRICS_BOUNDS; i++)
        out.durations[i] = now->durations[i] - before->durations[i];
    return out;
}

/* Read the present state. A part that does not exist counts as 0. */
static void read_state(const struct metrics_sources *sources, struct server_history_sample *out)
{
    struct rpc_connections connections = { 0 };
    struct store_statistics statistics = { 0 };

    if (sources->rpc)
        rpc_server_read_connections(sources->rpc, &connections);
    if (sources->service->store)
        store_read_statistics(sources->service->store, &statistics);
    out->connections = connections.open;
    out->memory_bytes = metrics_resident_bytes();
    for (int lane = 0; lane < STORE_LANES; lane++)
        out->waiting += statistics.lanes[lane].waiting;
}

/* Complete the sample with the present state, and keep it. The lock keeps server_history_end waiting meanwhile. */
static bool take_sample(struct server_history *history, const struct metrics_sources *sources,
    struct server_history_sample *sample)
{
    bool has_ended;

    pthread_mutex_lock(&history->lock);
    has_ended = history->has_ended;
    if (!has_ended) {
        read_state(sources, sample);
        history->samples[history->next] = *sample;
        history->next = (history->next + 1) % SERVER_HISTORY_SAMPLES;
        if (history->count < SERVER_HISTORY_SAMPLES)
            history->count++;
    }
    pthread_mutex_unlock(&history->lock);
    return !has_ended;
}

bool server_history_tick(
    struct server_history *history, const struct metrics_sources *sources, int64_t now_us)
{
    struct server_history_sample sample = { .ended = clock_ticks(),
        .covered_us = now_us - history->last_us,
        .lag_us = SERVER_HISTORY_NOT_READ,
        .dead_letters = SERVER_HISTORY_NOT_READ };
    bool is_first = history->last_us == 0;
    struct metrics_calls now, between;

    if (!is_first && sample.covered_us < SERVER_HISTORY_INTERVAL_US)
        return false;
    metrics_read_calls(sources->service, &now);
    if (!is_first) {
        between = calls_between(&history->last, &now);
        sample.calls = between.ended;
        sample.failed = between.failed;
        sample.median_us = metrics_quantile_us(between.durations, 0.5);
        sample.slow_us = metrics_quantile_us(between.durations, 0.99);
        if (!take_sample(history, sources, &sample))
            return false;
    }
    history->last_us = now_us;
    history->last = now;
    return !is_first;
}

void server_history_end(struct server_history *history)
{
    pthread_mutex_lock(&history->lock);
    history->has_ended = true;
    pthread_mutex_unlock(&history->lock);
}

void server_history_set_backlog(struct server_history *history, const struct outcome_backlog *backlog)
{
    struct server_history_sample *newest;

    pthread_mutex_lock(&history->lock);
    newest = &history->samples[(history->next + SERVER_HISTORY_SAMPLES - 1) % SERVER_HISTORY_SAMPLES];
    if (history->count > 0) {
        newest->lag_us = backlog->lag_us;
        newest->dead_letters = backlog->dead_letters;
    }
    pthread_mutex_unlock(&history->lock);
}

size_t server_history_read(
    struct server_history *history, struct server_history_sample out[SERVER_HISTORY_SAMPLES])
{
    size_t count;

    pthread_mutex_lock(&history->lock);
    count = history->count;
    for (size_t i = 0; i < count; i++)
        out[i] =
            history->samples[(history->next + SERVER_HISTORY_SAMPLES - count + i) % SERVER_HISTORY_SAMPLES];
    pthread_mutex_unlock(&history->lock);
    return count;
}
