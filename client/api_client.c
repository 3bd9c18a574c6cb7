/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_client.c - see the header.
 */
#include "client/api_client.h"

#include <stdio.h>
#include <string.h>

#include "api/codec.h"
#include "client/connect.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "rpc/code.h"

enum { CALL_TIMEOUT_MS = 30000, UNAVAILABLE = 14 };

bool api_client_open(struct api_client *out, const struct client_config *config)
{
    struct error err = { 0 };

    if (client_connect(config, &out->channel, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    arena_init(&out->arena);
    return true;
}

int api_client_close(struct api_client *client, int exit_code)
{
    rpc_channel_close(client->channel);
    arena_cleanup(&client->arena);
    return exit_code;
}

const void *api_client_call_bytes(
    struct api_client *client, const char *path, struct str request, const ProtobufCMessageDescriptor *reply)
{
    struct rpc_status ended;
    struct str received;
    const void *message;

    rpc_channel_call(client->channel, &(struct rpc_request){ path, request, CALL_TIMEOUT_MS }, &client->arena,
        &received, &ended);
    if (ended.code != 0) {
        api_client_print_failure(&ended, &client->arena);
        return NULL;
    }
    message = codec_read(reply, received, &client->arena);
    if (!message)
        fprintf(stderr, "tavola: the reply of %s is not a well-formed %s\n", path, reply->name);
    return message;
}

const void *api_client_call(struct api_client *client, const char *path, const ProtobufCMessage *request,
    const ProtobufCMessageDescriptor *reply)
{
    struct buf sent;

    buf_init(&sent, &client->arena);
    codec_pack(&sent, 0, request);
    return api_client_call_bytes(client, path, buf_str(&sent), reply);
}

/* ---- failures ---- */

/* The reason of the ErrorInfo in details; empty if there is none. */
static struct str find_reason(struct str details, struct arena *arena)
{
    static const struct str type = STR_LITERAL("type.googleapis.com/google.rpc.ErrorInfo");
    const Google__Rpc__Status *status =
        (const Google__Rpc__Status *)codec_read(&google__rpc__status__descriptor, details, arena);
    const Google__Rpc__ErrorInfo *info;

    for (size_t i = 0; status && i < status->n_details; i++) {
        if (!str_equal(codec_str(status->details[i]->type_url), type))
            continue;
        info = (const Google__Rpc__ErrorInfo *)codec_read(
            &google__rpc__error_info__descriptor, codec_str(status->details[i]->value), arena);
        return info ? codec_str(info->reason) : STR_EMPTY;
    }
    return STR_EMPTY;
}

/* The message without the reason, which the server puts in front of it. */
static struct str strip_reason(struct str message, struct str reason)
{
    static const struct str colon = STR_LITERAL(": ");
    struct str rest;

    if (reason.len == 0 || !str_starts_with(message, reason))
        return message;
    rest = str_of_bytes(message.data + reason.len, message.len - reason.len);
    return str_starts_with(rest, colon) ? str_of_bytes(rest.data + colon.len, rest.len - colon.len) : message;
}

void api_client_print_failure(const struct rpc_status *ended, struct arena *arena)
{
    struct str reason = find_reason(ended->details, arena);
    struct str message = strip_reason(ended->message, reason);

    fprintf(stderr, "tavola: %s%s%.*s: %.*s\n", rpc_code_name(ended->code), reason.len > 0 ? " / " : "",
        STR_ARG(reason), STR_ARG(message));
    if (ended->code == UNAVAILABLE && ended->details.len == 0) /* the channel's own */
        fprintf(stderr, "tavola: is a server there? Its address is that of --target, or of TAVOLA_TARGET.\n");
}

/* ---- replies ---- */

const char *api_client_enum_name(const ProtobufCEnumDescriptor *type, int value)
{
    const ProtobufCEnumValue *zero = protobuf_c_enum_descriptor_get_value(type, 0);
    const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value(type, value);

    if (!named || value == 0)
        return "?";
    return named->name + strlen(zero->name) - strlen("UNSPECIFIED");
}
