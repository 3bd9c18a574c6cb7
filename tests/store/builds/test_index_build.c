/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexes from creation to drop: build beside writers, validation, drop; and operations that any worker carries on.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "domain/limits.h"
#include "store/entities/write_batch.h"
#include "store/indexes/index_calls.h"
#include "store/jobs/job.h"
#include "store/jobs/job_calls.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- creating ---- */

START_TEST(a_new_index_is_building)
{
    struct operation *created = index_created(&world, "ByCity", "People", 0);
    struct index_view seen;

    call_succeeded(created);
    ck_assert_int_eq(created->out.index.indexes[0].state, INDEX_BUILDING);
    seen = index_seen(&world, "BYCITY");
    ck_assert_int_eq(seen.state, INDEX_BUILDING);
    ck_assert(str_equal(seen.build.kind, STR_LITERAL("build")));
    ck_assert(str_equal(seen.build.target, STR_LITERAL("ByCity")));
    ck_assert(str_equal(seen.definition, created->out.index.indexes[0].definition));
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from tables t join indexes i on i.index_id = t.table_id "
                               "where t.live and t.index_id = i.index_id and t.folded = 'bycity' "
                               "and i.operation_id = 'build-' || to_hex(i.index_id)"),
        1);
}
END_TEST

static const struct refusal {
    const char *name, *source, *reason;
} refusals[] = {
    { "ByCity", "Nowhere", "TABLE_NOT_FOUND" },
    { "ByOther", "ByCity", "INDEX_OWNED" },
    { "BYcity", "People", "INDEX_EXISTS" },
    { "people", "People", "TABLE_ALREADY_EXISTS" },
};

START_TEST(names_and_sources_are_checked)
{
    const struct refusal *c = &refusals[_i];

    if (_i > 0)
        call_succeeded(index_created(&world, "ByCity", "People", 0));
    call_failed(index_created(&world, c->name, c->source, 0), c->reason);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes"), _i > 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from operations"), _i > 0);
}
END_TEST

START_TEST(a_table_has_a_limited_number_of_indexes)
{
    struct operation *many;

    for (int i = 0; i < LIMIT_INDEXES_PER_TABLE; i++)
        call_succeeded(index_created(&world, arena_format(&world.arena, "By%c", 'A' + i).data, "People", 0));
    many = index_created(&world, "ByTooMany", "People", 0);
    call_failed(many, "INVALID_INPUT");
    ck_assert_str_eq(many->error->field, "index.table");
}
END_TEST

START_TEST(indexes_are_listed_by_name)
{
    struct operation *list = call_make(&world.arena, OPERATION_INDEX_LIST, "");

    call_succeeded(index_created(&world, "Bb", "People", 0));
    call_succeeded(index_created(&world, "aa", "People", 0));
    call_succeeded(index_created(&world, "cc", "People", 0));
    call_succeeded(index_dropped(&world, "cc"));
    list->in.index.limit = 1;
    call_succeeded(call_run(&world.writer, index_calls_list, list));
    ck_assert_uint_eq(list->out.index.count, 1);
    ck_assert(list->out.index.more);
    ck_assert(str_equal(list->out.index.indexes[0].build.target, STR_LITERAL("aa")));

    list->in.index.after = list->out.index.position;
    call_succeeded(call_run(&world.writer, index_calls_list, list));
    ck_assert_uint_eq(list->out.index.count, 1);
    ck_assert(!list->out.index.more);
    ck_assert(str_equal(list->out.index.indexes[0].build.target, STR_LITERAL("Bb")));
}
END_TEST

START_TEST(operations_are_listed_by_id)
{
    struct operation *list = call_make(&world.arena, OPERATION_JOB_LIST, "");
    struct operation *missing = call_make(&world.arena, OPERATION_JOB_GET, "");

    call_succeeded(index_created(&world, "ByCity", "People", 0));
    call_succeeded(index_dropped(&world, "ByCity"));
    list->in.jobs.limit = 1;
    call_succeeded(call_run(&world.writer, job_calls_list, list));
    ck_assert(list->out.jobs.more);
    ck_assert(str_equal(list->out.jobs.jobs[0].kind, STR_LITERAL("build")));
    list->in.jobs.after = list->out.jobs.position;
    call_succeeded(call_run(&world.writer, job_calls_list, list));
    ck_assert(!list->out.jobs.more);
    ck_assert(str_equal(list->out.jobs.jobs[0].kind, STR_LITERAL("drop_index")));

    missing->in.jobs.operation_id = STR_LITERAL("build-0");
    call_failed(call_run(&world.writer, job_calls_get, missing), "OPERATION_NOT_FOUND");
}
END_TEST

