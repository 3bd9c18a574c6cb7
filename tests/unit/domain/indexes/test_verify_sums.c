/* SPDX-License-Identifier: Apache-2.0 */
/* Sums agree in any order of additions; a missing, additional or different entry makes its source a suspect. */
#include <check.h>

#include "base/macros.h"
#include "domain/indexes/verify_sums.h"

enum { KEYS = 20000 };

static struct arena arena;
static struct verify_sums *sums;

static void setup(void)
{
    arena_init(&arena);
    sums = ARENA_NEW(&arena, struct verify_sums);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct entity_key key(const char *prefix, int number)
{
    return (struct entity_key){ arena_format(&arena, "%s%d", prefix, number / 100),
        arena_format(&arena, "r%d", number) };
}

static void fill(void)
{
    for (int i = 0; i < KEYS; i++) {
        struct entity_key source = key("p", i), entry = key("city", i);

        verify_sums_add(sums, &source, &entry, (uint64_t)i);
    }
    for (int i = KEYS - 1; i >= 0; i--) {
        struct entity_key source = key("p", i), entry = key("city", i);

        verify_sums_subtract(sums, &source, &entry, (uint64_t)i);
    }
}

static int suspects(void)
{
    int count = 0;

    for (int i = 0; i < KEYS; i++) {
        struct entity_key source = key("p", i);

        count += verify_sums_is_suspect(sums, &source);
    }
    return count;
}

START_TEST(equal_sets_agree_in_any_order)
{
    fill();
    ck_assert(verify_sums_agree(sums));
    ck_assert_int_eq(suspects(), 0);
}
END_TEST

/* Each of these leaves one difference, with its source among few suspects. */
START_TEST(a_difference_makes_its_source_a_suspect)
{
    struct entity_key source = key("p", 77), entry = key("city", 77), other = key("city", 78);

    fill();
    switch (_i) {
    case 0: /* missing */
        verify_sums_add(sums, &source, &entry, 77);
        break;
    case 1: /* an additional entry */
        verify_sums_subtract(sums, &source, &other, 77);
        break;
    case 2: /* different content */
        verify_sums_add(sums, &source, &entry, 77);
        verify_sums_subtract(sums, &source, &entry, 78);
        break;
    case 3: /* at another key */
        verify_sums_add(sums, &source, &entry, 77);
        verify_sums_subtract(sums, &source, &other, 77);
        break;
    default:
        verify_sums_mark(sums, &source);
    }
    ck_assert(!verify_sums_agree(sums));
    ck_assert(verify_sums_is_suspect(sums, &source));
    ck_assert_int_lt(suspects(), KEYS / 100);
}
END_TEST

/* An entry of the other source instead of its own: the sums do not cancel out. */
START_TEST(entries_of_two_sources_that_are_exchanged_are_seen)
{
    struct entity_key a = key("p", 1), b = key("p", 2), entry_a = key("city", 1), entry_b = key("city", 2);

    verify_sums_add(sums, &a, &entry_a, 1);
    verify_sums_add(sums, &b, &entry_b, 1);
    verify_sums_subtract(sums, &a, &entry_b, 1);
    verify_sums_subtract(sums, &b, &entry_a, 1);
    ck_assert(verify_sums_is_suspect(sums, &a));
    ck_assert(verify_sums_is_suspect(sums, &b));
}
END_TEST

START_TEST(sums_are_stored_and_read_again)
{
    struct verify_sums *again = ARENA_NEW(&arena, struct verify_sums);
    struct entity_key source = key("p", 5);

    ck_assert_uint_eq(verify_sums_encode(sums, &arena).len, 0);
    ck_assert(verify_sums_decode(STR_EMPTY, again));
    ck_assert(verify_sums_agree(again));
    verify_sums_mark(sums, &source);
    ck_assert(verify_sums_decode(verify_sums_encode(sums, &arena), again));
    ck_assert_mem_eq(sums, again, sizeof(*sums));
    ck_assert(!verify_sums_decode(STR_LITERAL("short"), again));
}
END_TEST

Suite *test_verify_sums_suite(void)
{
    Suite *suite = suite_create("verify_sums");
    TCase *tc = tcase_create("verify_sums");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, equal_sets_agree_in_any_order);
    tcase_add_loop_test(tc, a_difference_makes_its_source_a_suspect, 0, 5);
    tcase_add_test(tc, entries_of_two_sources_that_are_exchanged_are_seen);
    tcase_add_test(tc, sums_are_stored_and_read_again);
    suite_add_tcase(suite, tc);
    return suite;
}
