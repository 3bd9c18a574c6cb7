/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification and repair of indexes that were damaged by hand: exactly the differences are found, and exactly they
 * are repaired.
 */
#include <check.h>

#include "base/macros.h"
#include "domain/indexes/verify_scope.h"
#include "store/background/range_delete.h"
#include "store/indexes/index_calls.h"
#include "store/jobs/job_calls.h"
#include "store/jobs/report_calls.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { PEOPLE = 1200 }; /* more than two rounds of LOOK_SUBJECTS */

static struct world world;
static long long index_id;

static void teardown(void)
{
    world_close(&world);
}

static void build(struct operation *created)
{
    call_succeeded(created);
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    index_id = test_number(world.sql, "select index_id from indexes");
    test_sql(world.sql, "set test.index = %lld", index_id);
}

static void setup(void)
{
    world_open(&world);
    people_copy(&world, PEOPLE);
    build(index_created(&world, "ByCity", "People", 0));
}

/* ---- calls ---- */

static struct operation *verify_made(bool repairs)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_VERIFY, "ByCity");

    operation->in.verify =
        (struct operation_verify){ .repairs = repairs, .report_id = STR_EMPTY, .values = STR_EMPTY };
    return operation;
}

static const char *started(struct operation *operation)
{
    call_succeeded(call_run(&world.writer, report_calls_start, operation));
    return arena_copy(&world.arena, operation->out.jobs.jobs[0].operation_id).data;
}

static const struct outcome_report *report_of(const char *id)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_REPORT, "");

    operation->in.jobs.operation_id = str_of(id);
    operation->in.jobs.after = STR_EMPTY;
    operation->in.jobs.limit = 1000;
    call_succeeded(call_run(&world.writer, report_calls_get, operation));
    return &operation->out.report;
}

static const struct outcome_report *done(struct operation *operation)
{
    const char *id = started(operation);
    const struct outcome_report *report;

    run_chunks(world.worker);
    report = report_of(id);
    ck_assert_int_eq(report->report.state, JOB_DONE);
    return report;
}

static void found(
    const struct outcome_report *report, int missing, int dangling, int mismatched, int manifests)
{
    const int64_t *counts = report->report.counts.found;

    ck_assert_int_eq(counts[DIFFERENCE_MISSING], missing);
    ck_assert_int_eq(counts[DIFFERENCE_DANGLING], dangling);
    ck_assert_int_eq(counts[DIFFERENCE_MISMATCHED], mismatched);
    ck_assert_int_eq(counts[DIFFERENCE_MANIFEST], manifests);
}

static struct operation *fast_made(void)
{
    struct operation *operation = verify_made(false);

    operation->in.verify.is_fast = true;
    return operation;
}

static void is_whole(void)
{
    const struct outcome_report *report = done(verify_made(false));

    found(report, 0, 0, 0, 0);
    ck_assert_uint_eq(report->count, 0);
    report = done(fast_made());
    found(report, 0, 0, 0, 0);
    ck_assert(report->report.is_fast);
}

/* ---- damage ---- */

