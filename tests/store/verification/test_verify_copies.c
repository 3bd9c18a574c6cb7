/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_verify_copies.c - an index with a copy rule is built over entities that exist, and its verifications and repairs
 * find and mend exactly the copies that differ.
 *
 * 30 entities of People name one of three Managers, in partition "acme", by the property Manager. They get copies of
 * Name in Boss and of City in BossCity. m2 has no City.
 */
#include <check.h>

#include "base/macros.h"
#include "store/copies/copy_work.h"
#include "store/entities/write_batch.h"
#include "store/indexes/index_calls.h"
#include "store/jobs/report_calls.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/copy_world.h"
#include "tests/support/index_calls.h"

enum { PEOPLE = 30 };

static struct world world;
static long long index_id;

static void forget(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

static void put(const char *table, const char *partition, const char *row, struct property_list properties)
{
    struct commit_observer observer = { .intents_committed = forget };
    struct operation *operation = an_operation(&world.arena, OPERATION_WRITE, table);

    operation->in.write = (struct operation_write){
        .writes = ARENA_NEW(&world.arena, struct write), .count = 1, .atomic = true
    };
    operation->in.write.writes[0] = a_write(WRITE_INSERT_OR_REPLACE, partition, row, properties);
    write_batch_run(&world.writer, operation, &observer);
    arena_cleanup(&world.writer.arena);
    ck_assert_reason(operation, "OK");
}

static void make_rule(void)
{
    static struct copy_pair pairs[] = { { { "Boss", 4 }, { "Name", 4 } },
        { { "BossCity", 8 }, { "City", 4 } } };
    static struct key_part manager = { .text = { "Manager", 7 } };
    static struct copy_rule rule = { .partition_key = { true, { "acme", 4 } },
        .row_key = { false, { "Manager", 7 } },
        .source_name = { "Managers", 8 },
        .pairs = pairs,
        .pair_count = 2 };
    struct operation *create = call_make(&world.arena, OPERATION_INDEX_CREATE, "Bosses");

    create->in.index.definition = (struct index){ .name = STR_LITERAL("Bosses"),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .consistency = INDEX_STRONG,
        .partition_key = { &manager, 1 },
        .projection = PROJECT_KEYS_ONLY,
        .copies = &rule };
    call_succeeded(call_run(&world.writer, index_calls_create, create));
    index_id = test_number(world.sql, "select index_id from indexes");
}

static void setup(void)
{
    static const char *const managers[] = { "m0", "m1", "m2" };

    copy_world_open(&world);
    put("Managers", "acme", "m0", some_texts(&world.arena, "City", "Bonn", "Name", "Lee", NULL));
    put("Managers", "acme", "m1", some_texts(&world.arena, "City", "Rome", "Name", "Ray", NULL));
    put("Managers", "acme", "m2", some_texts(&world.arena, "Name", "Kim", NULL));
    for (int i = 0; i < PEOPLE; i++)
        put("People", "p", arena_format(&world.arena, "r%02d", i).data,
            some_texts(&world.arena, "BossCity", "wrong", "Manager", managers[i % 3], NULL));
    make_rule();
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "Bosses").state, INDEX_READY);
}

static void teardown(void)
{
    world_close(&world);
}

static long long count_with(const char *hex)
{
    return test_number(world.sql,
        "select count(*) from entities where table_id = %d and position(decode('%s', 'hex') in properties) > "
        "0",
        TABLE_ID, hex);
}

static const struct outcome_report *report_of(bool repairs, struct entity_key *keys, size_t key_count)
{
    struct operation *verify = call_make(&world.arena, OPERATION_INDEX_VERIFY, "Bosses");
    struct operation *get = call_make(&world.arena, OPERATION_INDEX_REPORT, "");

    verify->in.verify = (struct operation_verify){
        .repairs = repairs, .report_id = STR_EMPTY, .values = STR_EMPTY, .keys = keys, .key_count = key_count
    };
    call_succeeded(call_run(&world.writer, report_calls_start, verify));
    get->in.jobs.operation_id = arena_copy(&world.arena, verify->out.jobs.jobs[0].operation_id);
    get->in.jobs.after = STR_EMPTY;
    get->in.jobs.limit = 1000;
    run_chunks(world.worker);
    call_succeeded(call_run(&world.writer, report_calls_get, get));
    ck_assert_int_eq(get->out.report.report.state, JOB_DONE);
    return &get->out.report;
}

