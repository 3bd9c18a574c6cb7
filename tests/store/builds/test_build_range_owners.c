/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owners of values that a build decides for a whole chunk: beside writers and reconciles that come between the reading
 * of the entities and the locks, and in the order of keys where two threads build.
 */
#include <check.h>
#include <pthread.h>
#include <string.h>

#include "store/indexes/index_calls.h"
#include "store/jobs/crew.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { CHUNK_ROWS = 2000 };

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    crew_close(world.worker);
    world_close(&world);
}

/* In other partitions, written by workers or with its writes; in the partition of its entities. */
enum form { EVENTUAL, STRONG, SAME_PARTITION, FORMS };

static void create(const char *name, enum form form)
{
    static struct key_part partition = { .text = { "PartitionKey", 12 } }, city = { .text = { "City", 4 } };
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_CREATE, name);
    struct index *index = &operation->in.index.definition;

    *index = (struct index){ .name = str_of(name),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .consistency = form == EVENTUAL ? INDEX_EVENTUAL : INDEX_STRONG,
        .is_unique = true,
        .partition_key = { &city, 1 },
        .projection = PROJECT_ALL };
    if (form == SAME_PARTITION) {
        index->place = PLACE_SAME_PARTITION;
        index->partition_key = (struct key_parts){ &partition, 1 };
        index->row_key = (struct key_parts){ &city, 1 };
    }
    call_succeeded(call_run(&world.writer, index_calls_create, operation));
}

/* Values that have an owner. */
static long long owners(void)
{
    return test_number(world.sql, "select count(*) from unique_owners");
}

static void assert_ready(const char *name, int entries, int violations)
{
    struct index_view seen = index_seen(&world, name);

    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert_int_eq(seen.entries, entries);
    ck_assert_int_eq(seen.violations, violations);
    ck_assert_int_eq(owners(), entries);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_differences"), 0);
    if (violations == 0)
        world_check(&world);
}

static void *run_one_chunk(void *unused)
{
    (void)unused;
    ck_assert(run_chunk(world.worker));
    return NULL;
}

#define MAKE_R1                                                                                              \
    "insert into index_state select bucket, table_id, partition_key, row_key, 0, '' from entities "          \
    "where table_id = 1000 and row_key = 'r1'"

/* What a chunk waits for behind the reading of its entities, or before that of r2. */
static const char *const holding_r1[FORMS] = { MAKE_R1, MAKE_R1,
    "select from entities where table_id = 1000 and row_key = 'r1' for update" };

/* A chunk that waits for what the transaction holds, and runs `act` meanwhile. */
static void chunk_beside(const char *hold, void (*act)(void))
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    test_sql(other, "begin; %s", hold);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_one_chunk, NULL), 0);
    test_await(world.sql,
        "select (count(*) = 1)::int from pg_stat_activity where datname = current_database() "
        "and application_name = 'tavola-worker' and wait_event_type = 'Lock'");
    act();
    test_sql(other, "rollback");
    pthread_join(thread, NULL);
    PQfinish(other);
}

static void finish(void)
{
    run_chunks(world.worker);
    while (world_intents(&world) > 0)
        world_reconcile_all(&world);
}

/* The entity that is changed while the chunk waits. */
static const char *changed = "r2";

static void change(void)
{
    world_put(&world, changed, "Paris", "y");
}

static void delete (void)
{
    world_delete(&world, changed);
}

/* Guard G49: what an entity had when it was read is not its own any more. */
START_TEST(an_entity_that_changed_since_it_was_read_does_not_own_its_old_value)
{
    changed = "r2";
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Cork", "x");
    world_put(&world, "r3", "Oslo", "x");
    create("ByCity", _i % FORMS);
    chunk_beside(holding_r1[_i % FORMS], _i < FORMS ? change : delete);
    finish();
    assert_ready("ByCity", _i < FORMS ? 3 : 2, 0);
    world_put(&world, "r4", "Cork", "x");
    finish();
    assert_ready("ByCity", _i < FORMS ? 4 : 3, 0);
}
END_TEST

/*
 * Guard G49: until an owner is locked, a write may take the value away from the entity. The entity's state row does not
 * hold off a write of an index that is not strong.
 */
START_TEST(versions_are_read_behind_the_owners)
{
    bool is_r1_first;

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Cork", "x");
    create("Before", EVENTUAL);
    finish();
    /* Of the two values, the one that is locked first. */
    is_r1_first =
        strcmp(test_text(world.sql, "select row_key from unique_owners order by value limit 1"), "r1") == 0;
    changed = is_r1_first ? "r2" : "r1";
    call_succeeded(index_dropped(&world, "Before"));
    finish();
    ck_assert_int_eq(owners(), 0);
    create("ByCity", EVENTUAL);
    world_put(&world, is_r1_first ? "r1" : "r2", is_r1_first ? "Bonn" : "Cork", "y");
    ck_assert_int_eq(owners(), 1);

    chunk_beside("select from unique_owners for update", change);

    finish();
    assert_ready("ByCity", 2, 0);
}
END_TEST

