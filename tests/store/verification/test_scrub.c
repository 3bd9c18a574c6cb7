/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrub: which index comes next, what a pass leaves behind, and that nothing but a proof is a proof.
 */
#include <check.h>

#include "base/macros.h"
#include "store/background/gauges.h"
#include "store/indexes/index_calls.h"
#include "store/job_work.h"
#include "store/jobs/job_calls.h"
#include "store/jobs/report_calls.h"
#include "store/verification/scrub.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { PEOPLE = 2000 };

static struct world world;

static void setup(void)
{
    world_open(&world);
    people_copy(&world, PEOPLE);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
}

static void teardown(void)
{
    world_close(&world);
}

static int scrub_chunks(void)
{
    struct error err = { 0 };
    bool worked = true;
    int chunks = 0;

    for (; worked; chunks += worked)
        ck_assert_msg(job_work_scrub(world.worker, &worked, &err) == STATUS_OK, "%s", err.message);
    return chunks;
}

static void make_due(void)
{
    test_sql(world.sql, "update index_scrubs set begun = '-infinity'");
}

static long long number(const char *column)
{
    return test_number(world.sql, "select %s from index_scrubs", column);
}

static void lose_entry(const char *row)
{
    test_sql(world.sql,
        "delete from entities where row_key like '%%%s' and table_id = (select index_id from indexes)", row);
}

START_TEST(a_pass_leaves_a_report_that_the_status_shows)
{
    struct report_view seen;

    ck_assert_int_gt(scrub_chunks(), 0);
    seen = index_seen(&world, "ByCity").verified;
    ck_assert(str_starts_with(seen.operation_id, STR_LITERAL("scrub-")));
    ck_assert(seen.is_whole);
    ck_assert_int_eq(seen.counts.sources, PEOPLE);
    ck_assert_int_eq(seen.counts.entries, PEOPLE);
    ck_assert_int_eq(number("(proven > now() - interval '1 minute')::int"), 1);
}
END_TEST

START_TEST(an_index_is_begun_with_when_it_is_due_and_not_before)
{
    scrub_chunks();
    ck_assert_int_eq(scrub_chunks(), 0);
    make_due();
    ck_assert_int_gt(scrub_chunks(), 0);
    ck_assert_int_eq(number("passes"), 2);
    test_sql(world.sql, "update index_scrubs set begun = now() + interval '1 day'");
    ck_assert_int_gt(scrub_chunks(), 0);
}
END_TEST

START_TEST(the_first_pass_is_full_and_then_every_eighth)
{
    for (int pass = 0; pass <= SCRUB_FULL_PASSES; pass++) {
        make_due();
        scrub_chunks();
        ck_assert_int_eq(index_seen(&world, "ByCity").verified.is_fast, pass % SCRUB_FULL_PASSES != 0);
    }
    ck_assert_int_le(test_number(world.sql, "select count(*) from operations where kind = 'scrub_index'"), 2);
    ck_assert_int_le(
        test_number(world.sql, "select count(*) from index_reports where operation_id like 'scrub-%%'"), 2);
}
END_TEST

START_TEST(differences_stand_until_a_full_pass_finds_none_and_nothing_is_mended)
{
    struct gauges *gauges = ARENA_NEW(&world.arena, struct gauges);
    struct error err = { 0 };

    lose_entry("r000010");
    scrub_chunks();
    ck_assert_int_eq(number("differences"), 1);
    ck_assert_int_eq(number("coalesce((proven is not null)::int, 0)"), 0);
    ck_assert_int_eq(gauges_read(world.worker, gauges, &err), STATUS_OK);
    ck_assert_int_eq(gauges->indexes[0].differences, 1);
    ck_assert_int_eq(gauges->indexes[0].proven_us, 0);
    make_due();
    scrub_chunks();
    ck_assert(!index_seen(&world, "ByCity").verified.is_fast);
    ck_assert_int_eq(number("differences"), 1);
    world_put(&world, "r000010", "Oslo", "x");
    world_reconcile_all(&world);
    test_sql(world.sql, "delete from entities where row_key like '%%r000010' and partition_key = 'Rome'");
    make_due();
    scrub_chunks();
    ck_assert_int_eq(gauges_read(world.worker, gauges, &err), STATUS_OK);
    ck_assert_int_gt(gauges->indexes[0].proven_us, 0);
}
END_TEST

