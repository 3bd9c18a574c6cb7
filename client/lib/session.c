/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - see the header. A request is made once and each attempt sends the same bytes, so the service
 * sees one request id.
 */
#include "client/lib/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/codec.h"
#include "api/json/schema.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/call_queue.h"

enum { DEFAULT_TIMEOUT_MS = 30000, DEFAULT_ATTEMPTS = 5, MIN_KEEPALIVE_MS = 10000, US_PER_MS = 1000 };

const char *tavola_version(void)
{
    return TAVOLA_VERSION;
}

void tavola_free(char *text)
{
    free(text);
}

/* ---- opening ---- */

/* Describe a wrong option; NULL: the options can be used. */
static const char *find_mistake(const struct tavola_options *options)
{
    int credentials =
        (options->token != NULL) + (options->account_key != NULL) + (options->give_token != NULL);

    if (credentials > 1)
        return "token, account_key and give_token exclude each other";
    if (!options->account != !options->account_key)
        return "account and account_key belong together";
    if (!options->ca && (options->certificate || options->key))
        return "certificate and key need TLS: set ca too";
    if (options->timeout_ms < 0 || options->max_attempts < 0)
        return "timeout_ms and max_attempts are not negative";
    if (options->keepalive_ms != 0 && options->keepalive_ms < MIN_KEEPALIVE_MS)
        return "keepalive_ms must be at least 10000: the service hangs up on clients that ping more often";
    return NULL;
}

static const char *target_of(const struct tavola_options *options)
{
    const char *target = options->target ? options->target : getenv("TAVOLA_TARGET");

    return target && *target ? target : "127.0.0.1:50051";
}

/* Check the key now, so that tavola_open reports a key that cannot sign, rather than the first call. */
static enum tavola_code check_signer(const struct tavola_options *options, struct tavola_error *error)
{
    const struct tavola_signature token = {
        .account = options->account, .account_key = options->account_key, .issued_ms = 1, .expiry_ms = 2
    };
    char *text = NULL;

    if (options->account_key && tavola_sign(&token, &text, error) != TAVOLA_OK)
        return error->code;
    tavola_free(text);
    return TAVOLA_OK;
}

static enum tavola_code open_channel(
    const struct tavola_options *options, struct rpc_channel **out, struct tavola_error *error)
{
    const struct rpc_client_tls tls = { options->ca, options->certificate, options->key };
    struct error err = { 0 };

    if (rpc_channel_open(&(struct rpc_channel_options){ .target = target_of(options),
                             .tls = options->ca ? &tls : NULL,
                             .token = options->token,
                             .keepalive_ms = options->keepalive_ms },
            out, &err) != STATUS_OK)
        return call_error_of(&err, error);
    if ((options->give_token || options->account_key) && !rpc_channel_is_private(*out)) {
        rpc_channel_close(*out);
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT,
            "a token is not sent to %s in plain text: use TLS", target_of(options));
    }
    return TAVOLA_OK;
}

enum tavola_code tavola_open(
    const struct tavola_options *options, struct tavola **out, struct tavola_error *error)
{
    static const struct tavola_options defaults;
    struct tavola_error own;
    struct rpc_channel *channel;
    struct tavola *client;

    error = call_error_begin(error, &own);
    if (!options)
        options = &defaults;
    if (find_mistake(options))
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT, "%s", find_mistake(options));
    if (check_signer(options, error) != TAVOLA_OK || open_channel(options, &channel, error) != TAVOLA_OK)
        return error->code;
    client = xcalloc(1, sizeof(*client));
    client->channel = channel;
    client->timeout_ms = options->timeout_ms ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    client->max_attempts = options->max_attempts ? options->max_attempts : DEFAULT_ATTEMPTS;
    client->gives_request_ids = !options->without_request_ids;
    token_source_init(&client->tokens, options, channel);
    retry_budget_init(&client->budget);
    client->queue = call_queue_open(client, options->dispatches);
    *out = client;
    return TAVOLA_OK;
}

void tavola_close(struct tavola *client)
{
    if (!client)
        return;
    call_queue_close(client->queue);
    rpc_channel_close(client->channel);
    token_source_cleanup(&client->tokens);
    free(client);
}

/* ---- requests ---- */

