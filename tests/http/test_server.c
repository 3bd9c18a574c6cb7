/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of http/server.c, connection.c and exchange.c: an owner that echoes, and clients that do not behave.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/inflate.h"
#include "http/server.h"
#include "tests/support/http_client.h"

#define NEVER "\xff never sent"

static struct {
    struct http_server *server;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct http_exchange *held; /* of "/held": a test ends it */
    int gone, ended, sent;
    enum http_refusal refusal;
} owner;

/* ---- the owner ---- */

static bool is_at(const struct http_exchange *exchange, const char *path)
{
    return str_equal(exchange->request.path, str_of(path));
}

static void count(int *counter)
{
    pthread_mutex_lock(&owner.lock);
    (*counter)++;
    pthread_cond_broadcast(&owner.changed);
    pthread_mutex_unlock(&owner.lock);
}

static void begin(struct http_exchange *exchange)
{
    exchange->reply.status = 200;
    if (is_at(exchange, "/refused")) {
        exchange->reply.status = 403;
        http_exchange_reply(exchange);
        return;
    }
    http_exchange_read(exchange);
}

static void hold(struct http_exchange *exchange)
{
    pthread_mutex_lock(&owner.lock);
    owner.held = exchange;
    pthread_cond_broadcast(&owner.changed);
    pthread_mutex_unlock(&owner.lock);
}

static void take_body(struct http_exchange *exchange)
{
    if (is_at(exchange, "/held")) {
        hold(exchange);
        return;
    }
    if (is_at(exchange, "/stream")) {
        http_exchange_send(exchange, STR_LITERAL("first "));
        return;
    }
    if (is_at(exchange, "/large")) {
        memset(buf_extend(&exchange->reply.body, 8 << 20), 'x', 8 << 20);
        http_exchange_reply(exchange);
        return;
    }
    http_reply_add_header(&exchange->reply, &exchange->arena, "X-Method", exchange->request.method);
    http_reply_add_header(&exchange->reply, &exchange->arena, "X-Bad", STR_LITERAL("a\r\nX-Worse: b"));
    buf_append(&exchange->reply.body, exchange->request.body);
    http_exchange_reply(exchange);
}

static void refuse_body(struct http_exchange *exchange, enum http_refusal refusal)
{
    owner.refusal = refusal;
    exchange->reply.status = refusal == HTTP_BODY_TOO_LARGE ? 413 : 415;
    http_exchange_reply(exchange);
}

static void note_sent(struct http_exchange *exchange)
{
    count(&owner.sent);
    http_exchange_end(exchange, STR_LITERAL("last"));
}

static void note_gone(struct http_exchange *exchange, enum http_absence absence)
{
    (void)absence;
    count(&owner.gone);
    exchange->reply.status = 200;
    http_exchange_reply(exchange);
}

static void note_ended(struct http_exchange *exchange)
{
    (void)exchange;
    count(&owner.ended);
}

static void start(struct http_limits limits)
{
    struct http_options options = {
        .listen = "127.0.0.1:0",
        .name = "test",
        .limits = limits,
        .events = { .begin = begin,
            .body = take_body,
            .refused = refuse_body,
            .sent = note_sent,
            .gone = note_gone,
            .ended = note_ended },
    };
    struct error err = { 0 };

    ck_assert_msg(http_server_start(&options, &owner.server, &err) == STATUS_OK, "%s", err.message);
}

static void setup(void)
{
    memset(&owner, 0, sizeof(owner));
    pthread_mutex_init(&owner.lock, NULL);
    pthread_cond_init(&owner.changed, NULL);
}

static void teardown(void)
{
    http_server_stop(owner.server, 0);
    pthread_cond_destroy(&owner.changed);
    pthread_mutex_destroy(&owner.lock);
}

static void wait_until(const int *counter, int value)
{
    pthread_mutex_lock(&owner.lock);
    while (*counter < value)
        pthread_cond_wait(&owner.changed, &owner.lock);
    pthread_mutex_unlock(&owner.lock);
}

