/* SPDX-License-Identifier: Apache-2.0 */
/* test_calls.c - what a call carries: bytes of all four kinds of method, sizes, statuses, facts. */
#include "tests/rpc/echo_server.h"

enum { CALL_MS = 20000, MIB = 1024 * 1024, THREADS = 64, CALLS_EACH = 20, COUNT_MESSAGES = 10000 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
    echo_start();
}

static void teardown(void)
{
    echo_stop();
    arena_cleanup(&arena);
}

static struct rpc_status call(const char *path, struct str request, struct str *reply)
{
    struct rpc_status status;

    rpc_channel_call(echo.channel, &(struct rpc_request){ path, request, CALL_MS }, &arena, reply, &status);
    return status;
}

static struct rpc_stream *open_stream(const char *path)
{
    struct rpc_stream *stream;
    struct error err = { 0 };

    ck_assert_msg(
        rpc_stream_open(echo.channel, path, CALL_MS, &stream, &err) == STATUS_OK, "%s", err.message);
    return stream;
}

static struct rpc_status finish(struct rpc_stream *stream)
{
    struct rpc_status status;

    rpc_stream_finish(stream, &arena, &status);
    return status;
}

static void assert_str(struct str got, struct str want)
{
    ck_assert_msg(str_equal(got, want), "got \"%.*s\"", STR_ARG(got));
}

START_TEST(unary_returns_its_request)
{
    const char *paths[] = { "/test.Echo/Unary", "/test.Echo/Batched" };
    struct str texts[] = { STR_LITERAL("a\0b"), STR_EMPTY };
    struct str reply;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        for (size_t j = 0; j < ARRAY_LEN(texts); j++) {
            ck_assert_int_eq(call(paths[i], texts[j], &reply).code, 0);
            assert_str(reply, texts[j]);
        }
    ck_assert_int_gt(echo.drained, 0);
}
END_TEST

START_TEST(client_stream_is_collected)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Collect");
    struct str reply;

    ck_assert(rpc_stream_send(stream, str_of("one,")));
    ck_assert(rpc_stream_send(stream, STR_EMPTY));
    ck_assert(rpc_stream_send(stream, str_of("two")));
    rpc_stream_half_close(stream);

    ck_assert(rpc_stream_receive(stream, &arena, &reply));
    assert_str(reply, str_of("one,two"));
    ck_assert(!rpc_stream_receive(stream, &arena, &reply));
    ck_assert_int_eq(finish(stream).code, 0);
}
END_TEST

START_TEST(server_stream_sends_when_the_last_has_left)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Count");
    struct str reply;

    ck_assert(rpc_stream_send(stream, str_of("10000")));
    rpc_stream_half_close(stream);

    for (int i = 0; i < COUNT_MESSAGES; i++) {
        struct arena piece;

        arena_init(&piece);
        ck_assert_msg(rpc_stream_receive(stream, &piece, &reply), "ended at %d", i);
        assert_str(reply, arena_format(&piece, "%d", i));
        arena_cleanup(&piece);
    }
    ck_assert(!rpc_stream_receive(stream, &arena, &reply));
    ck_assert_int_eq(finish(stream).code, 0);
    ck_assert_int_eq(echo.sent, COUNT_MESSAGES);
}
END_TEST

START_TEST(bidi_stream_answers_each_message)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Chat");
    struct str reply;

    for (int i = 0; i < 100; i++) {
        struct str text = arena_format(&arena, "message %d", i);

        ck_assert(rpc_stream_send(stream, text));
        ck_assert(rpc_stream_receive(stream, &arena, &reply));
        assert_str(reply, text);
    }
    rpc_stream_half_close(stream);
    ck_assert(!rpc_stream_receive(stream, &arena, &reply));
    ck_assert_int_eq(finish(stream).code, 0);
}
END_TEST

/* As many messages as the server can take without a pause. The test's time limit is the deadline. */
START_TEST(while_many_messages_come_the_owner_is_told)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Chat");
    struct str reply;

    while (!echo_has(&echo.draining)) {
        for (int i = 0; i < 100; i++)
            ck_assert(rpc_stream_send(stream, STR_LITERAL("more")));
        for (int i = 0; i < 100; i++)
            ck_assert(rpc_stream_receive(stream, &arena, &reply));
    }
    rpc_stream_half_close(stream);
    ck_assert(!rpc_stream_receive(stream, &arena, &reply));
    ck_assert_int_eq(finish(stream).code, 0);
}
END_TEST

START_TEST(unknown_method_is_unimplemented)
{
    struct str reply;

    for (int i = 0; i < 20; i++) {
        struct rpc_status status = call("/test.Echo/Nothing", str_of("x"), &reply);

        ck_assert_int_eq(status.code, 12);
        assert_str(status.message, str_of("unknown method /test.Echo/Nothing"));
    }
    ck_assert_int_eq(echo.begun, 0);
}
END_TEST

