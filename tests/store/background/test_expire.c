/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_expire.c - time to live: an expired entity disappears for all callers at once, and is deleted later as by an
 * ordinary delete, with its entries.
 */
#include <check.h>

#include "base/clock.h"
#include "domain/ticks.h"
#include "store/background/sweep.h"
#include "store/entities/write_batch.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"
#include "tests/support/transaction_calls.h"

static const struct property_list none = { { "", 0 } };

static int64_t in_seconds(int64_t seconds)
{
    return clock_ticks() + seconds * TICKS_PER_SECOND;
}

/* ---- as callers see it ---- */

static struct scene scene;

static void setup(void)
{
    scene_open(&scene);
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct write until(enum write_kind kind, const char *row, const char *text, int64_t expires)
{
    struct write write = a_write(kind, "p", row, some_texts(&scene.arena, "Text", text, NULL));

    write.expires = expires;
    return write;
}

/* Set the expiry to the past. */
static void let_pass(const char *row)
{
    test_sql(scene.sql, "update entities set expires = 5 where row_key = '%s'", row);
}

static int64_t expires_of(const char *row)
{
    const struct entity *entity = scene_read(&scene, "p", row);

    ck_assert_ptr_nonnull(entity);
    return entity->expires;
}

START_TEST(an_entity_says_when_it_expires)
{
    int64_t later = in_seconds(100), still_later = in_seconds(200);

    scene_write(&scene, until(WRITE_INSERT, "r", "one", later));
    ck_assert_int_eq(expires_of("r"), later);
    scene_write(&scene, until(WRITE_MERGE, "r", "two", 0));
    ck_assert_int_eq(expires_of("r"), later);
    scene_write(&scene, until(WRITE_INSERT_OR_MERGE, "r", "two", still_later));
    ck_assert_int_eq(expires_of("r"), still_later);
    scene_write(&scene, until(WRITE_REPLACE, "r", "three", 0));
    ck_assert_int_eq(expires_of("r"), 0);
    scene_write(&scene, until(WRITE_INSERT_OR_REPLACE, "r", "four", later));
    ck_assert_int_eq(expires_of("r"), later);
    scene_write(&scene, until(WRITE_INSERT_OR_REPLACE, "r", "five", 0)); /* the path without a read */
    ck_assert_int_eq(expires_of("r"), 0);
}
END_TEST

static int64_t count_of(void)
{
    struct operation *count = an_operation(&scene.arena, OPERATION_COUNT, "Things");

    filter_key_plan(NULL, &scene.arena, &count->in.page.plan);
    run(scene.store, count);
    ck_assert_reason(count, "OK");
    return (int64_t)count->out.page.count;
}

START_TEST(what_is_due_is_gone_for_every_reader)
{
    struct entity_key keys[] = { a_key("p", "a"), a_key("p", "b"), a_key("p", "c") };
    struct operation *gets = a_get(&scene.arena, "Things", keys, 3),
                     *page = a_page(&scene.arena, "Things", 10);

    scene_write(&scene, until(WRITE_INSERT, "a", "x", in_seconds(100)));
    scene_write(&scene, until(WRITE_INSERT, "b", "x", in_seconds(-1)));
    scene_write(&scene, until(WRITE_INSERT, "c", "x", 0));
    run(scene.store, gets);
    run(scene.store, page);

    ck_assert(gets->out.get.found[0] && !gets->out.get.found[1] && gets->out.get.found[2]);
    ck_assert_ptr_null(scene_read(&scene, "p", "b"));
    ck_assert_uint_eq(page->out.page.count, 2);
    ck_assert_int_gt(page->out.page.entities[0].expires, 0);
    ck_assert_int_eq(count_of(), 2);
    let_pass("a");
    ck_assert_ptr_null(scene_read(&scene, "p", "a"));
    ck_assert_int_eq(count_of(), 1);
}
END_TEST

START_TEST(what_is_due_is_gone_for_every_writer)
{
    struct write conditional = until(WRITE_INSERT_OR_MERGE, "r", "x", 0);
    struct write_result first = scene_write(&scene, until(WRITE_INSERT, "r", "one", in_seconds(100)));

    let_pass("r");
    scene_refused(&scene, until(WRITE_REPLACE, "r", "x", 0), "RESOURCE_NOT_FOUND");
    scene_refused(&scene, until(WRITE_MERGE, "r", "x", 0), "RESOURCE_NOT_FOUND");
    scene_refused(&scene, a_write(WRITE_DELETE, "p", "r", none), "RESOURCE_NOT_FOUND");
    conditional.condition = if_match(first.etag);
    scene_refused(&scene, conditional, "RESOURCE_NOT_FOUND");
    scene_write(&scene, a_write(WRITE_DELETE_IF_EXISTS, "p", "r", none));
    ck_assert_int_eq(
        test_number(scene.sql, "select count(*) from entities where version = 1 and not dead"), 1);

    /* The new entity has no property of the expired one, and a higher version. */
    struct write_result second = scene_write(&scene, a_write(WRITE_INSERT_OR_MERGE, "p", "r", none));
    ck_assert_int_eq(second.etag.version, 2);
    ck_assert_int_gt(second.timestamp, first.timestamp);
    ck_assert_uint_eq(scene_read(&scene, "p", "r")->properties.bytes.len, 0);
    ck_assert_int_eq(expires_of("r"), 0);
}
END_TEST

START_TEST(an_insertion_replaces_what_is_due)
{
    scene_write(&scene, until(WRITE_INSERT, "r", "one", in_seconds(100)));
    scene_refused(&scene, until(WRITE_INSERT, "r", "two", 0), "ENTITY_ALREADY_EXISTS");
    let_pass("r");
    scene_write(&scene, until(WRITE_INSERT, "r", "two", 0));

    ck_assert(str_equal(text_of(scene_read(&scene, "p", "r")->properties, "Text"), STR_LITERAL("two")));
}
END_TEST

START_TEST(trusted_entries_go_with_their_source)
{
    static struct key_part by_text = { .text = { "Text", 4 } };
    struct index index = { .index_id = 900,
        .name = STR_LITERAL("ByText"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .partition_key = { &by_text, 1 },
        .projection = PROJECT_ALL };

    scene_write(&scene, until(WRITE_INSERT, "a", "x", 0));
    scene_write(&scene, until(WRITE_INSERT, "b", "x", in_seconds(100)));
    scene_index(&scene, &index);
    scene_entry(&scene, &index, scene_read(&scene, "p", "a"));
    scene_entry(&scene, &index, scene_read(&scene, "p", "b"));
    test_sql(scene.sql, "update entities set expires = 5 where table_id = 900 and row_key like '%%b%%'");
    for (int trust = 0; trust < 2; trust++) {
        struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, "ByText");
        struct value text = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("x") };

        lookup->in.lookup =
            (struct operation_lookup){ .equals = &text, .equal_count = 1, .limit = 10, .trust_index = trust };
        run(scene.store, lookup);
        ck_assert_reason(lookup, "OK");
        ck_assert_uint_eq(lookup->out.lookup.count, 1);
        ck_assert(str_equal(lookup->out.lookup.entities[0].key.row, STR_LITERAL("a")));
    }
}
END_TEST

