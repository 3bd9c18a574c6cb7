/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/service_config.c: which addresses may be served without authentication.
 */
#include "service/service_config.h"

#include <check.h>

static const struct address_case {
    const char *address;
    bool is_local;
} address_cases[] = {
    { "127.0.0.1:50051", true },
    { "127.8.9.1:0", true },
    { "localhost:1", true },
    { "[::1]:50051", true },
    { "unix:/run/tavola.sock", true },
    { "0.0.0.0:50051", false },
    { "[::]:50051", false },
    { "10.0.0.1:50051", false },
    { "127.example.org:50051", false },
    { "localhost.example.org:50051", false },
    { "example.org:127", false },
};

START_TEST(only_this_machine_is_local)
{
    const struct address_case *c = &address_cases[_i];

    ck_assert_msg(service_config_is_local(c->address) == c->is_local, "%s", c->address);
}
END_TEST

START_TEST(authentication_is_required_unless_told_otherwise)
{
    char *const environment[] = { "TAVOLA_POSTGRES=x", "TAVOLA_REDIS=unix:/r", NULL };
    struct service_config config;
    struct buf problems;

    buf_init(&problems, NULL);
    ck_assert_uint_eq(config_load(&service_program, environment, &config, &problems), 0);
    ck_assert_int_eq(config.authentication, AUTHENTICATION_REQUIRED);
    buf_cleanup(&problems);
}
END_TEST

START_TEST(the_defaults_are_usable)
{
    char *const environment[] = { "TAVOLA_POSTGRES=x", "TAVOLA_REDIS=unix:/r", "TAVOLA_AUTHENTICATION=none",
        NULL };
    struct service_config config;
    struct buf problems;

    buf_init(&problems, NULL);
    ck_assert_uint_eq(config_load(&service_program, environment, &config, &problems), 0);
    ck_assert(service_config_is_local(config.listen));
    buf_cleanup(&problems);
}
END_TEST

Suite *test_service_config_suite(void)
{
    Suite *suite = suite_create("service_config");
    TCase *tc = tcase_create("service_config");

    tcase_add_loop_test(tc, only_this_machine_is_local, 0, ARRAY_LEN(address_cases));
    tcase_add_test(tc, authentication_is_required_unless_told_otherwise);
    tcase_add_test(tc, the_defaults_are_usable);
    suite_add_tcase(suite, tc);
    return suite;
}