static struct http_exchange *wait_for_held(void)
{
    struct http_exchange *held;

    pthread_mutex_lock(&owner.lock);
    while (!owner.held)
        pthread_cond_wait(&owner.changed, &owner.lock);
    held = owner.held;
    pthread_mutex_unlock(&owner.lock);
    return held;
}

static int port(void)
{
    return http_server_port(owner.server);
}

/* What the server says until it closes the connection. */
static void expect_close(int fd, const char *first)
{
    char *all = http_client_read_until(fd, NEVER);

    ck_assert_msg(strncmp(all, first, strlen(first)) == 0, "%s", all);
    free(all);
    close(fd);
}

static uint64_t closed(enum http_reason reason)
{
    struct http_connections connections;

    http_server_read_connections(owner.server, &connections);
    return connections.closed[reason];
}

/* Wait until one connection was closed for this reason: its client may see that before it is counted. */
static void expect_closed(enum http_reason reason)
{
    while (closed(reason) == 0)
        sched_yield();
    ck_assert_uint_eq(closed(reason), 1);
}

/* ---- requests and replies ---- */

START_TEST(a_body_is_echoed_on_a_connection_that_is_kept)
{
    int fd;
    char *reply;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    for (int i = 0; i < 3; i++) {
        http_client_send(fd, "PATCH /echo?a=%41 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
        reply = http_client_read_until(fd, "hello");
        ck_assert_ptr_nonnull(strstr(reply, "\r\nX-Method: PATCH\r\n"));
        ck_assert_ptr_null(strstr(reply, "X-Worse"));
        free(reply);
    }
    close(fd);
    wait_until(&owner.ended, 3);
}
END_TEST

START_TEST(a_reply_of_another_thread_is_sent)
{
    int fd;
    char *reply;
    struct http_exchange *held;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    http_client_send(fd, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    held = wait_for_held();
    buf_append(&held->reply.body, STR_LITERAL("from the test"));
    http_exchange_reply(held);

    reply = http_client_read_until(fd, "from the test");
    ck_assert_ptr_nonnull(strstr(reply, "Content-Length: 13"));
    free(reply);
    close(fd);
}
END_TEST

START_TEST(a_stream_is_sent_in_chunks)
{
    char *reply;

    start((struct http_limits){ 0 });
    reply = http_client_ask(port(), "GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");

    ck_assert_msg(strstr(reply, "Transfer-Encoding: chunked") != NULL, "%s", reply);
    ck_assert_msg(strstr(reply, "\r\n\r\n6\r\nfirst \r\n4\r\nlast\r\n0\r\n\r\n") != NULL, "%s", reply);
    ck_assert_int_eq(owner.sent, 1);
    free(reply);
}
END_TEST

START_TEST(a_client_of_http_1_0_gets_its_stream_up_to_the_end)
{
    char *reply;

    start((struct http_limits){ 0 });
    reply = http_client_ask(port(), "GET /stream HTTP/1.0\r\n\r\n");

    ck_assert_msg(strstr(reply, "\r\n\r\nfirst last") != NULL, "%s", reply);
    free(reply);
}
END_TEST

START_TEST(a_refused_request_with_a_small_body_keeps_its_connection)
{
    int fd;
    char *reply;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    http_client_send(fd, "POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
    http_client_send(fd, "hello");
    reply = http_client_read_until(fd, "\r\n\r\n");
    ck_assert_msg(strstr(reply, "HTTP/1.1 403") == reply, "%s", reply);
    free(reply);
    http_client_send(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nagain");
    free(http_client_read_until(fd, "again"));
    close(fd);
}
END_TEST

START_TEST(a_refused_request_without_a_body_keeps_its_connection)
{
    int fd;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    http_client_send(fd, "GET /refused HTTP/1.1\r\nHost: h\r\n\r\n");
    free(http_client_read_until(fd, "\r\n\r\n"));
    http_client_send(
        fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nagain");
    expect_close(fd, "HTTP/1.1 200");
}
END_TEST

START_TEST(a_body_in_chunks_that_is_too_large_is_refused)
{
    char *reply;

    start((struct http_limits){ .body_bytes = 10 });
    reply = http_client_ask(port(),
        "POST /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        "8\r\n12345678\r\n8\r\n12345678\r\n0\r\n\r\n");

    ck_assert_msg(strstr(reply, "HTTP/1.1 413") == reply, "%s", reply);
    ck_assert_int_eq(owner.refusal, HTTP_BODY_TOO_LARGE);
    free(reply);
}
END_TEST

/* ---- clients that do not behave ---- */

/* Guard G48. Another program on the way could take what follows for a further request. */
START_TEST(a_request_whose_end_is_in_doubt_is_refused)
{
    static const char *const headers[] = {
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 2\r\nTransfer-Encoding : chunked\r\n",
        "Content-Length : 2\r\n",
        "X-A(1): 1\r\n",
    };

    start((struct http_limits){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        char text[200];
        int fd = http_client_open(port());

        snprintf(text, sizeof(text), "POST /echo HTTP/1.1\r\nHost: t\r\n%s\r\n{}", headers[i]);
        http_client_send(fd, text);
        expect_close(fd, "HTTP/1.1 400 ");
    }
    ck_assert_int_eq(owner.ended, 0);
}
END_TEST

#define HEAD "GET /echo HTTP/1.1\r\nHost: t\r\n"

/* What the library reads leniently, cutting a text off or joining lines. */
static const struct str doubtful_heads[] = {
    STR_LITERAL("GET /echo\0/more HTTP/1.1\r\nHost: t\r\n\r\n"),
    STR_LITERAL("GET /echo\0HTTP/1.1 HTTP/1.1\r\nHost: t\r\n\r\n"),
    STR_LITERAL("GET\0X /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    STR_LITERAL(HEAD "X: a\0b\r\n\r\n"),
    STR_LITERAL(HEAD "\0X: a\r\n\r\n"),
    STR_LITERAL("GET /echo HTTP/1.1\r\n\0\r\nHost: t\r\n\r\n"),
    STR_LITERAL(HEAD "X: a\r\n b\r\n\r\n"),
    STR_LITERAL(HEAD "X: a\r\n\tb\r\nY: c\r\n\r\n"),
    STR_LITERAL("GET /echo HTTP/1.1\r\n X: a\r\nHost: t\r\n\r\n"),
    STR_LITERAL("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
    STR_LITERAL("GET /echo HTTP/1.1\nHost: t\r\n\r\n"),
    STR_LITERAL(HEAD "X: a\nY: b\r\n\r\n"),
    STR_LITERAL(HEAD "X: a\n\r\n"),
    STR_LITERAL(HEAD "\n"),
    STR_LITERAL(HEAD "X: a\rY: b\r\n\r\n"),
    STR_LITERAL(HEAD "X: a\x7f\r\n\r\n"),
    STR_LITERAL("GET /echo\r HTTP/1.1\r\nHost: t\r\n\r\n"),
    STR_LITERAL("GET  /echo HTTP/1.1\r\nHost: t\r\n\r\n"),
    STR_LITERAL("GET /echo /more HTTP/1.1\r\nHost: t\r\n\r\n"),
    STR_LITERAL(HEAD "Host: t\r\n\r\n"),
    STR_LITERAL("GET /echo HTTP/1.1\r\n\r\n"),
    STR_LITERAL("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    STR_LITERAL("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    STR_LITERAL("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n"),
};

/* Guard G48. */
START_TEST(a_head_that_may_be_read_differently_is_refused)
{
    const struct str head = doubtful_heads[_i];
    int fd;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    ck_assert_int_eq(send(fd, head.data, head.len, MSG_NOSIGNAL), (ssize_t)head.len);

    expect_close(fd, "HTTP/1.1 400 Bad Request\r\n");
    expect_closed(HTTP_REASON_MALFORMED);
    ck_assert_int_eq(owner.ended, 0);
}
END_TEST

START_TEST(blanks_and_empty_values_are_no_fault)
{
    static const char request[] =
        "\r\nPOST /echo?a=b&c HTTP/1.1\r\nHost:t\r\nX:\r\nY: \t a b\tc  \r\nZ:\t\r\n"
        "Content-Length: 5\r\n\r\nhello";
    int fd;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    http_client_send(fd, request);
    http_client_send(fd, request);
    free(http_client_read_until(fd, "hello"));
    http_client_send(fd, "GET /echo HTTP/1.0\r\n\r\n");
    expect_close(fd, "HTTP/1.1 200");
    wait_until(&owner.ended, 3);
}
END_TEST

/*
 * Guard G48. The library does not show how the chunks were separated, and takes a bare LF there too: a program on the
 * way that does not may take for a body what the server takes for a further request.
 */
START_TEST(behind_a_request_in_chunks_no_other_is_read)
{
    static const char *const chunks[] = { "2\r\n{}\r\n0\r\n\r\n", "2;\n{}\n0\n\n",
        "2\r\n{}\r\n0\r\nX: a\n\r\n" };

    start((struct http_limits){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(chunks); i++) {
        char text[300], *head, *rest;
        int fd = http_client_open(port());

        snprintf(text, sizeof(text),
            "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n%s" HEAD "\r\n", chunks[i]);
        http_client_send(fd, text);
        head = http_client_read_until(fd, "\r\n\r\n");
        ck_assert_int_eq(strncmp(head, "HTTP/1.1 200", 12), 0);
        ck_assert_ptr_nonnull(strstr(head, "Connection: close\r\n"));
        rest = http_client_read_until(fd, NEVER);
        ck_assert_ptr_null(strstr(head + 1, "HTTP/1.1 "));
        ck_assert_ptr_null(strstr(rest, "HTTP/1.1 "));
        free(head);
        free(rest);
        close(fd);
    }
    wait_until(&owner.ended, ARRAY_LEN(chunks));
    ck_assert_int_eq(owner.ended, ARRAY_LEN(chunks));
}
END_TEST

static char *ask_with_long_headers(size_t bytes)
{
    char *text = xcalloc(1, bytes + 200), *reply;
    int before = sprintf(text, "GET /refused HTTP/1.1\r\nHost: t\r\nConnection: close\r\nX-Long: ");

    memset(text + before, 'x', bytes - (size_t)before);
    strcpy(text + bytes, "\r\n\r\n");
    reply = http_client_ask(port(), text);
    free(text);
    return reply;
}

/* The library reads on until its memory is full; without a limit of its own the server could then send no reply. */
START_TEST(headers_beyond_the_limit_are_refused_with_a_reply)
{
    static const size_t sizes[] = { 15 * 1024, 17 * 1024, 20 * 1024, 22 * 1024, 24 * 1024, 40 * 1024 };

    start((struct http_limits){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char *reply = ask_with_long_headers(sizes[i]);

        ck_assert_msg(strncmp(reply, i == 0 ? "HTTP/1.1 403" : "HTTP/1.1 431", 12) == 0, "%zu bytes: %.40s",
            sizes[i], reply);
        free(reply);
    }
}
END_TEST

/* Whatever the library has left of its memory, from enough for a reply to nothing. */
START_TEST(headers_that_just_fit_into_memory_are_refused_with_a_reply)
{
    start((struct http_limits){ .header_bytes = 1024 });
    for (size_t bytes = 1100; bytes < 6000; bytes += 50) {
        char *reply = ask_with_long_headers(bytes);

        ck_assert_msg(strncmp(reply, "HTTP/1.1 431", 12) == 0, "%zu bytes: %.40s", bytes, reply);
        ck_assert_ptr_nonnull(strstr(reply, "Connection: close\r\n"));
        free(reply);
    }
}
END_TEST

/* The library keeps a record of each header in the same memory. */
START_TEST(requests_with_very_many_headers_get_a_reply)
{
    start((struct http_limits){ .header_bytes = 1024 });
    for (int count = 1; count < 150; count++) {
        struct buf text;
        char *reply;

        buf_init(&text, NULL);
        buf_format(&text, "GET /refused HTTP/1.1\r\nHost: t\r\nConnection: close\r\n");
        for (int i = 0; i < count; i++)
            buf_format(&text, "X%d:\r\n", i);
        buf_format(&text, "\r\n%c", '\0');
        reply = http_client_ask(port(), text.data);
        ck_assert_msg(strncmp(reply, count < 10 ? "HTTP/1.1 403" : "HTTP/1.1 4", count < 10 ? 12 : 10) == 0,
            "%d headers: %.40s", count, reply);
        free(reply);
        buf_cleanup(&text);
    }
}
END_TEST

START_TEST(a_connection_without_a_request_is_closed)
{
    start((struct http_limits){ .first_request_ms = 100 });
    expect_close(http_client_open(port()), "");
    expect_closed(HTTP_REASON_IDLE);
}
END_TEST

START_TEST(headers_that_come_slowly_do_not_hold_a_connection)
{
    int fd;

    start((struct http_limits){ .first_request_ms = 200 });
    fd = http_client_open(port());
    http_client_send(fd, "GET / HTTP/1.1\r\nHost: ");
    expect_close(fd, "");
    expect_closed(HTTP_REASON_IDLE);
}
END_TEST

START_TEST(a_body_that_comes_slowly_ends_its_exchange)
{
    int fd;

    start((struct http_limits){ .body_ms = 200 });
    fd = http_client_open(port());
    http_client_send(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
    expect_close(fd, "");
    wait_until(&owner.ended, 1);
    ck_assert_int_eq(owner.gone, 1);
    expect_closed(HTTP_REASON_SLOW);
}
END_TEST

START_TEST(a_kept_connection_is_closed_when_no_request_follows)
{
    int fd;

    start((struct http_limits){ .idle_ms = 200 });
    fd = http_client_open(port());
    http_client_send(fd, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_close(fd, "HTTP/1.1 200");
    expect_closed(HTTP_REASON_IDLE);
}
END_TEST

START_TEST(a_client_that_does_not_read_is_hung_up_on)
{
    int fd;

    start((struct http_limits){ .idle_ms = 1000 });
    fd = http_client_open(port());
    http_client_send(fd, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    wait_until(&owner.ended, 1);
    expect_closed(HTTP_REASON_SLOW);
    close(fd);
}
END_TEST

START_TEST(a_client_that_goes_away_is_noticed_while_its_owner_works)
{
    int fd;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    http_client_send(fd, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    (void)wait_for_held();
    close(fd);
    wait_until(&owner.ended, 1);
    ck_assert_int_eq(owner.gone, 1);
}
END_TEST

START_TEST(a_new_connection_takes_the_place_of_the_longest_idle_one)
{
    int first, second, third;
    char *reply;

    start((struct http_limits){ .connections = 2 });
    first = http_client_open(port());
    http_client_send(first, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    free(http_client_read_until(first, "\r\n\r\n"));
    second = http_client_open(port());
    http_client_send(second, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    free(http_client_read_until(second, "\r\n\r\n"));
    third = http_client_open(port());
    http_client_send(third, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    reply = http_client_read_until(third, "\r\n\r\n");
    ck_assert(strstr(reply, "HTTP/1.1 200") == reply);
    free(reply);
    expect_close(first, "");
    expect_closed(HTTP_REASON_FULL);
    close(second);
    close(third);
}
END_TEST

START_TEST(one_address_has_a_bound_of_its_own)
{
    int fds[3];

    start((struct http_limits){ .connections = 10, .connections_per_address = 2 });
    for (int i = 0; i < 3; i++) {
        fds[i] = http_client_open(port());
        http_client_send(fds[i], i < 2 ? "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n" : "");
        if (i < 2)
            free(http_client_read_until(fds[i], "\r\n\r\n"));
    }
    expect_close(fds[2], "");
    expect_closed(HTTP_REASON_PER_ADDRESS);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

/* ---- the end ---- */

static void *stop_server(void *grace_ms)
{
    http_server_stop(owner.server, *(int64_t *)grace_ms);
    owner.server = NULL;
    return NULL;
}

START_TEST(a_stop_waits_for_an_open_exchange)
{
    int64_t grace_ms = 60000;
    struct http_exchange *held;
    pthread_t stopper;
    int fd, idle;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    idle = http_client_open(port());
    http_client_send(fd, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    held = wait_for_held();
    ck_assert_int_eq(pthread_create(&stopper, NULL, stop_server, &grace_ms), 0);
    expect_close(idle, "");
    http_exchange_reply(held);
    expect_close(fd, "HTTP/1.1 200");
    pthread_join(stopper, NULL);
    ck_assert_int_eq(owner.gone, 0);
    ck_assert_int_eq(owner.ended, 1);
}
END_TEST

START_TEST(a_stop_ends_what_is_open_when_its_grace_is_over)
{
    int fd;

    start((struct http_limits){ 0 });
    fd = http_client_open(port());
    http_client_send(fd, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    (void)wait_for_held();
    http_server_stop(owner.server, 0);
    owner.server = NULL;
    ck_assert_int_eq(owner.gone, 1);
    ck_assert_int_eq(owner.ended, 1);
    close(fd);
}
END_TEST

Suite *test_server_suite(void)
{
    Suite *suite = suite_create("http_server");
    TCase *tc = tcase_create("http_server");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, a_body_is_echoed_on_a_connection_that_is_kept);
    tcase_add_test(tc, a_reply_of_another_thread_is_sent);
    tcase_add_test(tc, a_stream_is_sent_in_chunks);
    tcase_add_test(tc, a_client_of_http_1_0_gets_its_stream_up_to_the_end);
    tcase_add_test(tc, a_refused_request_with_a_small_body_keeps_its_connection);
    tcase_add_test(tc, a_refused_request_without_a_body_keeps_its_connection);
    tcase_add_test(tc, a_body_in_chunks_that_is_too_large_is_refused);
    tcase_add_test(tc, a_request_whose_end_is_in_doubt_is_refused);
    tcase_add_loop_test(tc, a_head_that_may_be_read_differently_is_refused, 0, ARRAY_LEN(doubtful_heads));
    tcase_add_test(tc, blanks_and_empty_values_are_no_fault);
    tcase_add_test(tc, behind_a_request_in_chunks_no_other_is_read);
    tcase_add_test(tc, a_connection_without_a_request_is_closed);
    tcase_add_test(tc, headers_beyond_the_limit_are_refused_with_a_reply);
    tcase_add_test(tc, headers_that_just_fit_into_memory_are_refused_with_a_reply);
    tcase_add_test(tc, requests_with_very_many_headers_get_a_reply);
    tcase_add_test(tc, headers_that_come_slowly_do_not_hold_a_connection);
    tcase_add_test(tc, a_body_that_comes_slowly_ends_its_exchange);
    tcase_add_test(tc, a_kept_connection_is_closed_when_no_request_follows);
    tcase_add_test(tc, a_client_that_does_not_read_is_hung_up_on);
    tcase_add_test(tc, a_client_that_goes_away_is_noticed_while_its_owner_works);
    tcase_add_test(tc, a_new_connection_takes_the_place_of_the_longest_idle_one);
    tcase_add_test(tc, one_address_has_a_bound_of_its_own);
    tcase_add_test(tc, a_stop_waits_for_an_open_exchange);
    tcase_add_test(tc, a_stop_ends_what_is_open_when_its_grace_is_over);
    suite_add_tcase(suite, tc);
    return suite;
}