/* ---- as workers see it ---- */

static struct world world;

static void setup_world(void)
{
    world_open(&world);
}

static void teardown_world(void)
{
    world_close(&world);
}

static void ignore(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

static void write_now(struct write write)
{
    struct commit_observer observer = { .intents_committed = ignore };
    struct operation *operation = a_write_operation(&world.arena, "People", write);

    write_batch_run(&world.writer, operation, &observer);
    ck_assert_reason(operation, "OK");
    arena_cleanup(&world.writer.arena);
}

static void put_until(enum write_kind kind, const char *row, const char *city, int64_t expires)
{
    struct write write = a_write(kind, "p", row, city ? some_texts(&world.arena, "City", city, NULL) : none);

    write.expires = expires;
    write_now(write);
}

static struct sweep_counts sweep(void)
{
    const struct sweep_ages ages = { .dead_row_s = 3600, .transaction_s = 3600, .request_s = 3600 };
    struct sweep_counts counts = { 0 };
    struct error err = { 0 };
    bool more;

    ck_assert_msg(sweep_run(world.worker, &ages, &counts, &more, &err) == STATUS_OK, "%s", err.message);
    return counts;
}

static long long rows(const char *where)
{
    return test_number(
        world.sql, "select count(*) from entities where table_id = %d and %s", TABLE_ID, where);
}

START_TEST(the_sweeper_deletes_what_is_due_and_its_entries_follow)
{
    world_index(&world, BY_CITY, "City", 0);
    put_until(WRITE_INSERT, "a", "Bonn", in_seconds(100));
    put_until(WRITE_INSERT, "b", "Bonn", 0);
    put_until(WRITE_INSERT, "c", "Rome", in_seconds(-5));
    world_reconcile_all(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 3);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d and expires > 0", BY_CITY),
        2);

    ck_assert_int_eq(sweep().expired, 1);
    ck_assert_int_eq(rows("dead and version = 2 and expires is null and row_key = 'c'"), 1);
    ck_assert_int_eq(rows("not dead"), 2);
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile_all(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 2);
    ck_assert_int_eq(sweep().expired, 0);
}
END_TEST