/* A case expects counts by class, and the source of the difference; NULL: it has none. */
static const struct damage {
    const char *sql; /* the index is current_setting('test.index') */
    int missing, dangling, mismatched, manifests;
    const char *source;
    bool needs_manifest;
    bool
        keeps_version; /* the content has changed under the same version: only a full verification finds it */
} damages[] = {
    { "delete from entities where table_id = current_setting('test.index')::int8 and row_key like '%r000010'",
        1, 0, 0, 0, "r000010", false, false },
    { "insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) "
      "select bucket, table_id, partition_key, 'added', 1, ts, properties from entities "
      "where table_id = current_setting('test.index')::int8 and row_key like '%r000020'",
        0, 1, 0, 0, "r000020", false, false },
    { "update entities set properties = decode(replace(encode(properties, 'hex'), '0178', '0179'), 'hex') "
      "where table_id = current_setting('test.index')::int8 and row_key like '%r000030'",
        0, 0, 1, 0, "r000030", false, true },
    { "update entities set version = version + 1, properties = decode(replace(encode(properties, 'hex'), "
      "'0178', "
      "'0179'), 'hex') where table_id = current_setting('test.index')::int8 and row_key like '%r000034'",
        0, 0, 1, 0, "r000034", false, false },
    /* of an entry: its content is right, but a look-up would return an entity with an old ETag */
    { "update entities set version = version - 1 where table_id = current_setting('test.index')::int8 and "
      "row_key like '%r000035'",
        0, 0, 1, 0, "r000035", false, false },
    { "update entities set expires = 900000000000000000 where table_id = current_setting('test.index')::int8 "
      "and row_key like '%r000031'",
        0, 0, 1, 0, "r000031", false, true },
    { "update entities set properties = '' where table_id = current_setting('test.index')::int8 and row_key "
      "like '%r000032'",
        0, 1, 1, 0, "r000032", false, false },
    { "insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) "
      "select bucket, table_id, partition_key, 'nameless', 1, ts, '' from entities "
      "where table_id = current_setting('test.index')::int8 and row_key like '%r000033'",
        0, 1, 0, 0, NULL, false, false },
    { "update index_state set manifest = (select manifest from index_state where row_key = 'r000041') "
      "where row_key = 'r000040'",
        0, 0, 0, 1, "r000040", true, false },
    { "update index_state set manifest = '\\x63' where row_key = 'r000042'", 0, 0, 0, 1, "r000042", true,
        false },
    { "update index_state set manifest = set_byte(manifest, octet_length(manifest) - 1, "
      "get_byte(manifest, octet_length(manifest) - 1) # 1) where row_key = 'r000043'",
        0, 0, 0, 1, "r000043", true, true },
    { "delete from index_state where row_key = 'r000050'", 0, 0, 0, 1, "r000050", true, false },
    { "update entities set dead = true, properties = '' where table_id = 1000 and row_key = 'r000060'", 0, 1,
        0, 0, "r000060", false, false },
    { "update entities set properties = decode(replace(encode(properties, 'hex'), '0178', '0179'), 'hex') "
      "where table_id = 1000 and row_key = 'r000061'",
        0, 0, 1, 0, "r000061", false, true },
    { "with gone as (delete from entities where table_id = current_setting('test.index')::int8 and row_key "
      "like '%r000070') "
      "delete from entities where table_id = 1000 and row_key = 'r000070'",
        0, 0, 0, 1, "r000070", true, false },
};

static void do_damage(const struct damage *damage)
{
    test_sql(world.sql, "%s", damage->sql);
}

static int damage_count(const struct damage *damage)
{
    return damage->missing + damage->dangling + damage->mismatched + damage->manifests;
}

/* The rows of the index and the manifests whose version has changed. */
static void remember(void)
{
    test_sql(world.sql,
        "create temp table before as select ctid as at, row_key from entities where table_id = %lld "
        "union all select ctid, row_key from index_state",
        index_id);
}

static long long changed_others(const char *source)
{
    return test_number(world.sql,
        "select count(*) from (select ctid as at, row_key from entities where table_id = %lld "
        "union all select ctid, row_key from index_state) now full join before using (at, row_key) "
        "where (now.row_key is null or before.row_key is null) "
        "and coalesce(now.row_key, before.row_key) not like '%%%s' "
        "and coalesce(now.row_key, before.row_key) not in ('added', 'nameless')",
        index_id, source ? source : "nobody");
}

/* An entry that no longer names its source is dangling, until its source is reconciled. */
static void is_mended(const struct outcome_report *report, const struct damage *damage)
{
    const struct report_counts *counts = &report->report.counts;

    found(report, damage->missing, damage->mismatched > 0 ? 0 : damage->dangling, damage->mismatched,
        damage->manifests);
    ck_assert_int_eq(counts->mended, (int64_t)report->count);
    ck_assert_int_eq(counts->remaining, 0);
    for (size_t i = 0; i < report->count; i++)
        ck_assert_int_eq(report->differences[i].state, DIFFERENCE_MENDED);
}

static void is_found(const struct outcome_report *report, const struct damage *damage)
{
    found(report, damage->missing, damage->dangling, damage->mismatched, damage->manifests);
    ck_assert_int_eq((int)report->count, damage_count(damage));
    if (damage->source) {
        ck_assert(report->differences[0].has_source);
        ck_assert(str_equal(report->differences[0].source.row, str_of(damage->source)));
    } else {
        ck_assert(!report->differences[0].has_source);
    }
}

