/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of http/message.c.
 */
#include <check.h>

#include "http/message.h"

static const struct list_case {
    const char *value, *token;
    bool want;
} list_cases[] = {
    { "gzip", "gzip", true },
    { "br, GZIP;q=0.5", "gzip", true },
    { "gzip;q=0", "gzip", false },
    { "gzip; q=0.000, br", "gzip", false },
    { "gzip;q=0.001", "gzip", true },
    { "xgzip, gzipx", "gzip", false },
    { "", "gzip", false },
    { ",,  gzip  ,", "gzip", true },
};

START_TEST(elements_of_a_header_are_found)
{
    const struct list_case *c = &list_cases[_i];
    const struct http_header header = { STR_LITERAL("accept-ENCODING"), str_of(c->value) };
    const struct http_request request = { .headers = &header, .header_count = 1 };

    ck_assert_msg(
        http_request_header_lists(&request, "Accept-Encoding", c->token) == c->want, "%s", c->value);
}
END_TEST

START_TEST(the_first_value_of_a_header_counts)
{
    const struct http_header headers[] = { { STR_LITERAL("A"), STR_LITERAL("1") },
        { STR_LITERAL("a"), STR_LITERAL("2") }, { STR_LITERAL("Empty"), STR_EMPTY } };
    const struct http_request request = { .headers = headers, .header_count = 3 };

    ck_assert(str_equal(http_request_header(&request, "a"), STR_LITERAL("1")));
    ck_assert(http_request_has_header(&request, "empty"));
    ck_assert(!http_request_has_header(&request, "none"));
}
END_TEST

START_TEST(a_header_with_a_line_break_is_left_out)
{
    struct http_reply reply = { 0 };
    struct arena arena;

    arena_init(&arena);
    http_reply_add_header(&reply, &arena, "A", STR_LITERAL("x"));
    http_reply_add_header(&reply, &arena, "B", STR_LITERAL("x\r\nC: y"));
    http_reply_add_header(&reply, &arena, "D", STR_LITERAL("x\0y"));
    ck_assert_uint_eq(reply.header_count, 1);
    http_reply_reset(&reply);
    ck_assert_uint_eq(reply.header_count, 0);
    arena_cleanup(&arena);
}
END_TEST

Suite *test_message_suite(void)
{
    Suite *suite = suite_create("http_message");
    TCase *tc = tcase_create("http_message");

    tcase_add_loop_test(tc, elements_of_a_header_are_found, 0, sizeof(list_cases) / sizeof(list_cases[0]));
    tcase_add_test(tc, the_first_value_of_a_header_counts);
    tcase_add_test(tc, a_header_with_a_line_break_is_left_out);
    suite_add_tcase(suite, tc);
    return suite;
}
