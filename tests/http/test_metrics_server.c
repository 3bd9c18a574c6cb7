/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of http/metrics_server.c: clients that hold connections, beside one that reads metrics.
 */
#include "base/clock.h"
#include "base/macros.h"
#include "http/metrics_connections.h"
#include "http/metrics_server.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SLOW_CLIENTS = 3 * METRICS_CONNECTIONS,
    ANSWER_MS = METRICS_DEADLINE_US / 1000 - 1000, /* before the slow clients have to go */
    TRICKLE_MS = 50,
    BLOCK_BYTES = 65536,
    MANY_BLOCKS = 4 /* more than the buffer of a socket takes, which is 208 KiB as Linux comes */
};

static char folder[64], path[96];
static struct metrics_server *server;

static void write_metrics(void *context, struct buf *out)
{
    static const char block[BLOCK_BYTES];

    for (int i = 0; i < *(int *)context; i++)
        buf_append(out, str_of_bytes(block, BLOCK_BYTES));
}

static void start(int *blocks)
{
    char address[128];
    struct error err = { 0 };

    snprintf(folder, sizeof(folder), "%s/metrics_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/listener", folder);
    snprintf(address, sizeof(address), "unix:%s", path);
    ck_assert_int_eq(metrics_server_start(address, write_metrics, blocks, &server, &err), STATUS_OK);
}

static void stop(void)
{
    metrics_server_stop(server);
    unlink(path);
    rmdir(folder);
}

static int begin(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, path, strlen(path) + 1);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static bool is_readable(int fd, int within_ms)
{
    struct pollfd wanted = { .fd = fd, .events = POLLIN };

    return poll(&wanted, 1, within_ms) == 1;
}

static bool is_answered(int fd)
{
    char text[16] = "";

    say(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    return is_readable(fd, ANSWER_MS) && recv(fd, text, sizeof(text) - 1, 0) > 0 &&
           strncmp(text, "HTTP/1.1 200", 12) == 0;
}

START_TEST(a_client_that_reads_metrics_is_answered_beside_slow_ones)
{
    int slow[SLOW_CLIENTS], blocks = 1;

    start(&blocks);
    for (size_t i = 0; i < SLOW_CLIENTS; i++) {
        slow[i] = begin();
        say(slow[i], "GET /metrics HTTP/1.1\r\nX: ");
    }
    for (int round = 0; round < 3; round++) {
        int fd = begin();

        ck_assert(is_answered(fd));
        close(fd);
    }
    for (size_t i = 0; i < SLOW_CLIENTS; i++)
        close(slow[i]);
    stop();
}
END_TEST

/* Whether the listener closes the connection, on which a byte comes now and then, around its deadline. */
static bool is_closed_in_time(int fd)
{
    int64_t begun_us = clock_monotonic_us();

    while (!is_readable(fd, TRICKLE_MS)) {
        say(fd, "x");
        if (clock_monotonic_us() - begun_us > 10 * METRICS_DEADLINE_US)
            return false;
    }
    return clock_monotonic_us() - begun_us >= METRICS_DEADLINE_US / 2;
}

START_TEST(a_request_has_a_deadline_whatever_comes_on_its_connection)
{
    int blocks = 1, fd;

    start(&blocks);
    fd = begin();
    say(fd, "GET /metrics HTTP/1.1\r\nX: ");
    ck_assert(is_closed_in_time(fd));
    close(fd);
    stop();
}
END_TEST

/* The reply is larger than the buffers of a socket, and the client does not read it. */
START_TEST(unread_answers_leave_room_for_other_clients)
{
    int slow[SLOW_CLIENTS], blocks = MANY_BLOCKS, fd;

    start(&blocks);
    for (size_t i = 0; i < SLOW_CLIENTS; i++) {
        slow[i] = begin();
        say(slow[i], "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    fd = begin();
    ck_assert(is_answered(fd));
    close(fd);
    for (size_t i = 0; i < SLOW_CLIENTS; i++)
        close(slow[i]);
    stop();
}
END_TEST

Suite *test_metrics_server_suite(void)
{
    Suite *suite = suite_create("metrics_server");
    TCase *tc = tcase_create("metrics_server");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_client_that_reads_metrics_is_answered_beside_slow_ones);
    tcase_add_test(tc, a_request_has_a_deadline_whatever_comes_on_its_connection);
    tcase_add_test(tc, unread_answers_leave_room_for_other_clients);
    suite_add_tcase(suite, tc);
    return suite;
}
