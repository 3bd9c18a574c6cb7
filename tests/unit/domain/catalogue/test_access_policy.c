/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/catalogue/access_policy.c.
 */
#include "domain/catalogue/access_policy.h"

#include <check.h>

#include "domain/limits.h"
#include "tests/support/golden.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct access_policy some_policies[] = {
    { STR_LITERAL("readers"), 300, INT64_MAX, 5 },
    { STR_LITERAL("r"), 0, 0, 0 },
};

START_TEST(stored_bytes_stay_as_they_are)
{
    const struct access_policies policies = { some_policies, 2 };

    require_bytes(
        access_policies_encode(&policies, &arena), "0772656164657273ac02ffffffffffffffff7f050172000000");
    require_bytes(access_policies_encode(&(struct access_policies){ 0 }, &arena), "");
}
END_TEST

START_TEST(policies_come_back)
{
    const struct access_policies policies = { some_policies, 2 };
    struct access_policies back;

    ck_assert(access_policies_decode(access_policies_encode(&policies, &arena), &arena, &back));
    ck_assert_uint_eq(back.count, 2);
    for (size_t i = 0; i < back.count; i++) {
        ck_assert(str_equal(back.items[i].id, some_policies[i].id));
        ck_assert_int_eq(back.items[i].start, some_policies[i].start);
        ck_assert_int_eq(back.items[i].expiry, some_policies[i].expiry);
        ck_assert_uint_eq(back.items[i].permissions, some_policies[i].permissions);
    }
    ck_assert(access_policies_decode(STR_EMPTY, &arena, &back));
    ck_assert_uint_eq(back.count, 0);
}
END_TEST

START_TEST(foreign_bytes_are_refused)
{
    const struct access_policies policies = { some_policies, 1 };
    struct str bytes = access_policies_encode(&policies, &arena);
    struct access_policy many[LIMIT_POLICIES_PER_TABLE + 1];
    struct access_policies back;

    for (size_t len = 1; len < bytes.len; len++)
        ck_assert(!access_policies_decode(str_of_bytes(bytes.data, len), &arena, &back));
    ck_assert(!access_policies_decode(STR_LITERAL("\x09"), &arena, &back));
    for (size_t i = 0; i < LIMIT_POLICIES_PER_TABLE + 1; i++)
        many[i] = some_policies[1];
    ck_assert(!access_policies_decode(
        access_policies_encode(&(struct access_policies){ many, LIMIT_POLICIES_PER_TABLE + 1 }, &arena),
        &arena, &back));
}
END_TEST

Suite *test_access_policy_suite(void)
{
    Suite *suite = suite_create("access_policy");
    TCase *tc = tcase_create("access_policy");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, stored_bytes_stay_as_they_are);
    tcase_add_test(tc, policies_come_back);
    tcase_add_test(tc, foreign_bytes_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
