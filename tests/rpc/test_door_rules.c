/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rpc/door_rules.c: how much is allowed at once, how much per second, and how much is refused. */
#include "rpc/door_rules.h"

#include <check.h>

#include "rpc/server.h"

enum { SECOND_US = 1000000, HOUR_S = 3600 };

static const struct rules_case {
    const char *name;
    bool is_authenticated;
    struct frame_counts each_second; /* for an hour */
    enum door_reason want;
} rules_cases[] = {
    { "a probe", false, { .streams = 1, .others = 1, .small = 2, .data_bytes = 100 }, DOOR_NONE },
    { "as much as is allowed", false, { .streams = 50, .resets = 50, .others = 50, .small = 500 },
        DOOR_NONE },
    { "more streams", false, { .streams = 60 }, DOOR_STREAMS },
    { "more resets", false, { .streams = 50, .resets = 60 }, DOOR_RESETS },
    { "more settings", false, { .others = 60 }, DOOR_FRAMES },
    { "more window updates", false, { .small = 600 }, DOOR_FRAMES },
    { "more data", false, { .data_bytes = 600 * 1024 }, DOOR_BYTES },
    { "less than a KiB at a time", false, { .data_bytes = 1000 }, DOOR_NONE },
    { "a busy caller", true, { .streams = 50000, .small = 100000, .others = 1000, .data_bytes = 1 << 30 },
        DOOR_NONE },
    { "a caller with short deadlines", true, { .streams = 50000, .resets = 900 }, DOOR_NONE },
    { "rapid reset by a caller", true, { .streams = 50000, .resets = 50000 }, DOOR_RESETS },
    { "pings by a caller", true, { .others = 9000 }, DOOR_FRAMES },
};

START_TEST(frames_are_charged)
{
    const struct rules_case *c = &rules_cases[_i];
    struct door_used used = { 0 };
    enum door_reason reason = DOOR_NONE;

    for (int64_t second = 0; second < HOUR_S && reason == DOOR_NONE; second++) {
        struct frame_counts counts = c->each_second;

        reason = door_rules_charge(&used, &counts, c->is_authenticated, second * SECOND_US);
    }

    ck_assert_msg(reason == c->want, "%s: %s", c->name, door_rules_names[reason]);
}
END_TEST

START_TEST(a_burst_passes_once)
{
    struct door_used used = { 0 };
    struct frame_counts first = { .streams = RPC_STREAMS }, second = { .streams = 1 },
                        later = { .streams = 50 };

    ck_assert_int_eq(door_rules_charge(&used, &first, false, SECOND_US), DOOR_NONE);
    ck_assert_uint_eq(first.streams, 0);
    ck_assert_int_eq(door_rules_charge(&used, &later, false, 2 * SECOND_US), DOOR_NONE);
    ck_assert_int_eq(door_rules_charge(&used, &second, false, 2 * SECOND_US), DOOR_STREAMS);
}
END_TEST

START_TEST(every_reason_has_a_word)
{
    for (int i = 0; i < DOOR_REASONS; i++)
        ck_assert_ptr_nonnull(door_rules_names[i]);
}
END_TEST

Suite *test_door_rules_suite(void)
{
    Suite *suite = suite_create("door_rules");
    TCase *tcase = tcase_create("door_rules");

    tcase_add_loop_test(tcase, frames_are_charged, 0, (int)(sizeof(rules_cases) / sizeof(rules_cases[0])));
    tcase_add_test(tcase, a_burst_passes_once);
    tcase_add_test(tcase, every_reason_has_a_word);
    suite_add_tcase(suite, tcase);
    return suite;
}
