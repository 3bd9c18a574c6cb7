/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect_door.c - see the header.
 *
 * Over HTTP/1.1 the stream of requests ends before the first reply is sent. So the whole body is there when
 * the method asks for the first message; the method gets the messages one after the other.
 */
#include "service/connect/connect_door.h"

#include "api/codec_error.h"
#include "api/json/json_forms.h"
#include "api/json/json_read.h"
#include "api/json/json_write.h"
#include "api/json/schema.h"
#include "base/clock.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "http/inflate.h"
#include "http/limits.h"
#include "service/call.h"
#include "service/connect/connect_codec.h"
#include "service/connect/cors.h"
#include "service/methods.h"

enum {
    OK = 200,
    NOT_FOUND = 404,
    WRONG_VERB = 405,
    WRONG_MEDIA = 415,
    CODE_INVALID_ARGUMENT = 3,
    CODE_PERMISSION_DENIED = 7,
    CODE_UNIMPLEMENTED = 12,
    US_PER_MS = 1000,
};

#define TYPES_OF_MESSAGES "application/json, application/proto"
#define TYPES_OF_STREAMS "application/connect+json, application/connect+proto"

/* What the door keeps for a call. */
struct connect_call {
    const struct schema_method *schema;
    struct connect_media media;
    struct str rest; /* the part of the body that has not been read */
    bool has_body;   /* rest is set */
    bool is_get;
    bool inflates;   /* compressed messages of a stream can be inflated */
    bool compresses; /* messages of a stream are sent compressed */
};

static struct connect_call *state_of(const struct http_call *call)
{
    return call->door_state;
}

static void add_header(struct http_call *call, const char *name, const char *value)
{
    http_reply_add_header(&call->exchange->reply, &call->exchange->arena, name, str_of(value));
}

/* ---- find ---- */

static enum http_found reply_error(struct http_call *call, int status, int code, const char *message)
{
    struct http_reply *reply = &call->exchange->reply;

    cors_add_headers(&http_call_service(call)->cors, call->exchange);
    add_header(call, "Content-Type", "application/json");
    connect_codec_write_error(&reply->body, code, str_of(message), STR_EMPTY);
    reply->status = status;
    return HTTP_FOUND_REPLY;
}

/* Whether the path has the form "/package.Service/Method". */
static bool is_method_path(struct str path)
{
    struct str rest = str_from(path, 1);
    struct str name = str_take(&rest, '/');

    return name.len > 0 && memchr(name.data, '.', name.len) && rest.len > 0 &&
           !memchr(rest.data, '/', rest.len);
}

static const struct method *find_path(struct str path)
{
    for (size_t i = 0; i < method_count; i++)
        if (str_equal(path, str_of(methods[i]->path)))
            /* health and reflection are served over gRPC only */
            return methods[i]->request ? methods[i] : NULL;
    return NULL;
}

/*
 * Read the form of messages from Content-Type or, for a GET, from the parameter `encoding`. false: not a form
 * of this method.
 */
static bool read_media(const struct http_call *call, struct connect_call *state)
{
    const struct http_request *request = &call->exchange->request;
    struct str encoding;

    if (!state->is_get)
        return connect_media_parse(http_request_header(request, "Content-Type"), &state->media) &&
               state->media.is_stream == (call->method->kind != RPC_UNARY);
    if (!connect_codec_find_parameter(request->query, "encoding", &encoding))
        return false;
    state->media.is_json = str_equal(encoding, STR_LITERAL("json"));
    return state->media.is_json || str_equal(encoding, STR_LITERAL("proto"));
}

/* Whether the method may be called by GET: it changes nothing, so caches may keep the reply. */
static bool takes_get(const struct method *method)
{
    return method->kind == RPC_UNARY && operation_kind_facts(method->operation)->only_reads;
}

static enum http_found check_verb(struct http_call *call, bool is_get)
{
    bool takes = takes_get(call->method);

