/*
 * test_epoch.c - another timeline raises the floor, so that no version comes back (invariant I7).
 */
#include <check.h>

#include "store/epoch.h"
#include "tests/support/worker_world.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static long long catalogue(const char *column)
{
    return test_number(world.sql, "select %s from catalogue", column);
}

/* A writer as another server would have it, on a new connection. */
static int64_t put_on_a_new_connection(const char *row)
{
    session_cleanup(&world.writer);
    session_init(&world.writer, world.conninfo, "test writer");
    return world_put(&world, row, "Bonn", "x");
}

START_TEST(on_its_own_timeline_nothing_changes)
{
    int64_t first = world_put(&world, "r", "Bonn", "x");

    ck_assert_int_eq(put_on_a_new_connection("r"), first + 1);
    ck_assert_int_eq(catalogue("epoch"), 0);
    ck_assert_int_eq(catalogue("floor"), 0);
}
END_TEST

static const char *const moved_away[] = { "timeline = timeline + 1", "system_id = system_id + 1" };

START_TEST(elsewhere_every_new_version_is_above_all_old_ones)
{
    world_put(&world, "r", "Bonn", "x");
    test_sql(world.sql, "update catalogue set %s", moved_away[_i]);

    int64_t version = put_on_a_new_connection("r");

    ck_assert_int_gt(version, INT64_C(1) << EPOCH_SHIFT);
    ck_assert_int_eq(catalogue("epoch"), 1);
    ck_assert_int_eq(catalogue("floor"), INT64_C(1) << EPOCH_SHIFT);

    /* Once is enough: the next connection finds the catalogue at home. */
    ck_assert_int_eq(put_on_a_new_connection("r"), version + 1);
    ck_assert_int_eq(catalogue("epoch"), 1);
}
END_TEST

START_TEST(the_floor_never_falls)
{
    test_sql(world.sql, "update catalogue set floor = 1::int8 << 50, timeline = timeline + 1");

    put_on_a_new_connection("r");

    ck_assert_int_eq(catalogue("floor"), INT64_C(1) << 50);
    ck_assert_int_eq(catalogue("epoch"), 1);
}
END_TEST

Suite *test_epoch_suite(void)
{
    Suite *suite = suite_create("epoch");
    TCase *tc = tcase_create("epoch");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, on_its_own_timeline_nothing_changes);
    tcase_add_loop_test(tc, elsewhere_every_new_version_is_above_all_old_ones, 0, 2);
    tcase_add_test(tc, the_floor_never_falls);
    suite_add_tcase(suite, tc);
    return suite;
}
