/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/service_config.c: the defaults.
 */
#include "service/service_config.h"

#include <check.h>

#include "base/local_address.h"

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
    ck_assert(local_address_is(config.listen));
    buf_cleanup(&problems);
}
END_TEST

Suite *test_service_config_suite(void)
{
    Suite *suite = suite_create("service_config");
    TCase *tc = tcase_create("service_config");

    tcase_add_test(tc, authentication_is_required_unless_told_otherwise);
    tcase_add_test(tc, the_defaults_are_usable);
    suite_add_tcase(suite, tc);
    return suite;
}
