/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.c - HTTP as a transport of calls: the events of an exchange become events of a call, and the
 * functions that a method calls on its call act on the exchange, in the form of the door.
 */
#include "service/http/http_call.h"

#include "api/codec_error.h"
#include "domain/reason.h"
#include "service/methods.h"
#include "service/service.h"
#include "store/store.h"

enum { CODE_OK = 0, CODE_CANCELLED = 1, CODE_NOT_FOUND = 5, CODE_UNAVAILABLE = 14, HTTP_OK = 200 };

static struct http_call *http_of(struct rpc_call *call)
{
    return (struct http_call *)call;
}

static bool is_stream(const struct http_call *call)
{
    return call->method->kind != RPC_UNARY;
}

/* ---- the transport ---- */

static int64_t deadline_us(const struct rpc_call *call)
{
    return ((const struct http_call *)call)->deadline_us;
}

static struct str find_peer(struct rpc_call *call)
{
    return http_of(call)->exchange->request.peer;
}

static struct str find_metadata(struct rpc_call *call, const char *key)
{
    return http_request_header(&http_of(call)->exchange->request, key);
}

static void note_authenticated(struct rpc_call *call)
{
    http_exchange_authenticated(http_of(call)->exchange);
}

static void read_message(struct rpc_call *call)
{
    if (!atomic_load(&call->cancelled))
        http_exchange_read(http_of(call)->exchange);
}

static enum status encode_message(
    struct http_call *call, struct str message, struct buf *out, struct error *err)
{
    if (call->door->encode_message)
        return call->door->encode_message(call, message, out, err);
    buf_append(out, message);
    return STATUS_OK;
}

/* Encode a message in an arena of its own, which is freed afterwards: a stream may be long. */
static void send_message(struct rpc_call *base, struct str message)
{
    struct http_call *call = http_of(base);
    struct error err = { 0 };
    struct arena arena;
    struct buf out;

    if (atomic_load(&base->cancelled))
        return;
    arena_init(&arena);
    buf_init(&out, &arena);
    if (!call->broken && encode_message(call, message, &out, &err) != STATUS_OK) {
        call->broken = ARENA_NEW(&call->exchange->arena, struct error);
        *call->broken = err;
        out.len = 0;
    }
    if (call->exchange->reply.status == 0)
        call->exchange->reply.status = HTTP_OK;
    call->has_begun = true;
    http_exchange_send(call->exchange, out.len > 0 ? buf_str(&out) : STR_EMPTY);
    arena_cleanup(&arena);
}

static void reply_message(struct rpc_call *base, struct str message)
{
    struct http_call *call = http_of(base);
    struct http_reply *reply = &call->exchange->reply;
    struct error err = { 0 };

    if (encode_message(call, message, &reply->body, &err) != STATUS_OK) {
        http_call_fail(call, &err, NULL);
        return;
    }
    if (reply->status == 0)
        reply->status = HTTP_OK;
    base->code = CODE_OK;
    rpc_call_release(base);
    http_exchange_reply(call->exchange);
}

static void end_stream(struct http_call *call)
{
    struct http_exchange *exchange = call->exchange;
    struct buf out;

    buf_init(&out, &exchange->arena);
    if (call->door->encode_end)
        call->door->encode_end(call, &out);
    if (exchange->reply.status == 0)
        exchange->reply.status = HTTP_OK;
    call->base.code = CODE_OK;
    http_exchange_end(exchange, out.len > 0 ? buf_str(&out) : STR_EMPTY);
}

static enum status status_of_code(int code)
{
    return code == CODE_CANCELLED     ? STATUS_CANCELLED
           : code == CODE_NOT_FOUND   ? STATUS_NOT_FOUND
           : code == CODE_UNAVAILABLE ? STATUS_UNAVAILABLE
                                      : STATUS_INTERNAL;
}

/* End a call without details: methods end a call with an error by call_fail, which uses http_call_fail. */
static void finish_call(struct rpc_call *base, int code, struct str message, struct str details)
{
    struct http_call *call = http_of(base);
    struct error err = { 0 };

    (void)details;
    if (code == CODE_OK && !call->broken) {
        end_stream(call);
        return;
    }
    (void)error_set(&err, status_of_code(code), "%.*s", STR_ARG(message));
    http_call_fail(call, &err, NULL);
}

static const struct rpc_transport http_transport = {
    .deadline_us = deadline_us,
    .peer = find_peer,
    .metadata = find_metadata,
    .authenticated = note_authenticated,
    .read = read_message,
    .send = send_message,
    .reply = reply_message,
    .finish = finish_call,
};

struct http_call *http_call_of(struct rpc_call *call)
{
    return call->transport == &http_transport ? http_of(call) : NULL;
}

struct service *http_call_service(const struct http_call *call)
{
    return call->base.context;
}

void http_call_fail(struct http_call *call, const struct error *err, const struct entity *conflict)
{
    struct http_exchange *exchange = call->exchange;
    struct buf out;

    if (call->broken)
        err = call->broken;
    call->base.code = codec_error_status_code(err->status);
    if (!call->has_begun)
        http_reply_reset(&exchange->reply);
    buf_init(&out, &exchange->arena);
    call->door->encode_error(call, err, conflict, call->has_begun ? &out : &exchange->reply.body);
    if (!is_stream(call))
        rpc_call_release(&call->base);
    if (call->has_begun)
        http_exchange_end(exchange, out.len > 0 ? buf_str(&out) : STR_EMPTY);
    else
        http_exchange_reply(exchange);
}

/* ---- events ---- */

static const char foreign_host[] = "this server needs no credential, so it answers only under a name of its "
                                   "machine, such as localhost, or of an "
                                   "origin in TAVOLA_HTTP_ORIGINS\n";

