/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copy_work.c - dependents get the copies of their sources as these are now, whatever comes first (guard G69).
 * The rule is that of copy_world.h.
 */
#include "store/copies/copy_work.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

#include "base/macros.h"
#include "domain/limits.h"
#include "store/entities/write_batch.h"
#include "tests/support/builders.h"
#include "tests/support/copy_world.h"

static struct world world;
static struct copy_rule rule;

static void setup(void)
{
    copy_world_open(&world);
    rule = copy_world_rule();
    copy_world_add_rule(&world, RULE, &rule);
}

static void teardown(void)
{
    world_close(&world);
}

static void forget(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

/* Through a session and an arena of its own, so that threads can use it. */
static void run_write_of(const char *table, struct write write)
{
    struct commit_observer observer = { .intents_committed = forget };
    struct arena arena;
    struct operation operation = { .kind = OPERATION_WRITE,
        .account = STR_LITERAL("acme"),
        .table = str_of(table),
        .arena = &arena,
        .deadline_us = INT64_MAX,
        .in.write = { .writes = &write, .count = 1, .atomic = true } };

    arena_init(&arena);
    write_batch_run(&world.writer, &operation, &observer);
    arena_cleanup(&world.writer.arena);
    ck_assert_msg(
        operation.status == STATUS_OK, "write: %s", operation.error ? operation.error->message : "");
    arena_cleanup(&arena);
}

static void put_properties(
    const char *table, const char *partition, const char *row, struct property_list properties)
{
    run_write_of(table, a_write(WRITE_INSERT_OR_REPLACE, partition, row, properties));
}

static void put_manager(const char *row, const char *name)
{
    put_properties("Managers", "acme", row, some_texts(&world.arena, "Name", name, "Secret", "x", NULL));
}

static void delete_manager(const char *row)
{
    run_write_of("Managers", a_write(WRITE_DELETE_IF_EXISTS, "acme", row, (struct property_list){ 0 }));
}

/* names NULL: no manager; boss NULL: no copy. */
static void put_person(const char *row, const char *boss, const char *names)
{
    struct property_list list = some_texts(&world.arena, "Zip", "z", NULL);

    if (names)
        list = property_list_merge(list, some_texts(&world.arena, "Manager", names, NULL), &world.arena);
    if (boss)
        list = property_list_merge(list, some_texts(&world.arena, "Boss", boss, NULL), &world.arena);
    put_properties("People", "p", row, list);
}

static struct intent message(int64_t index_id, const char *row)
{
    const struct intent of_key = world_message(row);

    return (struct intent){
        .bucket = of_key.bucket, .kind = INTENT_COPY, .table_id = index_id, .key = of_key.key
    };
}

/* An open intent for the dependent, unless there is one. */
static void ask(int64_t index_id, const char *row)
{
    test_sql(world.sql,
        "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version) "
        "select %d, gen_random_uuid(), %d, %lld, 'p', '%s', 1 where not exists (select from intents "
        "where kind = %d and table_id = %lld and row_key = '%s')",
        world_message(row).bucket, INTENT_COPY, (long long)index_id, row, INTENT_COPY, (long long)index_id,
        row);
}

static struct copy_counts copy_intents(const struct intent *intents, size_t count)
{
    struct copy_counts counts = { 0 };
    struct error err = { 0 };

    ck_assert_msg(
        copy_work_keys(world.worker, intents, count, &counts, &err) == STATUS_OK, "copy: %s", err.message);
    return counts;
}

static struct copy_counts copy_person(const char *row)
{
    struct intent intent = message(RULE, row);

    ask(RULE, row);
    return copy_intents(&intent, 1);
}

static long long count_open(void)
{
    return test_number(world.sql, "select count(*) from intents where kind = %d", INTENT_COPY);
}

/* The properties of a person but for Zip, which stays as it is. */
static void check_person(const char *row, const char *boss, const char *names)
{
    struct property_list list = some_texts(&world.arena, "Zip", "z", NULL);
    struct buf hex;

    if (names)
        list = property_list_merge(list, some_texts(&world.arena, "Manager", names, NULL), &world.arena);
    if (boss)
        list = property_list_merge(list, some_texts(&world.arena, "Boss", boss, NULL), &world.arena);
    buf_init(&hex, &world.arena);
    for (size_t i = 0; i < list.bytes.len; i++)
        buf_append(&hex, str_of(arena_format(&world.arena, "%02x", (unsigned char)list.bytes.data[i]).data));
    ck_assert_str_eq(
        test_text(world.sql,
            "select encode(properties, 'hex') from entities where table_id = %d and row_key = '%s'", TABLE_ID,
            row),
        arena_format(&world.arena, "%.*s", STR_ARG(buf_str(&hex))).data);
}

static long long version_of(const char *row)
{
    return test_number(
        world.sql, "select version from entities where table_id = %d and row_key = '%s'", TABLE_ID, row);
}

/* ---- one after the other ---- */

START_TEST(a_dependent_gets_the_copy_and_loses_it_with_its_source)
{
    struct copy_counts counts;

    put_manager("m1", "Lee");
    put_person("r1", NULL, "m1");
    counts = copy_person("r1");
    ck_assert_int_eq(counts.keys, 1);
    ck_assert_int_eq(counts.written, 1);
    ck_assert_int_eq(counts.intents_removed, 1);
    ck_assert_int_eq(count_open(), 0);
    check_person("r1", "Lee", "m1");

    put_manager("m1", "Ray");
    copy_person("r1");
    check_person("r1", "Ray", "m1");

    delete_manager("m1");
    copy_person("r1");
    check_person("r1", NULL, "m1");
    test_sql(world.sql, "delete from intents where kind = %d", INTENT_VISIT); /* of the manager */
    world_check(&world);
}
END_TEST

START_TEST(a_copy_that_is_right_is_not_written)
{
    long long version;

    put_manager("m1", "Lee");
    put_person("r1", "Lee", "m1");
    version = version_of("r1");

    struct copy_counts counts = copy_person("r1");

    ck_assert_int_eq(counts.keys, 1);
    ck_assert_int_eq(counts.written, 0);
    ck_assert_int_eq(version_of("r1"), version);
    ck_assert_int_eq(count_open(), 0);
}
END_TEST

START_TEST(a_late_message_writes_nothing)
{
    struct intent late = message(RULE, "r1");

    put_manager("m1", "Lee");
    put_person("r1", NULL, "m1");
    copy_person("r1");
    test_sql(world.sql, "delete from intents");
    put_person("r1", "mine", "m1");
    test_sql(world.sql, "delete from intents");

    ck_assert_int_eq(copy_intents(&late, 1).keys, 0);
    check_person("r1", "mine", "m1");
}
END_TEST

START_TEST(a_dependent_that_does_not_exist_stays_so)
{
    put_manager("m1", "Lee");
    struct copy_counts counts = copy_person("r1");

    ck_assert_int_eq(counts.written, 0);
    ck_assert_int_eq(count_open(), 0);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d", TABLE_ID), 0);
}
END_TEST

START_TEST(an_entity_keeps_the_time_when_it_expires)
{
    struct write write = a_write(
        WRITE_INSERT_OR_REPLACE, "p", "r1", some_texts(&world.arena, "Manager", "m1", "Zip", "z", NULL));

    put_manager("m1", "Lee");
    write.expires = INT64_C(900000000000000000);
    run_write_of("People", write);
    copy_person("r1");

    check_person("r1", "Lee", "m1");
    ck_assert_int_eq(test_number(world.sql, "select expires from entities where table_id = %d", TABLE_ID),
        900000000000000000);
}
END_TEST

START_TEST(a_copy_is_a_write_like_any_other)
{
    static struct key_part boss = { .text = { "Boss", 4 } };

    world_add_index(&world, 2001,
        (struct index){ .shape = INDEX_COPY,
            .place = PLACE_OTHER_PARTITION,
            .partition_key = { &boss, 1 },
            .projection = PROJECT_KEYS_ONLY });
    world_change(&world, "update tables set feed_id = 77 where table_id = %d", TABLE_ID);
    put_manager("m1", "Lee");
    put_person("r1", NULL, "m1");
    world_reconcile(&world, "r1");
    copy_person("r1");

    ck_assert_int_eq(test_number(world.sql, "select count(*) from changes where feed_id = 77"), 2);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from intents where kind = 1"), 1);
    world_reconcile(&world, "r1");
    ck_assert_str_eq(
        test_text(world.sql, "select partition_key from entities where table_id = 2001 and not dead"), "Lee");
}
END_TEST

/* ---- many at once ---- */

START_TEST(a_batch_has_any_rules_and_keys_and_each_gets_its_own)
{
    static struct copy_pair other_pairs[] = { { { "Deputy", 6 }, { "Name", 4 } } };
    struct intent messages[3 * 5];
    size_t count = 0;

    rule.pairs = other_pairs;
    copy_world_add_rule(&world, RULE + 1, &rule);
    put_manager("m1", "Lee");
    put_manager("m2", "Ray");
    for (int i = 0; i < 5; i++) {
        const char *row = arena_format(&world.arena, "r%d", i).data;

        put_person(row, NULL, i % 2 == 0 ? "m1" : "m2");
        for (int64_t index_id = RULE; index_id <= RULE + 1; index_id++) {
            ask(index_id, row);
            messages[count++] = message(index_id, row);
        }
        messages[count++] = message(RULE, row); /* twice */
    }

    struct copy_counts counts = copy_intents(messages, count);

    ck_assert_int_eq(counts.keys, 10);
    ck_assert_int_eq(counts.written, 10);
    for (int i = 0; i < 5; i++) {
        const char *name = i % 2 == 0 ? "Lee" : "Ray";

        ck_assert_int_eq(test_number(world.sql,
                             "select count(*) from entities where table_id = %d and row_key = 'r%d' "
                             "and position('\\x0a04426f73731205'::bytea in properties) > 0 and "
                             "position('Deputy'::bytea in properties) > 0 "
                             "and position('%s'::bytea in properties) > 0",
                             TABLE_ID, i, name),
            1);
    }
}
END_TEST

/* Sources that have more bytes together than a transaction may read: the batch is halved until they have not. */
START_TEST(large_sources_are_read_in_several_transactions)
{
    enum { COUNT = 24 };
    struct intent messages[COUNT];
    struct property_list large = copy_world_ballast(&world);

    for (int i = 0; i < COUNT; i++) {
        const char *id = arena_format(&world.arena, "r%02d", i).data;

        put_properties("Managers", "acme", id,
            property_list_merge(large, some_texts(&world.arena, "Name", id, NULL), &world.arena));
        put_person(id, NULL, id);
        ask(RULE, id);
        messages[i] = message(RULE, id);
    }

    struct copy_counts counts = copy_intents(messages, COUNT);

    ck_assert_int_eq(counts.written, COUNT);
    ck_assert_int_ge(test_number(world.sql,
                         "select count(distinct xmin::text) from entities where table_id = %d", TABLE_ID),
        2);
    check_person("r07", "r07", "r07");
}
END_TEST

START_TEST(a_rule_that_is_gone_loses_its_intents)
{
    struct intent intent = message(RULE, "r1");

    put_manager("m1", "Lee");
    put_person("r1", NULL, "m1");
    ask(RULE, "r1");
    world_change(&world, "update indexes set state = 4");
    copy_intents(&intent, 1);

    ck_assert_int_eq(count_open(), 0);
    check_person("r1", NULL, "m1");
}
END_TEST

/* ---- dependents that cannot have their copies ---- */

static long long count_letters(void)
{
    return test_number(world.sql,
        "select count(*) from dead_letters where kind = %d and table_id = %d and index_id = %d and dead",
        INTENT_COPY, RULE, RULE);
}

START_TEST(a_dependent_that_cannot_have_its_copy_is_noted_and_does_not_hold_up_others)
{
    struct intent messages[] = { message(RULE, "r1"), message(RULE, "r2") };
    struct property_list many = some_texts(&world.arena, "Manager", "m1", NULL);

    for (int i = 0; i < LIMIT_PROPERTIES - 1; i++)
        many = property_list_merge(many,
            some_texts(&world.arena, arena_format(&world.arena, "N%03d", i).data, "x", NULL), &world.arena);
    put_manager("m1", "Lee");
    put_properties("People", "p", "r1", many);
    put_person("r2", NULL, "m1");
    ask(RULE, "r1");
    ask(RULE, "r2");

    struct copy_counts counts = copy_intents(messages, 2);

    ck_assert_int_eq(counts.refused, 1);
    ck_assert_int_eq(counts.written, 1);
    ck_assert_int_eq(count_open(), 0);
    ck_assert_int_eq(count_letters(), 1);
    ck_assert_ptr_nonnull(strstr(test_text(world.sql, "select cause from dead_letters"), "properties"));
    check_person("r2", "Lee", "m1");

    copy_person("r1");
    ck_assert_int_eq(test_number(world.sql, "select failures from dead_letters"), 2);
    put_person("r1", NULL, "m1");
    copy_person("r1");
    ck_assert_int_eq(count_letters(), 0);
    check_person("r1", "Lee", "m1");
}
END_TEST

/* Two keys of 400 characters do not fit into the key of an entry, so a change of their entity would not find it. */
START_TEST(a_dependent_that_could_not_be_found_again_gets_no_copy)
{
    char name[401];

    memset(name, 'k', 400);
    name[400] = '\0';
    rule.partition_key = (struct copy_name){ .text = STR_LITERAL("Zip") };
    world_change(&world, "delete from indexes; delete from tables where index_id is not null");
    copy_world_add_rule(&world, RULE, &rule);
    put_properties("Managers", name, name, some_texts(&world.arena, "Name", "Lee", NULL));
    put_properties("People", "p", "r1", some_texts(&world.arena, "Manager", name, "Zip", name, NULL));

    ck_assert_int_eq(copy_person("r1").refused, 1);
    ck_assert_int_eq(count_letters(), 1);

    put_properties("Managers", "z", "m1", some_texts(&world.arena, "Name", "Lee", NULL));
    put_person("r1", NULL, "m1");
    copy_person("r1");
    ck_assert_int_eq(count_letters(), 0);
    check_person("r1", "Lee", "m1");
}
END_TEST

/* ---- beside other transactions ---- */

static struct copy_counts counted;

static void *copy_r1(void *unused)
{
    struct intent intent = message(RULE, "r1");
    struct error err = { 0 };
    enum status status;

    do { /* on a slow machine the lock is held for longer than a worker waits */
        counted = (struct copy_counts){ 0 };
        status = copy_work_keys(world.worker, &intent, 1, &counted, &err);
    } while (status == STATUS_TIMEOUT);
    ck_assert_msg(status == STATUS_OK, "copy: %s", err.message);
    return unused;
}

static void await_worker_in_lock(void)
{
    test_await(world.sql, "select ((select count(*) from pg_stat_activity where datname = current_database() "
                          "and application_name = 'tavola-worker' and wait_event_type = 'Lock') = 1)::int");
}

/* Guard G69: a source that changes while a late copy waits for the dependent is read as it is then. */
START_TEST(the_source_is_read_after_the_lock_of_the_dependent)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    put_manager("m1", "Lee");
    put_person("r1", NULL, "m1");
    ask(RULE, "r1");
    test_sql(
        other, "begin; select from entities where table_id = %d and row_key = 'r1' for update", TABLE_ID);
    ck_assert_int_eq(pthread_create(&thread, NULL, copy_r1, NULL), 0);
    await_worker_in_lock();
    put_manager("m1", "Ray");
    test_sql(other, "rollback");
    pthread_join(thread, NULL);

    check_person("r1", "Ray", "m1");
    PQfinish(other);
}
END_TEST