/* ---- building ---- */

START_TEST(an_empty_table_is_indexed_at_once)
{
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.state, JOB_DONE);
}
END_TEST

START_TEST(a_build_makes_an_entry_for_every_entity)
{
    struct index_view seen;

    people_put(&world, 40);
    world_delete(&world, "r00004");
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);

    seen = index_seen(&world, "ByCity");
    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert_int_eq(seen.entries, 29);
    ck_assert_int_eq(seen.build.state, JOB_DONE);
    ck_assert_int_eq(seen.build.done, 39 + 39 + 29); /* walked; validated: entities and entries */
    ck_assert_int_eq(seen.build.total, 39 + 39 + 29);
    ck_assert_int_gt(seen.build.ended, 0);
    world_check(&world);
}
END_TEST

/* A new worker for each chunk: each is closed after its first chunk, as if it had crashed. */
/* 30 of 40 people have a City; r00010 to r00019 are read, of whom three have none. */
START_TEST(a_build_makes_entries_for_what_the_filter_matches)
{
    struct operation *create = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");
    struct key_part city = { .text = STR_LITERAL("City") };
    struct index_view seen;

    people_put(&world, 40);
    create->in.index.definition = (struct index){ .name = STR_LITERAL("ByCity"),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { &city, 1 },
        .filter_text = STR_LITERAL("RowKey ge 'r00010' and RowKey lt 'r00020'") };
    call_succeeded(call_run(&world.writer, index_calls_create, create));
    run_chunks(world.worker);

    seen = index_seen(&world, "ByCity");
    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert_int_eq(seen.entries, 7);
    world_check(&world);
}
END_TEST

START_TEST(a_build_is_carried_on_by_other_workers)
{
    int chunks = 0;
    bool worked = true;

    people_copy(&world, 2200);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    for (; worked; chunks++) {
        struct worker *worker = world_worker(&world, arena_format(&world.arena, "worker-%d", chunks).data);

        worked = run_chunk(worker);
        worker_close(worker);
    }

    /* 2 chunks of the walk; the report, the readings, READY; and one that finds nothing */
    ck_assert_int_ge(chunks, 2 + 3 + 1);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 2200);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.done, 3 * 2200);
}
END_TEST

/* A chunk ends after 8 MB: the rows that it leaves out must neither be skipped nor be taken for absent. */
START_TEST(a_chunk_of_large_entities_ends_early)
{
    enum { COUNT = 12, BYTES = 900000 };
    char *note = xmalloc(BYTES + 1);
    int chunks = 0;

    memset(note, 'x', BYTES);
    note[BYTES] = '\0';
    for (int i = 0; i < COUNT; i++)
        world_put(&world, arena_format(&world.arena, "r%06d", i).data, "Bonn", note);
    free(note);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    while (run_chunk(world.worker))
        chunks++;

    /* 2 chunks of the walk; the report, the readings, READY */
    ck_assert_int_ge(chunks, 2 + 3);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, COUNT);
    ck_assert_int_eq(test_number(world.sql, "select differences from operations"), 0);
    world_check(&world);
}
END_TEST

/*
 * The dead worker owned the operation; another worker repeats its chunk, and the checkpoint of the dead one comes too
 * late.
 */
START_TEST(a_worker_that_died_in_a_chunk_is_replaced)
{
    struct job late = { .store = world.worker, .owner = STR_LITERAL("dead/1"), .state = JOB_RUNNING };
    struct error err = { 0 };

    people_copy(&world, 600);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    test_sql(
        world.sql, "update operations set owner = 'dead/1', claim_expires_at = now() + interval '8 seconds'");
    ck_assert(!run_chunk(world.worker));

    test_sql(world.sql, "update operations set claim_expires_at = now()");
    ck_assert(run_chunk(world.worker));
    late.id = arena_copy(&world.arena, index_seen(&world, "ByCity").build.operation_id);
    late.error = late.cursor.partition = late.cursor.row = STR_EMPTY;
    ck_assert_int_eq(job_checkpoint(&late, &err), STATUS_OK);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.done, 600);
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 600);
}
END_TEST

/* A chunk that runs twice changes nothing the second time. */
START_TEST(a_chunk_without_its_checkpoint_is_done_again)
{
    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    test_sql(world.sql, "update operations set phase = 0, has_cursor = false, done = 0");
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.done, 40 + 40 + 30);
    world_check(&world);
}
END_TEST

