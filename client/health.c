/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - calls grpc.health.v1.Health/Check.
 */
#include "client/health.h"

#include <stdio.h>
#include <string.h>

#include "client/connect.h"

static bool is_serving(const struct tavola_reply *reply)
{
    struct tavola_record record = tavola_reply_record(reply);
    char *health = tavola_record_text(&record, "status");
    bool serving = strcmp(health, "SERVING") == 0;

    tavola_free(health);
    return serving;
}

enum status health_check(const struct client_config *config, int64_t timeout_ms, struct error *err)
{
    const struct tavola_question check = { "/grpc.health.v1.Health/Check", "{}", timeout_ms };
    struct tavola *client;
    struct tavola_error error;
    struct tavola_reply *reply = NULL;
    enum status status = STATUS_OK;

    TRY(client_connect(config, 1, &client, err));
    if (tavola_ask(client, &check, &reply, &error) != TAVOLA_OK)
        status = error_set(err, STATUS_UNAVAILABLE, "%s: %s: %s", config->target,
            tavola_code_name(error.code), error.message);
    else if (!is_serving(reply))
        status = error_set(err, STATUS_UNAVAILABLE, "%s answers NOT_SERVING", config->target);
    tavola_reply_free(reply);
    tavola_close(client);
    return status;
}

bool health_knows(const struct client_config *config, const char *service, int64_t timeout_ms)
{
    char body[96];
    const struct tavola_question check = { "/grpc.health.v1.Health/Check", body, timeout_ms };
    struct error err = { 0 };
    struct tavola *client;
    struct tavola_reply *reply = NULL;
    bool is_known;

    snprintf(body, sizeof(body), "{\"service\":\"%s\"}", service);
    if (client_connect(config, 1, &client, &err) != STATUS_OK)
        return false;
    is_known = tavola_ask(client, &check, &reply, NULL) == TAVOLA_OK;
    tavola_reply_free(reply);
    tavola_close(client);
    return is_known;
}