    if (http_request_is(&call->exchange->request, "POST") || (is_get && takes))
        return HTTP_FOUND_METHOD;
    add_header(call, "Allow", takes ? "GET, POST" : "POST");
    return reply_error(call, WRONG_VERB, CODE_UNIMPLEMENTED,
        takes ? "the method is called by POST, or by GET with its message in the query"
              : "the method is called by POST");
}

static enum http_found read_deadline(struct http_call *call)
{
    const struct http_request *request = &call->exchange->request;
    int64_t timeout_ms;

    if (!http_request_has_header(request, "Connect-Timeout-Ms"))
        return HTTP_FOUND_METHOD;
    if (!connect_codec_parse_timeout(http_request_header(request, "Connect-Timeout-Ms"), &timeout_ms))
        return reply_error(
            call, 400, CODE_INVALID_ARGUMENT, "Connect-Timeout-Ms is a number of up to 10 digits");
    call->deadline_us = call->exchange->begun_us + timeout_ms * US_PER_MS;
    return HTTP_FOUND_METHOD;
}

/* How messages of a stream are compressed: each one separately. */
static enum http_found read_encodings(struct http_call *call)
{
    const struct http_request *request = &call->exchange->request;
    struct str encoding = http_request_header(request, "Connect-Content-Encoding");

    state_of(call)->inflates = str_equal(encoding, STR_LITERAL("gzip"));
    state_of(call)->compresses = http_request_header_lists(request, "Connect-Accept-Encoding", "gzip");
    if (encoding.len == 0 || state_of(call)->inflates || str_equal(encoding, STR_LITERAL("identity")))
        return HTTP_FOUND_METHOD;
    return reply_error(
        call, 501, CODE_UNIMPLEMENTED, "the Connect-Content-Encoding of messages is gzip or identity");
}

static enum http_found check_protocol(struct http_call *call, struct connect_call *state)
{
    struct str version = http_request_header(&call->exchange->request, "Connect-Protocol-Version");

    if (!read_media(call, state)) {
        add_header(
            call, "Accept-Post", call->method->kind == RPC_UNARY ? TYPES_OF_MESSAGES : TYPES_OF_STREAMS);
        return reply_error(call, WRONG_MEDIA, CODE_INVALID_ARGUMENT,
            call->method->kind == RPC_UNARY ? "the Content-Type of the method is one of " TYPES_OF_MESSAGES
                                            : "the Content-Type of the method is one of " TYPES_OF_STREAMS);
    }
    if (version.len > 0 && !str_equal(version, STR_LITERAL("1")))
        return reply_error(call, 400, CODE_INVALID_ARGUMENT, "the Connect-Protocol-Version is 1");
    if (read_deadline(call) == HTTP_FOUND_REPLY)
        return HTTP_FOUND_REPLY;
    return state->media.is_stream ? read_encodings(call) : HTTP_FOUND_METHOD;
}

static enum http_found find_call(struct http_call *call)
{
    const struct http_request *request = &call->exchange->request;
    const struct cors *cors = &http_call_service(call)->cors;
    struct str origin = http_request_header(request, "Origin");
    struct connect_call *state;

    if (!is_method_path(request->path))
        return HTTP_FOUND_NOTHING;
    if (http_request_is(request, "OPTIONS") &&
        http_request_has_header(request, "Access-Control-Request-Method")) {
        cors_answer_preflight(cors, call->exchange);
        return HTTP_FOUND_REPLY;
    }
    if (origin.len > 0 && !cors_allows(cors, origin))
        return reply_error(
            call, 403, CODE_PERMISSION_DENIED, "pages of this Origin may not call: see TAVOLA_HTTP_ORIGINS");
    call->method = find_path(request->path);
    if (!call->method)
        return reply_error(call, NOT_FOUND, CODE_UNIMPLEMENTED, "there is no such method");
    state = ARENA_NEW(&call->exchange->arena, struct connect_call);
    state->schema = schema_find_method(schema_of_api(), request->path);
    state->is_get = http_request_is(request, "GET") || http_request_is(request, "HEAD");
    call->door_state = state;
    if (check_verb(call, state->is_get) == HTTP_FOUND_REPLY)
        return HTTP_FOUND_REPLY;
    return check_protocol(call, state);
}

