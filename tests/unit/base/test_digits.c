/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/digits.c.
 */
#include "base/digits.h"

#include <check.h>

enum { UNTOUCHED = 77 };

static const struct unsigned_case {
    const char *name, *text;
    uint64_t max;
    bool want;
    uint64_t number;
} unsigned_cases[] = {
    { "zero", "0", UINT64_MAX, true, 0 },
    { "leading zeros", "000000000000000000000000000042", 42, true, 42 },
    { "the largest number of 64 bits", "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
    { "one more than 64 bits hold", "18446744073709551616", UINT64_MAX, false, 0 },
    { "a digit more than 64 bits hold", "184467440737095516150", UINT64_MAX, false, 0 },
    { "a product that wraps to a small number", "36893488147419103232", UINT64_MAX, false, 0 },
    { "the limit", "65535", 65535, true, 65535 },
    { "one above the limit", "65536", 65535, false, 0 },
    { "a limit of one digit", "9", 8, false, 0 },
    { "a limit of zero", "0", 0, true, 0 },
    { "empty", "", UINT64_MAX, false, 0 },
    { "a minus sign", "-0", UINT64_MAX, false, 0 },
    { "a plus sign", "+1", UINT64_MAX, false, 0 },
    { "a space before", " 1", UINT64_MAX, false, 0 },
    { "a space behind", "1 ", UINT64_MAX, false, 0 },
    { "a line end", "1\n", UINT64_MAX, false, 0 },
    { "a letter", "1x", UINT64_MAX, false, 0 },
    { "hexadecimal", "0x10", UINT64_MAX, false, 0 },
    { "a fraction", "1.0", UINT64_MAX, false, 0 },
    { "the character before '0'", "/", UINT64_MAX, false, 0 },
    { "the character behind '9'", ":", UINT64_MAX, false, 0 },
    { "digits of another script", "\xd9\xa1", UINT64_MAX, false, 0 },
};

START_TEST(unsigned_numbers_are_read_whole)
{
    const struct unsigned_case *c = &unsigned_cases[_i];
    uint64_t number = UNTOUCHED;

    bool got = digits_parse_unsigned(str_of(c->text), c->max, &number);

    ck_assert_msg(got == c->want, "%s", c->name);
    ck_assert_msg(
        number == (c->want ? c->number : UNTOUCHED), "%s: %llu", c->name, (unsigned long long)number);
}
END_TEST

static const struct signed_case {
    const char *name, *text;
    int64_t min, max;
    bool want;
    int64_t number;
} signed_cases[] = {
    { "zero", "0", INT64_MIN, INT64_MAX, true, 0 },
    { "minus zero", "-0", INT64_MIN, INT64_MAX, true, 0 },
    { "the largest", "9223372036854775807", INT64_MIN, INT64_MAX, true, INT64_MAX },
    { "one above the largest", "9223372036854775808", INT64_MIN, INT64_MAX, false, 0 },
    { "the smallest", "-9223372036854775808", INT64_MIN, INT64_MAX, true, INT64_MIN },
    { "one below the smallest", "-9223372036854775809", INT64_MIN, INT64_MAX, false, 0 },
    { "more than 64 bits", "-18446744073709551616", INT64_MIN, INT64_MAX, false, 0 },
    { "the lower limit", "-5", -5, 5, true, -5 },
    { "below the lower limit", "-6", -5, 5, false, 0 },
    { "above the upper limit", "6", -5, 5, false, 0 },
    { "limits above zero", "4", 5, 9, false, 0 },
    { "limits below zero", "-4", -9, -5, false, 0 },
    { "empty", "", INT64_MIN, INT64_MAX, false, 0 },
    { "a sign alone", "-", INT64_MIN, INT64_MAX, false, 0 },
    { "two signs", "--1", INT64_MIN, INT64_MAX, false, 0 },
    { "a plus sign", "+1", INT64_MIN, INT64_MAX, false, 0 },
    { "a sign behind", "1-", INT64_MIN, INT64_MAX, false, 0 },
    { "a space behind the sign", "- 1", INT64_MIN, INT64_MAX, false, 0 },
    { "a letter", "12a", INT64_MIN, INT64_MAX, false, 0 },
};

START_TEST(signed_numbers_are_read_whole)
{
    const struct signed_case *c = &signed_cases[_i];
    int64_t number = UNTOUCHED;

    bool got = digits_parse_signed(str_of(c->text), c->min, c->max, &number);

    ck_assert_msg(got == c->want, "%s", c->name);
    ck_assert_msg(number == (c->want ? c->number : UNTOUCHED), "%s: %lld", c->name, (long long)number);
}
END_TEST

START_TEST(a_number_with_a_nul_is_refused)
{
    uint64_t number;

    ck_assert(!digits_parse_unsigned(STR_LITERAL("1\0002"), UINT64_MAX, &number));
    ck_assert(!digits_parse_unsigned((struct str){ .data = NULL, .len = 0 }, UINT64_MAX, &number));
}
END_TEST

static const struct take_case {
    const char *name, *text;
    uint64_t max;
    bool want;
    uint64_t number;
    const char *rest;
} take_cases[] = {
    { "a word behind", "0017_names.sql", 100, true, 17, "_names.sql" },
    { "nothing behind", "17", 100, true, 17, "" },
    { "a line end behind", "15\n", 100, true, 15, "\n" },
    { "no digit", "_17", 100, false, 0, "_17" },
    { "empty", "", 100, false, 0, "" },
    { "above the limit", "101 ", 100, false, 0, "101 " },
};

START_TEST(leading_digits_are_taken)
{
    const struct take_case *c = &take_cases[_i];
    struct str text = str_of(c->text);
    uint64_t number = UNTOUCHED;

    bool got = digits_take_unsigned(&text, c->max, &number);

    ck_assert_msg(got == c->want, "%s", c->name);
    ck_assert_msg(number == (c->want ? c->number : UNTOUCHED), "%s", c->name);
    ck_assert_msg(str_equal(text, str_of(c->rest)), "%s: %.*s is left", c->name, STR_ARG(text));
}
END_TEST

START_TEST(every_character_has_its_hexadecimal_value_or_none)
{
    const char *at;

    for (int c = 0; c < 256; c++) {
        static const char known[] = "00112233445566778899aAbBcCdDeEfF";

        at = c ? strchr(known, c) : NULL;
        ck_assert_msg(digits_hex_value((char)c) == (at ? (int)((at - known) / 2) : -1), "character %d", c);
        ck_assert_msg(digits_is_decimal((char)c) == (at && at - known < 20), "character %d", c);
    }
}
END_TEST

static const struct hex_case {
    const char *name, *text;
    size_t max_digits;
    bool want;
    uint64_t number;
    const char *rest;
} hex_cases[] = {
    { "either case", "fFaA.", 16, true, 0xffaa, "." },
    { "sixteen digits", "ffffffffffffffff", 16, true, UINT64_MAX, "" },
    { "no more than asked for", "0123456789abcdef01", 16, true, UINT64_C(0x0123456789abcdef), "01" },
    { "two of four", "1234", 2, true, 0x12, "34" },
    { "no digit", "g1", 16, false, 0, "g1" },
    { "a prefix that C knows", "0x1", 16, true, 0, "x1" },
    { "empty", "", 16, false, 0, "" },
};

START_TEST(leading_hexadecimal_digits_are_taken)
{
    const struct hex_case *c = &hex_cases[_i];
    struct str text = str_of(c->text);
    uint64_t number = UNTOUCHED;

    bool got = digits_take_hex(&text, c->max_digits, &number);

    ck_assert_msg(got == c->want, "%s", c->name);
    ck_assert_msg(number == (c->want ? c->number : UNTOUCHED), "%s", c->name);
    ck_assert_msg(str_equal(text, str_of(c->rest)), "%s: %.*s is left", c->name, STR_ARG(text));
}
END_TEST

START_TEST(a_number_is_written_in_as_many_digits_as_asked_for)
{
    char out[17] = "";

    ck_assert_ptr_eq(digits_write_hex(out, UINT64_C(0x0123456789abcdef), 16), out + 16);
    ck_assert_str_eq(out, "0123456789abcdef");
    *digits_write_hex(out, 0xabc, 2) = '\0';
    ck_assert_str_eq(out, "bc");
    *digits_write_hex(out, 0xabc, 0) = '\0';
    ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(bytes_are_read_back)
{
    char bytes[256], text[512], back[256];

    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    digits_encode_hex(str_of_bytes(bytes, sizeof(bytes)), text);

    ck_assert(digits_are_lower_hex(str_of_bytes(text, sizeof(text))));
    ck_assert(digits_decode_hex(str_of_bytes(text, sizeof(text)), back));
    ck_assert_mem_eq(back, bytes, sizeof(bytes));
}
END_TEST

static const struct bytes_case {
    const char *name, *text;
    bool want, is_lower;
} bytes_cases[] = {
    { "empty", "", true, true },
    { "lower case", "0af9", true, true },
    { "upper case", "0AF9", true, false },
    { "an odd length", "0af", false, true },
    { "a bad first digit", "g0", false, false },
    { "a bad second digit", "0g", false, false },
    { "a space", "0 ", false, false },
    { "the character before 'a'", "``", false, false },
    { "a character above ASCII", "\xe1\xe1", false, false },
};

START_TEST(text_that_is_not_hexadecimal_is_refused)
{
    const struct bytes_case *c = &bytes_cases[_i];
    char out[4];

    ck_assert_msg(digits_decode_hex(str_of(c->text), out) == c->want, "%s", c->name);
    ck_assert_msg(digits_are_lower_hex(str_of(c->text)) == c->is_lower, "%s", c->name);
}
END_TEST

Suite *test_digits_suite(void)
{
    Suite *suite = suite_create("digits");
    TCase *tc = tcase_create("digits");

    tcase_add_loop_test(tc, unsigned_numbers_are_read_whole, 0, ARRAY_LEN(unsigned_cases));
    tcase_add_loop_test(tc, signed_numbers_are_read_whole, 0, ARRAY_LEN(signed_cases));
    tcase_add_test(tc, a_number_with_a_nul_is_refused);
    tcase_add_loop_test(tc, leading_digits_are_taken, 0, ARRAY_LEN(take_cases));
    tcase_add_test(tc, every_character_has_its_hexadecimal_value_or_none);
    tcase_add_loop_test(tc, leading_hexadecimal_digits_are_taken, 0, ARRAY_LEN(hex_cases));
    tcase_add_test(tc, a_number_is_written_in_as_many_digits_as_asked_for);
    tcase_add_test(tc, bytes_are_read_back);
    tcase_add_loop_test(tc, text_that_is_not_hexadecimal_is_refused, 0, ARRAY_LEN(bytes_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
