/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/text.c.
 */
#include "domain/text.h"

#include <check.h>

#include "base/macros.h"

static const struct good_case {
    const char *name;
    struct str text;
    size_t units;
} good_cases[] = {
    { "empty", STR_LITERAL(""), 0 },
    { "ASCII, longer than a word", STR_LITERAL("The quick brown fox"), 19 },
    { "a NUL is a character", STR_LITERAL("a\0b"), 3 },
    { "two bytes, one unit", STR_LITERAL("\xC3\xA4"), 1 },
    { "three bytes, one unit", STR_LITERAL("\xE2\x82\xAC"), 1 },
    { "four bytes, two units", STR_LITERAL("\xF0\x9F\x98\x80"), 2 },
    { "behind a whole word",
        STR_LITERAL("12345678\xC3\xA4"
                    "12345678\xF0\x9F\x98\x80"),
        19 },
    { "U+0080, the first of two bytes", STR_LITERAL("\xC2\x80"), 1 },
    { "U+0800, the first of three", STR_LITERAL("\xE0\xA0\x80"), 1 },
    { "U+D7FF, the last before the surrogates", STR_LITERAL("\xED\x9F\xBF"), 1 },
    { "U+E000, the first behind them", STR_LITERAL("\xEE\x80\x80"), 1 },
    { "U+10000, the first of four", STR_LITERAL("\xF0\x90\x80\x80"), 2 },
    { "U+10FFFF, the last", STR_LITERAL("\xF4\x8F\xBF\xBF"), 2 },
};

START_TEST(well_formed_text_is_counted_in_utf16_units)
{
    const struct good_case *c = &good_cases[_i];
    size_t units = 99;

    ck_assert_msg(text_check(c->text, &units, NULL), "%s", c->name);
    ck_assert_msg(units == c->units, "%s: %zu units", c->name, units);
    ck_assert(text_check(c->text, NULL, NULL));
}
END_TEST

static const struct bad_case {
    const char *name;
    struct str text;
    size_t offset;
} bad_cases[] = {
    { "a continuation alone", STR_LITERAL("ab\x80"), 2 },
    { "C0: overlong", STR_LITERAL("\xC0\x80"), 0 },
    { "C1: overlong", STR_LITERAL("\xC1\xBF"), 0 },
    { "E0 80: overlong", STR_LITERAL("\xE0\x9F\xBF"), 0 },
    { "F0 80: overlong", STR_LITERAL("\xF0\x8F\xBF\xBF"), 0 },
    { "U+D800, a surrogate", STR_LITERAL("\xED\xA0\x80"), 0 },
    { "U+DFFF, a surrogate", STR_LITERAL("\xED\xBF\xBF"), 0 },
    { "U+110000", STR_LITERAL("\xF4\x90\x80\x80"), 0 },
    { "F5", STR_LITERAL("\xF5\x80\x80\x80"), 0 },
    { "cut after one of two", STR_LITERAL("12345678\xC3"), 8 },
    { "cut after two of three", STR_LITERAL("\xE2\x82"), 0 },
    { "cut after three of four", STR_LITERAL("a\xF0\x9F\x98"), 1 },
    { "third byte is none",
        STR_LITERAL("\xE2\x82"
                    "a"),
        0 },
    { "fourth byte is none",
        STR_LITERAL("\xF0\x9F\x98"
                    "a"),
        0 },
};

START_TEST(malformed_text_is_refused_at_its_first_bad_byte)
{
    const struct bad_case *c = &bad_cases[_i];
    size_t offset = 99;

    ck_assert_msg(!text_check(c->text, NULL, &offset), "%s", c->name);
    ck_assert_msg(offset == c->offset, "%s: at %zu", c->name, offset);
    ck_assert(!text_check(c->text, NULL, NULL));
}
END_TEST

START_TEST(characters_are_taken_one_by_one)
{
    struct str rest = STR_LITERAL("a\0\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");

    ck_assert_uint_eq(text_take(&rest), 'a');
    ck_assert_uint_eq(text_take(&rest), 0);
    ck_assert_uint_eq(text_take(&rest), 0xE4);
    ck_assert_uint_eq(text_take(&rest), 0x20AC);
    ck_assert_uint_eq(text_take(&rest), 0x1F600);
    ck_assert_uint_eq(rest.len, 0);
}
END_TEST

/* Every code point, encoded by hand, is accepted and read back; every surrogate is refused. */
START_TEST(every_code_point_is_judged_rightly)
{
    for (uint32_t c = 0x80; c <= 0x10FFFF; c++) {
        char text[4];
        size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        struct str whole = str_of_bytes(text, len);
        bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;

        for (size_t i = 1; i < len; i++)
            text[i] = (char)(0x80 | (c >> (6 * (len - 1 - i)) & 0x3F));
        text[0] = (char)((0xF00 >> len & 0xFF) | c >> (6 * (len - 1)));

        /* An assertion is counted even if it holds: a million of them would take seconds. */
        if (text_check(whole, NULL, NULL) == is_surrogate)
            ck_abort_msg("U+%04X was judged wrongly", c);
        if (!is_surrogate && text_take(&whole) != c)
            ck_abort_msg("U+%04X was read wrongly", c);
    }
}
END_TEST

Suite *test_text_suite(void)
{
    Suite *suite = suite_create("text");
    TCase *tc = tcase_create("text");

    tcase_add_loop_test(tc, well_formed_text_is_counted_in_utf16_units, 0, ARRAY_LEN(good_cases));
    tcase_add_loop_test(tc, malformed_text_is_refused_at_its_first_bad_byte, 0, ARRAY_LEN(bad_cases));
    tcase_add_test(tc, characters_are_taken_one_by_one);
    tcase_add_test(tc, every_code_point_is_judged_rightly);
    suite_add_tcase(suite, tc);
    return suite;
}
