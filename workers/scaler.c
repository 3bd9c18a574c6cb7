/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaler.c - see the header. One lock guards the lag and the list of streams, and is held while a
 * stream is told: a stream gets one message at a time, and after the last one the newest state.
 */
#include "workers/scaler.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/codec_error.h"
#include "api/codec_scaler.h"
#include "base/log.h"
#include "rpc/server.h"
#include "store/intents/lag_work.h"
#include "workers/worker.h"

enum { PAUSE_MS = 1000, RECEIVE_BYTES = 65536, CONNECTIONS = 64, OPEN_CALLS = 256 };

struct stream {
    struct rpc_call *call;
    struct stream *next;
    bool is_sending, was_told, told_active;
};

struct scaler {
    struct rpc_server *server;
    pthread_mutex_t lock; /* guards what follows */
    bool is_known;
    int64_t lag_us, open_intents;
    struct stream *streams;
};

static void fail_call(struct rpc_call *call, enum status status, const char *why)
{
    rpc_call_finish(call, codec_error_status_code(status), str_of(why), STR_EMPTY);
}

static void refuse_unknown(struct rpc_call *call)
{
    fail_call(call, STATUS_UNAVAILABLE,
        "the lag is not known: the database cannot be reached, or no worker has stored it");
}

/* A copy of the state. false: it is not known. */
static bool read_state(struct scaler *scaler, int64_t *lag_us, bool *is_active)
{
    bool is_known;

    pthread_mutex_lock(&scaler->lock);
    is_known = scaler->is_known;
    *lag_us = scaler->lag_us;
    *is_active = scaler->open_intents > 0;
    pthread_mutex_unlock(&scaler->lock);
    return is_known;
}

/* ---- calls of one message ---- */

static void answer_active(struct rpc_call *call, struct str request)
{
    struct buf reply;
    int64_t lag_us;
    bool is_active;

    (void)request;
    if (!read_state(rpc_call_context(call), &lag_us, &is_active)) {
        refuse_unknown(call);
        return;
    }
    buf_init(&reply, rpc_call_arena(call));
    codec_scaler_write_active(is_active, &reply);
    rpc_call_reply(call, buf_str(&reply));
}

static void answer_spec(struct rpc_call *call, struct str request)
{
    struct error err = { 0 };
    struct buf reply;
    int64_t target;

    if (codec_scaler_read_target(request, rpc_call_arena(call), &target, &err) != STATUS_OK) {
        fail_call(call, err.status, err.message);
        return;
    }
    buf_init(&reply, rpc_call_arena(call));
    codec_scaler_write_spec(target, &reply);
    rpc_call_reply(call, buf_str(&reply));
}

static void answer_value(struct rpc_call *call, struct str request)
{
    struct error err = { 0 };
    struct buf reply;
    int64_t lag_us;
    bool is_active;

    if (codec_scaler_check_question(request, rpc_call_arena(call), &err) != STATUS_OK) {
        fail_call(call, err.status, err.message);
        return;
    }
    if (!read_state(rpc_call_context(call), &lag_us, &is_active)) {
        refuse_unknown(call);
        return;
    }
    buf_init(&reply, rpc_call_arena(call));
    codec_scaler_write_value(lag_us, &reply);
    rpc_call_reply(call, buf_str(&reply));
}

/* ---- streams ---- */

/* Send the state if the stream has another one. The lock is held. */
static void tell_stream(const struct scaler *scaler, struct stream *stream)
{
    bool is_active = scaler->open_intents > 0;
    struct arena arena;
    struct buf message;

    if (!scaler->is_known || stream->is_sending || (stream->was_told && stream->told_active == is_active))
        return;
    stream->is_sending = true;
    stream->was_told = true;
    stream->told_active = is_active;
    arena_init(&arena);
    buf_init(&message, &arena);
    codec_scaler_write_active(is_active, &message);
    rpc_call_send(stream->call, buf_str(&message));
    arena_cleanup(&arena);
}

static void begin_stream(struct rpc_call *call, struct str request)
{
    struct scaler *scaler = rpc_call_context(call);
    struct stream *stream = ARENA_NEW(rpc_call_arena(call), struct stream);

    (void)request;
    stream->call = call;
    rpc_call_set_state(call, stream);
    pthread_mutex_lock(&scaler->lock);
    stream->next = scaler->streams;
    scaler->streams = stream;
    tell_stream(scaler, stream);
    pthread_mutex_unlock(&scaler->lock);
}