/* Guard G69: the lock of the dependent is held while the source is read, so a second copy reads it later. */
START_TEST(a_copy_waits_for_another_one_that_has_read_the_source)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    put_manager("m1", "Lee");
    put_person("r1", "Lee", "m1");
    test_sql(other, "begin; update entities set version = version + 1 where table_id = %d", TABLE_ID);
    put_manager("m1", "Ray");
    ask(RULE, "r1");
    ck_assert_int_eq(pthread_create(&thread, NULL, copy_r1, NULL), 0);
    await_worker_in_lock();
    test_sql(other, "commit");
    pthread_join(thread, NULL);

    ck_assert_int_eq(counted.written, 1);
    check_person("r1", "Ray", "m1");
    PQfinish(other);
}
END_TEST

/* Guard G69: what the dependent names is taken from the state under the lock, too. */
START_TEST(a_dependent_that_names_another_source_meanwhile_gets_its_copy)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    put_manager("m1", "Lee");
    put_manager("m2", "Ray");
    put_person("r1", NULL, "m1");
    put_person("r2", NULL, "m2");
    test_sql(other,
        "begin; update entities e set version = e.version + 1, properties = (select properties from entities "
        "where table_id = %d and row_key = 'r2') where table_id = %d and row_key = 'r1'",
        TABLE_ID, TABLE_ID);
    ask(RULE, "r1");
    ck_assert_int_eq(pthread_create(&thread, NULL, copy_r1, NULL), 0);
    await_worker_in_lock();
    test_sql(other, "commit");
    pthread_join(thread, NULL);

    check_person("r1", "Ray", "m2");
    PQfinish(other);
}
END_TEST

