/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fair_queue.c - turns between accounts; no database.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "domain/operations/operation_times.h"
#include "store/lanes/fair_queue.h"

enum { MAX_WAITING = 100, CREDIT = 4, ROOM = 400, ACCOUNTS = 5, STEPS = 50000 };

static struct fair_queue queue;
static struct operation operations[ROOM];
static size_t made;

static void setup(void)
{
    fair_queue_init(&queue, MAX_WAITING, CREDIT, 0);
    made = 0;
}

static struct operation *add(const char *account)
{
    struct operation *operation = &operations[made++ % ROOM];

    operation->account = str_of(account);
    return fair_queue_add(&queue, operation, 0) ? operation : NULL;
}

static void add_many(const char *account, int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_ptr_nonnull(add(account));
}

/* The first letters of the accounts, in the order in which their operations are taken. */
static const char *taken(int64_t cost)
{
    static char order[ROOM + 1]; /* of the last call */
    size_t len = 0;
    const struct operation *next;

    while ((next = fair_queue_next(&queue, 0))) {
        order[len++] = next->account.data[0];
        fair_queue_take(&queue, fair_queue_next(&queue, 0), cost);
    }
    order[len] = '\0';
    ck_assert_int_eq(fair_queue_count(&queue), 0);
    return order;
}

START_TEST(an_accounts_operations_leave_in_the_order_in_which_they_came)
{
    struct operation *first = add("a"), *second = add("a"), *third = add("a");

    ck_assert_int_eq(fair_queue_count(&queue), 3);
    ck_assert_ptr_eq(fair_queue_next(&queue, 0), first);
    ck_assert_ptr_eq(fair_queue_next(&queue, 0), first);
    fair_queue_take(&queue, fair_queue_next(&queue, 0), 1);
    ck_assert_ptr_eq(fair_queue_next(&queue, 0), second);
    fair_queue_take(&queue, fair_queue_next(&queue, 0), 100);
    ck_assert_ptr_eq(fair_queue_next(&queue, 0), third);
    fair_queue_take(&queue, fair_queue_next(&queue, 0), 1);
    ck_assert_ptr_null(fair_queue_next(&queue, 0));
}
END_TEST

START_TEST(accounts_take_turns_of_equal_cost)
{
    add_many("a", 10);
    add_many("b", 3);
    add_many("c", 6);
    ck_assert_str_eq(taken(1), "aaaabbbccccaaaaccaa");
}
END_TEST

START_TEST(a_turn_may_be_overdrawn_and_the_next_ones_pay)
{
    add_many("a", 4);
    add_many("b", 4);
    ck_assert_int_eq(fair_queue_next(&queue, 0)->account.data[0], 'a');
    fair_queue_take(&queue, fair_queue_next(&queue, 0), 3 * CREDIT);
    ck_assert_str_eq(taken(CREDIT), "bbbabaa");
}
END_TEST

START_TEST(what_an_operation_turned_out_to_cost_is_paid_later)
{
    add_many("a", 2);
    ck_assert_str_eq(taken(CREDIT), "aa");
    fair_queue_charge(&queue, STR_LITERAL("a"), 2 * CREDIT);
    add_many("a", 2);
    add_many("b", 4);
    ck_assert_str_eq(taken(CREDIT), "bbabab");
}
END_TEST

START_TEST(no_debt_shuts_an_account_out_for_long)
{
    add_many("a", 1);
    add_many("b", 90);
    ck_assert_ptr_nonnull(fair_queue_next(&queue, 0));
    fair_queue_charge(&queue, STR_LITERAL("a"), INT64_C(1) << 40);
    ck_assert_uint_eq(strspn(taken(CREDIT), "b"), 65);
}
END_TEST

START_TEST(an_idle_account_saves_up_no_turns)
{
    for (int i = 0; i < 10; i++) {
        add_many("a", 1);
        ck_assert_str_eq(taken(1), "a");
    }
    add_many("a", 12);
    add_many("b", 1);
    ck_assert_str_eq(taken(1), "aaaabaaaaaaaa");
}
END_TEST

/* The account whose operation is taken, and which then runs; 0: none may be taken. */
static char take_and_begin(int *running)
{
    struct operation *next = fair_queue_next(&queue, 0);

    ck_assert_int_eq(next != NULL, fair_queue_has_next(&queue));
    if (!next)
        return 0;
    fair_queue_take(&queue, next, CREDIT);
    *running = fair_queue_begin(&queue, next->account);
    return next->account.data[0];
}

