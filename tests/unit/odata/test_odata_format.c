/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of odata/odata_format.c: what a client accepts and prefers.
 */
#include "odata/odata_format.h"

#include <check.h>

#include "base/macros.h"

static const struct format_case {
    const char *accept, *format;
    enum odata_level level;
    const char *reason; /* NULL: accepted */
} format_cases[] = {
    { "", "", ODATA_LEVEL_MINIMAL, NULL },
    { "application/json", "", ODATA_LEVEL_MINIMAL, NULL },
    { "application/json;odata=nometadata", "", ODATA_LEVEL_NONE, NULL },
    { "application/json;odata=minimalmetadata", "", ODATA_LEVEL_MINIMAL, NULL },
    { "application/json; odata=FullMetadata; charset=utf-8", "", ODATA_LEVEL_FULL, NULL },
    { "Application/JSON ; streaming=true;odata = fullmetadata", "", ODATA_LEVEL_FULL, NULL },
    { "*/*", "", ODATA_LEVEL_MINIMAL, NULL },
    { "text/html, application/*;q=0.1", "", ODATA_LEVEL_MINIMAL, NULL },
    { "application/atom+xml,application/xml, application/json;odata=nometadata", "", ODATA_LEVEL_NONE, NULL },
    { "application/xml", "application/json;odata=fullmetadata", ODATA_LEVEL_FULL, NULL },
    { "application/json;odata=nometadata", "json", ODATA_LEVEL_MINIMAL, NULL },
    { "", "json;odata=nometadata", ODATA_LEVEL_NONE, NULL },
    { "", "JSON ; odata=FullMetadata", ODATA_LEVEL_FULL, NULL },
    { "", "json;odata=verbose", 0, "INVALID_INPUT" },
    { "", "jsonx;odata=nometadata", 0, "INVALID_INPUT" },
    { "application/atom+xml", "", 0, "ATOM_FORMAT_NOT_SUPPORTED" },
    { "application/json;odata=verbose", "", 0, "ATOM_FORMAT_NOT_SUPPORTED" },
    { "", "atom", 0, "ATOM_FORMAT_NOT_SUPPORTED" },
    { "", "application/atom+xml", 0, "ATOM_FORMAT_NOT_SUPPORTED" },
    { "", "yaml", 0, "INVALID_INPUT" },
};

START_TEST(the_form_of_a_reply_is_chosen)
{
    const struct format_case *c = &format_cases[_i];
    enum odata_level level = ODATA_LEVEL_NONE;
    struct error err = { 0 };

    ck_assert_int_eq(odata_format_choose(str_of(c->accept), str_of(c->format), &level, &err) == STATUS_OK,
        c->reason == NULL);
    if (c->reason)
        ck_assert_str_eq(err.reason, c->reason);
    else
        ck_assert_int_eq(level, c->level);
}
END_TEST

START_TEST(preferences_are_read_and_named)
{
    ck_assert_int_eq(odata_format_preference(STR_EMPTY), ODATA_PREFERENCE_NONE);
    ck_assert_int_eq(odata_format_preference(STR_LITERAL("wait=1")), ODATA_PREFERENCE_NONE);
    ck_assert_int_eq(odata_format_preference(STR_LITERAL("return-content")), ODATA_PREFERENCE_CONTENT);
    ck_assert_int_eq(
        odata_format_preference(STR_LITERAL("wait=1, Return-No-Content")), ODATA_PREFERENCE_NO_CONTENT);
    ck_assert_ptr_null(odata_format_preference_applied(ODATA_PREFERENCE_NONE));
    ck_assert_str_eq(odata_format_preference_applied(ODATA_PREFERENCE_CONTENT), "return-content");
    ck_assert_str_eq(odata_format_preference_applied(ODATA_PREFERENCE_NO_CONTENT), "return-no-content");
}
END_TEST

START_TEST(types_of_bodies_are_told_apart)
{
    ck_assert(odata_format_is_json(STR_EMPTY));
    ck_assert(odata_format_is_json(STR_LITERAL("application/json")));
    ck_assert(odata_format_is_json(STR_LITERAL("application/json;odata=nometadata;charset=utf-8")));
    ck_assert(!odata_format_is_json(STR_LITERAL("application/jsonx")));
    ck_assert(!odata_format_is_json(STR_LITERAL("application/atom+xml")));
    ck_assert_str_eq(odata_format_content_type(ODATA_LEVEL_FULL),
        "application/json;odata=fullmetadata;streaming=true;charset=utf-8");
}
END_TEST

START_TEST(versions_are_dates_since_the_first)
{
    static const char *const good[] = { "", "2009-07-17", "2019-02-02", "2026-01-01" };
    static const char *const bad[] = { "2009-07-16", "2019-02-30", "2019", "latest", "2019-02-02Z" };
    struct error err = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ck_assert_int_eq(odata_format_check_version(str_of(good[i]), &err), STATUS_OK);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(odata_format_check_version(str_of(bad[i]), &err) != STATUS_OK, "%s", bad[i]);
    ck_assert_str_eq(err.reason, "INVALID_HEADER_VALUE");
}
END_TEST

Suite *test_odata_format_suite(void)
{
    Suite *suite = suite_create("odata_format");
    TCase *tc = tcase_create("odata_format");

    tcase_add_loop_test(tc, the_form_of_a_reply_is_chosen, 0, ARRAY_LEN(format_cases));
    tcase_add_test(tc, preferences_are_read_and_named);
    tcase_add_test(tc, types_of_bodies_are_told_apart);
    tcase_add_test(tc, versions_are_dates_since_the_first);
    suite_add_tcase(suite, tc);
    return suite;
}