START_TEST(violations_are_counted_and_do_not_stop_a_build)
{
    people_put(&world, 8);
    call_succeeded(index_created(&world, "ByCity", "People", 5));
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").violations, 6);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 0);
}
END_TEST

struct busy {
    pthread_t thread;
    atomic_bool stop;
    atomic_int writes;
};

/* Insert, change and delete the same 200 keys until stopped. */
static void *write_all_the_time(void *argument)
{
    struct busy *self = argument;
    static const char *const cities[] = { "Rome", "Oslo", "Bern" };
    struct world mine = { .conninfo = world.conninfo };
    unsigned seed = 1;

    arena_init(&mine.arena);
    session_init(&mine.writer, world.conninfo, "test busy");
    while (!atomic_load(&self->stop)) {
        char row[16];
        int n = rand_r(&seed) % 200;

        snprintf(row, sizeof(row), "r%06d", n);
        world_put(&mine, row, n % 7 == 0 ? NULL : cities[rand_r(&seed) % 3], "busy");
        if (n % 5 == 0)
            world_delete(&mine, row);
        atomic_fetch_add(&self->writes, 1);
        arena_cleanup(&mine.arena);
    }
    session_cleanup(&mine.writer);
    arena_cleanup(&mine.arena);
    return NULL;
}

static void reconcile_what_is_open(void)
{
    while (world_intents(&world) > 0)
        world_reconcile_all(&world);
}

START_TEST(a_build_beside_writers_ends_with_exactly_what_the_source_has)
{
    struct busy busy = { .writes = 0 };

    people_copy(&world, 700);
    pthread_create(&busy.thread, NULL, write_all_the_time, &busy);
    while (atomic_load(&busy.writes) < 20)
        sched_yield();
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    for (int i = 0; run_chunk(world.worker); i++)
        if (i % 2 == 0)
            world_reconcile_all(&world);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    atomic_store(&busy.stop, true);
    pthread_join(busy.thread, NULL);
    reconcile_what_is_open();

    ck_assert_int_gt(index_seen(&world, "ByCity").entries, 500);
    world_check(&world);
}
END_TEST

/* ---- validating ---- */

static const char *const damages[] = {
    /* an entity without a reconcile: its row and manifest are missing */
    "delete from entities where table_id <> 1000 and properties like '%r000007%'; "
    "delete from index_state where row_key = 'r000007'",
    /* an entry that no manifest names */
    "update index_state set manifest = '' where row_key = 'r000007'",
    /* a manifest that cannot be read */
    "update index_state set manifest = 'x' where row_key = 'r000007'",
    /* behind the manifest: a missing entry, an additional one, one that names no entity, one with other content */
    "delete from entities where table_id <> 1000 and properties like '%r000007%'",
    "insert into entities select bucket, table_id, partition_key, row_key || 'x', version, ts, false, null, "
    "properties from entities where table_id <> 1000 and properties like '%r000007%'",
    "insert into entities select bucket, table_id, partition_key, row_key || 'x', version, ts, false, null, "
    "'' from entities where table_id <> 1000 and properties like '%r000007%'",
    "update entities set properties = (select properties from entities where table_id <> 1000 and properties "
    "like "
    "'%r000008%') where table_id <> 1000 and properties like '%r000007%'",
};

/* Differences are repaired by the stored entries, not by the manifests; the report of the build lists them. */
START_TEST(validation_finds_and_mends_differences)
{
    people_copy(&world, 20);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_VALIDATING);
    test_sql(world.sql, "%s", damages[_i]);

    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.state, JOB_DONE);
    world_check(&world);
    ck_assert_int_eq(test_number(world.sql, "select r.remaining from index_reports r join operations o "
                                            "on o.operation_id = r.operation_id where o.kind = 'build'"),
        0);
    ck_assert_int_ge(test_number(world.sql, "select mended from index_reports"), 1);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from index_differences where state <> %d", DIFFERENCE_MENDED),
        0);
    ck_assert_int_ge(
        test_number(world.sql,
            "select count(*) from index_differences where source_row = 'r000007' or not has_source"),
        1);
}
END_TEST

START_TEST(an_index_without_differences_has_a_report_that_says_so)
{
    people_put(&world, 20);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from index_reports where sources = 20 and entries = 15 and "
                               "missing + dangling + mismatched + manifests + mended + remaining = 0"),
        1);
}
END_TEST

