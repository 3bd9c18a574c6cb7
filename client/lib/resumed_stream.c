/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resumed_stream.c - see the header.
 */
#include "client/lib/resumed_stream.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/random.h"
#include "client/lib/call_error.h"

enum { US_PER_MS = 1000 };

void resumed_stream_init(struct resumed_stream *stream)
{
    stream->failures = 0;
    stream->has_received = stream->has_renewed = stream->is_stopping = false;
    stream->stream = NULL;
    pthread_mutex_init(&stream->lock, NULL);
    condition_init(&stream->stopped);
}

void resumed_stream_cleanup(struct resumed_stream *stream)
{
    struct rpc_status ignored;
    struct arena arena;

    arena_init(&arena);
    if (stream->stream)
        rpc_stream_finish(stream->stream, &arena, &ignored);
    arena_cleanup(&arena);
    pthread_cond_destroy(&stream->stopped);
    pthread_mutex_destroy(&stream->lock);
}

void resumed_stream_stop(struct resumed_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->is_stopping = true;
    if (stream->stream)
        rpc_stream_cancel(stream->stream);
    pthread_cond_broadcast(&stream->stopped);
    pthread_mutex_unlock(&stream->lock);
}

/* Open the stream. false: it is being stopped, or could not be opened; *error has the cause. */
static bool open_stream(struct resumed_stream *stream, struct arena *arena, struct tavola_error *error)
{
    struct rpc_stream *opened = NULL;
    struct error err = { 0 };
    struct buf request;

    stream->token = token_source_prepare(&stream->client->tokens);
    pthread_mutex_lock(&stream->lock);
    if (stream->is_stopping)
        (void)call_error_set(error, TAVOLA_CANCELLED, "the caller has stopped the stream");
    else if (rpc_stream_open(stream->client->channel, stream->path, 0, &opened, &err) != STATUS_OK)
        (void)call_error_of(&err, error);
    stream->stream = opened;
    pthread_mutex_unlock(&stream->lock);
    if (!opened)
        return false;
    buf_init(&request, arena);
    stream->encode(stream->context, &request);
    if (rpc_stream_send(opened, buf_str(&request)))
        rpc_stream_half_close(opened);
    return true;
}

static void end_stream(struct resumed_stream *stream, struct arena *arena, struct tavola_error *error)
{
    struct rpc_stream *ended;
    struct rpc_status status;
    bool was_stopped;

    pthread_mutex_lock(&stream->lock);
    ended = stream->stream;
    stream->stream = NULL;
    was_stopped = stream->is_stopping;
    pthread_mutex_unlock(&stream->lock);
    rpc_stream_finish(ended, arena, &status);
    (void)call_error_of_status(&status, arena, error);
    /*
     * If a request crosses the end of the server's connection, gRPC's core ends it as CANCELLED without a
     * reason.
     */
    if (error->code == TAVOLA_CANCELLED && !was_stopped && error->reason[0] == '\0')
        error->code = TAVOLA_UNAVAILABLE;
}

/* Wait. false: the stream was stopped meanwhile. */
static bool pause_for(struct resumed_stream *stream, int64_t delay_ms)
{
    int64_t until_us = clock_monotonic_us() + delay_ms * US_PER_MS;
    bool stopping;

    pthread_mutex_lock(&stream->lock);
    while (!stream->is_stopping && condition_wait_until(&stream->stopped, &stream->lock, until_us))
        continue;
    stopping = stream->is_stopping;
    pthread_mutex_unlock(&stream->lock);
    return !stopping;
}

/* Whether to open the stream again; if so, after the pause that the error asks for. */
static bool may_go_on(struct resumed_stream *stream, const struct tavola_error *error)
{
    bool is_mended = stream->never_gives_up && stream->has_received;
    int64_t delay_ms;

    if (stream->is_whole && stream->has_received)
        return false;
    if (error->code == TAVOLA_UNAUTHENTICATED && !stream->has_renewed) {
        stream->has_renewed = true;
        return token_source_replace(&stream->client->tokens, stream->token);
    }
    delay_ms = error->code == TAVOLA_OK ? -1 : retry_delay_ms(error, ++stream->failures, random_bits());
    if (delay_ms < 0 || (!is_mended && stream->failures >= stream->client->max_attempts))
        return false;
    return pause_for(stream, delay_ms);
}

bool resumed_stream_next(
    struct resumed_stream *stream, struct arena *arena, struct str *message, struct tavola_error *error)
{
    do {
        if (!stream->stream && !open_stream(stream, arena, error))
            return false;
        if (rpc_stream_receive(stream->stream, arena, message)) {
            stream->has_received = true;
            stream->has_renewed = false;
            stream->failures = 0;
            return true;
        }
        end_stream(stream, arena, error);
    } while (may_go_on(stream, error));
    return false;
}
