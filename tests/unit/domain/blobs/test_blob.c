/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/blobs/blob.c.
 */
#include "domain/blobs/blob.h"

#include <check.h>

#include "base/macros.h"
#include "domain/limits.h"

#define HUNDRED                                                                                              \
    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
#define LONGEST THOUSAND "abcdefghijabcdefghijabcd"

static const struct name_case {
    const char *what;
    struct str name;
    bool is_name, is_prefix;
} name_cases[] = {
    { "one character", STR_LITERAL("a"), true, true },
    { "a path", STR_LITERAL("a/b c/d.txt"), true, true },
    { "dots in a part", STR_LITERAL("a/..b/c."), true, true },
    { "letters beyond ASCII", STR_LITERAL("\xC3\xA4/\xF0\x9F\x98\x80"), true, true },
    { "1,024 bytes", STR_LITERAL(LONGEST), true, true },
    { "1,025 bytes", STR_LITERAL(LONGEST "e"), false, false },
    { "empty", STR_LITERAL(""), false, true },
    { "a slash at the end", STR_LITERAL("a/"), false, true },
    { "dots at the end", STR_LITERAL("a/.."), false, true },
    { "a slash at the beginning", STR_LITERAL("/a"), false, false },
    { "an empty part", STR_LITERAL("a//b"), false, false },
    { "a part of one dot", STR_LITERAL("a/./b"), false, false },
    { "a part of two dots", STR_LITERAL("../b"), false, false },
    { "a line feed", STR_LITERAL("a\nb"), false, false },
    { "a NUL", STR_LITERAL("a\0b"), false, false },
    { "a DEL", STR_LITERAL("a\x7F"), false, false },
    { "not UTF-8", STR_LITERAL("a\xFF"), false, false },
};

START_TEST(names_and_prefixes_are_accepted_and_refused)
{
    const struct name_case *c = &name_cases[_i];
    struct error err = { 0 };

    ck_assert_msg(
        (blob_name_check(c->name, &err) == STATUS_OK) == c->is_name, "%s: %s", c->what, err.message);
    if (!c->is_name)
        ck_assert_str_eq(err.reason, "INVALID_INPUT");
    ck_assert_msg(
        (blob_prefix_check(c->name, &err) == STATUS_OK) == c->is_prefix, "%s: %s", c->what, err.message);
}
END_TEST

START_TEST(an_etag_is_the_id_and_nothing_else)
{
    struct blob_id id = { { 0x00, 0xFF, 0x10 } }, read = { { 0 } };
    struct arena arena;
    struct str etag;

    arena_init(&arena);
    etag = blob_etag_format(&id, &arena);
    ck_assert(str_equal(etag, STR_LITERAL("\"00ff1000000000000000000000000000\"")));
    ck_assert(blob_etag_parse(etag, &read));
    ck_assert(str_equal(blob_id_str(&read), blob_id_str(&id)));
    ck_assert(!blob_etag_parse(STR_LITERAL("\"00FF1000000000000000000000000000\""), &read));
    ck_assert(!blob_etag_parse(STR_LITERAL("00ff1000000000000000000000000000"), &read));
    ck_assert(!blob_etag_parse(STR_LITERAL("W/\"1.1\""), &read));
    arena_cleanup(&arena);
}
END_TEST

START_TEST(a_media_type_is_short_and_printable)
{
    struct error err = { 0 };

    ck_assert_int_eq(blob_content_type_check(STR_EMPTY, &err), STATUS_OK);
    ck_assert_int_eq(blob_content_type_check(STR_LITERAL("text/plain; charset=utf-8"), &err), STATUS_OK);
    ck_assert_int_eq(blob_content_type_check(STR_LITERAL("text\r\nX: y"), &err), STATUS_INVALID);
    ck_assert_int_eq(blob_content_type_check(STR_LITERAL(HUNDRED HUNDRED HUNDRED), &err), STATUS_INVALID);
}
END_TEST

Suite *test_blob_suite(void)
{
    Suite *suite = suite_create("blob");
    TCase *tc = tcase_create("blob");

    tcase_add_loop_test(tc, names_and_prefixes_are_accepted_and_refused, 0, ARRAY_LEN(name_cases));
    tcase_add_test(tc, an_etag_is_the_id_and_nothing_else);
    tcase_add_test(tc, a_media_type_is_short_and_printable);
    suite_add_tcase(suite, tc);
    return suite;
}