/* What mending does not mend, such as an entry that comes back each time, must never be called READY. */
START_TEST(an_index_that_stays_wrong_is_not_ready)
{
    struct index_view seen;

    people_copy(&world, 20);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    test_sql(world.sql,
        "delete from entities where table_id <> 1000 and properties like '%%r000007%%';"
        "create function lose() returns trigger language plpgsql as $$ begin return null; end $$;"
        "create trigger lost before insert on entities for each row when (new.properties like '%%r000007%%') "
        "execute function lose()");
    run_chunks(world.worker);

    seen = index_seen(&world, "ByCity");
    ck_assert_int_eq(seen.state, INDEX_VALIDATING);
    ck_assert_int_eq(seen.build.state, JOB_FAILED);
    ck_assert_int_eq(test_number(world.sql, "select remaining from index_reports"), 1);
    ck_assert(memmem(seen.build.error.data, seen.build.error.len, "GetIndexReport", 14));
}
END_TEST

/* The total is estimated, because a count of millions of rows would take long. */
START_TEST(many_entries_are_estimated)
{
    enum { MANY = 100000 };
    int64_t seen;

    call_succeeded(index_created(&world, "ByCity", "People", 0));
    test_sql(world.sql,
        "insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) "
        "select 0, %lld, 'p', i::text, 1, 1, decode(repeat('00', 300), 'hex') from generate_series(1, %d) i",
        (long long)test_number(world.sql, "select index_id from indexes"), MANY);
    ck_assert_int_gt(test_number(world.sql, "select pg_relation_size('entities')"), 32 << 20);

    seen = index_seen(&world, "ByCity").entries;

    ck_assert_int_gt(seen, MANY / 10 * 9);
    ck_assert_int_lt(seen, MANY / 10 * 11);
}
END_TEST

/* Guard G1: a server that does not know the index yet reads the catalogue again, behind the fence, before it writes. */
START_TEST(a_server_that_has_not_noticed_the_index_leaves_its_intents)
{
    static const char *const rows[] = { "before", "after" };
    struct session server;

    session_init(&server, world.conninfo, "another server");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct operation *put = a_write_operation(&world.arena, "People",
            a_write(WRITE_INSERT, "p", rows[i], some_texts(&world.arena, "City", "Bonn", NULL)));

        write_batch_for_worker(world.worker, &server, put);
        arena_cleanup(&server.arena);
        ck_assert_reason(put, "OK");
        if (i == 0)
            call_succeeded(index_created(&world, "ByCity", "People", 0));
        ck_assert_int_eq(world_intents(&world), (long long)i);
    }
    session_cleanup(&server);
}
END_TEST

/* Keys with an open intent are not compared: their entries follow later. */
START_TEST(keys_in_flight_do_not_hold_up_a_build)
{
    people_put(&world, 20);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    world_put(&world, "r00000", "Paris", "x");
    world_put(&world, "s00000", "Paris", "x");
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").lag.open_intents, 2);
    reconcile_what_is_open();
    world_check(&world);
}
END_TEST

Suite *test_index_build_suite(void)
{
    Suite *suite = suite_create("index_build");
    TCase *tc = tcase_create("index_build");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_new_index_is_building);
    tcase_add_loop_test(tc, names_and_sources_are_checked, 0, ARRAY_LEN(refusals));
    tcase_add_test(tc, a_table_has_a_limited_number_of_indexes);
    tcase_add_test(tc, indexes_are_listed_by_name);
    tcase_add_test(tc, operations_are_listed_by_id);
    tcase_add_test(tc, an_empty_table_is_indexed_at_once);
    tcase_add_test(tc, a_build_makes_an_entry_for_every_entity);
    tcase_add_test(tc, a_build_makes_entries_for_what_the_filter_matches);
    tcase_add_test(tc, a_build_is_carried_on_by_other_workers);
    tcase_add_test(tc, a_worker_that_died_in_a_chunk_is_replaced);
    tcase_add_test(tc, a_chunk_without_its_checkpoint_is_done_again);
    tcase_add_test(tc, a_chunk_of_large_entities_ends_early);
    tcase_add_test(tc, violations_are_counted_and_do_not_stop_a_build);
    tcase_add_test(tc, a_build_beside_writers_ends_with_exactly_what_the_source_has);
    tcase_add_loop_test(tc, validation_finds_and_mends_differences, 0, ARRAY_LEN(damages));
    tcase_add_test(tc, an_index_without_differences_has_a_report_that_says_so);
    tcase_add_test(tc, an_index_that_stays_wrong_is_not_ready);
    tcase_add_test(tc, many_entries_are_estimated);
    tcase_add_test(tc, a_server_that_has_not_noticed_the_index_leaves_its_intents);
    tcase_add_test(tc, keys_in_flight_do_not_hold_up_a_build);
    suite_add_tcase(suite, tc);
    return suite;
}
