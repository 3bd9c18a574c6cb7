/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of http/inflate.c.
 */
#include <check.h>
#include <string.h>

#include "http/inflate.h"

enum { MANY = 1000000 };

static struct arena arena;
static struct buf compressed;

static void setup(void)
{
    struct buf zeros;

    arena_init(&arena);
    buf_init(&zeros, &arena);
    memset(buf_extend(&zeros, MANY), 0, MANY);
    buf_init(&compressed, &arena);
    inflate_compress(buf_str(&zeros), &compressed);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static enum inflate_outcome outcome(struct str bytes, size_t max)
{
    struct buf out;

    buf_init(&out, &arena);
    return inflate_append(bytes, max, &out);
}

START_TEST(what_was_compressed_is_inflated_up_to_the_bound)
{
    ck_assert_uint_lt(compressed.len, MANY / 100);
    ck_assert_int_eq(outcome(buf_str(&compressed), MANY), INFLATE_DONE);
    ck_assert_int_eq(outcome(buf_str(&compressed), MANY - 1), INFLATE_TOO_LARGE);
}
END_TEST

START_TEST(what_is_no_whole_stream_is_damaged)
{
    struct str cut = buf_str(&compressed);
    struct buf longer;

    cut.len--;
    buf_init(&longer, &arena);
    buf_append(&longer, buf_str(&compressed));
    buf_append_byte(&longer, 0);
    ck_assert_int_eq(
        outcome(cut, UINT32_MAX), INFLATE_DAMAGED); /* within the length that its last bytes tell */
    ck_assert_int_eq(outcome(buf_str(&longer), MANY), INFLATE_DAMAGED);
    ck_assert_int_eq(outcome(STR_LITERAL("hello"), MANY), INFLATE_DAMAGED);
    ck_assert_int_eq(outcome(STR_EMPTY, MANY), INFLATE_DAMAGED);
}
END_TEST

/* Nothing is inflated of a gzip stream whose last four bytes tell of more than the bound. */
START_TEST(a_stream_that_tells_of_too_much_is_not_inflated)
{
    struct buf out;

    buf_init(&out, &arena);
    compressed.data[compressed.len - 1] = 1; /* 16 MB more */
    ck_assert_int_eq(inflate_append(buf_str(&compressed), 2 * MANY, &out), INFLATE_TOO_LARGE);
    ck_assert_uint_eq(out.len, 0);
    ck_assert_int_eq(outcome(buf_str(&compressed), 32 << 20), INFLATE_DAMAGED);
}
END_TEST

START_TEST(a_body_is_inflated_as_its_header_says)
{
    struct http_header header = { STR_LITERAL("Content-Encoding"), STR_LITERAL("GZIP") };
    struct http_request request = { .headers = &header, .header_count = 1, .body = buf_str(&compressed) };
    size_t made;
    enum http_refusal refusal;

    ck_assert(!inflate_body(&request, MANY - 1, &arena, &made, &refusal) && refusal == HTTP_BODY_TOO_LARGE);
    ck_assert(inflate_body(&request, MANY, &arena, &made, &refusal) && request.body.len == MANY);
    ck_assert_uint_eq(made, MANY);
    ck_assert(!inflate_body(&request, MANY, &arena, &made, &refusal) && refusal == HTTP_BODY_DAMAGED);
    header.value = STR_LITERAL("br");
    ck_assert(
        !inflate_body(&request, MANY, &arena, &made, &refusal) && refusal == HTTP_BODY_UNKNOWN_ENCODING);
    header.value = STR_LITERAL("identity");
    ck_assert(inflate_body(&request, MANY, &arena, &made, &refusal) && request.body.len == MANY);
}
END_TEST

Suite *test_inflate_suite(void)
{
    Suite *suite = suite_create("http_inflate");
    TCase *tc = tcase_create("http_inflate");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_was_compressed_is_inflated_up_to_the_bound);
    tcase_add_test(tc, what_is_no_whole_stream_is_damaged);
    tcase_add_test(tc, a_body_is_inflated_as_its_header_says);
    tcase_add_test(tc, a_stream_that_tells_of_too_much_is_not_inflated);
    suite_add_tcase(suite, tc);
    return suite;
}
