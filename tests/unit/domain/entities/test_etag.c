/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/entities/etag.c.
 */
#include "domain/entities/etag.h"

#include <check.h>

static const struct format_case {
    struct etag etag;
    const char *text;
} format_cases[] = {
    { { 1, 1, 0 }, "W/\"1.1\"" },
    { { 0x1f, 0x2a, 0 }, "W/\"1f.2a\"" },
    { { 16, 0, 0 }, "W/\"10.0\"" },
    { { INT64_MAX, INT64_MAX, 0 }, "W/\"7fffffffffffffff.7fffffffffffffff\"" },
    { { 1, 1, 1 }, "W/\"1.1.00000001\"" },
    { { 0x1f, 0x2a, 0xab12cd34 }, "W/\"1f.2a.ab12cd34\"" },
    { { INT64_MAX, INT64_MAX, UINT32_MAX }, "W/\"7fffffffffffffff.7fffffffffffffff.ffffffff\"" },
};

START_TEST(an_etag_is_read_back)
{
    const struct format_case *c = &format_cases[_i];
    char text[ETAG_BYTES];
    struct condition condition;

    size_t len = etag_format(c->etag, text);

    ck_assert_str_eq(text, c->text);
    ck_assert_uint_eq(len, strlen(c->text));
    ck_assert_int_eq(condition_parse(str_of(text), &condition, NULL), STATUS_OK);
    ck_assert_int_eq(condition.kind, CONDITION_MATCHES);
    ck_assert(etag_equal(condition.etag, c->etag));
    ck_assert_uint_eq(condition.etag.key, c->etag.key);
}
END_TEST

static struct etag of_key(const char *partition, const char *row)
{
    struct entity_key key = { str_of(partition), str_of(row) };

    return (struct etag){ .table_id = 1, .version = 1, .key = etag_key(&key) };
}

START_TEST(keys_have_etags_of_their_own)
{
    const struct etag of_any = { .table_id = 1, .version = 1 };

    ck_assert(etag_equal(of_key("p", "a"), of_key("p", "a")));
    ck_assert(!etag_equal(of_key("p", "a"), of_key("p", "b")));
    ck_assert(!etag_equal(of_key("p", "a"), of_key("q", "a")));
    ck_assert(!etag_equal(of_key("p", "a"), of_key("pa", "")));
    ck_assert(!etag_equal(of_key("", ""), of_key("", "a")));
    ck_assert(etag_equal(of_key("p", "a"), of_any));
    ck_assert(etag_equal(of_any, of_key("p", "a")));
}
END_TEST

/* If the digest changes, all ETags that callers hold become invalid. */
START_TEST(the_digest_of_a_key_stays)
{
    ck_assert_uint_eq(of_key("p", "r").key, 0xc20e6775);
}
END_TEST

START_TEST(a_star_asks_for_existence)
{
    struct condition condition;

    ck_assert_int_eq(condition_parse(STR_LITERAL("*"), &condition, NULL), STATUS_OK);
    ck_assert_int_eq(condition.kind, CONDITION_EXISTS);
}
END_TEST

START_TEST(the_prefix_may_be_lower_case)
{
    struct condition condition;

    ck_assert_int_eq(condition_parse(STR_LITERAL("w/\"1f.2a\""), &condition, NULL), STATUS_OK);
    ck_assert(etag_equal(condition.etag, ((struct etag){ .table_id = 0x1f, .version = 0x2a })));
}
END_TEST

/* Compared as texts: only texts that the service writes can match. */
static const char *const foreign[] = {
    "W/\"wrong\"",
    "W/\"datetime'2013-08-22T01%3A12%3A06.2608595Z'\"",
    "W/\"1F.2A\"",
    "W/\"01.1\"",
    "W/\"1.01\"",
    "W/\"1\"",
    "W/\"1.\"",
    "W/\".1\"",
    "W/\"1.1.1\"",
    "W/\"1.1.00000000\"",
    "W/\"1.1.0000001\"",
    "W/\"1.1.000000001\"",
    "W/\"1.1.0000000A\"",
    "W/\"1.1.00000001.\"",
    "W/\"1.1:00000001\"",
    "W/\"1.1 \"",
    "W/\"8000000000000000.1\"",
    "W/\"ffffffffffffffff.1\"",
    "W/\"10000000000000000.1\"",
    "W/\"1-1\"",
    "W/\"a b\"",
};

