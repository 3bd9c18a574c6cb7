/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rpc/frame_scan.c: the counts do not depend on how the bytes are cut, and headers end. */
#include "rpc/frame_scan.h"

#include <check.h>
#include <string.h>

#include "base/buf.h"

enum { DATA, HEADERS, RST_STREAM = 3, SETTINGS, PING = 6, WINDOW_UPDATE = 8, CONTINUATION };

static struct arena arena;
static struct buf wire;
static struct frame_scan scan;

static void setup(void)
{
    arena_init(&arena);
    buf_init(&wire, &arena);
    frame_scan_init(&scan);
    buf_append(&wire, str_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static void append_head(size_t length, int type, int flags)
{
    const char head[FRAME_SCAN_HEAD_BYTES] = { (char)(length >> 16), (char)(length >> 8), (char)length,
        (char)type, (char)flags };

    buf_append(&wire, str_of_bytes(head, sizeof(head)));
}

static void append(size_t length, int type, int flags)
{
    char *payload = arena_alloc(&arena, length + 1);

    memset(payload, 0xff, length); /* would be frames of their own if they were scanned */
    append_head(length, type, flags);
    buf_append(&wire, str_of_bytes(payload, length));
}

/* Scan all appended bytes, in pieces of this size. */
static bool read_all(size_t piece)
{
    struct str rest = buf_str(&wire);

    while (rest.len > 0) {
        size_t size = rest.len < piece ? rest.len : piece;

        if (!frame_scan_read(&scan, rest.data, size))
            return false;
        rest = str_from(rest, size);
    }
    return true;
}

START_TEST(frames_are_counted_however_they_are_cut)
{
    const size_t pieces[] = { 1, 2, 7, 9, 10, 33, 4096 };

    append(0, SETTINGS, 0);
    append(100, HEADERS, 0x4);
    append(5, DATA, 0);
    append(0, DATA, 0x1);
    append(0, DATA, 0);
    append(4, RST_STREAM, 0);
    append(4, WINDOW_UPDATE, 0);
    append(8, PING, 0);
    append(70000, DATA, 0x1);

    ck_assert(read_all(pieces[_i]));

    ck_assert_uint_eq(scan.counts.streams, 1);
    ck_assert_uint_eq(scan.counts.resets, 1);
    ck_assert_uint_eq(scan.counts.others, 3);
    ck_assert_uint_eq(scan.counts.small, 4);
    ck_assert_uint_eq(scan.counts.data_bytes, 70005);
}
END_TEST

START_TEST(a_header_may_have_several_frames)
{
    for (int i = 0; i < 100; i++) {
        append(16384, HEADERS, 0);
        append(16384, CONTINUATION, 0);
        append(16384, CONTINUATION, 0x4);
    }

    ck_assert(read_all(1000));

    ck_assert_uint_eq(scan.counts.streams, 100);
}
END_TEST

START_TEST(a_header_that_does_not_end_is_cut_off)
{
    append(16384, HEADERS, 0);
    for (int i = 0; i < 4; i++)
        append(16384, CONTINUATION, 0);

    ck_assert(!read_all(16384));
}
END_TEST

START_TEST(a_frame_that_is_too_large_is_cut_off_at_its_head)
{
    const int types[] = { HEADERS, CONTINUATION, SETTINGS, PING, 99 };

    append_head(FRAME_SCAN_MAX_HEADER_BYTES + 1, types[_i], 0x4);

    ck_assert(!read_all(1));
}
END_TEST

Suite *test_frame_scan_suite(void)
{
    Suite *suite = suite_create("frame_scan");
    TCase *tcase = tcase_create("frame_scan");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, frames_are_counted_however_they_are_cut, 0, 7);
    tcase_add_test(tcase, a_header_may_have_several_frames);
    tcase_add_test(tcase, a_header_that_does_not_end_is_cut_off);
    tcase_add_loop_test(tcase, a_frame_that_is_too_large_is_cut_off_at_its_head, 0, 5);
    suite_add_tcase(suite, tcase);
    return suite;
}
