/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_client.c - see the header.
 */
#include "client/api_client.h"

#include <stdio.h>
#include <string.h>

#include "api/codec.h"
#include "client/connect.h"

/* Few attempts: a person waits for the answer, and can repeat the command. */
enum { MAX_ATTEMPTS = 3 };

bool api_client_open(struct api_client *out, const struct client_config *config)
{
    struct error err = { 0 };

    if (client_connect(config, MAX_ATTEMPTS, &out->client, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    arena_init(&out->arena);
    return true;
}

int api_client_close(struct api_client *client, int exit_code)
{
    tavola_close(client->client);
    arena_cleanup(&client->arena);
    return exit_code;
}

const void *api_client_call_bytes(
    struct api_client *client, const char *path, struct str request, const ProtobufCMessageDescriptor *reply)
{
    const struct tavola_call call = { .method = path, .request = request.data, .size = request.len };
    struct tavola_error error;
    const void *message;
    char *received;
    size_t size;

    if (tavola_call(client->client, &call, &received, &size, &error) != TAVOLA_OK) {
        api_client_print_failure(&error);
        return NULL;
    }
    message = codec_read(reply, arena_copy(&client->arena, str_of_bytes(received, size)), &client->arena);
    tavola_free(received);
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

void api_client_print_failure(const struct tavola_error *error)
{
    fprintf(stderr, "tavola: %s%s%s: %s\n", tavola_code_name(error->code), error->reason[0] ? " / " : "",
        error->reason, error->message);
    /* the server was not reached: the library made this error */
    if (error->code == TAVOLA_UNAVAILABLE && error->reason[0] == '\0')
        fprintf(stderr, "tavola: is a server there? Its address is that of --target, or of TAVOLA_TARGET.\n");
    if (error->code == TAVOLA_UNAUTHENTICATED)
        fprintf(stderr, "tavola: tavola sas explain shows what a token says and when it ends; tavola token "
                        "create makes one.\n");
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
