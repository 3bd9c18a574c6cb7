/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/properties/property_name.c.
 */
#include "domain/properties/property_name.h"

#include <check.h>

#include "domain/limits.h"

static const struct name_case {
    const char *name;
    struct str text;
    const char *reason; /* NULL: accepted */
} name_cases[] = {
    { "letters", STR_LITERAL("Age"), NULL },
    { "one letter", STR_LITERAL("a"), NULL },
    { "an underscore first", STR_LITERAL("_1"), NULL },
    { "digits behind", STR_LITERAL("a0_9Z"), NULL },
    { "Latin letters",
        STR_LITERAL("Gr\xC3\xB6\xC3\x9F"
                    "e"),
        NULL },
    { "ideographs with an iteration mark", STR_LITERAL("\xE4\xBA\xBA\xE3\x80\x85"), NULL },
    { "a letter above U+FFFF", STR_LITERAL("\xF0\xA0\x80\x80"), NULL },
    { "a field's name in another case", STR_LITERAL("partitionKey"), NULL },
    { "empty", STR_LITERAL(""), "PROPERTY_NAME_INVALID" },
    { "a digit first", STR_LITERAL("1a"), "PROPERTY_NAME_INVALID" },
    { "a hyphen", STR_LITERAL("a-b"), "PROPERTY_NAME_INVALID" },
    { "a space", STR_LITERAL("a b"), "PROPERTY_NAME_INVALID" },
    { "a dollar first", STR_LITERAL("$SourceRowKey"), "PROPERTY_NAME_INVALID" },
    { "a NUL", STR_LITERAL("a\0"), "PROPERTY_NAME_INVALID" },
    { "a line feed", STR_LITERAL("a\n"), "PROPERTY_NAME_INVALID" },
    { "no-break space", STR_LITERAL("a\xC2\xA0"), "PROPERTY_NAME_INVALID" },
    { "multiplication sign", STR_LITERAL("a\xC3\x97"), "PROPERTY_NAME_INVALID" },
    { "em dash",
        STR_LITERAL("a\xE2\x80\x94"
                    "b"),
        "PROPERTY_NAME_INVALID" },
    { "ideographic full stop", STR_LITERAL("a\xE3\x80\x82"), "PROPERTY_NAME_INVALID" },
    { "full-width exclamation mark", STR_LITERAL("a\xEF\xBC\x81"), "PROPERTY_NAME_INVALID" },
    { "private use", STR_LITERAL("a\xEE\x80\x80"), "PROPERTY_NAME_INVALID" },
    { "noncharacter U+2FFFE", STR_LITERAL("a\xF0\xAF\xBF\xBE"), "PROPERTY_NAME_INVALID" },
    { "pictograph", STR_LITERAL("a\xF0\x9F\x98\x80"), "PROPERTY_NAME_INVALID" },
    { "PartitionKey", STR_LITERAL("PartitionKey"), "PROPERTY_NAME_INVALID" },
    { "RowKey", STR_LITERAL("RowKey"), "PROPERTY_NAME_INVALID" },
    { "Timestamp", STR_LITERAL("Timestamp"), "PROPERTY_NAME_INVALID" },
    { "not UTF-8", STR_LITERAL("a\xFF"), "INVALID_INPUT" },
};

START_TEST(names_are_accepted_and_refused)
{
    const struct name_case *c = &name_cases[_i];
    struct error err = { 0 };

    enum status got = property_name_check(c->text, &err);

    ck_assert_msg(got == (c->reason ? STATUS_INVALID : STATUS_OK), "%s: %s", c->name, err.message);
    if (c->reason)
        ck_assert_msg(strcmp(err.reason, c->reason) == 0, "%s: %s", c->name, err.reason);
    ck_assert_msg(strchr(err.message, '\n') == NULL, "%s: the message is one line", c->name);
}
END_TEST

START_TEST(a_name_is_limited_in_utf16_units)
{
    char text[2 * (LIMIT_PROPERTY_NAME_UNITS + 1)];
    struct error err = { 0 };

    for (size_t i = 0; i < sizeof(text); i += 2)
        memcpy(text + i, "\xC3\xA4", 2);

    ck_assert_int_eq(property_name_check(str_of_bytes(text, sizeof(text) - 2), &err), STATUS_OK);
    ck_assert_int_eq(property_name_check(str_of_bytes(text, sizeof(text)), &err), STATUS_INVALID);
    ck_assert_str_eq(err.reason, "PROPERTY_NAME_TOO_LONG");
}
END_TEST

START_TEST(a_message_speaks_of_a_property_in_one_bounded_line)
{
    char out[PROPERTY_SUBJECT_BYTES], longest[300];

    memset(longest, 'x', sizeof(longest));

    ck_assert_str_eq(property_name_subject(STR_LITERAL("Age"), out), "property \"Age\"");
    ck_assert_str_eq(property_name_subject(STR_LITERAL("a\nb\x7F\0"), out), "property \"a?b??\"");
    ck_assert_str_eq(property_name_subject(STR_EMPTY, out), "the value");
    ck_assert_str_eq(property_name_subject(STR_LITERAL("\xFF"), out), "a property");
    property_name_subject(str_of_bytes(longest, sizeof(longest)), out);
    ck_assert_uint_eq(strlen(out), strlen("property \"\"") + 63);
}
END_TEST

Suite *test_property_name_suite(void)
{
    Suite *suite = suite_create("property_name");
    TCase *tc = tcase_create("property_name");

    tcase_add_loop_test(tc, names_are_accepted_and_refused, 0, ARRAY_LEN(name_cases));
    tcase_add_test(tc, a_name_is_limited_in_utf16_units);
    tcase_add_test(tc, a_message_speaks_of_a_property_in_one_bounded_line);
    suite_add_tcase(suite, tc);
    return suite;
}
