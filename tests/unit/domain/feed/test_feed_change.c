/* SPDX-License-Identifier: Apache-2.0 */
/* test_feed_change.c - positions in a change feed, as bytes and compared with the changes that are still stored. */
#include "domain/feed/feed_change.h"

#include <check.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

START_TEST(a_place_comes_back)
{
    const struct feed_position position = { .feed_id = 300, .epoch = 0, .number = INT64_MAX };
    struct feed_position back = { .table_id = 7 };

    ck_assert(feed_position_decode(feed_position_encode(&position, &arena), &back));
    ck_assert_int_eq(back.table_id, 7);
    ck_assert_int_eq(back.feed_id, 300);
    ck_assert_int_eq(back.epoch, 0);
    ck_assert_int_eq(back.number, INT64_MAX);
}
END_TEST

START_TEST(other_bytes_are_no_position)
{
    const struct feed_position position = { .feed_id = 300, .epoch = 1, .number = 70000 };
    struct str bytes = feed_position_encode(&position, &arena),
               longer = arena_format(&arena, "%.*s!", STR_ARG(bytes));
    struct feed_position out;

    for (size_t len = 0; len < bytes.len; len++)
        ck_assert(!feed_position_decode(str_of_bytes(bytes.data, len), &out));
    ck_assert(!feed_position_decode(longer, &out));
}
END_TEST

static const struct check_case {
    struct feed_position from;
    bool good;
} check_cases[] = {
    { { 1, 2, 3, 10 }, true },
    { { 1, 2, 3, 11 }, true },
    { { 1, 2, 3, 12 }, false }, /* ahead of the newest change */
    { { 1, 2, 3, 9 }, false },
    { { 9, 2, 3, 10 }, false },
    { { 1, 9, 3, 10 }, false },
    { { 1, 2, 2, 10 }, false },
    { { 1, 2, 4, 10 }, false },
};

START_TEST(what_is_gone_asks_for_a_resync)
{
    const struct check_case *c = &check_cases[_i];
    const struct feed_position now = { 1, 2, 3, 10 };
    struct error err = { 0 };
    enum status status = feed_position_check(&c->from, &now, 11, &err);

    ck_assert_int_eq(status, c->good ? STATUS_OK : STATUS_PRECONDITION);
    if (!c->good)
        ck_assert_str_eq(err.reason, "RESYNC_REQUIRED");
}
END_TEST

Suite *test_feed_change_suite(void);

Suite *test_feed_change_suite(void)
{
    Suite *suite = suite_create("change");
    TCase *tc = tcase_create("change");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_place_comes_back);
    tcase_add_test(tc, other_bytes_are_no_position);
    tcase_add_loop_test(tc, what_is_gone_asks_for_a_resync, 0, ARRAY_LEN(check_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