/* ---- requests ---- */

/* Turn a JSON message into its protobuf form. */
static enum status read_json(
    const struct http_call *call, struct str json, struct str *message, struct error *err)
{
    struct buf out;

    TRY(connect_codec_check_values(json, err));
    buf_init(&out, &call->exchange->arena);
    TRY(json_read_message(schema_of_api(), state_of(call)->schema->input, json, &out, err));
    *message = out.len > 0 ? buf_str(&out) : STR_EMPTY;
    return STATUS_OK;
}

static enum status inflate_message(struct http_call *call, struct str *message, struct error *err)
{
    enum inflate_outcome outcome;
    struct buf out;

    buf_init(&out, &call->exchange->arena);
    if (!state_of(call)->inflates)
        return reason_set(err, REASON_INVALID_INPUT,
            "a message is compressed, but Connect-Content-Encoding does not say how");
    TRY(methods_admit_inflating(&call->base, err));
    outcome = inflate_append(*message, LIMIT_RECEIVE_BYTES, &out);
    methods_events.inflated(&call->base, out.len);
    switch (outcome) {
    case INFLATE_TOO_LARGE:
        return reason_set(err, REASON_REQUEST_BODY_TOO_LARGE,
            "a message has more than %d bytes, once inflated", (int)LIMIT_RECEIVE_BYTES);
    case INFLATE_DAMAGED:
        return reason_set(err, REASON_INVALID_INPUT, "a message cannot be inflated");
    case INFLATE_DONE:
        break;
    }
    *message = out.len > 0 ? buf_str(&out) : STR_EMPTY;
    return STATUS_OK;
}

/* Take the next message of a body that consists of envelopes. */
static enum status take_envelope(
    struct http_call *call, struct str *message, bool *has_ended, struct error *err)
{
    struct connect_call *state = state_of(call);
    struct connect_envelope envelope;

    switch (connect_envelope_take(&state->rest, &envelope)) {
    case CONNECT_NONE_LEFT:
        *has_ended = true;
        return STATUS_OK;
    case CONNECT_CUT_OFF:
        return reason_set(err, REASON_INVALID_INPUT, "the body ends inside a message");
    case CONNECT_TAKEN:
        break;
    }
    if (envelope.flags & ~CONNECT_COMPRESSED)
        return reason_set(err, REASON_INVALID_INPUT, "a message has flags that are not allowed in requests");
    if (call->method->kind == RPC_SERVER_STREAM && state->rest.len > 0)
        return reason_set(err, REASON_INVALID_INPUT, "the method takes one message, but the body has more");
    *message = envelope.message;
    return envelope.flags & CONNECT_COMPRESSED ? inflate_message(call, message, err) : STATUS_OK;
}

/* Read the parameter `message` of a GET. */
static enum status read_query(struct http_call *call, struct str *message, struct error *err)
{
    struct arena *arena = &call->exchange->arena;
    struct str query = call->exchange->request.query;
    struct str text = STR_EMPTY, base64;

    (void)connect_codec_find_parameter(query, "message", &text);
    if (!connect_codec_unescape(text, arena, message))
        return reason_set(err, REASON_INVALID_INPUT, "the parameter message has a %% without two digits");
    if (connect_codec_find_parameter(query, "base64", &base64) && str_equal(base64, STR_LITERAL("1")) &&
        !json_forms_read_bytes(*message, arena, message))
        return reason_set(err, REASON_INVALID_INPUT, "the parameter message is not in base64");
    return STATUS_OK;
}

static enum status decode_message(
    struct http_call *call, struct str *message, bool *has_ended, struct error *err)
{
    struct connect_call *state = state_of(call);