START_TEST(a_change_of_the_time_alone_reaches_the_entries)
{
    world_index(&world, BY_NOTE, "City", 0); /* keys only: nothing else changes */
    put_until(WRITE_INSERT, "a", "Bonn", 0);
    world_reconcile_all(&world);
    put_until(WRITE_MERGE, "a", "Bonn", in_seconds(100));
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile_all(&world);

    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from entities e join entities s on s.table_id = %d and "
                         "e.expires = s.expires where e.table_id = %d",
                         TABLE_ID, BY_NOTE),
        1);
    put_until(WRITE_MERGE, "a", "Bonn", 0); /* nothing changes */
    ck_assert_int_eq(world_intents(&world), 0);
}
END_TEST

START_TEST(a_new_life_clears_the_entries_of_the_old_one)
{
    world_index(&world, BY_CITY, "City", 0);
    put_until(WRITE_INSERT, "a", "Bonn", in_seconds(100));
    world_reconcile_all(&world);
    test_sql(world.sql, "update entities set expires = 5 where row_key = 'a'");

    /* The entity has no City: if the expired one were taken for absent, no change of the index would be seen. */
    put_until(WRITE_INSERT, "a", NULL, 0);
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile_all(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 0);
}
END_TEST

START_TEST(time_passes_without_harm_to_what_is_stored)
{
    world_index(&world, BY_CITY, "City", 0);
    put_until(WRITE_INSERT, "a", "Bonn", in_seconds(-5));
    world_reconcile_all(&world);

    /* project() has no clock: the entry stays until the row is deleted (invariant I2). */
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
}
END_TEST

START_TEST(an_index_is_built_over_what_is_due)
{
    people_put(&world, 20);
    test_sql(world.sql, "update entities set expires = 5 where row_key < 'r00008'");
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(sweep().expired, 8);
}
END_TEST

START_TEST(many_go_in_chunks_and_other_tables_have_their_own)
{
    people_copy(&world, 1300);
    test_sql(world.sql, "update entities set expires = 5 + length(row_key)");
    put_until(WRITE_INSERT, "stays", "Bonn", in_seconds(100));

    ck_assert_int_eq(sweep().expired, 1300);
    ck_assert_int_eq(rows("not dead"), 1);
}
END_TEST

