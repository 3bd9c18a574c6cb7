/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of store/background/usage_count.c: what is counted for whom, and when servers are told.
 */
#include "store/background/usage_count.h"

#include <check.h>

#include "tests/support/builders.h"
#include "tests/support/worker_world.h"

static struct world world;
static struct usage_count count;

static void setup(void)
{
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
}

static void teardown(void)
{
    usage_count_drop(&count);
    world_close(&world);
}

/* A whole count; how many chunks it took. */
static int count_all(void)
{
    struct error err = { 0 };
    bool ended = false;
    int chunks = 0;

    while (!ended) {
        ck_assert_msg(usage_count_chunk(world.worker, &count, &ended, &err) == STATUS_OK, "%s", err.message);
        chunks++;
    }
    ck_assert_int_eq(count.next_block, 0);
    return chunks;
}

/* A number of the only account's row. */
static long long counted(const char *column)
{
    return test_number(world.sql, "select coalesce(sum(%s), -1)::int8 from account_usage", column);
}

static long long version(void)
{
    return test_number(world.sql, "select version from catalogue");
}

START_TEST(rows_of_tables_and_of_indexes_are_counted_apart)
{
    world_put(&world, "a", "Rome", NULL);
    world_put(&world, "b", "Oslo", NULL);
    world_put(&world, "c", NULL, "no city");
    world_delete(&world, "b");
    world_reconcile_all(&world);
    count_all();

    ck_assert_int_eq(counted("entities"), 2);
    ck_assert_int_eq(counted("entries"), 1);
    ck_assert_int_eq(
        counted("bytes"), test_number(world.sql, "select sum(octet_length(partition_key) + "
                                                 "octet_length(row_key) + octet_length(properties))::int8 "
                                                 "from entities where not dead"));
    ck_assert_int_eq(test_number(world.sql, "select count(*) from usage_counts where ended is not null"), 1);
}
END_TEST

START_TEST(servers_are_told_of_changes_only)
{
    long long before;

    count_all();
    before = version();
    count_all();
    ck_assert_int_eq(version(), before);
    world_put(&world, "a", NULL, NULL);
    count_all();
    ck_assert_int_eq(version(), before + 1);
    ck_assert_int_eq(
        test_number(world.sql, "select family_id from catalogue_changes order by version desc limit 1"), -1);
}
END_TEST

START_TEST(a_table_of_many_pages_takes_several_chunks)
{
    int chunks;

    world_put(&world, "a", NULL, NULL);
    test_sql(world.sql,
        "insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) "
        "select 0, %d, 'q', n, 1, 1, convert_to(repeat('x', 1900), 'UTF8') from generate_series(1, 9000) n",
        TABLE_ID);
    chunks = count_all();

    ck_assert_int_ge(chunks, 3);
    ck_assert_int_eq(counted("entities"), 9001);
    ck_assert_int_ge(counted("bytes"), 9000 * 1900);
    test_sql(world.sql, "delete from entities where partition_key = 'q'");
    count_all();
    ck_assert_int_eq(counted("entities"), 1);
}
END_TEST

START_TEST(bytes_of_blobs_count_until_they_are_removed_but_not_what_a_move_has_left)
{
    count_all();
    ck_assert_int_eq(counted("bytes"), 0);
    test_sql(world.sql, "insert into blob_chunks values ('acme', 'a', 100, 'x', null)");
    test_sql(world.sql,
        "insert into blob_strays (object_id, account, digest, store, due, size, moved) values "
        "(gen_random_uuid(), 'acme', 'b', 1, now(), 20, false), (gen_random_uuid(), 'acme', 'a', 1, now(), "
        "3, true)");
    count_all();
    ck_assert_int_eq(counted("bytes"), 120);
    test_sql(world.sql, "delete from blob_strays");
    count_all();
    ck_assert_int_eq(counted("bytes"), 100);
}
END_TEST

START_TEST(chunks_and_strays_of_many_pages_take_several_chunks)
{
    test_sql(world.sql, "insert into blob_chunks select case when n %% 2 = 0 then 'acme' else 'other' end, "
                        "convert_to(n::text, 'UTF8'), 10, convert_to(repeat('x', 1900), 'UTF8'), null "
                        "from generate_series(1, 2200) n");
    test_sql(world.sql,
        "insert into blob_strays (object_id, account, digest, store, due, size, moved) "
        "select gen_random_uuid(), 'acme', convert_to(repeat('x', 1900), 'UTF8'), 1, now(), 1, false "
        "from generate_series(1, 1100) n");

    ck_assert_int_ge(count_all(), 3 + 2);
    ck_assert_int_eq(counted("bytes"), 2200 * 10 + 1100);
    ck_assert_int_eq(
        test_number(world.sql, "select bytes from account_usage where account = 'acme'"), 1100 * 10 + 1100);
}
END_TEST

START_TEST(an_account_without_tables_has_no_usage)
{
    world_put(&world, "a", NULL, NULL);
    count_all();
    ck_assert_int_eq(counted("entities"), 1);
    test_sql(world.sql, "update tables set live = false");
    count_all();
    ck_assert_int_eq(counted("entities"), -1);
}
END_TEST

Suite *test_usage_count_suite(void)
{
    Suite *suite = suite_create("usage_count");
    TCase *tc = tcase_create("usage_count");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, rows_of_tables_and_of_indexes_are_counted_apart);
    tcase_add_test(tc, servers_are_told_of_changes_only);
    tcase_add_test(tc, a_table_of_many_pages_takes_several_chunks);
    tcase_add_test(tc, bytes_of_blobs_count_until_they_are_removed_but_not_what_a_move_has_left);
    tcase_add_test(tc, chunks_and_strays_of_many_pages_take_several_chunks);
    tcase_add_test(tc, an_account_without_tables_has_no_usage);
    suite_add_tcase(suite, tc);
    return suite;
}