    if (state->is_get) {
        TRY(read_query(call, message, err));
    } else if (state->media.is_stream) {
        if (!state->has_body)
            state->rest = call->exchange->request.body;
        state->has_body = true;
        TRY(take_envelope(call, message, has_ended, err));
    } else {
        *message = call->exchange->request.body;
    }
    return *has_ended || !state->media.is_json ? STATUS_OK : read_json(call, *message, message, err);
}

/* ---- replies ---- */

static void begin_reply(struct http_call *call)
{
    struct connect_call *state = state_of(call);

    add_header(call, "Content-Type", connect_media_name(&state->media));
    if (state->media.is_stream && state->compresses)
        add_header(call, "Connect-Content-Encoding", "gzip");
    cors_add_headers(&http_call_service(call)->cors, call->exchange);
}

static enum status write_json(
    const struct http_call *call, struct str message, struct buf *out, struct error *err)
{
    return json_write_message(schema_of_api(), state_of(call)->schema->output, message, 0, out, err);
}

static void write_envelope(struct http_call *call, struct str message, struct buf *out)
{
    struct buf compressed;

    if (!state_of(call)->compresses || message.len < HTTP_MIN_GZIP_BYTES) {
        connect_envelope_write(out, 0, message);
        return;
    }
    buf_init(&compressed, out->arena);
    inflate_compress(message, &compressed);
    connect_envelope_write(out, CONNECT_COMPRESSED, buf_str(&compressed));
}

static enum status encode_message(
    struct http_call *call, struct str message, struct buf *out, struct error *err)
{
    struct connect_call *state = state_of(call);
    struct buf json;

    if (!call->has_begun)
        begin_reply(call);
    if (!state->media.is_stream && state->media.is_json)
        return write_json(call, message, out, err);
    if (!state->media.is_stream) {
        buf_append(out, message);
        return STATUS_OK;
    }
    buf_init(&json, out->arena);
    if (state->media.is_json) {
        TRY(write_json(call, message, &json, err));
        message = buf_str(&json);
    }
    write_envelope(call, message, out);
    return STATUS_OK;
}

static void encode_end(struct http_call *call, struct buf *out)
{
    if (!call->has_begun)
        begin_reply(call);
    connect_envelope_write(out, CONNECT_END, STR_LITERAL("{}"));
}

static void write_error(
    struct http_call *call, const struct error *err, const struct entity *conflict, struct buf *out)
{
    struct codec_trailers trailers = codec_trailers_encode(err, conflict, &call->exchange->arena);

    connect_codec_write_error(out, trailers.code, trailers.message, trailers.details);
}

/* End a stream with an error. The last envelope has the error; the HTTP status is always 200. */
static void end_with_error(
    struct http_call *call, const struct error *err, const struct entity *conflict, struct buf *out)
{
    struct buf text;

    buf_init(&text, &call->exchange->arena);
    buf_append(&text, STR_LITERAL("{\"error\":"));
    write_error(call, err, conflict, &text);
    buf_append_byte(&text, '}');
    if (!call->has_begun) {
        call->exchange->reply.status = OK;
        begin_reply(call);
    }
    connect_envelope_write(out, CONNECT_END, buf_str(&text));
}

static void encode_error(
    struct http_call *call, const struct error *err, const struct entity *conflict, struct buf *out)
{
    if (state_of(call)->media.is_stream) {
        end_with_error(call, err, conflict, out);
        return;
    }
    call->exchange->reply.status = connect_codec_http_status(codec_error_status_code(err->status));
    add_header(call, "Content-Type", "application/json");
    cors_add_headers(&http_call_service(call)->cors, call->exchange);
    write_error(call, err, conflict, out);
}

const struct http_door connect_door = {
    .name = "connect",
    .find = find_call,
    .decode_message = decode_message,
    .encode_message = encode_message,
    .encode_end = encode_end,
    .encode_error = encode_error,
};