static void forget_stream(struct scaler *scaler, const struct stream *stream)
{
    struct stream **link = &scaler->streams;

    while (*link && *link != stream)
        link = &(*link)->next;
    if (*link)
        *link = stream->next;
}

/* ---- events ---- */

typedef void answer_fn(struct rpc_call *call, struct str request);

struct scaler_method {
    answer_fn *answer;
};

static const struct scaler_method is_active = { answer_active }, stream_is_active = { begin_stream },
                                  get_metric_spec = { answer_spec }, get_metrics = { answer_value };

#define SERVICE "/externalscaler.ExternalScaler/"
static const struct rpc_method methods[] = {
    { .path = SERVICE "IsActive", .kind = RPC_UNARY, .handler = &is_active, .is_open = true },
    { .path = SERVICE "StreamIsActive",
        .kind = RPC_SERVER_STREAM,
        .handler = &stream_is_active,
        .is_open = true },
    { .path = SERVICE "GetMetricSpec", .kind = RPC_UNARY, .handler = &get_metric_spec, .is_open = true },
    { .path = SERVICE "GetMetrics", .kind = RPC_UNARY, .handler = &get_metrics, .is_open = true },
};

static void on_message(struct rpc_call *call, struct str message)
{
    const struct scaler_method *method = rpc_call_method(call)->handler;

    rpc_call_authenticated(call); /* KEDA keeps its connection: it must not count as one of a stranger */
    method->answer(call, message);
}

static void on_sent(struct rpc_call *call)
{
    struct scaler *scaler = rpc_call_context(call);
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&scaler->lock);
    stream->is_sending = false;
    tell_stream(scaler, stream);
    pthread_mutex_unlock(&scaler->lock);
}

static void on_cancelled(struct rpc_call *call)
{
    struct scaler *scaler = rpc_call_context(call);

    pthread_mutex_lock(&scaler->lock);
    forget_stream(scaler, rpc_call_state(call));
    pthread_mutex_unlock(&scaler->lock);
    fail_call(call, STATUS_CANCELLED, "");
}

enum status scaler_start(const char *address, struct scaler **out, struct error *err)
{
    struct scaler *scaler = xcalloc(1, sizeof(*scaler));
    const struct rpc_options options = {
        .listen = address,
        .threads = 1,
        .receive_bytes = RECEIVE_BYTES,
        .limits = { .connections = CONNECTIONS, .open_calls = OPEN_CALLS },
        .methods = methods,
        .method_count = ARRAY_LEN(methods),
        .events = { .message = on_message, .sent = on_sent, .cancelled = on_cancelled },
        .context = scaler,
    };
    enum status status;

    pthread_mutex_init(&scaler->lock, NULL);
    status = rpc_server_start(&options, &scaler->server, err);
    if (status != STATUS_OK) {
        pthread_mutex_destroy(&scaler->lock);
        free(scaler);
        return status;
    }
    log_event(LOG_INFO, "scaler", log_text("address", address),
        log_number("port", rpc_server_port(scaler->server)));
    *out = scaler;
    return STATUS_OK;
}

void scaler_stop(struct scaler *scaler)
{
    if (!scaler)
        return;
    rpc_server_stop(scaler->server, 0);
    pthread_mutex_destroy(&scaler->lock);
    free(scaler);
}

void scaler_set_lag(struct scaler *scaler, const struct lag *lag)
{
    pthread_mutex_lock(&scaler->lock);
    scaler->is_known = lag && lag->as_of > 0;
    if (scaler->is_known) {
        scaler->open_intents = lag->open_intents;
        scaler->lag_us = lag->open_intents > 0 ? lag->age_us : 0;
    }
    for (struct stream *stream = scaler->streams; stream; stream = stream->next)
        tell_stream(scaler, stream);
    pthread_mutex_unlock(&scaler->lock);
}

void *scaler_thread(void *argument)
{
    struct worker_ctx *ctx = argument;

    do {
        struct error err = { 0 };
        struct lag lag = { 0 };

        scaler_set_lag(ctx->shared->scaler, lag_work_read(ctx->store, &lag, &err) == STATUS_OK ? &lag : NULL);
    } while (worker_pause(ctx, PAUSE_MS));
    return NULL;
}
