/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_entry_ctids.c - the state row of a source tells where its entries lie, so that the next reconcile finds those
 * that it removes, and whatever else it tells does no harm: guard G76.
 */
#include <check.h>

#include "base/macros.h"
#include "tests/support/worker_world.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
    world_index(&world, BY_NOTE, "Note", 0);
}

static void teardown(void)
{
    world_close(&world);
}

static void given(const char *row, const char *city, const char *note)
{
    world_put(&world, row, city, note);
    world_reconcile_all(&world);
}

#define ENTRIES_OF(row) "entities where table_id in (2000, 2001) and row_key like '%%" row "'"

static bool tells_of_entries(void)
{
    return test_number(world.sql,
               "select (entry_ctids = (select string_agg(tidsend(ctid), '' order by table_id) "
               "from " ENTRIES_OF("r1") "))::int from index_state where row_key = 'r1'") == 1;
}

START_TEST(the_state_row_tells_where_the_entries_lie)
{
    given("r1", "Bonn", "x");
    ck_assert(tells_of_entries());
    given("r2", "Bonn", "x");
    given("r1", "Rome", "x"); /* the entry by note stays where it is */
    ck_assert(tells_of_entries());
    given("r1", "Rome", "y"); /* the entry by city is written again at its key */
    ck_assert(tells_of_entries());
    world_check(&world);
}
END_TEST

static const struct {
    const char *name, *told; /* an expression of SQL */
} told_cases[] = {
    { "the right ctids", "entry_ctids" },
    { "nothing", "null" },
    { "no byte", "''" },
    { "one ctid for two entries", "substr(entry_ctids, 1, 6)" },
    { "more ctids than entries", "entry_ctids || entry_ctids" },
    { "zeros", "decode(repeat('00', 12), 'hex')" },
    { "the right ones in the wrong order", "substr(entry_ctids, 7) || substr(entry_ctids, 1, 6)" },
    { "the entries of another entity",
        "(select string_agg(tidsend(ctid), '' order by table_id) from " ENTRIES_OF("r2") ")" },
    { "the entities themselves",
        "(select string_agg(tidsend(ctid), '') from entities where table_id = 1000)" },
    { "the entries as they were before", "(select was from before)" },
    { "a block that does not exist", "tidsend('(4294967294,1)') || tidsend('(4294967294,2)')" },
    { "rows that cannot exist", "tidsend('(0,65535)') || tidsend('(1,0)')" },
};

/* Guard G76: the key decides, and what is not at its ctid is searched for. */
START_TEST(wrong_ctids_of_entries_cost_a_search_and_nothing_else)
{
    given("r1", "Oslo", "v");
    test_sql(world.sql, "create table before as select entry_ctids as was from index_state");
    given("r2", "Bonn", "x");
    given("r1", "Bonn", "x");
    test_sql(world.sql, "update index_state set entry_ctids = %s where row_key = 'r1'", told_cases[_i].told);

    given("r1", "Rome", "y");

    ck_assert_msg(world_entries(&world, BY_CITY) == 2, "%s", told_cases[_i].name);
    world_check(&world);
    ck_assert(tells_of_entries());
    world_delete(&world, "r1");
    world_reconcile_all(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY) + world_entries(&world, BY_NOTE), 2);
    world_check(&world);
}
END_TEST

/* Guard G76. */
START_TEST(entries_that_were_moved_are_found_by_their_keys)
{
    given("r1", "Bonn", "x");
    given("r2", "Bern", "y");
    test_sql(world.sql, "update entities set version = version where table_id in (2000, 2001)");
    test_sql(world.sql, "vacuum full entities");

    given("r1", "Rome", "y");

    world_check(&world);
    ck_assert(tells_of_entries());
}
END_TEST

/* As a program from before the ctids changes it: it leaves them as they are. */
START_TEST(a_manifest_that_was_changed_alone_is_found_out)
{
    given("r1", "Bonn", "x");
    test_sql(world.sql, "create table before as select entry_ctids as was from index_state");
    given("r1", "Rome", "y");
    test_sql(world.sql, "update index_state set entry_ctids = (select was from before)");

    given("r1", "Oslo", "y");

    world_check(&world);
}
END_TEST

Suite *test_entry_ctids_suite(void)
{
    Suite *suite = suite_create("entry_ctids");
    TCase *tc = tcase_create("entry ctids");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_state_row_tells_where_the_entries_lie);
    tcase_add_loop_test(tc, wrong_ctids_of_entries_cost_a_search_and_nothing_else, 0, ARRAY_LEN(told_cases));
    tcase_add_test(tc, entries_that_were_moved_are_found_by_their_keys);
    tcase_add_test(tc, a_manifest_that_was_changed_alone_is_found_out);
    suite_add_tcase(suite, tc);
    return suite;
}