/* What the properties of a person are, in hexadecimal: Boss, Lee and so on. */
#define BOSS_LEE "04426f737312050a034c6565"
#define BOSS_RAY "04426f737312050a03526179"
#define BOSS_KIM "04426f737312050a034b696d"
#define CITY_BONN "08426f73734369747912060a04426f6e6e"
#define CITY_ROME "08426f73734369747912060a04526f6d65"

static void check_all_right(void)
{
    ck_assert_int_eq(count_with(BOSS_LEE), PEOPLE / 3);
    ck_assert_int_eq(count_with(BOSS_RAY), PEOPLE / 3);
    ck_assert_int_eq(count_with(BOSS_KIM), PEOPLE / 3);
    ck_assert_int_eq(count_with(CITY_BONN), PEOPLE / 3);
    ck_assert_int_eq(count_with(CITY_ROME), PEOPLE / 3);
    ck_assert_int_eq(count_with("08426f737343697479"), 2 * (PEOPLE / 3));
}

START_TEST(a_build_copies_to_all_dependents_that_exist)
{
    const struct outcome_report *report;

    check_all_right();
    report = report_of(false, NULL, 0);
    ck_assert_int_eq(report->report.counts.copies, 0);
    ck_assert_uint_eq(report->count, 0);
}
END_TEST

static struct property_list texts_of(const char *boss, const char *city, const char *manager)
{
    return city ? some_texts(&world.arena, "Boss", boss, "BossCity", city, "Manager", manager, NULL)
                : some_texts(&world.arena, "Boss", boss, "Manager", manager, NULL);
}

/* By hand, as if a disk had done it. */
static void set_person(const char *row, struct property_list properties)
{
    struct buf hex;

    buf_init(&hex, &world.arena);
    for (size_t i = 0; i < properties.bytes.len; i++)
        buf_append(&hex, arena_format(&world.arena, "%02x", (unsigned char)properties.bytes.data[i]));
    test_sql(world.sql,
        "update entities set properties = decode('%.*s', 'hex') where table_id = %d and row_key = '%s'",
        STR_ARG(buf_str(&hex)), TABLE_ID, row);
}

/* A wrong copy, a missing one, and a dependent with a wrong and a superfluous one. */
static void damage(void)
{
    set_person("r00", texts_of("Ray", "Bonn", "m0"));
    set_person("r01", texts_of("Ray", NULL, "m1"));
    set_person("r02", texts_of("Lee", "Bonn", "m2"));
}

static const struct report_difference *find(
    const struct outcome_report *report, const char *row, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (str_equal(report->differences[i].source.row, str_of(row)) &&
            str_equal(report->differences[i].property, str_of(name)))
            return &report->differences[i];
    ck_abort_msg("no difference of %s of %s among %zu", name, row, report->count);
    return NULL;
}

START_TEST(wrong_missing_and_superfluous_copies_are_found_and_mended)
{
    const struct outcome_report *report;

    damage();
    report = report_of(false, NULL, 0);
    ck_assert_int_eq(report->report.counts.copies, 4);
    ck_assert_uint_eq(report->count, 4);
    ck_assert_int_eq(find(report, "r00", "Boss")->class, DIFFERENCE_COPY_WRONG);
    ck_assert_int_eq(find(report, "r01", "BossCity")->class, DIFFERENCE_COPY_MISSING);
    ck_assert_int_eq(find(report, "r02", "Boss")->class, DIFFERENCE_COPY_WRONG);
    ck_assert_int_eq(find(report, "r02", "BossCity")->class, DIFFERENCE_COPY_SUPERFLUOUS);
    ck_assert_int_eq(find(report, "r02", "BossCity")->state, DIFFERENCE_FOUND);
    ck_assert_int_eq(report->report.counts.found[DIFFERENCE_MISSING], 0);

    test_sql(world.sql,
        "create temp table before as select ctid as at, row_key from entities where table_id = %d", TABLE_ID);
    report = report_of(true, NULL, 0);
    ck_assert_int_eq(report->report.counts.copies, 4);
    ck_assert_int_eq(report->report.counts.mended, 4);
    ck_assert_int_eq(report->report.counts.remaining, 0);
    ck_assert_int_eq(find(report, "r00", "Boss")->state, DIFFERENCE_MENDED);
    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from entities e where table_id = %d and (ctid, row_key) not in "
                         "(select at, row_key from before)",
                         TABLE_ID),
        3);
    check_all_right();
    ck_assert_int_eq(report_of(false, NULL, 0)->report.counts.copies, 0);
}
END_TEST