START_TEST(so_many_operations_of_an_account_run_and_no_more)
{
    int running[6];

    fair_queue_init(&queue, MAX_WAITING, CREDIT, 2);
    add_many("a", 5);
    ck_assert_int_eq(take_and_begin(&running[0]), 'a');
    ck_assert_int_eq(take_and_begin(&running[1]), 'a');
    ck_assert_int_eq(take_and_begin(&running[2]), 0);
    add_many("b", 3);
    ck_assert_int_eq(take_and_begin(&running[2]), 'b');
    ck_assert_int_eq(take_and_begin(&running[3]), 'b');
    ck_assert_int_eq(take_and_begin(&running[4]), 0);
    fair_queue_end(&queue, running[1]);
    ck_assert_int_eq(take_and_begin(&running[1]), 'a');
    fair_queue_end(&queue, running[2]);
    ck_assert_int_eq(take_and_begin(&running[2]), 'b');
    ck_assert_int_eq(take_and_begin(&running[4]), 0);
    ck_assert_int_eq(fair_queue_count(&queue), 2);
    fair_queue_let_all_run(&queue);
    ck_assert_str_eq(taken(1), "aa");
}
END_TEST

/* Otherwise it would be served first, by as many turns as it was passed over, when it may run again. */
START_TEST(an_account_that_is_passed_over_saves_up_no_turns)
{
    int running, others;

    fair_queue_init(&queue, MAX_WAITING, CREDIT, 1);
    add_many("a", 3);
    ck_assert_int_eq(take_and_begin(&running), 'a');
    add_many("b", 20);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(take_and_begin(&others), 'b');
        fair_queue_end(&queue, others);
    }
    fair_queue_end(&queue, running);
    ck_assert_ptr_null(strstr(taken(CREDIT), "aa"));
}
END_TEST

START_TEST(an_account_that_fills_its_share_leaves_room_for_others)
{
    add_many("a", MAX_WAITING);
    ck_assert_ptr_null(add("a"));
    ck_assert_int_eq(fair_queue_count(&queue), MAX_WAITING);
    add_many("b", MAX_WAITING / 2);
    ck_assert_ptr_null(add("b"));
    add_many("c", 1);
    ck_assert_ptr_nonnull(fair_queue_next(&queue, 0));
    fair_queue_take(&queue, fair_queue_next(&queue, 0), 1);
    ck_assert_ptr_null(add("a"));
}
END_TEST

/*
 * Accounts that always have operations waiting, with random costs, are served alike, whatever the operations of one
 * of them cost.
 */
START_TEST(at_random_all_that_wait_get_the_same)
{
    static const char *const accounts[ACCOUNTS] = { "a", "b", "c", "d", "e" };
    int64_t served[ACCOUNTS] = { 0 }, min = INT64_MAX, max = 0;

    srand(1);
    for (int i = 0; i < ACCOUNTS; i++)
        add_many(accounts[i], 3);
    for (int i = 0; i < STEPS; i++) {
        const struct operation *next = fair_queue_next(&queue, 0);
        int account = next->account.data[0] - 'a';
        int64_t cost = account == 0 ? 40 : 1 + rand() % (1 + account * 3);

        fair_queue_take(&queue, fair_queue_next(&queue, 0), cost);
        served[account] += cost;
        add_many(accounts[account], 1);
        if (queue.flows[fair_shares_slot(&queue.shares, next->account)].credit > CREDIT)
            ck_abort_msg("saved up");
    }
    for (int i = 0; i < ACCOUNTS; i++) {
        min = served[i] < min ? served[i] : min;
        max = served[i] > max ? served[i] : max;
    }
    ck_assert_msg(max - min <= 2 * (40 + CREDIT), "%lld to %lld", (long long)min, (long long)max);
}
END_TEST

/* ---- overload: the queue has not been empty for long ---- */

/* Operations that arrive now, by the clock, each in the arena of the test. */
static struct operation *arrive(struct arena *arena, int64_t *now_us)
{
    struct operation *operation = &operations[made++ % ROOM];

    *operation = (struct operation){ .account = STR_LITERAL("a"), .arena = arena, .deadline_us = INT64_MAX };
    operation_times_begin(operation);
    *now_us = operation_times_arrived_us(operation);
    ck_assert(fair_queue_add(&queue, operation, *now_us));
    return operation;
}

static struct operation *take_at(int64_t now_us)
{
    struct operation *next = fair_queue_next(&queue, now_us);

    fair_queue_take(&queue, next, 1);
    return next;
}

START_TEST(in_an_overload_the_newest_comes_first)
{
    ARENA_SCOPE arena = { 0 };
    int64_t now_us, ignored;
    struct operation *first = arrive(&arena, &now_us), *second = arrive(&arena, &ignored),
                     *third = arrive(&arena, &ignored), *fourth;

    ck_assert_ptr_eq(take_at(now_us + FAIR_QUEUE_MAX_BUSY_US), first);
    now_us += FAIR_QUEUE_MAX_BUSY_US + 1;
    ck_assert_ptr_eq(take_at(now_us), third);
    fourth = add("a");
    ck_assert_ptr_eq(take_at(now_us), fourth);
    ck_assert_ptr_eq(take_at(now_us), second);
    ck_assert_ptr_null(fair_queue_next(&queue, now_us));
    first = arrive(&arena, &now_us); /* the overload is over */
    second = arrive(&arena, &ignored);
    ck_assert_ptr_eq(take_at(now_us), first);
    ck_assert_ptr_eq(take_at(now_us), second);
}
END_TEST

