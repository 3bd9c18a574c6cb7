/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - struct tavola, and its unary calls with their attempts.
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
    struct call_queue *queue; /* of asynchronous calls; NULL: none was made yet */
};

enum { SESSION_PATH_BYTES = 128, REQUEST_ID_BYTES = 33 };

/* A request that can be sent several times. */
struct session_call {
    char path[SESSION_PATH_BYTES];
    struct str message;
    int64_t deadline_us; /* monotonic clock */
    bool is_repeatable;
    bool has_renewed; /* its token was refused once and has been replaced */
    int attempts;
    uint64_t token; /* generation of the token of the present attempt */
};

/*
 * Prepare a call. The buffer has the serialized request; if the method has a field for a request id and the
 * request does not set it, one is appended. timeout_ms 0: the client's.
 */
void session_call_init(struct tavola *client, const char *path, struct buf *request, int64_t timeout_ms,
    struct session_call *out);

/* Begin an attempt. Returns its request for the channel. */
struct rpc_request session_begin_attempt(struct tavola *client, struct session_call *call);

/*
 * End an attempt with this error. Returns the time to wait before the next attempt; -1: it was the last one.
 */
int64_t session_end_attempt(
    struct tavola *client, struct session_call *call, const struct tavola_error *error);

/* Make the call and wait for its end. The reply is in the arena. */
enum tavola_code session_run(struct tavola *client, struct session_call *call, struct arena *arena,
    struct str *reply, struct tavola_error *error);

/*
 * A call whose request is a message. session_ask makes the call and waits; *reply is a message of the reply's
 * type, in the arena.
 */
struct session_request {
    const char *path;
    const ProtobufCMessage *message;
    const ProtobufCMessageDescriptor *reply_type;
    int64_t timeout_ms;
};
enum tavola_code session_ask(struct tavola *client, const struct session_request *request,
    struct arena *arena, const void **reply, struct tavola_error *error);

/* Read a reply. TAVOLA_INTERNAL: the bytes are not a message of this type. */
enum tavola_code session_read(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena,
    const void **out, struct tavola_error *error);

/* Write 128 random bits in hexadecimal. Returns out. */
const char *session_request_id(char out[static REQUEST_ID_BYTES]);

#endif
