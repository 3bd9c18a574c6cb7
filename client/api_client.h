/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_client.h - a command's calls to the server of TAVOLA_TARGET, with the generated messages of the API,
 * through libtavola.
 */
#ifndef CLIENT_API_CLIENT_H
#define CLIENT_API_CLIENT_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "client/client_config.h"
#include "client/lib/tavola.h"

struct api_client {
    struct tavola *client;
    struct arena arena; /* allocates requests and replies */
};

/* false: the settings cannot be used; the cause is on standard error. */
bool api_client_open(struct api_client *out, const struct client_config *config);

/* Returns exit_code, so that a command can end with the call. */
int api_client_close(struct api_client *client, int exit_code);

/*
 * Do a unary call. Returns the reply, a message of the given type in the client's arena. NULL: the call
 * failed; the cause is on standard error.
 *
 * path   such as "/tavola.v1.AdminService/ListDeadLetters"
 * reply  the type of the reply
 */
const void *api_client_call(struct api_client *client, const char *path, const ProtobufCMessage *request,
    const ProtobufCMessageDescriptor *reply);

/* Likewise, with a serialized request. */
const void *api_client_call_bytes(
    struct api_client *client, const char *path, struct str request, const ProtobufCMessageDescriptor *reply);

/* Print status and reason of a failed call to standard error: "UNAVAILABLE / SERVER_DRAINING: ...". */
void api_client_print_failure(const struct tavola_error *error);

/*
 * The name of an enum's value without the prefix that all values of the enum have: "PAUSED" for
 * QUEUE_STATE_PAUSED. "?" for 0 and for values that this program does not know.
 */
const char *api_client_enum_name(const ProtobufCEnumDescriptor *type, int value);

#endif