/* Answer a request that reaches no door. */
static void refuse_request(struct http_exchange *exchange, int status, const char *text)
{
    http_reply_add_header(&exchange->reply, &exchange->arena, "Content-Type", STR_LITERAL("text/plain"));
    buf_append(&exchange->reply.body, str_of(text));
    exchange->reply.status = status;
}

static void count_request(const struct service *service, size_t door)
{
    if (service->http_requests)
        counters_add(service->http_requests, door, 1);
}

static enum http_found find_method(struct http_call *call)
{
    const struct service *service = http_call_service(call);
    struct str host = http_request_header(&call->exchange->request, "Host");

    if (!cors_allows_host(&service->cors, host)) {
        count_request(service, service->door_count);
        refuse_request(call->exchange, 403, foreign_host);
        return HTTP_FOUND_REPLY;
    }
    for (size_t i = 0; i < service->door_count; i++) {
        enum http_found found;

        call->door = service->doors[i];
        found = call->door->find(call);
        if (found == HTTP_FOUND_NOTHING)
            continue;
        count_request(service, i);
        return found;
    }
    count_request(service, service->door_count);
    refuse_request(call->exchange, 404, "no method or page has this path\n");
    return HTTP_FOUND_REPLY;
}

static struct http_call *call_new(struct http_exchange *exchange, struct service *service)
{
    struct http_call *call = ARENA_NEW(&exchange->arena, struct http_call);

    call->base.transport = &http_transport;
    call->base.context = service;
    call->base.begun_us = exchange->begun_us;
    call->exchange = exchange;
    call->deadline_us = INT64_MAX;
    return call;
}

static void on_begin(struct http_exchange *exchange)
{
    const struct http_call_host *host = exchange->context;
    struct http_call *call = call_new(exchange, host->service);

    if (find_method(call) == HTTP_FOUND_REPLY) {
        http_exchange_reply(exchange);
        return;
    }
    call->base.method = &host->rows[methods_number(host->service, call->method)];
    arena_init(&call->base.arena);
    exchange->state = call;
    methods_events.begin(&call->base);
}

static void refuse_missing(struct http_call *call)
{
    struct error err = { 0 };

    (void)reason_set(&err, REASON_INVALID_INPUT, "the call carries no request message");
    http_call_fail(call, &err, NULL);
}

static void on_body(struct http_exchange *exchange)
{
    struct http_call *call = exchange->state;
    struct str message = exchange->request.body;
    struct error err = { 0 };
    bool has_ended = false;

    if (call->door->decode_message &&
        call->door->decode_message(call, &message, &has_ended, &err) != STATUS_OK)
        http_call_fail(call, &err, NULL);
    else if (!has_ended)
        methods_events.message(&call->base, message);
    else if (call->method->kind == RPC_BIDI)
        methods_events.half_closed(&call->base);
    else
        refuse_missing(call);
}

static void on_refused(struct http_exchange *exchange, enum http_refusal refusal)
{
    static const enum http_refusal refusals[] = { HTTP_BODY_TOO_LARGE, HTTP_BODY_DAMAGED,
        HTTP_BODY_UNKNOWN_ENCODING };
    struct http_call *call = exchange->state;
    struct error err = { 0 };

    call->refusal = &refusals[refusal];
    if (refusal == HTTP_BODY_TOO_LARGE)
        (void)reason_set(&err, REASON_REQUEST_BODY_TOO_LARGE,
            "the body, or what it inflates to, is larger than the server accepts");
    else
        (void)reason_set(&err, REASON_INVALID_INPUT,
            refusal == HTTP_BODY_DAMAGED ? "the request cannot be inflated"
                                         : "the Content-Encoding of a request is gzip, deflate or identity");
    http_call_fail(call, &err, NULL);
}

static bool may_inflate(struct http_exchange *exchange)
{
    struct http_call *call = exchange->state;

    return methods_events.may_inflate(&call->base);
}

static void note_inflated(struct http_exchange *exchange, size_t bytes)
{
    struct http_call *call = exchange->state;

    methods_events.inflated(&call->base, bytes);
}

static void on_sent(struct http_exchange *exchange)
{
    struct http_call *call = exchange->state;

    methods_events.sent(&call->base);
}

static void on_gone(struct http_exchange *exchange, enum http_absence absence)
{
    struct http_call *call = exchange->state;

    (void)absence;
    if (call && !atomic_exchange(&call->base.cancelled, true))
        methods_events.cancelled(&call->base);
}

static void on_ended(struct http_exchange *exchange)
{
    struct http_call *call = exchange->state;

    if (!call)
        return;
    methods_events.ended(&call->base);
    arena_cleanup(&call->base.arena);
}

static void run_collected(void *context, int arrivals)
{
    const struct http_call_host *host = context;

    store_run_until(host->service->store, arrivals);
}

const struct http_events http_call_events = {
    .begin = on_begin,
    .body = on_body,
    .refused = on_refused,
    .may_inflate = may_inflate,
    .inflated = note_inflated,
    .sent = on_sent,
    .gone = on_gone,
    .ended = on_ended,
    .drained = run_collected,
};

void http_call_host_init(struct http_call_host *host, struct service *service, struct arena *arena)
{
    size_t count = methods_count(service);
    struct rpc_method *rows = ARENA_ARRAY(arena, struct rpc_method, count);

    for (size_t i = 0; i < count; i++) {
        const struct method *const *method = methods_at(service, i);

        rows[i] = (struct rpc_method){ .path = (*method)->path, .kind = (*method)->kind, .handler = method };
    }
    host->service = service;
    host->rows = rows;
}
