/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - grpc.health.v1.Health/Check.
 */
#include "client/health.h"

#include "base/arena.h"
#include "client/connect.h"
#include "client/conversation.h"
#include "rpc/code.h"

/* HealthCheckResponse { ServingStatus status = 1; } */
enum { FIELD_STATUS = 1, HEALTH_SERVING = 1 };

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
    else if (conversation_number(reply, FIELD_STATUS) != HEALTH_SERVING)
        status = error_set(err, STATUS_UNAVAILABLE, "%s answers NOT_SERVING", config->target);
    arena_cleanup(&arena);
    rpc_channel_close(channel);
    return status;
}
