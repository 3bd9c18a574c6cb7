/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_call.c - calls of any method: with JSON, with protobuf bytes, as a stream.
 */
#include <stdlib.h>
#include <string.h>

#include "api/json/json_read.h"
#include "api/json/json_write.h"
#include "client/lib/any_call.h"
#include "client/lib/call_error.h"
#include "client/lib/call_queue.h"
#include "client/lib/session.h"

/* Copy the text with a NUL behind it. The caller frees the copy. */
static char *copy_out(struct str text)
{
    char *out = xmalloc(text.len + 1);

    if (text.len > 0)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    return out;
}

/* ---- bytes ---- */

enum tavola_code tavola_call(struct tavola *client, const struct tavola_call *call, char **reply,
    size_t *reply_size, struct tavola_error *error)
{
    struct session_call prepared;
    struct tavola_error own;
    struct arena arena;
    struct buf request;
    struct str bytes;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    buf_init(&request, &arena);
    buf_append(&request, str_of_bytes(call->request, call->size));
    session_call_init(client, call->method, &request, call->timeout_ms, &prepared);
    if (session_run(client, &prepared, &arena, &bytes, error) == TAVOLA_OK) {
        *reply = copy_out(bytes);
        *reply_size = bytes.len;
    }
    arena_cleanup(&arena);
    return error->code;
}

static void read_async(struct queued_call *call, struct str reply, struct tavola_answer *answer)
{
    (void)call;
    answer->reply = reply.data;
    answer->reply_size = reply.len;
}

void tavola_call_async(struct tavola *client, const struct tavola_call *call, struct tavola_done done)
{
    struct queued_call *queued = call_queue_new(client->queue);

    queued->read = read_async;
    queued->done = done;
    buf_append(&queued->request, str_of_bytes(call->request, call->size));
    call_queue_start(queued, call->method, call->timeout_ms);
}

/* ---- JSON ---- */

/*
 * Whether the name means the method. "GetEntity", "EntityService/GetEntity" and "EntityService.GetEntity" are
 * the ends of a path.
 */
static bool is_named(const struct schema_method *method, struct str name)
{
    struct str end;

    if (name.len > 0 && name.data[0] == '/')
        return str_equal(method->path, name);
    if (name.len == 0 || name.len >= method->path.len)
        return false;
    end = str_from(method->path, method->path.len - name.len);
    if (end.data[-1] != '/' && end.data[-1] != '.')
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (end.data[i] != name.data[i] && !(end.data[i] == '/' && name.data[i] == '.'))
            return false;
    return true;
}

const struct schema_method *any_call_find(const char *name, struct tavola_error *error)
{
    const struct schema_method *found = NULL, *methods;
    size_t count, matches = 0;

    methods = schema_methods(schema_of_api(), &count);
    for (size_t i = 0; i < count; i++)
        if (is_named(&methods[i], str_of(name))) {
            found = &methods[i];
            matches++;
        }
    if (matches == 1 && !found->streams_requests && !found->streams_replies)
        return found;
    (void)call_error_set(error, TAVOLA_INVALID_ARGUMENT,
        matches == 0   ? "there is no method \"%s\""
        : matches == 1 ? "the method \"%s\" is a stream: see tavola_stream_open"
                       : "several methods are called \"%s\": put its service in front",
        name);
    return NULL;
}

enum tavola_code any_call_run(struct tavola *client, const struct schema_method *method,
    const struct tavola_question *question, struct arena *arena, struct str *reply,
    struct tavola_error *error)
{
    struct session_call call;
    struct error err = { 0 };
    struct buf request;

    buf_init(&request, arena);
    if (json_read_message(schema_of_api(), method->input, str_of(question->request), &request, &err) !=
        STATUS_OK)
        return call_error_of(&err, error);
    session_call_init(client, method->path.data, &request, question->timeout_ms, &call);
    return session_run(client, &call, arena, reply, error);
}

static enum tavola_code run_json(struct tavola *client, const struct tavola_question *question,
    struct arena *arena, struct buf *out, struct tavola_error *error)
{
    const struct schema_method *method = any_call_find(question->method, error);
    struct error err = { 0 };
    struct str reply;

    if (!method || any_call_run(client, method, question, arena, &reply, error) != TAVOLA_OK)
        return error->code;
    if (json_write_message(schema_of_api(), method->output, reply, 0, out, &err) != STATUS_OK)
        return call_error_of(&err, error);
    return TAVOLA_OK;
}

enum tavola_code tavola_call_json(
    struct tavola *client, const char *method, const char *request, char **reply, struct tavola_error *error)
{
    const struct tavola_question question = { .method = method, .request = request };
    struct tavola_error own;
    struct arena arena;
    struct buf out;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    buf_init(&out, &arena);
    if (run_json(client, &question, &arena, &out, error) == TAVOLA_OK)
        *reply = copy_out(buf_str(&out));
    arena_cleanup(&arena);
    return error->code;
}

/* ---- streams ---- */

struct tavola_stream {
    struct rpc_stream *stream;
    struct arena arena; /* allocates the last reply */
};

enum tavola_code tavola_stream_open(struct tavola *client, const char *method, int64_t timeout_ms,
    struct tavola_stream **out, struct tavola_error *error)
{
    struct tavola_stream *stream;
    struct rpc_stream *opened;
    struct tavola_error own;
    struct error err = { 0 };

    error = call_error_begin(error, &own);
    (void)token_source_prepare(&client->tokens);
    if (rpc_stream_open(client->channel, method, timeout_ms, &opened, &err) != STATUS_OK)
        return call_error_of(&err, error);
    stream = xcalloc(1, sizeof(*stream));
    stream->stream = opened;
    arena_init(&stream->arena);
    *out = stream;
    return TAVOLA_OK;
}

bool tavola_stream_send(struct tavola_stream *stream, const void *request, size_t size)
{
    return rpc_stream_send(stream->stream, str_of_bytes(request, size));
}

void tavola_stream_half_close(struct tavola_stream *stream)
{
    rpc_stream_half_close(stream->stream);
}

bool tavola_stream_receive(struct tavola_stream *stream, const void **reply, size_t *size)
{
    struct str message;

    arena_cleanup(&stream->arena);
    if (!rpc_stream_receive(stream->stream, &stream->arena, &message))
        return false;
    *reply = message.data;
    *size = message.len;
    return true;
}

void tavola_stream_cancel(struct tavola_stream *stream)
{
    rpc_stream_cancel(stream->stream);
}

enum tavola_code tavola_stream_end(struct tavola_stream *stream, struct tavola_error *error)
{
    struct rpc_status status;
    struct tavola_error own;

    error = call_error_begin(error, &own);
    rpc_stream_finish(stream->stream, &stream->arena, &status);
    (void)call_error_of_status(&status, &stream->arena, error);
    arena_cleanup(&stream->arena);
    free(stream);
    return error->code;
}
