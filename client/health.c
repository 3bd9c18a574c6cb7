/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - calls grpc.health.v1.Health/Check.
 */
#include "client/health.h"

#include "api/codec.h"
#include "client/connect.h"
#include "grpc/health/v1/health.pb-c.h"

static bool is_serving(struct str reply, struct arena *arena)
{
    const Grpc__Health__V1__HealthCheckResponse *response =
        (const Grpc__Health__V1__HealthCheckResponse *)codec_read(
            &grpc__health__v1__health_check_response__descriptor, reply, arena);

    return response && response->status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
}

enum status health_check(const struct client_config *config, int64_t timeout_ms, struct error *err)
{
    const struct tavola_call check = { .method = "/grpc.health.v1.Health/Check", .timeout_ms = timeout_ms };
    struct tavola *client;
    struct tavola_error error;
    struct arena arena;
    enum status status = STATUS_OK;
    char *reply = NULL;
    size_t size;

    TRY(client_connect(config, 1, &client, err));
    arena_init(&arena);
    if (tavola_call(client, &check, &reply, &size, &error) != TAVOLA_OK)
        status = error_set(err, STATUS_UNAVAILABLE, "%s: %s: %s", config->target,
            tavola_code_name(error.code), error.message);
    else if (!is_serving(str_of_bytes(reply, size), &arena))
        status = error_set(err, STATUS_UNAVAILABLE, "%s answers NOT_SERVING", config->target);
    tavola_free(reply);
    arena_cleanup(&arena);
    tavola_close(client);
    return status;
}