START_TEST(call_without_a_message_is_invalid)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Unary");
    struct str reply;
    struct rpc_status status;

    rpc_stream_half_close(stream);
    ck_assert(!rpc_stream_receive(stream, &arena, &reply));
    status = finish(stream);

    ck_assert_int_eq(status.code, 3);
    assert_str(status.message, str_of("the call carries no request message"));
    ck_assert_int_eq(echo.begun, 1);
}
END_TEST

static struct str bytes_of_size(size_t size)
{
    char *data = arena_alloc(&arena, size);

    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i * 31 + i / 4093);
    return str_of_bytes(data, size);
}

START_TEST(large_message_passes)
{
    struct str request = bytes_of_size(5 * MIB);
    struct str reply;

    ck_assert_int_eq(call("/test.Echo/Unary", request, &reply).code, 0);
    ck_assert(str_equal(reply, request));
}
END_TEST

START_TEST(message_over_the_limit_is_refused)
{
    const char *paths[] = { "/test.Echo/Unary", "/test.Echo/Collect" };
    struct str request = bytes_of_size(20 * MIB);
    struct str reply;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct rpc_status status = call(paths[i], request, &reply);

        ck_assert_msg(status.code == 8, "%s: %d %.*s", paths[i], status.code, STR_ARG(status.message));
        ck_assert_uint_eq(reply.len, 0);
    }
    ck_assert_int_eq(echo.half_closed, 0);
}
END_TEST

START_TEST(status_message_and_details_pass_through)
{
    struct str reply;
    struct rpc_status status = call("/test.Echo/Unary", str_of("fail"), &reply);

    ck_assert_int_eq(status.code, FAIL_CODE);
    assert_str(status.message, str_of(fail_message));
    assert_str(status.details, STR_LITERAL(fail_details));
    ck_assert_uint_eq(reply.len, 0);
}
END_TEST

START_TEST(call_knows_its_facts)
{
    struct str reply;
    struct rpc_status status;

    rpc_channel_call(
        echo.channel, &(struct rpc_request){ "/test.Echo/Facts", STR_EMPTY, 10010 }, &arena, &reply, &status);
    ck_assert_int_eq(status.code, 0);
    /* milliseconds, though the core of the client has sent 10.1 s */
    ck_assert_int_gt(strtol(reply.data + strlen("deadline="), NULL, 10), 0);
    ck_assert_int_le(strtol(reply.data + strlen("deadline="), NULL, 10), 10010);
    ck_assert_msg(strstr(reply.data, " agent=grpc-c/") != NULL, "%.*s", STR_ARG(reply));
    ck_assert_ptr_nonnull(strstr(reply.data, " absent= peer=unix:"));

    rpc_channel_call(
        echo.channel, &(struct rpc_request){ "/test.Echo/Facts", STR_EMPTY, 0 }, &arena, &reply, &status);
    ck_assert_msg(str_starts_with(reply, str_of("deadline=-1 ")), "%.*s", STR_ARG(reply));
}
END_TEST

static void *many_calls(void *argument)
{
    const int *number = argument;
    struct arena own;

    arena_init(&own);
    for (int i = 0; i < CALLS_EACH; i++) {
        const char *path = i % 2 ? "/test.Echo/Unary" : "/test.Echo/Batched";
        struct str request = arena_format(&own, "thread %d call %d", *number, i);
        struct str reply;
        struct rpc_status status;

        rpc_channel_call(
            echo.channel, &(struct rpc_request){ path, request, CALL_MS }, &own, &reply, &status);
        ck_assert_msg(status.code == 0, "%d %.*s", status.code, STR_ARG(status.message));
        assert_str(reply, request);
    }
    arena_cleanup(&own);
    return NULL;
}

START_TEST(concurrent_calls_get_their_own_replies)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, many_calls, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(echo.begun, THREADS * CALLS_EACH);
}
END_TEST

Suite *test_calls_suite(void)
{
    Suite *suite = suite_create("rpc calls");
    TCase *tc = tcase_create("calls");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, unary_returns_its_request);
    tcase_add_test(tc, client_stream_is_collected);
    tcase_add_test(tc, server_stream_sends_when_the_last_has_left);
    tcase_add_test(tc, bidi_stream_answers_each_message);
    tcase_add_test(tc, while_many_messages_come_the_owner_is_told);
    tcase_add_test(tc, unknown_method_is_unimplemented);
    tcase_add_test(tc, call_without_a_message_is_invalid);
    tcase_add_test(tc, large_message_passes);
    tcase_add_test(tc, message_over_the_limit_is_refused);
    tcase_add_test(tc, status_message_and_details_pass_through);
    tcase_add_test(tc, call_knows_its_facts);
    tcase_add_test(tc, concurrent_calls_get_their_own_replies);
    suite_add_tcase(suite, tc);
    return suite;
}
