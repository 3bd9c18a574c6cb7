/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.c - see the header.
 */
#include "workers/effects/http_call.h"

#include "domain/reason.h"
#include "domain/transactions/call_url.h"
#include "http/post.h"
#include "workers/worker.h"

enum {
    TOO_EARLY = 425,
    REQUEST_TIMEOUT = 408,
    TOO_MANY_REQUESTS = 429,
    FIRST_REDIRECTION = 300,
    FIRST_SERVER_ERROR = 500,
};

#define DATA_TYPE "application/octet-stream"
#define ENTITY_TYPE "application/json"

static bool is_stopping(void *context)
{
    return worker_is_stopping(context);
}

static enum status check_host(struct worker_ctx *ctx, const struct effect *effect, struct error *err)
{
    struct call_address address = { .host = STR_EMPTY };

    if (call_url_read(effect->step.path, &address) &&
        call_url_is_of_hosts(ctx->shared->config->http_call_hosts, &address))
        return STATUS_OK;
    ctx->failure_cause = DELIVERY_OF_OUTSIDE;
    return reason_set(err, REASON_STEP_NOT_CONFIGURED,
        "TAVOLA_HTTP_CALL_HOSTS of this worker does not have %.*s:%d", STR_ARG(address.host), address.port);
}

static const char *content_type_of(const struct effect *effect)
{
    return transaction_step_has_entity(&effect->step) ? ENTITY_TYPE : DATA_TYPE;
}

/* A text with a NUL behind it. */
static const char *header(const char *name, struct str value, struct arena *arena)
{
    return arena_format(arena, "%s: %.*s", name, STR_ARG(value)).data;
}

static enum status send_request(struct worker_ctx *ctx, const struct effect *effect, struct arena *arena,
    struct post_reply *reply, struct error *err)
{
    const struct worker_config *config = ctx->shared->config;
    struct str type =
        effect->step.content_type.len > 0 ? effect->step.content_type : str_of(content_type_of(effect));
    const char *const headers[] = { header("Content-Type", type, arena),
        header("Idempotency-Key", effect_idempotency_key(effect, arena), arena), NULL };
    const struct post_request request = { .url = arena_format(arena, "%.*s", STR_ARG(effect->step.path)).data,
        .is_put = effect->step.uses_put,
        .headers = headers,
        .body = effect_content(effect),
        .ca = config->http_call_ca,
        .timeout_ms = config->http_call_timeout_s * 1000,
        .is_given_up = is_stopping,
        .context = ctx->shared };
    enum status status = post_send(&request, arena, reply, err);

    if (status == STATUS_OK || status == STATUS_CANCELLED)
        return status;
    ctx->failure_cause = DELIVERY_OF_OUTSIDE;
    return reason_set(err, REASON_HTTP_CALL_FAILED, "%s", arena_format(arena, "%s", err->message).data);
}

/* What an answer without success means: whether a repeat can have another one. */
static enum status refuse_code(struct worker_ctx *ctx, int code, struct error *err)
{
    if (code >= FIRST_SERVER_ERROR || code < FIRST_REDIRECTION || code == REQUEST_TIMEOUT ||
        code == TOO_EARLY || code == TOO_MANY_REQUESTS) {
        ctx->failure_cause = DELIVERY_OF_OUTSIDE;
        return reason_set(err, REASON_HTTP_CALL_FAILED, "the answer is %d", code);
    }
    ctx->failure_cause = DELIVERY_FINAL;
    return reason_set(err, REASON_HTTP_CALL_REFUSED, "the answer is %d%s", code,
        code < 400 ? ", and redirections are not followed" : "");
}

enum status http_call_perform(struct worker_ctx *ctx, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    struct post_reply reply = { 0 };
    int64_t began_us = ctx->now_us();
    enum status status;

    TRY(check_host(ctx, effect, err));
    status = send_request(ctx, effect, arena, &reply, err);
    ctx->calls_us += ctx->now_us() - began_us;
    TRY(status);
    if (reply.code < 200 || reply.code >= FIRST_REDIRECTION)
        return refuse_code(ctx, reply.code, err);
    *receipt = (struct receipt){
        .size = (int64_t)reply.body.len, .digest = effect_digest(reply.body, arena), .http_status = reply.code
    };
    return STATUS_OK;
}
