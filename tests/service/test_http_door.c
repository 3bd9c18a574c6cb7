/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/http/door.h: a door of a test, with methods of its own, behind a listener.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/reason.h"
#include "service/call.h"
#include "service/http/http_call.h"
#include "service/methods.h"
#include "tests/support/http_client.h"

/* ---- a door with two methods, which need no store ---- */

static enum status decode_echo(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct http_exchange *exchange = ctx->http->exchange;

    (void)out;
    (void)err;
    buf_format(&ctx->reply, "%.*s %.*s?%.*s for %.*s: %.*s", STR_ARG(exchange->request.method),
        STR_ARG(exchange->request.path), STR_ARG(exchange->request.query), STR_ARG(ctx->account),
        STR_ARG(exchange->request.body));
    exchange->reply.status = 203;
    http_reply_add_header(&exchange->reply, &exchange->arena, "X-Door", STR_LITERAL("test"));
    ctx->is_answered = true;
    return STATUS_OK;
}

static enum status decode_failure(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)ctx;
    (void)out;
    return reason_set(err, REASON_INVALID_INPUT, "this never succeeds");
}

static const struct method echo_method = {
    .path = "/test.Door/Echo",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_GET,
    .decode = decode_echo,
};

static const struct method failing_method = {
    .path = "/test.Door/Fail",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_GET,
    .decode = decode_failure,
};

static const struct method *const door_methods[] = { &echo_method, &failing_method };

static enum http_found find(struct http_call *call)
{
    struct str path = call->exchange->request.path;

    if (!str_starts_with(path, STR_LITERAL("/test")))
        return HTTP_FOUND_NOTHING;
    call->method = str_equal(path, STR_LITERAL("/test/fail")) ? &failing_method : &echo_method;
    return HTTP_FOUND_METHOD;
}

static void encode_error(
    struct http_call *call, const struct error *err, const struct entity *conflict, struct buf *out)
{
    (void)conflict;
    call->exchange->reply.status = call->refusal ? 413 : 400;
    buf_format(out, "<%s: %s>", err->reason, err->message);
}

static enum status refuse_credential(struct http_call *call, struct caller *caller, struct error *err)
{
    if (caller->authenticator->open || http_request_has_header(&call->exchange->request, "x-open"))
        return STATUS_OK;
    return reason_set(err, REASON_NO_AUTHENTICATION_INFORMATION, "no x-open");
}

static const struct http_door door = {
    .name = "test",
    .methods = door_methods,
    .method_count = ARRAY_LEN(door_methods),
    .find = find,
    .read_credential = refuse_credential,
    .encode_error = encode_error,
};

static const struct http_door *const doors[] = { &door };

/* ---- the listener ---- */

static struct service service;
static struct http_call_host host;
static struct http_server *server;
static struct arena arena;

static void start(bool open)
{
    struct http_options options = {
        .listen = "127.0.0.1:0",
        .name = "test",
        .limits = { .body_bytes = 1000 },
        .events = http_call_events,
        .context = &host,
    };
    struct error err = { 0 };

    options.events.drained = NULL; /* there is no store */
    service = (struct service){ .doors = doors, .door_count = 1 };
    authenticator_init(&service.authenticator, open);
    memory_shares_init(&service.memory, INT64_C(1) << 30);
    recheck_init(&service.recheck);
    audit_log_init(&service.audit_log);
    arena_init(&arena);
    service.calls = counters_new(methods_count(&service) * 64);
    http_call_host_init(&host, &service, &arena);
    ck_assert_msg(http_server_start(&options, &server, &err) == STATUS_OK, "%s", err.message);
}

static void teardown(void)
{
    http_server_stop(server, 0);
    counters_free(service.calls);
    audit_log_cleanup(&service.audit_log);
    recheck_cleanup(&service.recheck);
    memory_shares_cleanup(&service.memory);
    authenticator_cleanup(&service.authenticator);
    arena_cleanup(&arena);
}

static void expect(const char *request, const char *first, const char *last)
{
    char *reply = http_client_ask(http_server_port(server), request);
    size_t length = strlen(reply);

    ck_assert_msg(strncmp(reply, first, strlen(first)) == 0, "%s", reply);
    ck_assert_msg(length >= strlen(last) && strcmp(reply + length - strlen(last), last) == 0, "%s", reply);
    free(reply);
}

START_TEST(a_method_of_a_door_sees_the_request_as_it_was_sent)
{
    start(true);

    expect("POST /test/a%2Fb?$top=1&x=%20 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: "
           "close\r\n\r\nhello",
        "HTTP/1.1 203 ", "\r\n\r\nPOST /test/a%2Fb?$top=1&x=%20 for default: hello");
    expect("GET /test HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "HTTP/1.1 203 ",
        "\r\n\r\nGET /test? for default: ");
}
END_TEST

START_TEST(an_error_is_encoded_by_the_door)
{
    start(true);

    expect("GET /test/fail HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 ",
        "\r\n\r\n<INVALID_INPUT: this never succeeds>");
}
END_TEST

START_TEST(a_path_of_no_door_is_not_found)
{
    start(true);

    expect("GET /other HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 ",
        "no method or page has this path\n");
}
END_TEST

START_TEST(a_body_that_is_too_large_is_refused_by_the_door)
{
    char request[1400];

    start(true);
    snprintf(request, sizeof(request),
        "POST /test HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1001\r\n\r\n%01001d", 0);

    expect(request, "HTTP/1.1 413 ",
        "<REQUEST_BODY_TOO_LARGE: the body, or what it inflates to, is larger than the server accepts>");
}
END_TEST

START_TEST(a_caller_without_a_credential_is_refused_before_the_body)
{
    start(false);

    expect("POST /test HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n", "HTTP/1.1 400 ",
        "<NO_AUTHENTICATION_INFORMATION: no x-open>");
}
END_TEST

Suite *test_http_door_suite(void)
{
    Suite *s = suite_create("http_door");
    TCase *tc = tcase_create("http_door");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, a_method_of_a_door_sees_the_request_as_it_was_sent);
    tcase_add_test(tc, an_error_is_encoded_by_the_door);
    tcase_add_test(tc, a_path_of_no_door_is_not_found);
    tcase_add_test(tc, a_body_that_is_too_large_is_refused_by_the_door);
    tcase_add_test(tc, a_caller_without_a_credential_is_refused_before_the_body);
    suite_add_tcase(s, tc);
    return s;
}
