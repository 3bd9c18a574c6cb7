/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "store/jobs/turn.h"

static struct turn turn;
static size_t number;
static struct turn_position position;

static void begin(enum crew_pace pace)
{
    const struct turn_position beginning = { .has_from = false };

    turn_init(&turn, &beginning, pace);
}

static struct entity_key key(const char *row)
{
    return (struct entity_key){ STR_LITERAL("p"), str_of(row) };
}

START_TEST(a_chunk_begins_where_the_one_before_ends)
{
    struct entity_key end = key("b");

    begin(CREW_TOGETHER);
    ck_assert(turn_take(&turn, &number, &position));
    ck_assert_uint_eq(number, 0);
    ck_assert(!position.has_from);
    turn_pass(&turn, &end);
    ck_assert(turn_take(&turn, &number, &position));
    ck_assert_uint_eq(number, 1);
    ck_assert(position.has_from);
    ck_assert_int_eq(entity_key_compare(&position.from, &end), 0);
    turn_cleanup(&turn);
}
END_TEST

START_TEST(a_turn_that_was_stopped_has_no_other_chunk)
{
    begin(CREW_TOGETHER);
    ck_assert(turn_take(&turn, &number, &position));
    turn_stop(&turn);
    ck_assert(!turn_take(&turn, &number, &position));
    turn_cleanup(&turn);
}
END_TEST

START_TEST(a_step_has_one_chunk)
{
    struct entity_key end = key("b");

    begin(CREW_STEP);
    ck_assert(turn_take(&turn, &number, &position));
    turn_pass(&turn, &end);
    ck_assert(!turn_take(&turn, &number, &position));
    turn_cleanup(&turn);
}
END_TEST

START_TEST(a_turn_has_a_bounded_number_of_chunks)
{
    struct entity_key end = key("b");
    size_t chunks = 0;

    begin(CREW_ALONE);
    turn.end_us = INT64_MAX;
    for (; turn_take(&turn, &number, &position); chunks++)
        turn_pass(&turn, &end);
    ck_assert_uint_eq(chunks, TURN_CHUNKS);
    turn_cleanup(&turn);
}
END_TEST

static void *take_one(void *taken)
{
    *(bool *)taken = turn_take(&turn, &number, &position);
    return NULL;
}

/* The thread that waits for the position is woken by either. */
START_TEST(a_waiting_thread_learns_where_the_chunk_ends_or_that_it_was_the_last)
{
    struct entity_key end = key("b");
    bool is_taken = _i > 0;
    pthread_t thread;

    begin(CREW_TOGETHER);
    ck_assert(turn_take(&turn, &number, &position));
    ck_assert_int_eq(pthread_create(&thread, NULL, take_one, &is_taken), 0);
    if (_i == 0)
        turn_pass(&turn, &end);
    else
        turn_stop(&turn);
    pthread_join(thread, NULL);
    ck_assert(is_taken == (_i == 0));
    turn_cleanup(&turn);
}
END_TEST

static void *await_second(void *came)
{
    *(bool *)came = turn_await(&turn, 1);
    return NULL;
}

START_TEST(a_chunk_that_awaits_its_turn_learns_how_the_one_before_ended)
{
    bool has_failed = _i > 0, came = has_failed;
    pthread_t thread;

    begin(CREW_TOGETHER);
    ck_assert(turn_await(&turn, 0));
    ck_assert_int_eq(pthread_create(&thread, NULL, await_second, &came), 0);
    turn_end(&turn, has_failed);
    pthread_join(thread, NULL);
    ck_assert(came == !has_failed);
    turn_cleanup(&turn);
}
END_TEST

Suite *test_turn_suite(void);
Suite *test_turn_suite(void)
{
    Suite *suite = suite_create("turn");
    TCase *tc = tcase_create("turn");

    tcase_add_test(tc, a_chunk_begins_where_the_one_before_ends);
    tcase_add_test(tc, a_turn_that_was_stopped_has_no_other_chunk);
    tcase_add_test(tc, a_step_has_one_chunk);
    tcase_add_test(tc, a_turn_has_a_bounded_number_of_chunks);
    tcase_add_loop_test(tc, a_waiting_thread_learns_where_the_chunk_ends_or_that_it_was_the_last, 0, 2);
    tcase_add_loop_test(tc, a_chunk_that_awaits_its_turn_learns_how_the_one_before_ended, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}
