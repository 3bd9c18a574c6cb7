/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - grpc.health.v1.Health/Check.
 */
#include "client/health.h"

#include "api/codec.h"
#include "client/connect.h"
#include "grpc/health/v1/health.pb-c.h"
#include "rpc/code.h"

static bool is_serving(struct str reply, struct arena *arena)
{
    const Grpc__Health__V1__HealthCheckResponse *response =
        (const Grpc__Health__V1__HealthCheckResponse *)codec_read(
            &grpc__health__v1__health_check_response__descriptor, reply, arena);

    return response && response->status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
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
    rpc_channel_call(channel, &(struct rpc_request){ "/grpc.health.v1.Health/Check", STR_EMPTY, timeout_ms },
        &arena, &reply, &ended);
    if (ended.code != 0)
        status = error_set(err, STATUS_UNAVAILABLE, "%s: %s: %.*s", config->target, rpc_code_name(ended.code),
            STR_ARG(ended.message));
    else if (!is_serving(reply, &arena))
        status = error_set(err, STATUS_UNAVAILABLE, "%s answers NOT_SERVING", config->target);
    arena_cleanup(&arena);
    rpc_channel_close(channel);
    return status;
}
