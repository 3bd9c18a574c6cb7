/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a collector, as settings and files give them. */
#include "base/trace_settings.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

static const struct headers_case {
    const char *name, *text, *want; /* want: "name|value\n" of each header; NULL: refused */
} headers_cases[] = {
    { "one", "a=b", "a|b\n" },
    { "two, with blanks around them", " a = b ,\tc=d ", "a|b\nc|d\n" },
    { "lines, the last one ended", "a=b\r\nc=d\n", "a|b\nc|d\n" },
    { "nothing", "", "" },
    { "empty parts", ",,\n a=b,", "a|b\n" },
    { "a value that is encoded", "authorization=Bearer%20x%2Cy%3Dz", "authorization|Bearer x,y=z\n" },
    { "only the first equals sign separates", "a=b==", "a|b==\n" },
    { "no value", "a=", "a|\n" },
    { "no equals sign", "a", NULL },
    { "no name", "=b", NULL },
    { "a blank in the name", "a b=c", NULL },
    { "a colon in the name", "a:=c", NULL },
    { "a line end in the value", "a=b%0D%0Ac", NULL },
    { "a byte that is not ASCII", "a=\xc3\xa9", NULL },
    { "an escape that is cut", "a=b%2", NULL },
    { "an escape that is none", "a=b%zz", NULL },
};

START_TEST(headers_are_read_or_refused)
{
    const struct headers_case *c = &headers_cases[_i];
    struct trace_headers headers;
    struct arena arena;
    struct buf got;
    bool taken;

    arena_init(&arena);
    buf_init(&got, &arena);

    taken = trace_headers_parse(str_of(c->text), &arena, &headers);
    for (size_t i = 0; taken && i < headers.count; i++)
        buf_format(&got, "%.*s|%.*s\n", STR_ARG(headers.items[i].name), STR_ARG(headers.items[i].value));

    ck_assert_msg(taken == (c->want != NULL), "%s: taken %d", c->name, taken);
    ck_assert_msg(trace_settings_are_headers(c->text) == taken, "%s: as a setting", c->name);
    if (taken)
        ck_assert_msg(str_equal(buf_str(&got), str_of(c->want)), "%s: %.*s", c->name, STR_ARG(buf_str(&got)));
    arena_cleanup(&arena);
}
END_TEST

START_TEST(their_number_and_size_are_bounded)
{
    struct trace_headers headers;
    struct arena arena;
    struct buf text;

    arena_init(&arena);
    buf_init(&text, &arena);
    for (int i = 0; i < TRACE_MAX_HEADERS; i++)
        buf_format(&text, "h%d=v,", i);
    ck_assert(trace_headers_parse(buf_str(&text), &arena, &headers));
    ck_assert_uint_eq(headers.count, TRACE_MAX_HEADERS);
    buf_format(&text, "one=more");
    ck_assert(!trace_headers_parse(buf_str(&text), &arena, &headers));

    buf_init(&text, &arena);
    buf_format(&text, "a=%0*d", TRACE_MAX_HEADER_BYTES, 0);
    ck_assert(!trace_headers_parse(buf_str(&text), &arena, &headers));
    arena_cleanup(&arena);
}
END_TEST

Suite *test_trace_settings_suite(void)
{
    Suite *suite = suite_create("trace_settings");
    TCase *tc = tcase_create("trace_settings");

    tcase_add_loop_test(tc, headers_are_read_or_refused, 0, ARRAY_LEN(headers_cases));
    tcase_add_test(tc, their_number_and_size_are_bounded);
    suite_add_tcase(suite, tc);
    return suite;
}
