/* SPDX-License-Identifier: Apache-2.0 */
/* test_queues.c - queues as operators control them and as workers read them. */
#include <check.h>
#include <pthread.h>

#include "store/background/sweep.h"
#include "store/intents/backlog_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_calls.h"
#include "store/intents/queue_work.h"
#include "store/intents/scan_reach.h"
#include "tests/support/calls.h"
#include "tests/support/worker_world.h"

enum { QUEUES = 4, SLOTS = MAX_QUEUES * WORK_KINDS };

static struct world world;

static void setup(void)
{
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

static int queue_of_world(void)
{
    return queue_control_queue_of(world_message("a").bucket, QUEUES);
}

static const struct outcome_queues *listed(void)
{
    struct operation *operation = call_make(&world.arena, OPERATION_QUEUES_LIST, "");

    operation->in.queues = (struct operation_queues){ .queue = -1 };
    queue_calls_list(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    call_succeeded(operation);
    return &operation->out.queues;
}

static const struct outcome_backlog *backlog(void)
{
    struct operation *operation = call_make(&world.arena, OPERATION_BACKLOG, "");

    queue_calls_backlog(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    call_succeeded(operation);
    return &operation->out.backlog;
}

static const struct outcome_queues *controlled(
    enum queue_action action, int32_t queue, int16_t kind, int64_t rate)
{
    struct operation *operation = call_make(&world.arena, OPERATION_QUEUE_CONTROL, "");

    operation->in.queues =
        (struct operation_queues){ .queue = queue, .kind = kind, .action = action, .rate = rate };
    queue_calls_control(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    call_succeeded(operation);
    return &operation->out.queues;
}

static const struct outcome_queues *resharded(int32_t queues)
{
    struct operation *operation = call_make(&world.arena, OPERATION_QUEUE_CONTROL, "");

    operation->in.queues =
        (struct operation_queues){ .queues = queues, .queue = -1, .action = QUEUE_RESHARD };
    queue_calls_control(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    call_succeeded(operation);
    return &operation->out.queues;
}

static struct queue_map told_map;

/* What a worker reads about one kind of work. */
static struct queue_control told(int queue, int kind, bool any)
{
    struct queue_control controls[SLOTS];
    struct error err = { 0 };
    bool some;

    ck_assert_int_eq(queue_work_read_controls(world.worker, &told_map, controls, &some, &err), STATUS_OK);
    ck_assert(some == any);
    return controls[queue_slot(queue, kind)];
}

static size_t scanned(int16_t kind, int64_t until_us)
{
    struct scan_scope scope = { .queues = QUEUES };
    struct intent_scan what = {
        .range = world_message("a").bucket / RANGE_BUCKETS, .scope = &scope, .max = 100
    };

    scope.until_us[queue_slot(queue_of_world(), kind)] = until_us;
    return world_scan(&world, &what).count;
}

static int64_t permits(int queue, int64_t wanted)
{
    struct error err = { 0 };
    int64_t granted;

    ck_assert_int_eq(queue_work_take_permits(world.worker, queue, 1, wanted, &granted, &err), STATUS_OK);
    return granted;
}

/* ---- tests ---- */

START_TEST(all_queues_run_at_first)
{
    const struct outcome_queues *all = listed();

    ck_assert_uint_eq(all->count, QUEUES * WORK_KINDS);
    for (size_t i = 0; i < all->count; i++) {
        ck_assert_int_eq(all->views[i].queue, (int)i / WORK_KINDS);
        ck_assert_int_eq(all->views[i].kind, (int)i % WORK_KINDS + 1);
        ck_assert_int_eq(all->views[i].state, WORK_RUNNING);
        ck_assert_int_eq(all->views[i].open_intents, 0);
    }
    ck_assert_int_eq(told(0, 1, false).intents_before_us, INT64_MAX);
}
END_TEST

START_TEST(what_is_open_is_counted_and_has_an_age)
{
    const struct queue_view *view;

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    test_sql(world.sql,
        "update intents set id = ('00000000000003e8' || right(replace(id::text, '-', ''), 16))::uuid "
        "where row_key = 'a'");
    view = &listed()->views[queue_of_world() * WORK_KINDS];

    ck_assert_int_eq(view->open_intents, 2);
    ck_assert_int_gt(view->oldest_age_us, INT64_C(1000000000000000));
    ck_assert_int_eq(view[1].open_intents, 0);
}
END_TEST

START_TEST(the_backlog_is_the_oldest_intent_of_a_key_and_the_dead_letters_that_stand)
{
    ck_assert_int_eq(backlog()->lag_us, 0);
    ck_assert_int_eq(backlog()->dead_letters, 0);

    world_put(&world, "a", "Bonn", "x");
    test_sql(world.sql, "update intents set id = "
                        "('00000000000003e8' || right(replace(id::text, '-', ''), 16))::uuid");
    ck_assert_int_gt(backlog()->lag_us, INT64_C(1000000000000000));
    test_sql(world.sql, "update intents set kind = 2"); /* a step of a transaction */
    ck_assert_int_eq(backlog()->lag_us, 0);

    test_sql(world.sql, "insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, "
                        "dead, discarded, "
                        "failures, cause, history) select 1, 1, 1, 'p', n, 0, n <> 1, n = 2, 1, '', '' "
                        "from generate_series(1, 5) n");
    ck_assert_int_eq(backlog()->dead_letters, 3);
}
END_TEST

START_TEST(controls_reach_one_kind_of_one_queue)
{
    const struct outcome_queues *meant = controlled(QUEUE_PAUSE, 2, 1, 0);

    ck_assert_uint_eq(meant->count, 1);
    ck_assert_int_eq(meant->views[0].state, WORK_PAUSED);
    ck_assert_int_eq(told(2, 1, true).intents_before_us, 0);
    ck_assert_int_eq(told(2, 2, true).intents_before_us, INT64_MAX);
    ck_assert_int_eq(told(1, 1, true).intents_before_us, INT64_MAX);

    controlled(QUEUE_LIMIT_RATE, 2, 0, 9);
    ck_assert_int_eq(told(2, 1, true).intents_before_us, 0);
    ck_assert_int_eq(told(2, 1, true).rate, 9);
    ck_assert_int_eq(told(2, 2, true).rate, 9);
    ck_assert_uint_eq(controlled(QUEUE_RESUME, -1, 0, 0)->count, QUEUES * WORK_KINDS);
    ck_assert_int_eq(told(2, 1, true).intents_before_us, INT64_MAX);
    ck_assert_int_eq(told(2, 1, true).rate, 9);
    controlled(QUEUE_LIMIT_RATE, -1, 0, 0);
    ck_assert_int_eq(told(2, 1, false).rate, 0);
}
END_TEST

START_TEST(a_drain_means_what_is_open_when_it_begins)
{
    int queue = queue_of_world();

    world_put(&world, "a", "Bonn", "x");
    ck_assert_int_eq(controlled(QUEUE_DRAIN, queue, 1, 0)->views[0].state, WORK_DRAINING);
    world_put(&world, "b", "Bonn", "x");
    ck_assert_uint_eq(scanned(1, told(queue, 1, true).intents_before_us), 1);
    ck_assert_uint_eq(scanned(1, INT64_MAX), 2);
    ck_assert_uint_eq(scanned(1, 0), 0);
    ck_assert_uint_eq(scanned(2, INT64_MAX), 0);
    world_reconcile(&world, "a");
    ck_assert_int_eq(listed()->views[queue * WORK_KINDS].state, WORK_PAUSED);
}
END_TEST

START_TEST(permits_are_one_limit_for_all_and_save_up_a_second)
{
    int64_t granted = 0;

    ck_assert_int_eq(permits(0, 50), 50); /* not limited */
    controlled(QUEUE_LIMIT_RATE, 0, 1, 10);
    test_sql(world.sql, "update queue_controls set credit = 0, credited = now() - interval '1 hour'");
    for (int i = 0; i < 5; i++)
        granted += permits(0, 4);
    ck_assert_int_ge(granted, 10);
    ck_assert_int_le(granted, 12); /* one second's worth, and what this took */
    test_sql(world.sql, "update queue_controls set credit = 0, credited = now() + interval '1 hour'");
    ck_assert_int_eq(permits(0, 4), 0);
    test_sql(world.sql, "update queue_controls set rate = 0");
    ck_assert_int_eq(permits(0, 4), 4);
}
END_TEST

START_TEST(rates_add_up_and_fade)
{
    struct applied applied[] = { { TABLE_ID, 1, 1, 100 }, { TABLE_ID + 1, 1, 1, 50 }, { 0, 1, 2, 7 } };
    struct error err = { 0 };
    const struct queue_view *view;

    ck_assert_int_eq(queue_work_add_applied(world.worker, applied, 3, &err), STATUS_OK);
    ck_assert_int_eq(queue_work_add_applied(world.worker, applied, 1, &err), STATUS_OK);
    ck_assert_int_eq(queue_work_add_applied(world.worker, NULL, 0, &err), STATUS_OK);
    view = &listed()->views[WORK_KINDS];
    ck_assert_double_gt(view->per_second, 20);
    ck_assert_double_le(view->per_second, 25);
    ck_assert_double_le(view[1].per_second, 0.7);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from apply_rates"), 3);

    test_sql(world.sql, "update apply_rates set at = now() - interval '100 seconds'");
    ck_assert_double_lt(listed()->views[WORK_KINDS].per_second, 0.01);
    test_sql(world.sql, "update apply_rates set at = now() - interval '2 hours'");
    struct sweep_counts counts = { 0 };
    bool more;
    ck_assert_int_eq(
        sweep_run(world.worker, &(struct sweep_ages){ .dead_row_s = 3600 }, &counts, &more, &err), STATUS_OK);
    ck_assert_int_eq(counts.rates, 3);
}
END_TEST

START_TEST(a_map_has_versions_and_takes_controls_of_queues_that_are_gone)
{
    const struct outcome_queues *all;

    controlled(QUEUE_PAUSE, 1, 1, 0);
    controlled(QUEUE_PAUSE, 3, 1, 0);
    ck_assert_int_eq(listed()->map.version, 1);
    all = resharded(2);
    ck_assert_uint_eq(all->count, 2 * WORK_KINDS);
    ck_assert_int_eq(all->map.version, 2);
    ck_assert_int_eq(resharded(2)->map.version, 2);
    ck_assert_uint_eq(resharded(64)->count, 64 * WORK_KINDS);
    ck_assert_int_eq(told(1, 1, true).intents_before_us, 0);
    ck_assert_int_eq(told(3, 1, true).intents_before_us, INT64_MAX);
    ck_assert_int_eq(told_map.queues, 64);
    ck_assert_int_eq(told_map.version, 3);
}
END_TEST

static void look(struct backlog *backlog, bool holds, bool counts)
{
    bool held[LEASE_RANGES];
    struct error err = { 0 };

    memset(held, holds, sizeof(held));
    ck_assert_msg(
        backlog_work_update(world.worker, held, counts, backlog, &err) == STATUS_OK, "%s", err.message);
}

START_TEST(a_backlog_is_reported_per_queue)
{
    struct backlog backlog = { .queues = QUEUES };
    int slot = queue_slot(queue_of_world(), 1);

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    look(&backlog, true, true);
    ck_assert_int_eq(backlog.open_intents, 2);
    ck_assert_int_eq(backlog.work[slot].open_intents, 2);
    ck_assert_int_gt(backlog.work[slot].lag_us, 0);
    ck_assert_int_eq(backlog.work[queue_slot(queue_of_world(), 2)].open_intents, 0);
    look(&backlog, false, true);
    ck_assert_int_eq(backlog.open_intents, 0);
    ck_assert_int_eq(backlog.work[slot].open_intents, 0);
}
END_TEST

/* A count is costly: between two counts it is known only whether an intent is open, and since when. */
START_TEST(what_is_not_counted_is_there_or_not)
{
    struct backlog backlog = { .queues = QUEUES };
    int slot = queue_slot(queue_of_world(), 1);

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    look(&backlog, true, false);
    ck_assert_int_eq(backlog.open_intents, 1);
    ck_assert_int_gt(backlog.work[slot].lag_us, 0);
    look(&backlog, true, true);
    world_put(&world, "c", "Bonn", "x");
    look(&backlog, true, false);
    ck_assert_int_eq(backlog.work[slot].open_intents, 2);
    world_reconcile_all(&world);
    look(&backlog, true, false);
    ck_assert_int_eq(backlog.open_intents, 0);
    ck_assert_int_eq(backlog.work[slot].open_intents, 0);
    ck_assert_int_eq(test_number(world.sql, "select sum(open_intents) from watermarks"), 0);
}
END_TEST

/*
 * Of a large table about a tenth of the pages is read, each with the same probability. The number of those pages has a
 * standard deviation of 4 %, so an estimate is more than a quarter off once in a billion times.
 */
START_TEST(many_are_estimated)
{
    struct backlog backlog = { .queues = QUEUES };
    enum { MANY = 100000 };

    test_sql(world.sql,
        "insert into intents select i %% 1024, (lpad(to_hex(i), 16, '0') || '0000000000000001')::uuid, 1, 1, "
        "repeat('p', 300), i::text, 1 from generate_series(1, %d) i",
        MANY);
    ck_assert_int_gt(test_number(world.sql, "select pg_relation_size('intents')"), 32 << 20);
    look(&backlog, true, true);
    ck_assert_int_gt(backlog.open_intents, MANY / 4 * 3);
    ck_assert_int_lt(backlog.open_intents, MANY / 4 * 5);
}
END_TEST

Suite *test_queues_suite(void)
{
    Suite *suite = suite_create("queues");
    TCase *tc = tcase_create("queues");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, all_queues_run_at_first);
    tcase_add_test(tc, what_is_open_is_counted_and_has_an_age);
    tcase_add_test(tc, the_backlog_is_the_oldest_intent_of_a_key_and_the_dead_letters_that_stand);
    tcase_add_test(tc, controls_reach_one_kind_of_one_queue);
    tcase_add_test(tc, a_drain_means_what_is_open_when_it_begins);
    tcase_add_test(tc, permits_are_one_limit_for_all_and_save_up_a_second);
    tcase_add_test(tc, rates_add_up_and_fade);
    tcase_add_test(tc, a_map_has_versions_and_takes_controls_of_queues_that_are_gone);
    tcase_add_test(tc, a_backlog_is_reported_per_queue);
    tcase_add_test(tc, what_is_not_counted_is_there_or_not);
    tcase_add_test(tc, many_are_estimated);
    suite_add_tcase(suite, tc);
    return suite;
}