/* FAST finds the same as FULL, other than content that changed under the same version. */
static void find_and_mend(const struct damage *damage)
{
    do_damage(damage);
    is_found(done(verify_made(false)), damage);
    if (damage->keeps_version)
        found(done(fast_made()), 0, 0, 0, 0);
    else
        is_found(done(fast_made()), damage);
    remember();
    is_mended(done(verify_made(true)), damage);
    ck_assert_int_eq(changed_others(damage->source), 0);
    is_whole();
    world_check(&world);
}

START_TEST(damage_is_found_and_mended_and_nothing_else_is_touched)
{
    find_and_mend(&damages[_i]);
}
END_TEST

START_TEST(all_damage_at_once_is_mended_by_the_report_of_a_verification)
{
    struct operation *repair = verify_made(true);
    const char *report_id = started(verify_made(false));
    int differences = 0;

    for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
        do_damage(&damages[i]);
        differences += damage_count(&damages[i]);
    }
    run_chunks(world.worker);
    ck_assert_int_eq((int)report_of(report_id)->count, differences);
    repair->in.verify.report_id = str_of(report_id);
    ck_assert_int_eq((int)done(repair)->report.counts.remaining, 0);
    is_whole();
    world_check(&world);
}
END_TEST

/* ---- keys in flight ---- */

/* Guard G39: a key with an open intent is not judged. */
START_TEST(what_is_open_is_in_flight_and_no_difference)
{
    const struct outcome_report *report;

    world_put(&world, "r000010", "Oslo", "x");
    report = done(verify_made(false));
    found(report, 0, 0, 0, 0);
    ck_assert_int_eq((int)report->report.counts.in_flight, 1);
    ck_assert_int_eq((int)report->report.counts.sources, PEOPLE);
    ck_assert_int_eq((int)report->report.counts.entries, PEOPLE);
    ck_assert_int_eq(world_intents(&world), 1);
}
END_TEST

/* Between the verification and the repair a caller writes: the repair must not bring the old entry back. */
START_TEST(a_write_between_finding_and_mending_stands)
{
    const char *id;

    do_damage(&damages[0]);
    id = started(verify_made(true));
    while (test_number(world.sql, "select count(*) from index_differences where state = 0") == 0)
        ck_assert(run_chunk(world.worker));
    world_put(&world, "r000010", "Oslo", "x");
    run_chunks(world.worker);
    ck_assert_int_eq(report_of(id)->report.state, JOB_DONE);
    world_reconcile_all(&world);
    is_whole();
    world_check(&world);
}
END_TEST

/* ---- scopes ---- */

START_TEST(a_range_of_source_keys_has_its_own_differences_alone)
{
    struct operation *operation = verify_made(false);
    const struct outcome_report *report;

    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        do_damage(&damages[i]);
    operation->in.verify.range = (struct source_range){ .has_from = true,
        .has_below = true,
        .from = { STR_LITERAL("p"), STR_LITERAL("r000020") },
        .below = { STR_LITERAL("p"), STR_LITERAL("r000031") } };
    report = done(operation);
    found(report, 0, 1, 1, 0);
    ck_assert_int_eq((int)report->report.counts.sources, 11);
    ck_assert(!report->report.is_whole);
}
END_TEST

static struct operation *of_city(struct operation *operation, const char *city)
{
    struct value value = { .type = PROPERTY_STRING, .bytes = str_of(city) };
    const struct operation_lookup values = { .equals = &value, .equal_count = 1 };

    operation->in.verify.values = verify_scope_encode(&values, &world.arena);
    return operation;
}

/* In both modes; a repair of one value leaves the differences of other values. */
START_TEST(a_value_has_its_own_differences_alone)
{
    const struct outcome_report *report;

    world_put(&world, "r000100", "Oslo", "x");
    world_put(&world, "r000101", "Oslo", "x");
    world_reconcile_all(&world);
    test_sql(world.sql, "delete from entities where table_id = %lld and row_key like '%%r000100'", index_id);
    do_damage(&damages[0]);
    do_damage(&damages[1]);
    report = done(of_city(verify_made(false), "Oslo"));
    found(report, 1, 0, 0, 0);
    ck_assert(!report->report.is_whole);
    ck_assert_int_eq((int)report->report.counts.sources, PEOPLE);
    found(done(of_city(fast_made(), "Oslo")), 1, 0, 0, 0);
    found(done(of_city(verify_made(false), "Rome")), 1, 1, 0, 0);
    found(done(of_city(verify_made(false), "Bonn")), 0, 0, 0, 0);
    ck_assert_int_eq((int)done(of_city(verify_made(true), "Oslo"))->report.counts.mended, 1);
    found(done(verify_made(false)), 1, 1, 0, 0);
}
END_TEST

