/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/admission/memory_guard.c: when it looks. What it closes is tested by the attacks (tests/attack).
 */
#include "service/admission/memory_guard.h"

#include <check.h>

enum { LOOK_US = 25000, LOOKS_PER_SECOND = 40, SECOND_US = 1000000 };

/* The looks between two times, if the first was due at due_us and none takes any time. */
static int count_looks(int64_t due_us, int64_t from_us, int64_t to_us)
{
    int looks = 0;

    for (int64_t now_us = from_us; now_us<to_us; now_us = due_us> now_us ? due_us : now_us) {
        due_us = memory_guard_next_look(due_us, now_us);
        looks++;
    }
    return looks;
}

START_TEST(it_looks_forty_times_a_second)
{
    ck_assert_int_eq(memory_guard_next_look(SECOND_US, SECOND_US), SECOND_US + LOOK_US);
    ck_assert_int_eq(memory_guard_next_look(SECOND_US, SECOND_US + 3), SECOND_US + LOOK_US);
    ck_assert_int_eq(count_looks(SECOND_US, SECOND_US, 2 * SECOND_US), LOOKS_PER_SECOND);
}
END_TEST

/* While the process was stopped, a thousand looks were due. */
START_TEST(after_a_stall_the_looks_are_not_made_up_for)
{
    int64_t resumed_us = SECOND_US + 1000 * LOOK_US;

    ck_assert_int_le(count_looks(SECOND_US, resumed_us, resumed_us + SECOND_US), LOOKS_PER_SECOND + 1);
}
END_TEST

Suite *test_memory_guard_suite(void)
{
    Suite *suite = suite_create("memory_guard");
    TCase *tcase = tcase_create("memory_guard");

    tcase_add_test(tcase, it_looks_forty_times_a_second);
    tcase_add_test(tcase, after_a_stall_the_looks_are_not_made_up_for);
    suite_add_tcase(suite, tcase);
    return suite;
}
