/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_coalesce.c - replies that are held back stay in the kernel, keep their order, and are sent at the end; a full
 * socket behaves as always.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/coalesce.h"

/* The kernel sends after 200 ms by itself: later bytes prove nothing. */
enum { SURELY_HELD_US = 100000, WAIT_MS = 60000, LARGE_BYTES = 16 * 1024 * 1024 };

static int writer, reader;

static void setup(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    coalesce_serve_queue();
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    writer = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(writer, (struct sockaddr *)&address, sizeof(address)), 0);
    reader = accept(listener, NULL, NULL);
    ck_assert_int_ge(reader, 0);
    ck_assert_int_eq(fcntl(writer, F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
    close(listener);
}

static void teardown(void)
{
    close(writer);
    close(reader);
}

static ssize_t send_bytes(const void *bytes, size_t size)
{
    struct iovec vector = { (void *)(size_t)bytes, size };
    struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

    return sendmsg(writer, &message, MSG_NOSIGNAL);
}

static bool can_read(int wait_ms)
{
    struct pollfd fd = { .fd = reader, .events = POLLIN };

    return poll(&fd, 1, wait_ms) > 0;
}

START_TEST(the_first_of_many_replies_leave_before_the_end)
{
    enum { EARLY = 8 };
    char bytes[2 * EARLY];
    int64_t got = 0;

    /* On a busy machine the bytes may come later than the kernel would send them by itself. */
    for (int i = 0; i < 20 && got < EARLY; i++) {
        coalesce_replies(true);
        for (int k = 0; k < EARLY + 1; k++)
            ck_assert_int_eq(send_bytes("x", 1), 1);
        got = can_read(SURELY_HELD_US / 1000) ? recv(reader, bytes, sizeof(bytes), 0) : 0;
        coalesce_replies(false);
        for (int64_t left = EARLY + 1 - got; left > 0; left -= recv(reader, bytes, (size_t)left, 0))
            ck_assert(can_read(WAIT_MS));
    }
    ck_assert_int_ge(got, EARLY);
}
END_TEST

#ifdef TAVOLA_COALESCE_REPLIES
START_TEST(small_messages_wait_for_the_end)
{
    int64_t began_us = clock_monotonic_us();
    char bytes[16];
    bool arrived;

    coalesce_replies(true);
    ck_assert_int_eq(send_bytes("one ", 4), 4);
    ck_assert_int_eq(send_bytes("two ", 4), 4);
    arrived = can_read(0);
    ck_assert(!arrived || clock_monotonic_us() - began_us > SURELY_HELD_US);
    coalesce_replies(false);

    ck_assert(can_read(WAIT_MS));
    ck_assert_int_eq(recv(reader, bytes, sizeof(bytes), 0), 8);
    ck_assert_int_eq(memcmp(bytes, "one two ", 8), 0);
    ck_assert_int_eq(send_bytes("three", 5), 5);
    ck_assert(can_read(WAIT_MS));
}
END_TEST
#endif

START_TEST(a_full_socket_says_so_and_nothing_is_lost)
{
    static char chunk[4096], got[65536];
    size_t sent = 0, received = 0;
    bool was_full = false, is_same = true;

    coalesce_replies(true);
    while (sent < LARGE_BYTES || received < sent) {
        ssize_t size = 0;

        while (sent < LARGE_BYTES && size >= 0) {
            for (size_t i = 0; i < sizeof(chunk); i++)
                chunk[i] = (char)((sent + i) % 251);
            size = send_bytes(chunk, sizeof(chunk));
            sent += size > 0 ? (size_t)size : 0;
        }
        if (size < 0) {
            ck_assert_int_eq(errno, EAGAIN);
            was_full = true;
        }
        coalesce_replies(sent < LARGE_BYTES);
        ck_assert(can_read(WAIT_MS));
        while ((size = recv(reader, got, sizeof(got), 0)) > 0)
            for (ssize_t i = 0; i < size; i++)
                is_same &= got[i] == (char)(received++ % 251);
    }
    ck_assert(was_full);
    ck_assert(is_same);
    ck_assert_uint_eq(received, sent);
}
END_TEST

Suite *test_coalesce_suite(void)
{
    Suite *suite = suite_create("rpc coalesce");
    TCase *tc = tcase_create("coalesce");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_first_of_many_replies_leave_before_the_end);
#ifdef TAVOLA_COALESCE_REPLIES
    tcase_add_test(tc, small_messages_wait_for_the_end);
#endif
    tcase_add_test(tc, a_full_socket_says_so_and_nothing_is_lost);
    suite_add_tcase(suite, tc);
    return suite;
}
