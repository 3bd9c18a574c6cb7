/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - struct tavola, and its unary calls with their repeats.
 */
#ifndef CLIENT_LIB_SESSION_H
#define CLIENT_LIB_SESSION_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "client/lib/retry.h"
#include "client/lib/tavola.h"
#include "client/lib/token_source.h"

struct call_queue;

struct tavola {
    struct rpc_channel *channel;
    struct token_source tokens;
    struct retry_budget budget;
    int64_t timeout_ms;
    int max_attempts;
    bool gives_request_ids;
    struct call_queue *queue; /* of asynchronous calls; NULL: not set up */
};

enum { SESSION_PATH_BYTES = 128, REQUEST_ID_BYTES = 33 };

/* A request that is ready to be sent, as often as it takes. */
struct session_call {
    char path[SESSION_PATH_BYTES];
    struct str message;
    int64_t deadline_us; /* monotonic */
    bool is_repeatable;
    bool has_renewed; /* its token was refused once, and replaced */
    int attempts;
    uint64_t token; /* the generation that the attempt was sent with */
};

/*
 * Make a call of a request: with a request id if its method has such a field and the request does not set it. The request is a
 * serialized message in the buffer, to which the id is appended. timeout_ms: 0: the client's.
 */
void session_call_init(struct tavola *client, const char *path, struct buf *request, int64_t timeout_ms,
    struct session_call *out);

/* Begin an attempt: its request for the channel. */
struct rpc_request session_begin_attempt(struct tavola *client, struct session_call *call);

/* An attempt has ended with that error. The time to wait before the next one; -1: it was the last. */
int64_t session_end_attempt(
    struct tavola *client, struct session_call *call, const struct tavola_error *error);

/* Make the call and wait. The reply is in the arena. */
enum tavola_code session_run(struct tavola *client, struct session_call *call, struct arena *arena,
    struct str *reply, struct tavola_error *error);

/* Both, for a request that is a message. *reply is a message of the type, in the arena. */
struct session_request {
    const char *path;
    const ProtobufCMessage *message;
    const ProtobufCMessageDescriptor *reply_type;
    int64_t timeout_ms;
};
enum tavola_code session_ask(struct tavola *client, const struct session_request *request,
    struct arena *arena, const void **reply, struct tavola_error *error);

/* Read a reply. TAVOLA_INTERNAL: the bytes are no such message. */
enum tavola_code session_read(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena,
    const void **out, struct tavola_error *error);

/* 128 random bits in hexadecimal; returns out. */
const char *session_request_id(char out[static REQUEST_ID_BYTES]);

#endif
