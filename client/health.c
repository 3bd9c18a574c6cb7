/*
 * health.c - grpc.health.v1.Health/Check, read by hand: the reply has one field.
 */
#include "client/health.h"

#include "base/arena.h"
#include "base/wire.h"
#include "client/connect.h"
#include "rpc/code.h"

enum { FIELD_STATUS = 1, HEALTH_SERVING = 1 };

/* HealthCheckResponse { ServingStatus status = 1; } */
static bool says_serving(struct str reply)
{
    struct wire_field field;
    bool serving = false;

    while (wire_read_field(&reply, &field) == WIRE_FIELD)
        if (field.number == FIELD_STATUS && field.type == WIRE_VARINT)
            serving = field.scalar == HEALTH_SERVING;
    return serving;
}

enum status health_check(const struct client_config *config, int64_t timeout_ms, struct error *err)
{
    struct rpc_channel *channel;
    struct rpc_status ended;
    struct arena arena;
    struct str reply;
    enum status status = STATUS_OK;

    TRY(client_connect(config, &channel, err));
    arena_init(&arena);
    rpc_channel_call(channel, "/grpc.health.v1.Health/Check", STR_EMPTY, timeout_ms, &arena, &reply, &ended);
    if (ended.code != 0)
        status = error_set(err, STATUS_UNAVAILABLE, "%s: %s: %.*s", config->target, rpc_code_name(ended.code),
            STR_ARG(ended.message));
    else if (!says_serving(reply))
        status = error_set(err, STATUS_UNAVAILABLE, "%s answers NOT_SERVING", config->target);
    arena_cleanup(&arena);
    rpc_channel_close(channel);
    return status;
}
