/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of rpc/bytes.c: compressed messages up to the bound and beyond it, and messages that are only marked as
 * compressed.
 */
#include "rpc/bytes.h"

#include <check.h>
#include <grpc/byte_buffer.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LIMIT = 1000000, GZIP = 15 + 16, DEFLATE = 15 };

static unsigned char plain[LIMIT + 1], packed[2 * LIMIT];

static void setup(void)
{
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (unsigned char)(i * i >> 7);
    grpc_init();
}

static void teardown(void)
{
    grpc_shutdown();
}

static size_t pack(size_t size, int window_bits)
{
    z_stream stream = {
        .next_in = plain, .avail_in = (uInt)size, .next_out = packed, .avail_out = sizeof(packed)
    };

    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

/* In slices of a thousand bytes, as a connection delivers them. */
static struct bytes message(size_t size, grpc_compression_algorithm algorithm)
{
    grpc_slice slices[2001];
    size_t count = 0;
    struct bytes out = { 0 };

    for (size_t at = 0; at < size; at += 1000)
        slices[count++] =
            grpc_slice_from_copied_buffer((const char *)packed + at, size - at < 1000 ? size - at : 1000);
    out.buffer = grpc_raw_compressed_byte_buffer_create(slices, count, algorithm);
    for (size_t i = 0; i < count; i++)
        grpc_slice_unref(slices[i]);
    return out;
}

static enum bytes_opened open_within(size_t max_bytes, size_t size, grpc_compression_algorithm algorithm)
{
    struct bytes bytes = message(size, algorithm);
    enum bytes_opened opened = bytes_open(&bytes, max_bytes);

    bytes_release(&bytes);
    return opened;
}

static enum bytes_opened open_message(size_t size, grpc_compression_algorithm algorithm)
{
    return open_within(LIMIT, size, algorithm);
}

START_TEST(what_was_compressed_comes_back)
{
    const size_t sizes[] = { 0, 1, 4095, 4096, 4097, LIMIT - 1, LIMIT };

    for (int i = 0; i < 2; i++) {
        struct bytes bytes =
            message(pack(sizes[_i], i ? DEFLATE : GZIP), i ? GRPC_COMPRESS_DEFLATE : GRPC_COMPRESS_GZIP);
        struct str seen;

        ck_assert_int_eq(bytes_open(&bytes, LIMIT), BYTES_OPENED);
        seen = bytes_view(&bytes);
        ck_assert_uint_eq(seen.len, sizes[_i]);
        ck_assert_int_eq(memcmp(seen.data, plain, seen.len), 0);
        bytes_release(&bytes);
    }
}
END_TEST

START_TEST(no_more_than_the_bound_is_inflated)
{
    size_t size;

    ck_assert_int_eq(open_message(pack(LIMIT + 1, GZIP), GRPC_COMPRESS_GZIP), BYTES_TOO_LARGE);
    memset(plain, 0, sizeof(plain));
    size = pack(LIMIT + 1, GZIP);
    ck_assert_uint_lt(size, 2000);
    ck_assert_int_eq(open_message(size, GRPC_COMPRESS_GZIP), BYTES_TOO_LARGE);
    ck_assert_int_eq(open_message(pack(LIMIT + 1, DEFLATE), GRPC_COMPRESS_DEFLATE), BYTES_TOO_LARGE);
}
END_TEST

/* The length is in the last four bytes, the lowest first. */
START_TEST(a_stream_that_tells_a_false_length_is_damaged)
{
    size_t size = pack(LIMIT, GZIP);

    packed[size - 4] ^= 1; /* more than LIMIT */
    ck_assert_int_eq(open_message(size, GRPC_COMPRESS_GZIP), BYTES_TOO_LARGE);
    packed[size - 4] ^= 1;
    packed[size - 3] ^= 2; /* less than there is */
    ck_assert_int_eq(open_message(size, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
    size = pack(LIMIT - 1, GZIP);
    packed[size - 4] ^= 0x3f ^ 0x40; /* LIMIT: more than there is */
    ck_assert_int_eq(open_message(size, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
}
END_TEST

/* Opens a message of `plain` bytes; what it says that it has inflated. */
static size_t inflated_of(size_t size, grpc_compression_algorithm algorithm, enum bytes_opened want)
{
    struct bytes bytes = message(size, algorithm);
    size_t inflated;

    ck_assert_int_eq(bytes_is_compressed(&bytes), algorithm != GRPC_COMPRESS_NONE);
    ck_assert_int_eq(bytes_open(&bytes, LIMIT), want);
    inflated = bytes.inflated;
    bytes_release(&bytes);
    return inflated;
}

START_TEST(what_was_inflated_is_counted_also_in_vain)
{
    size_t size = pack(10000, GZIP);

    ck_assert_uint_eq(inflated_of(size, GRPC_COMPRESS_GZIP, BYTES_OPENED), 10000);
    packed[size - 5] ^= 1; /* of the checksum, which is looked at last */
    ck_assert_uint_eq(inflated_of(size, GRPC_COMPRESS_GZIP, BYTES_DAMAGED), 10000);
    ck_assert_uint_gt(inflated_of(pack(LIMIT + 1, DEFLATE), GRPC_COMPRESS_DEFLATE, BYTES_TOO_LARGE), LIMIT);
    ck_assert_uint_eq(inflated_of(pack(LIMIT + 1, GZIP), GRPC_COMPRESS_GZIP, BYTES_TOO_LARGE), 0);
    ck_assert_uint_eq(inflated_of(10000, GRPC_COMPRESS_NONE, BYTES_OPENED), 0);
}
END_TEST

START_TEST(damaged_messages_are_told)
{
    size_t size = pack(10000, GZIP);

    /* without the last byte it tells of 2.5 MB */
    ck_assert_int_eq(open_message(size - 1, GRPC_COMPRESS_GZIP), BYTES_TOO_LARGE);
    ck_assert_int_eq(open_within(3 * LIMIT, size - 1, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
    packed[size] = 0;
    ck_assert_int_eq(open_message(size + 1, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
    ck_assert_int_eq(open_message(0, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
    ck_assert_int_eq(open_message(size, GRPC_COMPRESS_DEFLATE), BYTES_DAMAGED);
    packed[size / 2] ^= 1;
    ck_assert_int_eq(open_message(size, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
    memset(packed + size / 2 - 4, 0, 4); /* a length that half of it may have */
    ck_assert_int_eq(open_message(size / 2, GRPC_COMPRESS_GZIP), BYTES_DAMAGED);
    ck_assert_int_eq(open_message(pack(10000, DEFLATE) / 2, GRPC_COMPRESS_DEFLATE), BYTES_DAMAGED);
}
END_TEST

START_TEST(plain_messages_have_the_same_bound)
{
    ck_assert_int_eq(open_message(LIMIT, GRPC_COMPRESS_NONE), BYTES_OPENED);
    ck_assert_int_eq(open_message(LIMIT + 1, GRPC_COMPRESS_NONE), BYTES_TOO_LARGE);
}
END_TEST

Suite *test_bytes_suite(void)
{
    Suite *suite = suite_create("bytes");
    TCase *tcase = tcase_create("bytes");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, what_was_compressed_comes_back, 0, 7);
    tcase_add_test(tcase, no_more_than_the_bound_is_inflated);
    tcase_add_test(tcase, a_stream_that_tells_a_false_length_is_damaged);
    tcase_add_test(tcase, what_was_inflated_is_counted_also_in_vain);
    tcase_add_test(tcase, damaged_messages_are_told);
    tcase_add_test(tcase, plain_messages_have_the_same_bound);
    suite_add_tcase(suite, tcase);
    return suite;
}