/* As a worker finds it that has not been told of an intent: there is no owner, so it notes a violation. */
static void reconcile_r2(void)
{
    struct worker *mine = world.worker;

    test_sql(world.sql,
        "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version) "
        "select bucket, gen_random_uuid(), 1, table_id, partition_key, row_key, version from entities "
        "where table_id = 1000 and row_key = 'r2'");
    world.worker = world_worker(&world, "elsewhere");
    world_reconcile(&world, "r2");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 1);
    worker_close(world.worker);
    world.worker = mine;
}

/*
 * Guard G49: what was noted while the entity was no owner is looked for behind the lock of its state row. Guard G66:
 * without a state row, when the walk has ended.
 */
START_TEST(a_violation_that_is_noted_before_the_owner_is_known_goes_again)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Cork", "x");
    create("ByCity", _i);
    chunk_beside(holding_r1[_i], reconcile_r2);
    finish();
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    assert_ready("ByCity", 2, 0);
}
END_TEST

/*
 * Guard G66: a reconcile that began before a chunk may note a violation after the chunk has made an owner, as there is
 * no state row to wait for. What it has noted is looked through when it has ended.
 */
START_TEST(a_violation_that_is_noted_late_goes_again)
{
    PGconn *reconcile = test_connect(world.conninfo);
    pthread_t thread;

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Cork", "x");
    create("ByCity", SAME_PARTITION);
    reconcile_r2();
    test_sql(world.sql, "create table noted as select * from dead_letters; delete from dead_letters");
    test_sql(reconcile, "begin");
    test_sql(reconcile, "select from write_fence where bucket = 0 for key share");

    ck_assert_int_eq(pthread_create(&thread, NULL, run_one_chunk, NULL), 0);
    test_await(world.sql,
        "select (count(*) > 0)::int from pg_locks where not granted and relation = 'write_fence'::regclass");
    ck_assert_int_eq(owners(), 2);
    test_sql(reconcile, "insert into dead_letters overriding system value select * from noted; commit");
    pthread_join(thread, NULL);
    PQfinish(reconcile);

    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    finish();
    assert_ready("ByCity", 2, 0);
}
END_TEST

/* Each violation that holds stays, though there are more of them than are looked through at a time. */
START_TEST(all_violations_are_looked_through)
{
    people_copy(&world, 1200);
    create("ByCity", SAME_PARTITION);
    finish();
    assert_ready("ByCity", 1, 1199);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 1199);
}
END_TEST

/* Guard G37: another index does not make an owner of an entity that a unique index has left out. */
START_TEST(another_build_leaves_owners_as_they_are)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    world_put(&world, "r3", "Cork", "x");
    create("ByCity", _i);
    finish();
    assert_ready("ByCity", 2, 1);
    call_succeeded(index_created(&world, "Other", "People", 0));
    finish();
    ck_assert_int_eq(index_seen(&world, "Other").entries, 3);
    assert_ready("ByCity", 2, 1);
}
END_TEST

/* Two threads read and plan at once, and decide one after the other. */
START_TEST(the_first_key_owns_also_where_two_threads_build)
{
    struct error err = { 0 };

    ck_assert_msg(crew_open(world.worker, &err) == STATUS_OK, "%s", err.message);
    people_copy(&world, CHUNK_ROWS + 10);
    create("ByCity", _i);
    finish();
    assert_ready("ByCity", 1, CHUNK_ROWS + 9);
    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from unique_owners o join (select min(row_key) as row_key from "
                         "entities where table_id = 1000) e using (row_key)"),
        1);
}
END_TEST

Suite *test_build_range_owners_suite(void);
Suite *test_build_range_owners_suite(void)
{
    Suite *suite = suite_create("build_range_owners");
    TCase *tc = tcase_create("build_range_owners");

    test_postgres_start();
    tcase_set_timeout(tc, 180);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(
        tc, an_entity_that_changed_since_it_was_read_does_not_own_its_old_value, 0, 2 * FORMS);
    tcase_add_test(tc, versions_are_read_behind_the_owners);
    tcase_add_loop_test(tc, a_violation_that_is_noted_before_the_owner_is_known_goes_again, 0, FORMS);
    tcase_add_test(tc, a_violation_that_is_noted_late_goes_again);
    tcase_add_test(tc, all_violations_are_looked_through);
    tcase_add_loop_test(tc, another_build_leaves_owners_as_they_are, 0, FORMS);
    tcase_add_loop_test(tc, the_first_key_owns_also_where_two_threads_build, 0, FORMS);
    suite_add_tcase(suite, tc);
    return suite;
}
