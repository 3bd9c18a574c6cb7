/* SPDX-License-Identifier: Apache-2.0 */
/* test_cors_rules.c - which rule a request of a page has, and which headers the rule allows. */
#include "domain/catalogue/cors_rules.h"

#include <check.h>

#include "base/macros.h"
#include "domain/catalogue/service_properties.h"

static struct cors_rule items[] = {
    { .origins = { "https://a.example, https://*.b.example", 38 },
        .methods = { "GET,PUT", 7 },
        .allowed_headers = { "x-ms-*, content-type", 20 },
        .max_age_s = 60 },
    { .origins = { "*", 1 }, .methods = { "GET", 3 }, .allowed_headers = { "*", 1 } },
};
static const struct cors_rules rules = { items, 2 };

static const struct {
    const char *origin, *method;
    int want; /* the number of the rule; -1: none */
} requests[] = {
    { "https://a.example", "GET", 0 },
    { "https://a.example", "PUT", 0 },
    { "https://a.example", "DELETE", -1 },
    { "https://x.b.example", "GET", 0 },
    { "https://x.y.b.example", "PUT", 0 },
    { "https://b.example", "PUT", -1 },
    { "https://.b.example", "PUT", -1 },
    { "https://x.b.example.org", "PUT", -1 },
    { "https://A.example", "PUT", -1 },
    { "https://other.example", "GET", 1 },
    { "https://other.example", "get", -1 },
    { "", "GET", -1 },
};

START_TEST(the_first_rule_that_fits_is_the_rule)
{
    const struct cors_rule *found =
        cors_rules_find(&rules, str_of(requests[_i].origin), str_of(requests[_i].method));

    ck_assert_ptr_eq(found, requests[_i].want < 0 ? NULL : &items[requests[_i].want]);
}
END_TEST

static const struct {
    int rule;
    const char *headers;
    bool want;
} headers[] = {
    { 0, "", true },
    { 0, "Content-Type", true },
    { 0, "X-MS-Date,content-type", true },
    { 0, "x-ms-", true },
    { 0, "x-m", false },
    { 0, "content-typ", false },
    { 0, "content-type, authorization", false },
    { 1, "anything", true },
};

START_TEST(headers_are_names_or_prefixes)
{
    ck_assert_int_eq(
        cors_rule_allows(&items[headers[_i].rule], str_of(headers[_i].headers)), headers[_i].want);
}
END_TEST

START_TEST(a_star_alone_is_for_all_origins)
{
    ck_assert(!cors_rule_is_for_all(&items[0]));
    ck_assert(cors_rule_is_for_all(&items[1]));
}
END_TEST

START_TEST(settings_are_stored_and_changed_part_by_part)
{
    struct service_change change = { .sets_cors = true, .to = { .cors = rules } };
    struct service_properties stored = { .hour = { .is_enabled = true, .retention_days = 7 } }, back;
    struct arena arena;

    arena_init(&arena);
    stored = service_properties_change(&stored, &change);
    ck_assert(service_properties_decode(service_properties_encode(&stored, &arena), &arena, &back));
    ck_assert(back.hour.is_enabled && back.hour.retention_days == 7 && !back.minute.is_enabled);
    ck_assert_uint_eq(back.cors.count, 2);
    ck_assert(str_equal(back.cors.items[0].origins, items[0].origins));
    ck_assert_uint_eq(back.cors.items[0].max_age_s, 60);
    change = (struct service_change){ .sets_hour = true };
    back = service_properties_change(&back, &change);
    ck_assert(!back.hour.is_enabled && back.cors.count == 2);
    ck_assert(service_properties_decode(STR_EMPTY, &arena, &back));
    ck_assert_uint_eq(back.cors.count, 0);
    arena_cleanup(&arena);
}
END_TEST

Suite *test_cors_rules_suite(void)
{
    Suite *suite = suite_create("cors_rules");
    TCase *tcase = tcase_create("cors_rules");

    tcase_add_loop_test(tcase, the_first_rule_that_fits_is_the_rule, 0, ARRAY_LEN(requests));
    tcase_add_loop_test(tcase, headers_are_names_or_prefixes, 0, ARRAY_LEN(headers));
    tcase_add_test(tcase, a_star_alone_is_for_all_origins);
    tcase_add_test(tcase, settings_are_stored_and_changed_part_by_part);
    suite_add_tcase(suite, tcase);
    return suite;
}
