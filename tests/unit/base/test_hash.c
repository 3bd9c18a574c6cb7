/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/hash.h, against the vectors that its authors publish.
 */
#include "base/hash.h"
#include "base/macros.h"

#include <check.h>
#include <stdio.h>

static const struct hash_case {
    const char *text;
    uint64_t want;
} hash_cases[] = {
    { "", UINT64_C(0xcbf29ce484222325) },
    { "a", UINT64_C(0xaf63dc4c8601ec8c) },
    { "foobar", UINT64_C(0x85944171f73967e8) },
    { "chongo was here!\n", UINT64_C(0x46810940eff5f915) },
};

START_TEST(a_hash_is_the_published_one)
{
    const struct hash_case *c = &hash_cases[_i];

    ck_assert_uint_eq(hash_bytes(HASH_EMPTY, str_of(c->text)), c->want);
}
END_TEST

START_TEST(parts_hash_as_the_whole)
{
    uint64_t parts = hash_bytes(hash_bytes(HASH_EMPTY, str_of("foo")), str_of("bar"));

    ck_assert_uint_eq(parts, hash_bytes(HASH_EMPTY, str_of("foobar")));
}
END_TEST

START_TEST(a_number_is_eight_bytes_with_the_lowest_first)
{
    uint64_t number = hash_number(HASH_EMPTY, UINT64_C(0x0102030405060708));

    ck_assert_uint_eq(number, hash_bytes(HASH_EMPTY, STR_LITERAL("\x08\x07\x06\x05\x04\x03\x02\x01")));
}
END_TEST

START_TEST(slots_are_used_alike_and_depend_on_the_secret)
{
    enum { SLOTS = 16, TEXTS = 1600 };
    int used[SLOTS] = { 0 }, moved = 0;

    for (int i = 0; i < TEXTS; i++) {
        char text[16];
        int slot;

        snprintf(text, sizeof(text), "account%d", i);
        slot = hash_slot(1, str_of(text), SLOTS);
        used[slot]++;
        moved += hash_slot(2, str_of(text), SLOTS) != slot;
    }

    for (int i = 0; i < SLOTS; i++)
        ck_assert_int_gt(used[i], TEXTS / SLOTS / 2);
    ck_assert_int_gt(moved, TEXTS / 2);
}
END_TEST

Suite *test_hash_suite(void)
{
    Suite *suite = suite_create("hash");
    TCase *tc = tcase_create("hash");

    tcase_add_loop_test(tc, a_hash_is_the_published_one, 0, ARRAY_LEN(hash_cases));
    tcase_add_test(tc, parts_hash_as_the_whole);
    tcase_add_test(tc, a_number_is_eight_bytes_with_the_lowest_first);
    tcase_add_test(tc, slots_are_used_alike_and_depend_on_the_secret);
    suite_add_tcase(suite, tc);
    return suite;
}