START_TEST(named_dependents_alone_are_compared_and_mended)
{
    struct entity_key keys[] = { a_key("p", "r00"), a_key("p", "r05") };
    const struct outcome_report *report;

    damage();
    report = report_of(false, keys, 2);
    ck_assert_int_eq(report->report.counts.copies, 1);
    ck_assert_int_eq(find(report, "r00", "Boss")->class, DIFFERENCE_COPY_WRONG);
    report = report_of(true, keys, 2);
    ck_assert_int_eq(report->report.counts.mended, 1);
    ck_assert_int_eq(report_of(false, NULL, 0)->report.counts.copies, 3);
}
END_TEST

/* The sweeper is late. A build, too, mends what its validation finds; with a difference that remains it would fail. */
START_TEST(the_copies_of_dependents_that_have_expired_are_mended)
{
    damage();
    test_sql(world.sql, "update entities set expires = 5 where table_id = %d", TABLE_ID);

    const struct outcome_report *report = report_of(true, NULL, 0);

    ck_assert_int_eq(report->report.counts.copies, 4);
    ck_assert_int_eq(find(report, "r00", "Boss")->state, DIFFERENCE_MENDED);
    ck_assert_int_eq(report->report.counts.remaining, 0);
    check_all_right();
}
END_TEST

/* Work that is open, or a dead letter: of the dependent, or of its source. */
static const char *const open_work[] = {
    "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version) "
    "select bucket, gen_random_uuid(), 3, current_setting('test.index')::int8, partition_key, row_key, 1 "
    "from entities where table_id = 1000 and row_key = 'r00'",
    "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version) "
    "select bucket, gen_random_uuid(), 4, current_setting('test.index')::int8, partition_key, row_key, 1 "
    "from entities where table_id = 1100 and row_key = 'm0'",
    "insert into copy_visits (index_id, partition_key, row_key, bucket, covers) "
    "select current_setting('test.index')::int8, partition_key, row_key, bucket, '{}' from entities where "
    "table_id = 1100 and row_key = 'm0'",
    "insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, "
    "cause, history) "
    "select bucket, 3, current_setting('test.index')::int8, partition_key, row_key, 0, true, 1, '', '' from "
    "entities where table_id = 1000 and row_key = 'r00'",
    "insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, "
    "cause, history) "
    "select bucket, 4, current_setting('test.index')::int8, partition_key, row_key, 0, true, 1, '', '' from "
    "entities where table_id = 1100 and row_key = 'm0'",
};

START_TEST(a_dependent_with_open_work_is_in_flight)
{
    const struct outcome_report *report;

    set_person("r00", texts_of("Ray", "Bonn", "m0"));
    test_sql(world.sql, "set test.index = %lld", index_id);
    test_sql(world.sql, "%s", open_work[_i]);
    report = report_of(false, NULL, 0);
    ck_assert_int_eq(report->report.counts.copies, 0);
    ck_assert_int_eq(report->report.counts.in_flight, 1);
    ck_assert_uint_eq(report->count, 0);
}
END_TEST

START_TEST(a_write_of_either_side_is_no_difference_before_its_work_is_done)
{
    put("Managers", "acme", "m1", some_texts(&world.arena, "Name", "Sue", NULL));
    put("People", "p", "r00", some_texts(&world.arena, "Boss", "mine", "Manager", "m0", NULL));
    put("People", "p", "new", some_texts(&world.arena, "Manager", "m2", NULL));

    ck_assert_int_eq(report_of(false, NULL, 0)->report.counts.copies, 0);
    ck_assert_int_eq(report_of(true, NULL, 0)->report.counts.mended, 0);
    ck_assert_int_eq(report_of(false, NULL, 0)->report.counts.in_flight, PEOPLE / 3 + 2);
}
END_TEST

Suite *test_verify_copies_suite(void)
{
    Suite *suite = suite_create("verify_copies");
    TCase *tc = tcase_create("verify_copies");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_build_copies_to_all_dependents_that_exist);
    tcase_add_test(tc, wrong_missing_and_superfluous_copies_are_found_and_mended);
    tcase_add_test(tc, the_copies_of_dependents_that_have_expired_are_mended);
    tcase_add_test(tc, named_dependents_alone_are_compared_and_mended);
    tcase_add_loop_test(tc, a_dependent_with_open_work_is_in_flight, 0, ARRAY_LEN(open_work));
    tcase_add_test(tc, a_write_of_either_side_is_no_difference_before_its_work_is_done);
    suite_add_tcase(suite, tc);
    return suite;
}
