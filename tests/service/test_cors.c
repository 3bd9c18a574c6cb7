/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/connect/cors.c.
 */
#include <check.h>

#include "service/connect/cors.h"

static const struct origin_case {
    const char *name, *origins;
    bool allows_local;
    const char *origin;
    bool want;
} origin_cases[] = {
    { "a page of this machine", NULL, true, "http://localhost:8080", true },
    { "the same over IPv6", NULL, true, "https://[::1]:1", true },
    { "without a port", NULL, true, "http://127.0.0.1", true },
    { "a server beyond this machine has no default", NULL, false, "http://localhost:8080", false },
    { "a name that only begins like this machine", NULL, true, "http://localhost.example:80", false },
    { "a page of a file, or of a sandbox", NULL, true, "null", false },
    { "one of a list", "https://a.example, https://b.example:8443", false, "https://b.example:8443", true },
    { "another port", "https://a.example,https://b.example:8443", false, "https://b.example", false },
    { "a list has no default", "https://a.example", true, "http://localhost:8080", false },
    { "all", "*", false, "https://c.example", true },
};

START_TEST(origins_are_allowed_as_the_setting_says)
{
    const struct origin_case *c = &origin_cases[_i];
    const struct cors cors = { .origins = c->origins, .allows_local = c->allows_local };

    ck_assert_msg(cors_allows(&cors, str_of(c->origin)) == c->want, "%s", c->name);
}
END_TEST

static const struct host_case {
    const char *origins, *host;
    bool want;
} host_cases[] = {
    { NULL, "localhost", true },
    { NULL, "localhost:10002", true },
    { NULL, "127.0.0.1:1", true },
    { NULL, "127.0.0.2", true },
    { NULL, "[::1]", true },
    { NULL, "[::1]:10002", true },
    { NULL, "", true },
    { NULL, "devstoreaccount1.localhost:10002", true },
    { NULL, "evil.example", false },
    { NULL, "localhost.:1", false },
    { NULL, "evillocalhost", false },
    { NULL, "evil.example:10002", false },
    { NULL, "localhost.evil.example", false },
    { NULL, "127.0.0.1.evil.example", false },
    { "https://a.example:8443, http://b.example", "A.example:8443", true },
    { "https://a.example:8443, http://b.example", "b.example", true },
    { "https://a.example:8443, http://b.example", "a.example", false },
    { "*", "c.example", true },
};

START_TEST(a_server_without_credentials_answers_under_names_of_its_machine)
{
    const struct host_case *c = &host_cases[_i];
    const struct cors strict = { .origins = c->origins, .checks_host = true }, lax = { 0 };

    ck_assert_msg(cors_allows_host(&strict, str_of(c->host)) == c->want, "%s", c->host);
    ck_assert(cors_allows_host(&lax, str_of(c->host)));
}
END_TEST

START_TEST(a_setting_is_a_list_of_origins)
{
    static const char *const good[] = { "*", "https://a.example", "http://[::1]:80, https://b.example:8443" };
    static const char *const bad[] = { "", "a.example", "https://", "https://a.example/", "*,*" };

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ck_assert_msg(cors_origins_are_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(!cors_origins_are_valid(bad[i]), "%s", bad[i]);
}
END_TEST

Suite *test_cors_suite(void)
{
    Suite *suite = suite_create("cors");
    TCase *tc = tcase_create("cors");

    tcase_add_loop_test(tc, origins_are_allowed_as_the_setting_says, 0, ARRAY_LEN(origin_cases));
    tcase_add_loop_test(
        tc, a_server_without_credentials_answers_under_names_of_its_machine, 0, ARRAY_LEN(host_cases));
    tcase_add_test(tc, a_setting_is_a_list_of_origins);
    suite_add_tcase(suite, tc);
    return suite;
}