START_TEST(keys_are_repaired_alone)
{
    struct entity_key keys[] = { { STR_LITERAL("p"), STR_LITERAL("r000010") },
        { STR_LITERAL("p"), STR_LITERAL("r000011") }, { STR_LITERAL("p"), STR_LITERAL("r000050") } };
    struct operation *operation = verify_made(true);
    const struct outcome_report *report;

    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        do_damage(&damages[i]);
    operation->in.verify.keys = keys;
    operation->in.verify.key_count = ARRAY_LEN(keys);
    report = done(operation);
    ck_assert_int_eq((int)report->report.counts.mended, 2);
    ck_assert_int_eq((int)report->report.counts.sources, 3);
    operation = verify_made(false);
    operation->in.verify.keys = keys;
    operation->in.verify.key_count = ARRAY_LEN(keys);
    found(done(operation), 0, 0, 0, 0);
    found(done(verify_made(false)), 0, 4, 6, 4);
}
END_TEST

START_TEST(a_dry_run_changes_nothing)
{
    struct operation *operation = verify_made(true);

    do_damage(&damages[0]);
    operation->in.verify.dry_run = true;
    found(done(operation), 1, 0, 0, 0);
    ck_assert_int_eq(world_entries(&world, index_id), PEOPLE - 1);
}
END_TEST

/* ---- strong indexes ---- */

static void setup_strong(void)
{
    static struct key_part partition = { .text = { "PartitionKey", 12 } }, city = { .text = { "City", 4 } };
    struct operation *operation;

    world_open(&world);
    people_copy(&world, PEOPLE);
    operation = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");
    operation->in.index.definition = (struct index){ .name = STR_LITERAL("ByCity"),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_SAME_PARTITION,
        .consistency = INDEX_STRONG,
        .partition_key = { &partition, 1 },
        .row_key = { &city, 1 },
        .projection = PROJECT_ALL };
    build(call_run(&world.writer, index_calls_create, operation));
}

START_TEST(a_strong_index_is_verified_and_mended_too)
{
    if (!damages[_i].needs_manifest)
        find_and_mend(&damages[_i]);
}
END_TEST

/* ---- reports ---- */

START_TEST(the_status_of_an_index_tells_of_its_last_verification)
{
    ck_assert_uint_eq(index_seen(&world, "ByCity").verified.operation_id.len, 0);
    do_damage(&damages[0]);
    done(verify_made(false));
    ck_assert_int_eq((int)index_seen(&world, "ByCity").verified.counts.found[DIFFERENCE_MISSING], 1);
    ck_assert_int_gt(index_seen(&world, "ByCity").verified.ended, 0);
    done(verify_made(true));
    is_whole();
    ck_assert_int_eq((int)index_seen(&world, "ByCity").verified.counts.found[DIFFERENCE_MISSING], 0);
}
END_TEST

START_TEST(a_report_is_read_by_pages)
{
    struct operation *page = call_make(&world.arena, OPERATION_INDEX_REPORT, "");
    const char *id;

    do_damage(&damages[0]);
    do_damage(&damages[1]);
    id = started(verify_made(false));
    run_chunks(world.worker);
    page->in.jobs.operation_id = str_of(id);
    page->in.jobs.after = STR_EMPTY;
    page->in.jobs.limit = 1;
    call_succeeded(call_run(&world.writer, report_calls_get, page));
    ck_assert(page->out.report.more);
    ck_assert_int_eq(page->out.report.differences[0].class, DIFFERENCE_MISSING);
    page->in.jobs.after = page->out.report.position;
    call_succeeded(call_run(&world.writer, report_calls_get, page));
    ck_assert(!page->out.report.more);
    ck_assert_int_eq(page->out.report.differences[0].class, DIFFERENCE_DANGLING);
}
END_TEST

