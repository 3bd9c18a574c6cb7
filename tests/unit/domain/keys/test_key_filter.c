/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/keys/key_filter.c and domain/keys/key_axis.c: sets of keys, compared by which of a few texts are
 * their members.
 */
#include "domain/keys/key_filter.h"

#include <check.h>

#include "base/macros.h"
#include "domain/keys/key_axis.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

START_TEST(a_range_holds_what_lies_in_both_intervals)
{
    struct key_filter filter = {
        .partition = { .has_low = true, .low = STR_LITERAL("p"), .has_high = true, .high = STR_LITERAL("p") },
        .row = { .has_low = true,
            .low_open = true,
            .low = STR_LITERAL("a"),
            .has_high = true,
            .high = STR_LITERAL("c") },
    };
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("a") };

    ck_assert(interval_is_point(&filter.partition));
    ck_assert(!interval_is_point(&filter.row));
    ck_assert(!key_filter_matches(&filter, &key));
    key.row = STR_LITERAL("a!");
    ck_assert(key_filter_matches(&filter, &key));
    key.row = STR_LITERAL("c");
    ck_assert(key_filter_matches(&filter, &key));
    key.row = STR_LITERAL("c!");
    ck_assert(!key_filter_matches(&filter, &key));
    key = (struct entity_key){ STR_LITERAL("q"), STR_LITERAL("b") };
    ck_assert(!key_filter_matches(&filter, &key));
    filter.nothing = true;
    key = (struct entity_key){ STR_LITERAL("p"), STR_LITERAL("b") };
    ck_assert(!key_filter_matches(&filter, &key));
}
END_TEST

/* ---- axes ---- */

static const char *const texts[] = { "", "a", "ab", "b", "ba", "c" };
static const char *const bounds[] = { "", "ab", "b" };

enum { BOUNDS = ARRAY_LEN(bounds) + 1, AXES = BOUNDS * BOUNDS * 4 };

/* The i-th of all intervals between the bounds, with and without bounds, open and closed. */
static struct key_axis an_axis(size_t i)
{
    size_t low = i / 4 % BOUNDS, high = i / 4 / BOUNDS;
    struct interval interval = { .has_low = low > 0, .has_high = high > 0 };

    if (low > 0) {
        interval.low = str_of(bounds[low - 1]);
        interval.low_open = i & 1;
    }
    if (high > 0) {
        interval.high = str_of(bounds[high - 1]);
        interval.high_open = i >> 1 & 1;
    }
    return key_axis_of(interval, &arena);
}

static void check_pair(const struct key_axis *a, const struct key_axis *b)
{
    bool exact;
    struct key_axis both = key_axis_intersect(a, b, &arena), any = key_axis_unite(a, b, &arena, &exact);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct str text = str_of(texts[i]);
        bool in_a = key_axis_contains(a, text), in_b = key_axis_contains(b, text);

        ck_assert(key_axis_contains(&both, text) == (in_a && in_b));
        ck_assert(key_axis_contains(&any, text) || !(in_a || in_b));
        if (exact)
            ck_assert(key_axis_contains(&any, text) == (in_a || in_b));
    }
    if (key_axis_equal(a, b))
        ck_assert(key_axis_equal(&both, a));
}

START_TEST(sets_are_intersected_and_united)
{
    for (size_t i = 0; i < AXES; i++)
        for (size_t k = 0; k < AXES; k++) {
            struct key_axis a = an_axis(i), b = an_axis(k), c;
            bool exact;

            check_pair(&a, &b);
            c = key_axis_unite(&a, &b, &arena, &exact);
            check_pair(&a, &c);
        }
}
END_TEST

START_TEST(a_set_of_one_value_or_none_is_finite)
{
    struct key_axis none = key_axis_of((struct interval){ .has_high = true, .high_open = true }, &arena),
                    empty_text = key_axis_of((struct interval){ .has_high = true }, &arena),
                    all = key_axis_of((struct interval){ .has_low = true }, &arena);

    ck_assert(key_axis_is_empty(&none));
    ck_assert(empty_text.is_finite && empty_text.count == 1 && empty_text.values[0].len == 0);
    ck_assert(key_axis_is_all(&all));
    all = key_axis_all();
    ck_assert(key_axis_is_all(&all) && !key_axis_is_all(&none) && !key_axis_is_all(&empty_text));
}
END_TEST

Suite *test_key_filter_suite(void)
{
    Suite *suite = suite_create("key_filter");
    TCase *tc = tcase_create("key_filter");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_range_holds_what_lies_in_both_intervals);
    tcase_add_test(tc, sets_are_intersected_and_united);
    tcase_add_test(tc, a_set_of_one_value_or_none_is_finite);
    suite_add_tcase(suite, tc);
    return suite;
}
