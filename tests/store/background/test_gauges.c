/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of store/background/gauges.c: lag and dead letters of indexes, with labels for a bounded number of them.
 */
#include "store/background/gauges.h"

#include <check.h>

#include "tests/support/builders.h"
#include "tests/support/worker_world.h"

enum { MORE_INDEXES = MAX_INDEX_GAUGES + 9 };

static struct world world;
static struct gauges gauges;

static void setup(void)
{
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
}

static void teardown(void)
{
    world_close(&world);
}

static void look(void)
{
    struct error err = { 0 };

    ck_assert_msg(gauges_read(world.worker, &gauges, &err) == STATUS_OK, "%s", err.message);
}

static long long index_id(void)
{
    return test_number(world.sql, "select min(index_id) from indexes");
}

/* A dead letter of an index; index 0: of a whole key. */
static void bury(const char *row, long long index, bool discarded)
{
    test_sql(world.sql,
        "insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, "
        "cause, history, "
        "discarded) select 1, source_table_id, 'p', '%s', 0, %lld, true, 1, 'c', '', %s from indexes where "
        "index_id = %lld",
        row, index, discarded ? "true" : "false", index_id());
}

START_TEST(dead_letters_of_the_index_and_of_whole_keys_are_counted_by_state)
{
    bury("a", index_id(), false);
    bury("b", index_id(), true);
    bury("c", 0, false);
    test_sql(world.sql,
        "insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, "
        "cause, history) values (2, 0, 'acme', 't', 0, 0, false, 1, 'c', '')");
    look();

    ck_assert_uint_eq(gauges.index_count, 1);
    ck_assert_str_ne(gauges.indexes[0].name, "");
    ck_assert_int_eq(gauges.indexes[0].dead_letters[GAUGE_STANDING], 2);
    ck_assert_int_eq(gauges.indexes[0].dead_letters[GAUGE_DISCARDED], 1);
    ck_assert_int_eq(gauges.dead_letters[0][GAUGE_STANDING], 2);
    ck_assert_int_eq(gauges.dead_letters[0][GAUGE_DISCARDED], 1);
    ck_assert_int_eq(gauges.dead_letters[1][GAUGE_RETRYING], 1);
}
END_TEST

/* One account may make millions of them; counting must not take longer for that. */
START_TEST(dead_letters_are_counted_up_to_a_bound)
{
    test_sql(world.sql,
        "insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, "
        "cause, history) select 1, source_table_id, 'p', n::text, 0, index_id, true, 1, 'c', '' "
        "from indexes, generate_series(1, %d) n",
        MAX_LETTERS_COUNTED + 1);
    bury("a", 0, false);
    look();

    ck_assert_int_eq(gauges.indexes[0].dead_letters[GAUGE_STANDING], MAX_LETTERS_COUNTED + 1);
    ck_assert_int_eq(gauges.dead_letters[0][GAUGE_STANDING], MAX_LETTERS_COUNTED);

    test_sql(world.sql, "update dead_letters set dead = false");
    look();
    ck_assert_int_eq(gauges.dead_letters[0][GAUGE_RETRYING], MAX_LETTERS_COUNTED);
}
END_TEST

START_TEST(indexes_beyond_the_bound_are_one)
{
    test_sql(world.sql,
        "insert into indexes (index_id, source_table_id, account, name, folded, state, definition, "
        "operation_id) "
        "select index_id + 1000 + n, source_table_id, account, name || n, folded || n, state, definition, "
        "operation_id "
        "from indexes, generate_series(1, %d) n",
        MORE_INDEXES);
    bury("a", index_id() + 1000 + MORE_INDEXES, false);
    bury("b", index_id() + 1000 + MORE_INDEXES - 1, false);
    look();

    ck_assert_uint_eq(gauges.index_count, MAX_INDEX_GAUGES + 1);
    ck_assert_str_eq(gauges.indexes[MAX_INDEX_GAUGES].name, "");
    ck_assert_int_eq(gauges.indexes[MAX_INDEX_GAUGES].dead_letters[GAUGE_STANDING], 2);
    ck_assert_str_ne(gauges.indexes[MAX_INDEX_GAUGES - 1].name, "");
    ck_assert_int_eq(gauges.indexes[MAX_INDEX_GAUGES - 1].dead_letters[GAUGE_STANDING], 0);
}
END_TEST

START_TEST(the_lag_is_the_age_of_the_oldest_open_intent)
{
    look();
    ck_assert_int_eq(gauges.indexes[0].lag_us, 0);
    test_sql(world.sql,
        "insert into intents (table_id, partition_key, row_key, bucket, id, kind, version) select "
        "source_table_id, "
        "'p', 'r', 0, (lpad(to_hex((extract(epoch from now() - interval '9 seconds') * 1000000)::int8), 16, "
        "'0') || repeat('0', 16))::uuid, 1, 1 from indexes");
    look();

    ck_assert_int_ge(gauges.indexes[0].lag_us, 9000000);
    ck_assert_int_lt(gauges.indexes[0].lag_us, 60000000);
}
END_TEST

/* A content that may be removed since some minutes (negative: not yet). */
static void discard_content(int minutes)
{
    test_sql(world.sql,
        "insert into blob_contents (account, content_id, state, size, writer, kept_until, discarded) "
        "values ('acme', gen_random_uuid(), 3, 1, 0, now() - interval '%d minutes', now())",
        minutes);
}

START_TEST(what_the_collector_of_blobs_may_remove_is_counted)
{
    look();
    ck_assert_int_eq(gauges.blobs.contents, 0);
    ck_assert_int_eq(gauges.blobs.oldest_us, 0);

    discard_content(3);
    discard_content(1);
    discard_content(-5);
    test_sql(world.sql,
        "insert into blob_chunks values ('acme', 'a', 1, 'x', now()), ('acme', 'b', 1, 'x', null)");
    test_sql(world.sql, "insert into blob_strays (object_id, account, digest, store, due) select "
                        "gen_random_uuid(), 'acme', 'c', 1, "
                        "now() - n * interval '1 minute' from generate_series(-1, 3) n");
    look();
    ck_assert_int_eq(gauges.blobs.contents, 2);
    ck_assert_int_eq(gauges.blobs.strays, 4);
    ck_assert_int_eq(gauges.blobs.chunks, 1);
    ck_assert_int_ge(gauges.blobs.oldest_us, 180000000);
    ck_assert_int_lt(gauges.blobs.oldest_us, 300000000);

    test_sql(world.sql,
        "insert into blob_chunks select 'acme', n::text::bytea, 1, 'x', now() from generate_series(1, %d) n",
        MAX_BACKLOG_COUNTED);
    look();
    ck_assert_int_eq(gauges.blobs.chunks, MAX_BACKLOG_COUNTED);
}
END_TEST

Suite *test_gauges_suite(void)
{
    Suite *suite = suite_create("gauges");
    TCase *tc = tcase_create("gauges");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, dead_letters_of_the_index_and_of_whole_keys_are_counted_by_state);
    tcase_add_test(tc, dead_letters_are_counted_up_to_a_bound);
    tcase_add_test(tc, indexes_beyond_the_bound_are_one);
    tcase_add_test(tc, the_lag_is_the_age_of_the_oldest_open_intent);
    tcase_add_test(tc, what_the_collector_of_blobs_may_remove_is_counted);
    suite_add_tcase(suite, tc);
    return suite;
}