Suite *test_copy_work_suite(void)
{
    Suite *suite = suite_create("copy_work");
    TCase *tc = tcase_create("copy_work");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_dependent_gets_the_copy_and_loses_it_with_its_source);
    tcase_add_test(tc, a_copy_that_is_right_is_not_written);
    tcase_add_test(tc, a_late_message_writes_nothing);
    tcase_add_test(tc, a_dependent_that_does_not_exist_stays_so);
    tcase_add_test(tc, an_entity_keeps_the_time_when_it_expires);
    tcase_add_test(tc, a_copy_is_a_write_like_any_other);
    tcase_add_test(tc, a_batch_has_any_rules_and_keys_and_each_gets_its_own);
    tcase_add_test(tc, large_sources_are_read_in_several_transactions);
    tcase_add_test(tc, a_rule_that_is_gone_loses_its_intents);
    tcase_add_test(tc, a_dependent_that_cannot_have_its_copy_is_noted_and_does_not_hold_up_others);
    tcase_add_test(tc, a_dependent_that_could_not_be_found_again_gets_no_copy);
    tcase_add_test(tc, the_source_is_read_after_the_lock_of_the_dependent);
    tcase_add_test(tc, a_copy_waits_for_another_one_that_has_read_the_source);
    tcase_add_test(tc, a_dependent_that_names_another_source_meanwhile_gets_its_copy);
    suite_add_tcase(suite, tc);
    return suite;
}