/* What a full verification has found a fast one does not see, and must not declare whole. */
START_TEST(a_fast_verification_takes_nothing_back)
{
    struct operation *verify = call_make(&world.arena, OPERATION_INDEX_VERIFY, "ByCity");

    test_sql(world.sql, "update entities set expires = 900000000000000000 where row_key like '%%r000010' and "
                        "table_id = (select "
                        "index_id from indexes)");
    scrub_chunks();
    ck_assert_int_eq(number("differences"), 1);
    verify->in.verify = (struct operation_verify){ .is_fast = true, .report_id = STR_EMPTY };
    call_succeeded(call_run(&world.writer, report_calls_start, verify));
    run_chunks(world.worker);
    ck_assert_int_eq(number("differences"), 1);
    ck_assert_int_eq(number("coalesce((proven is not null)::int, 0)"), 0);
}
END_TEST

START_TEST(builders_leave_passes_alone_and_callers_do_not_control_them)
{
    struct operation *pause = call_make(&world.arena, OPERATION_JOB_CONTROL, "");
    struct error err = { 0 };
    bool begun;

    ck_assert_int_eq(scrub_begin(world.worker, &begun, &err), STATUS_OK);
    ck_assert(begun);
    ck_assert(!run_chunk(world.worker));
    test_sql(world.sql, "update operations set operation_id = 'scrub-x' where kind = 'scrub_index'");
    pause->in.jobs.operation_id = STR_LITERAL("scrub-x");
    pause->in.jobs.control = JOB_PAUSE;
    call_failed(call_run(&world.writer, job_calls_control, pause), "OPERATION_NOT_CONTROLLABLE");
}
END_TEST

START_TEST(small_indexes_have_their_turn_beside_large_ones_and_only_so_many_at_a_time)
{
    struct error err = { 0 };
    bool begun;

    for (int i = 0; i < SCRUBS_AT_A_TIME + 1; i++) {
        call_succeeded(index_created(&world, arena_format(&world.arena, "By%d", i).data, "People", 0));
        run_chunks(world.worker);
    }
    for (int i = 0; i <= SCRUBS_AT_A_TIME; i++) {
        ck_assert_int_eq(scrub_begin(world.worker, &begun, &err), STATUS_OK);
        ck_assert_int_eq(begun, i < SCRUBS_AT_A_TIME);
    }
    scrub_chunks();
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_scrubs where proven is not null"),
        SCRUBS_AT_A_TIME + 2);
}
END_TEST

/* Guard G38: each chunk of a pass is another claim, so all it knows of the ones before is what was committed. */
START_TEST(what_a_pass_has_summed_up_survives_between_its_chunks)
{
    lose_entry("r000010");
    ck_assert_int_gt(scrub_chunks(), 2);
    ck_assert_int_eq((int)index_seen(&world, "ByCity").verified.counts.found[DIFFERENCE_MISSING], 1);
    ck_assert_int_eq((int)index_seen(&world, "ByCity").verified.counts.found[DIFFERENCE_DANGLING], 0);
}
END_TEST

START_TEST(a_dropped_index_ends_its_pass_and_is_forgotten)
{
    struct error err = { 0 };
    bool begun;

    ck_assert_int_eq(scrub_begin(world.worker, &begun, &err), STATUS_OK);
    call_succeeded(index_dropped(&world, "ByCity"));
    run_chunks(world.worker);
    scrub_chunks();
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_scrubs"), 0);
    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from operations where kind = 'scrub_index' and state in (1, 2)"),
        0);
}
END_TEST

Suite *test_scrub_suite(void)
{
    Suite *suite = suite_create("scrub");
    TCase *tc = tcase_create("scrub");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_pass_leaves_a_report_that_the_status_shows);
    tcase_add_test(tc, an_index_is_begun_with_when_it_is_due_and_not_before);
    tcase_add_test(tc, the_first_pass_is_full_and_then_every_eighth);
    tcase_add_test(tc, differences_stand_until_a_full_pass_finds_none_and_nothing_is_mended);
    tcase_add_test(tc, a_fast_verification_takes_nothing_back);
    tcase_add_test(tc, builders_leave_passes_alone_and_callers_do_not_control_them);
    tcase_add_test(tc, small_indexes_have_their_turn_beside_large_ones_and_only_so_many_at_a_time);
    tcase_add_test(tc, what_a_pass_has_summed_up_survives_between_its_chunks);
    tcase_add_test(tc, a_dropped_index_ends_its_pass_and_is_forgotten);
    suite_add_tcase(suite, tc);
    return suite;
}