const char *session_request_id(char out[static REQUEST_ID_BYTES])
{
    snprintf(out, REQUEST_ID_BYTES, "%016llx%016llx", (unsigned long long)random_bits(),
        (unsigned long long)random_bits());
    return out;
}

/*
 * Whether the request has an id, so that the service recognises a repeat. An id is appended if the method
 * allows it.
 */
static bool ensure_request_id(struct tavola *client, const char *path, struct buf *request)
{
    const struct schema_method *method = schema_find_method(schema_of_api(), str_of(path));
    const struct schema_field *field =
        method ? schema_find_field(method->input, STR_LITERAL("request_id")) : NULL;
    char id[REQUEST_ID_BYTES];

    if (!field)
        return false;
    if (wire_find_bytes(buf_str(request), field->number).len > 0)
        return true;
    if (client->gives_request_ids)
        wire_write_bytes(request, field->number, str_of(session_request_id(id)));
    return client->gives_request_ids;
}

void session_call_init(struct tavola *client, const char *path, struct buf *request, int64_t timeout_ms,
    struct session_call *out)
{
    *out = (struct session_call){ .attempts = 0 };
    snprintf(out->path, sizeof(out->path), "%s", path);
    out->is_repeatable = ensure_request_id(client, path, request) || retry_is_harmless(str_of(path));
    out->message = buf_str(request);
    out->deadline_us = clock_monotonic_us() + (timeout_ms > 0 ? timeout_ms : client->timeout_ms) * US_PER_MS;
}

struct rpc_request session_begin_attempt(struct tavola *client, struct session_call *call)
{
    int64_t left_ms = (call->deadline_us - clock_monotonic_us()) / US_PER_MS;

    call->attempts++;
    call->token = token_source_prepare(&client->tokens);
    return (struct rpc_request){ call->path, call->message, left_ms > 0 ? left_ms : 1 };
}

/* Returns 0: send the request again at once, with another token; -1: do not. */
static int64_t retry_refused(struct tavola *client, struct session_call *call)
{
    if (call->has_renewed || !token_source_replace(&client->tokens, call->token))
        return -1;
    call->has_renewed = true;
    return 0;
}

int64_t session_end_attempt(
    struct tavola *client, struct session_call *call, const struct tavola_error *error)
{
    int64_t delay_ms;

    if (error->code == TAVOLA_OK)
        retry_budget_note_success(&client->budget);
    if (error->code == TAVOLA_UNAUTHENTICATED)
        return retry_refused(client, call);
    delay_ms = error->code == TAVOLA_OK ? -1 : retry_delay_ms(error, call->attempts, random_bits());
    if (delay_ms < 0 || !call->is_repeatable || call->attempts >= client->max_attempts ||
        !retry_budget_spend(&client->budget) ||
        clock_monotonic_us() + delay_ms * US_PER_MS >= call->deadline_us)
        return -1;
    return delay_ms;
}

enum tavola_code session_run(struct tavola *client, struct session_call *call, struct arena *arena,
    struct str *reply, struct tavola_error *error)
{
    for (;;) {
        struct rpc_request request = session_begin_attempt(client, call);
        struct rpc_status status;
        int64_t delay_ms;

        rpc_channel_call(client->channel, &request, arena, reply, &status);
        (void)call_error_of_status(&status, arena, error);
        delay_ms = session_end_attempt(client, call, error);
        if (delay_ms < 0)
            return error->code;
        clock_sleep(delay_ms * US_PER_MS);
    }
}

enum tavola_code session_read(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena,
    const void **out, struct tavola_error *error)
{
    *out = codec_read(type, bytes, arena);
    if (!*out)
        return call_error_set(
            error, TAVOLA_INTERNAL, "the reply of the service is not a well-formed %s", type->name);
    return TAVOLA_OK;
}

enum tavola_code session_ask(struct tavola *client, const struct session_request *request,
    struct arena *arena, const void **reply, struct tavola_error *error)
{
    struct session_call call;
    struct str bytes;
    struct buf packed;

    buf_init(&packed, arena);
    codec_pack(&packed, 0, request->message);
    session_call_init(client, request->path, &packed, request->timeout_ms, &call);
    if (session_run(client, &call, arena, &bytes, error) != TAVOLA_OK)
        return error->code;
    return session_read(request->reply_type, bytes, arena, reply, error);
}
