/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/local_address.h: to which addresses a token goes in plain text, and which may be served without
 * authentication.
 */
#include "base/local_address.h"
#include "base/macros.h"

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
    { "127.0.0.1.example.org:50051", false },
    { "127.1:50051", false }, /* what a resolver makes of it is not known here */
    { "127.0.0.256:50051", false },
    { "[::1].example.org:50051", false },
    { "128.0.0.1:50051", false },
    { "localhost.example.org:50051", false },
    { "example.org:127", false },
};

START_TEST(only_this_machine_is_local)
{
    const struct address_case *c = &address_cases[_i];

    ck_assert_msg(local_address_is(c->address) == c->is_local, "%s", c->address);
}
END_TEST

Suite *test_local_address_suite(void)
{
    Suite *suite = suite_create("local_address");
    TCase *tc = tcase_create("local_address");

    tcase_add_loop_test(tc, only_this_machine_is_local, 0, ARRAY_LEN(address_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