/* Large entities are deleted in parts; if one cannot be deleted, the error names it. */
START_TEST(one_of_many_large_ones_stays)
{
    enum { LARGE = 45 };
    const struct sweep_ages ages = { .dead_row_s = 3600, .transaction_s = 3600, .request_s = 3600 };
    struct sweep_counts counts = { 0 };
    struct error err = { 0 };
    bool more;
    static char large[800001];

    memset(large, 'x', sizeof(large) - 1);
    world_index(&world, BY_CITY, "City", 0);
    for (int i = 0; i < LARGE; i++)
        world_put(&world, arena_format(&world.arena, "%02d", i).data, "Bonn", large);
    test_sql(world.sql,
        "update entities set expires = 5;"
        "create function refuse() returns trigger language plpgsql as $$begin raise exception 'refused'; "
        "end$$;"
        "create trigger refuse before update on entities for each row when (new.row_key = '07') "
        "execute function refuse()");

    ck_assert_int_eq(sweep_run(world.worker, &ages, &counts, &more, &err), STATUS_INTERNAL);

    ck_assert_str_eq(err.sqlstate, "P0001");
    ck_assert_int_eq(rows("not dead"), 1);
    test_sql(world.sql, "drop trigger refuse on entities");
    ck_assert_int_eq(sweep().expired, 1);
    ck_assert_int_eq(rows("not dead"), 0);
}
END_TEST

/* The entity was expired when the sweeper read it, and is written before the sweeper has the lock. */
START_TEST(whether_it_is_due_is_decided_under_the_lock)
{
    put_until(WRITE_INSERT, "a", "Bonn", in_seconds(100));
    write_now((struct write){ .kind = WRITE_EXPIRE, .key = a_key("p", "a"), .properties = none });
    write_now((struct write){ .kind = WRITE_EXPIRE, .key = a_key("p", "none"), .properties = none });

    ck_assert_int_eq(rows("not dead and version = 1"), 1);
    ck_assert_int_eq(rows("true"), 1);
}
END_TEST

START_TEST(a_move_takes_the_time_along)
{
    struct step step = step_move("People", "a", "People", "z");
    int64_t later = in_seconds(100);

    put_until(WRITE_INSERT, "a", "Bonn", later);
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t1", &step, 1));
    transaction_run(&world, "t1");
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_int_eq(test_number(world.sql, "select expires from entities where not dead"), later);

    test_sql(world.sql, "update entities set expires = 5 where not dead");
    step = step_delete("People", "z");
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t2", &step, 1));
    transaction_run(&world, "t2");
    struct transaction seen = transaction_seen(&world, "t2");
    ck_assert_int_eq(seen.state, TRANSACTION_DONE);
    ck_assert_uint_eq(seen.timeline[0].etag_before.len, 0);
}
END_TEST

Suite *test_expire_suite(void)
{
    Suite *suite = suite_create("expires");
    TCase *callers = tcase_create("callers"), *workers = tcase_create("workers");

    test_postgres_start();
    tcase_set_timeout(callers, 60);
    tcase_add_checked_fixture(callers, setup, teardown);
    tcase_add_test(callers, an_entity_says_when_it_expires);
    tcase_add_test(callers, what_is_due_is_gone_for_every_reader);
    tcase_add_test(callers, what_is_due_is_gone_for_every_writer);
    tcase_add_test(callers, an_insertion_replaces_what_is_due);
    tcase_add_test(callers, trusted_entries_go_with_their_source);
    suite_add_tcase(suite, callers);
    tcase_set_timeout(workers, 60);
    tcase_add_checked_fixture(workers, setup_world, teardown_world);
    tcase_add_test(workers, the_sweeper_deletes_what_is_due_and_its_entries_follow);
    tcase_add_test(workers, a_change_of_the_time_alone_reaches_the_entries);
    tcase_add_test(workers, a_new_life_clears_the_entries_of_the_old_one);
    tcase_add_test(workers, time_passes_without_harm_to_what_is_stored);
    tcase_add_test(workers, an_index_is_built_over_what_is_due);
    tcase_add_test(workers, one_of_many_large_ones_stays);
    tcase_add_test(workers, many_go_in_chunks_and_other_tables_have_their_own);
    tcase_add_test(workers, whether_it_is_due_is_decided_under_the_lock);
    tcase_add_test(workers, a_move_takes_the_time_along);
    suite_add_tcase(suite, workers);
    return suite;
}