START_TEST(a_well_formed_etag_of_others_matches_nothing)
{
    struct condition condition;

    ck_assert_msg(condition_parse(str_of(foreign[_i]), &condition, NULL) == STATUS_OK, "%s", foreign[_i]);
    ck_assert_int_eq(condition.kind, CONDITION_MATCHES);
    ck_assert_msg(
        etag_equal(condition.etag, ((struct etag){ .table_id = 0, .version = 0 })), "%s", foreign[_i]);
}
END_TEST

#define FILL "0123456789012345678901234567890123456789012345678901234567"

static const struct refused_case {
    const char *name;
    struct str text;
} refused_cases[] = {
    { "nothing", STR_LITERAL("") },
    { "an empty one", STR_LITERAL("W/\"\"") },
    { "a strong one", STR_LITERAL("\"1.1\"") },
    { "unquoted", STR_LITERAL("1.1") },
    { "weak and unquoted", STR_LITERAL("W/1.1") },
    { "no closing quote", STR_LITERAL("W/\"1.1") },
    { "two", STR_LITERAL("W/\"1.1\", W/\"1.2\"") },
    { "two stars", STR_LITERAL("**") },
    { "a star in a list", STR_LITERAL("*, W/\"1.1\"") },
    { "a space in front", STR_LITERAL(" W/\"1.1\"") },
    { "a control", STR_LITERAL("W/\"1\n1\"") },
    { "a NUL", STR_LITERAL("W/\"1\0"
                           "1\"") },
    { "DEL", STR_LITERAL("W/\"1\x7f\"") },
    { "beyond ASCII", STR_LITERAL("W/\"\xC3\xA4\"") },
    { "65 bytes", STR_LITERAL("W/\"" FILL "012\"") },
};

START_TEST(anything_else_is_refused)
{
    const struct refused_case *c = &refused_cases[_i];
    struct condition condition = { .kind = CONDITION_NONE };
    struct error err = { 0 };

    ck_assert_msg(condition_parse(c->text, &condition, &err) == STATUS_INVALID, "%s", c->name);
    ck_assert_str_eq(err.reason, "INVALID_INPUT");
    ck_assert_int_eq(condition.kind, CONDITION_NONE);
}
END_TEST

START_TEST(sixty_four_bytes_are_not_too_many)
{
    struct condition condition;
    struct str longest = STR_LITERAL("W/\"" FILL "01\"");

    ck_assert_uint_eq(longest.len, 64);
    ck_assert_int_eq(condition_parse(longest, &condition, NULL), STATUS_OK);
}
END_TEST

Suite *test_etag_suite(void)
{
    Suite *suite = suite_create("etag");
    TCase *tc = tcase_create("etag");

    tcase_add_loop_test(tc, an_etag_is_read_back, 0, ARRAY_LEN(format_cases));
    tcase_add_test(tc, a_star_asks_for_existence);
    tcase_add_test(tc, keys_have_etags_of_their_own);
    tcase_add_test(tc, the_digest_of_a_key_stays);
    tcase_add_test(tc, the_prefix_may_be_lower_case);
    tcase_add_loop_test(tc, a_well_formed_etag_of_others_matches_nothing, 0, ARRAY_LEN(foreign));
    tcase_add_loop_test(tc, anything_else_is_refused, 0, ARRAY_LEN(refused_cases));
    tcase_add_test(tc, sixty_four_bytes_are_not_too_many);
    suite_add_tcase(suite, tc);
    return suite;
}