START_TEST(what_cannot_be_verified_is_refused)
{
    struct operation *operation = verify_made(true);

    operation->in.verify.report_id = STR_LITERAL("verify-0");
    call_failed(call_run(&world.writer, report_calls_start, operation), "REPORT_NOT_FOUND");
    operation = verify_made(false);
    operation->table = STR_LITERAL("ByNothing");
    call_failed(call_run(&world.writer, report_calls_start, operation), "INDEX_NOT_FOUND");
    call_succeeded(index_created(&world, "ByOther", "People", 0));
    operation->table = STR_LITERAL("ByOther");
    call_failed(call_run(&world.writer, report_calls_start, operation), "INDEX_NOT_READY");
}
END_TEST

static struct operation *range_deleted(void)
{
    struct operation *operation = call_make(&world.arena, OPERATION_RANGE_DELETE, "People");

    operation->in.page.filter_text = STR_LITERAL("PartitionKey eq 'nobody'");
    return call_run(&world.writer, range_delete_start, operation);
}

/* Differences of every kind and place are counted; those of another account are not. */
START_TEST(an_account_has_a_bounded_number_of_operations)
{
    struct operation *cancel = call_make(&world.arena, OPERATION_JOB_CONTROL, "");

    for (int i = 0; i < LIMIT_OPEN_OPERATIONS - 1; i++)
        cancel->in.jobs.operation_id = str_of(started(verify_made(i % 2 == 0)));
    call_succeeded(range_deleted());
    test_sql(world.sql, "update operations set state = 2 where kind = 'repair_index'");
    call_failed(call_run(&world.writer, report_calls_start, verify_made(false)), "TOO_MANY_OPERATIONS");
    call_failed(range_deleted(), "TOO_MANY_OPERATIONS");
    call_failed(index_created(&world, "ByOther", "People", 0), "TOO_MANY_OPERATIONS");
    cancel->in.jobs.control = JOB_CANCEL;
    call_succeeded(call_run(&world.writer, job_calls_control, cancel));
    call_succeeded(range_deleted());
    test_sql(world.sql, "update operations set account = 'other'");
    call_succeeded(call_run(&world.writer, report_calls_start, verify_made(false)));
}
END_TEST

START_TEST(reports_go_with_their_index_and_old_ones_before)
{
    for (int i = 0; i < LIMIT_REPORTS + 2; i++) {
        started(verify_made(false));
        run_chunks(world.worker);
    }
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_reports"), LIMIT_REPORTS + 1);
    call_succeeded(index_dropped(&world, "ByCity"));
    run_chunks(world.worker);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_reports"), 0);
}
END_TEST

Suite *test_verify_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tc = tcase_create("verify");
    TCase *strong = tcase_create("verify_strong");

    tcase_set_timeout(tc, 60);
    tcase_set_timeout(strong, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, damage_is_found_and_mended_and_nothing_else_is_touched, 0, ARRAY_LEN(damages));
    tcase_add_test(tc, all_damage_at_once_is_mended_by_the_report_of_a_verification);
    tcase_add_test(tc, what_is_open_is_in_flight_and_no_difference);
    tcase_add_test(tc, a_write_between_finding_and_mending_stands);
    tcase_add_test(tc, a_range_of_source_keys_has_its_own_differences_alone);
    tcase_add_test(tc, a_value_has_its_own_differences_alone);
    tcase_add_test(tc, keys_are_repaired_alone);
    tcase_add_test(tc, a_dry_run_changes_nothing);
    tcase_add_test(tc, the_status_of_an_index_tells_of_its_last_verification);
    tcase_add_test(tc, a_report_is_read_by_pages);
    tcase_add_test(tc, what_cannot_be_verified_is_refused);
    tcase_add_test(tc, an_account_has_a_bounded_number_of_operations);
    tcase_add_test(tc, reports_go_with_their_index_and_old_ones_before);
    suite_add_tcase(suite, tc);
    tcase_add_checked_fixture(strong, setup_strong, teardown);
    tcase_add_loop_test(strong, a_strong_index_is_verified_and_mended_too, 0, ARRAY_LEN(damages));
    suite_add_tcase(suite, strong);
    return suite;
}