START_TEST(a_queue_that_is_never_empty_but_short_keeps_its_order)
{
    ARENA_SCOPE arena = { 0 };
    int64_t now_us, begin_us, ignored;
    const struct operation *expected[2] = { arrive(&arena, &begin_us), arrive(&arena, &ignored) };

    now_us = begin_us;
    for (int i = 0; i < 1000; i++) { /* two callers, each with one operation of a millisecond */
        ck_assert_ptr_eq(take_at(now_us), expected[i % 2]);
        expected[i % 2] = arrive(&arena, &ignored);
        now_us += 1000;
    }
    ck_assert_int_gt(now_us - begin_us, FAIR_QUEUE_MAX_BUSY_US);
    add_many("a", MAX_WAITING / 2); /* as many as are taken in FAIR_QUEUE_MAX_DELAY_US */
    ck_assert_ptr_ne(fair_queue_next(&queue, now_us), expected[0]);
}
END_TEST

START_TEST(an_operation_that_has_waited_long_is_refused_shortly_before_its_deadline)
{
    ARENA_SCOPE arena = { 0 };
    int64_t now_us, ignored, life_us = 8 * FAIR_QUEUE_MAX_BUSY_US;
    struct operation *hopeless = arrive(&arena, &now_us), *brief = arrive(&arena, &ignored);

    hopeless->deadline_us = now_us + life_us;
    now_us += life_us * FAIR_QUEUE_LAST_FRACTION / (FAIR_QUEUE_LAST_FRACTION + 1);
    ck_assert_ptr_null(fair_queue_take_overdue(&queue, now_us - 1000));
    ck_assert_ptr_eq(fair_queue_take_overdue(&queue, now_us + 1000), hopeless);

    now_us = operation_times_arrived_us(brief) + FAIR_QUEUE_MAX_BUSY_US;
    brief->deadline_us = now_us + 1;
    ck_assert_ptr_null(fair_queue_take_overdue(&queue, now_us));
}
END_TEST

START_TEST(the_oldest_is_overdue_when_it_was_cancelled_or_is_late_or_has_waited_too_long)
{
    ARENA_SCOPE arena = { 0 };
    int64_t now_us, ignored;
    struct operation *cancelled = arrive(&arena, &now_us), *late = arrive(&arena, &ignored),
                     *patient = arrive(&arena, &ignored), *last = arrive(&arena, &ignored);
    int64_t too_long_us = operation_times_arrived_us(patient) + FAIR_QUEUE_MAX_WAIT_US + 1;

    ck_assert_ptr_null(fair_queue_take_overdue(&queue, now_us));
    atomic_store(&cancelled->cancelled, true);
    ck_assert_ptr_eq(fair_queue_take_overdue(&queue, now_us), cancelled);
    ck_assert_ptr_null(fair_queue_take_overdue(&queue, now_us));
    late->deadline_us = now_us + 1;
    ck_assert_ptr_eq(fair_queue_take_overdue(&queue, now_us + 1), late);
    ck_assert_ptr_null(fair_queue_take_overdue(&queue, too_long_us - 1));
    ck_assert_ptr_eq(fair_queue_take_overdue(&queue, too_long_us), patient);
    ck_assert(fair_queue_waited_too_long(patient, too_long_us));
    ck_assert_ptr_eq(take_at(now_us), last);
    ck_assert_ptr_null(fair_queue_take_overdue(&queue, INT64_MAX));
}
END_TEST

Suite *test_fair_queue_suite(void)
{
    Suite *suite = suite_create("fair_queue");
    TCase *tc = tcase_create("fair_queue");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, an_accounts_operations_leave_in_the_order_in_which_they_came);
    tcase_add_test(tc, accounts_take_turns_of_equal_cost);
    tcase_add_test(tc, a_turn_may_be_overdrawn_and_the_next_ones_pay);
    tcase_add_test(tc, what_an_operation_turned_out_to_cost_is_paid_later);
    tcase_add_test(tc, no_debt_shuts_an_account_out_for_long);
    tcase_add_test(tc, an_idle_account_saves_up_no_turns);
    tcase_add_test(tc, so_many_operations_of_an_account_run_and_no_more);
    tcase_add_test(tc, an_account_that_is_passed_over_saves_up_no_turns);
    tcase_add_test(tc, an_account_that_fills_its_share_leaves_room_for_others);
    tcase_add_test(tc, at_random_all_that_wait_get_the_same);
    tcase_add_test(tc, in_an_overload_the_newest_comes_first);
    tcase_add_test(tc, a_queue_that_is_never_empty_but_short_keeps_its_order);
    tcase_add_test(tc, an_operation_that_has_waited_long_is_refused_shortly_before_its_deadline);
    tcase_add_test(tc, the_oldest_is_overdue_when_it_was_cancelled_or_is_late_or_has_waited_too_long);
    suite_add_tcase(suite, tc);
    return suite;
}
