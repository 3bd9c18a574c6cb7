/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_server_samples.c - AdminService.ListServerSamples. The method needs no database, so it answers even
 * while the database cannot be reached.
 */
#include "service/handlers/handlers.h"

#include "api/codec.h"
#include "base/clock.h"
#include "service/methods.h"
#include "service/probes/server_history.h"
#include "tavola/v1/admin_service.pb-c.h"

static Google__Protobuf__Duration *duration_of(int64_t us, struct arena *arena)
{
    return us == SERVER_HISTORY_NO_CALLS ? NULL : codec_duration(us, arena);
}

/* NULL: the database has not answered. */
static Tavola__V1__Backlog *backlog_of(const struct server_history_sample *sample, struct arena *arena)
{
    Tavola__V1__Backlog *message;

    if (sample->lag_us == SERVER_HISTORY_NOT_READ)
        return NULL;
    message = ARENA_NEW(arena, Tavola__V1__Backlog);
    tavola__v1__backlog__init(message);
    message->lag = codec_duration(sample->lag_us, arena);
    message->dead_letters = sample->dead_letters;
    return message;
}

static void write_sample(const struct server_history_sample *sample, struct arena *arena, struct buf *reply)
{
    Tavola__V1__ServerSample message = TAVOLA__V1__SERVER_SAMPLE__INIT;

    message.ended = codec_timestamp(sample->ended, arena);
    message.covered = codec_duration(sample->covered_us, arena);
    message.calls = (int64_t)sample->calls;
    message.failed = (int64_t)sample->failed;
    message.median = duration_of(sample->median_us, arena);
    message.slow = duration_of(sample->slow_us, arena);
    message.waiting = sample->waiting;
    message.connections = sample->connections;
    message.memory_bytes = sample->memory_bytes;
    message.backlog = backlog_of(sample, arena);
    codec_pack(reply, 1, &message.base);
}

/* The method without its package. */
static struct str method_name(const char *path)
{
    struct str name = str_from(str_of(path), 1);

    while (memchr(name.data, '.', name.len))
        (void)str_take(&name, '.');
    return name;
}

static void write_method(const struct method *method, const struct metrics_calls *calls, struct buf *reply)
{
    Tavola__V1__MethodTotals message = TAVOLA__V1__METHOD_TOTALS__INIT;
    int64_t durations[METRICS_BOUNDS + 1];

    for (size_t slot = 0; slot <= METRICS_BOUNDS; slot++)
        durations[slot] = (int64_t)calls->durations[slot];
    message.method = codec_bytes(method_name(method->path));
    message.calls = (int64_t)calls->ended;
    message.failed = (int64_t)calls->failed;
    message.durations = durations;
    message.n_durations = METRICS_BOUNDS + 1;
    codec_pack(reply, 4, &message.base);
}

static void write_methods(const struct service *service, struct buf *reply)
{
    struct metrics_calls calls;

    for (size_t i = 0; i < methods_count(service); i++) {
        metrics_read_method(service, i, &calls);
        if (calls.ended > 0)
            write_method(*methods_at(service, i), &calls, reply);
    }
}

static void write_group(const struct slowest_calls_group *group, struct arena *arena, struct buf *reply)
{
    Tavola__V1__SlowestCalls message = TAVOLA__V1__SLOWEST_CALLS__INIT;

    message.method = codec_bytes(method_name(group->path));
    message.account = codec_bytes(str_of(group->account));
    message.table = codec_bytes(str_of(group->table));
    message.access_path = (Tavola__V1__AccessPath)group->access_path;
    message.calls = group->calls;
    message.mean = codec_duration(group->total_us / group->calls, arena);
    message.slowest = codec_duration(group->slowest_us, arena);
    message.queued = codec_duration(group->queue_us, arena);
    message.rows_examined = group->rows_examined;
    message.ended = codec_timestamp(group->ended_ticks, arena);
    codec_pack(reply, 5, &message.base);
}

static void write_slowest(struct service *service, struct arena *arena, struct buf *reply)
{
    struct slowest_calls_group *groups = ARENA_ARRAY(arena, struct slowest_calls_group, SLOWEST_CALLS_MAX);
    size_t count = slowest_calls_read(&service->slowest, clock_monotonic_us(), groups);

    for (size_t i = 0; i < count; i++)
        write_group(&groups[i], arena, reply);
}

static void write_head(int64_t memory_limit_bytes, struct buf *reply)
{
    Tavola__V1__ListServerSamplesResponse head = TAVOLA__V1__LIST_SERVER_SAMPLES_RESPONSE__INIT;

    head.version = codec_bytes(STR_LITERAL(TAVOLA_VERSION));
    head.memory_limit_bytes = memory_limit_bytes;
    codec_pack(reply, 0, &head.base);
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct service *service = ctx->service;
    struct server_history_sample *samples =
        ARENA_ARRAY(ctx->arena, struct server_history_sample, SERVER_HISTORY_SAMPLES);
    size_t count;

    out->kind = OPERATION_QUEUES_LIST; /* a kind that administrators may run */
    TRY(caller_authorize(&ctx->caller, out, err));
    count = server_history_read(service->history, samples);
    for (size_t i = 0; i < count; i++)
        write_sample(&samples[i], ctx->arena, &ctx->reply);
    write_methods(service, &ctx->reply);
    write_slowest(service, ctx->arena, &ctx->reply);
    write_head(service->memory_limit_bytes, &ctx->reply);
    ctx->is_answered = true;
    return STATUS_OK;
}

const struct method list_server_samples_method = {
    .path = "/tavola.v1.AdminService/ListServerSamples",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_QUEUES_LIST,
    .request = &tavola__v1__list_server_samples_request__descriptor,
    .decode = decode_request,
};
