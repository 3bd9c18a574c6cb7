/*
 * Indexes from their creation to their end: building beside writers, validating, dropping; and the operations
 * that do it, carried on by whichever worker comes.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "domain/limits.h"
#include "store/index_store.h"
#include "store/run_store.h"
#include "store/run_work.h"
#include "store/table_store.h"
#include "tests/support/calls.h"
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

/* ---- words ---- */

static struct operation *run(
    void (*request)(struct session *session, struct operation *operation), struct operation *operation)
{
    request(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    return operation;
}

static struct operation *create(const char *name, const char *source, int width)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_CREATE, name);
    struct key_part *part = ARENA_NEW(&world.arena, struct key_part);

    *part = (struct key_part){ .text = STR_LITERAL("City"), .width = width };
    operation->in.index.definition = (struct index){ .name = str_of(name),
        .source_name = str_of(source),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { part, 1 },
        .projection = PROJECT_ALL };
    return run(index_create_run, operation);
}

static struct index_view view(const char *name)
{
    struct operation *operation = run(index_get_run, call_make(&world.arena, OPERATION_INDEX_GET, name));

    call_succeeded(operation);
    ck_assert_uint_eq(operation->out.index.count, 1);
    return operation->out.index.indexes[0];
}

static struct run_view operation_view(const char *id)
{
    struct operation *operation = call_make(&world.arena, OPERATION_RUN_GET, "");

    operation->in.runs.operation_id = str_of(id);
    call_succeeded(run(run_get_run, operation));
    return operation->out.runs.runs[0];
}

static struct operation *drop(const char *name)
{
    return run(index_drop_run, call_make(&world.arena, OPERATION_INDEX_DROP, name));
}

/* One chunk; false: nothing to do. */
static bool work(struct worker_store *worker)
{
    struct error err = { 0 };
    bool worked = false;

    ck_assert_msg(worker_run_operation(worker, &worked, &err) == STATUS_OK, "work: %s", err.message);
    return worked;
}

static int work_to_the_end(struct worker_store *worker)
{
    int chunks = 0;

    while (work(worker))
        ck_assert_int_lt(++chunks, 1000);
    return chunks;
}

static long long last_index_id(void)
{
    return test_number(world.sql, "select max(index_id) from indexes");
}

static void populate(int count)
{
    static const char *const cities[] = { "Rome", "Oslo", "Bern", NULL };

    for (int i = 0; i < count; i++)
        world_put(&world, arena_format(&world.arena, "r%05d", i).data, cities[i % 4], "x");
}

/* Many at once, without writing them one by one. */
static void populate_fast(int count)
{
    world_put(&world, "model", "Rome", "x");
    test_sql(world.sql,
        "insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) "
        "select bucket, table_id, partition_key, 'r' || lpad(n::text, 6, '0'), 1, ts, properties "
        "from entities, generate_series(1, %d) n where row_key = 'model'",
        count - 1);
}

/* ---- creating ---- */

START_TEST(a_new_index_is_building)
{
    struct operation *created = create("ByCity", "People", 0);
    struct index_view seen;

    call_succeeded(created);
    ck_assert_int_eq(created->out.index.indexes[0].state, INDEX_BUILDING);
    seen = view("BYCITY");
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
        call_succeeded(create("ByCity", "People", 0));
    call_failed(create(c->name, c->source, 0), c->reason);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes"), _i > 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from operations"), _i > 0);
}
END_TEST

START_TEST(a_table_has_a_limited_number_of_indexes)
{
    for (int i = 0; i < LIMIT_INDEXES_PER_TABLE; i++)
        call_succeeded(create(arena_format(&world.arena, "By%c", 'A' + i).data, "People", 0));
    call_failed(create("ByTooMany", "People", 0), "INVALID_INPUT");
}
END_TEST

START_TEST(indexes_are_listed_by_name)
{
    struct operation *list = call_make(&world.arena, OPERATION_INDEX_LIST, "");

    call_succeeded(create("Bb", "People", 0));
    call_succeeded(create("aa", "People", 0));
    call_succeeded(create("cc", "People", 0));
    call_succeeded(drop("cc"));
    list->in.index.limit = 1;
    call_succeeded(run(index_list_run, list));
    ck_assert_uint_eq(list->out.index.count, 1);
    ck_assert(list->out.index.more);
    ck_assert(str_equal(list->out.index.indexes[0].build.target, STR_LITERAL("aa")));

    list->in.index.after = list->out.index.position;
    call_succeeded(run(index_list_run, list));
    ck_assert_uint_eq(list->out.index.count, 1);
    ck_assert(!list->out.index.more);
    ck_assert(str_equal(list->out.index.indexes[0].build.target, STR_LITERAL("Bb")));
}
END_TEST

START_TEST(operations_are_listed_by_id)
{
    struct operation *list = call_make(&world.arena, OPERATION_RUN_LIST, "");
    struct operation *missing = call_make(&world.arena, OPERATION_RUN_GET, "");

    call_succeeded(create("ByCity", "People", 0));
    call_succeeded(drop("ByCity"));
    list->in.runs.limit = 1;
    call_succeeded(run(run_list_run, list));
    ck_assert(list->out.runs.more);
    ck_assert(str_equal(list->out.runs.runs[0].kind, STR_LITERAL("build")));
    list->in.runs.after = list->out.runs.position;
    call_succeeded(run(run_list_run, list));
    ck_assert(!list->out.runs.more);
    ck_assert(str_equal(list->out.runs.runs[0].kind, STR_LITERAL("drop_index")));

    missing->in.runs.operation_id = STR_LITERAL("build-0");
    call_failed(run(run_get_run, missing), "OPERATION_NOT_FOUND");
}
END_TEST

/* ---- building ---- */

START_TEST(an_empty_table_is_indexed_at_once)
{
    call_succeeded(create("ByCity", "People", 0));
    work_to_the_end(world.worker);
    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(view("ByCity").build.state, RUN_DONE);
}
END_TEST

START_TEST(a_build_makes_an_entry_for_every_entity)
{
    struct index_view seen;

    populate(40);
    world_delete(&world, "r00004");
    call_succeeded(create("ByCity", "People", 0));
    work_to_the_end(world.worker);

    seen = view("ByCity");
    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert_int_eq(seen.entries, 29);
    ck_assert_int_eq(seen.build.state, RUN_DONE);
    ck_assert_int_eq(seen.build.done, 39);
    ck_assert_int_eq(seen.build.total, 39);
    ck_assert_int_gt(seen.build.ended, 0);
    world_check(&world);
}
END_TEST

/* A worker per chunk: each is closed after its first, as if it had crashed. */
START_TEST(a_build_is_carried_on_by_other_workers)
{
    int chunks = 0;
    bool worked = true;

    populate_fast(1200);
    call_succeeded(create("ByCity", "People", 0));
    for (; worked; chunks++) {
        struct worker_store *worker =
            world_worker(&world, arena_format(&world.arena, "worker-%d", chunks).data);

        worked = work(worker);
        worker_store_close(worker);
    }

    /* 3 chunks of the walk, 3 of sources, 13 of entries (the last one is empty), and one that finds nothing
     */
    ck_assert_int_eq(chunks, 3 + 3 + 13 + 1);
    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(view("ByCity").entries, 1200);
    ck_assert_int_eq(view("ByCity").build.done, 1200);
}
END_TEST

/* The dead worker had the operation in its hand; its chunk is done again, and its own checkpoint is too late.
 */
START_TEST(a_worker_that_died_in_a_chunk_is_replaced)
{
    struct run late = { .store = world.worker, .owner = STR_LITERAL("dead/1"), .state = RUN_RUNNING };
    struct error err = { 0 };

    populate_fast(600);
    call_succeeded(create("ByCity", "People", 0));
    ck_assert(work(world.worker));
    test_sql(world.sql, "update operations set owner = 'dead/1', until = now() + interval '1 hour'");
    ck_assert(!work(world.worker));

    test_sql(world.sql, "update operations set until = now()");
    ck_assert(work(world.worker));
    late.id = arena_copy(&world.arena, view("ByCity").build.operation_id);
    late.error = late.cursor.partition = late.cursor.row = STR_EMPTY;
    ck_assert_int_eq(run_checkpoint(&late, &err), STATUS_OK);
    ck_assert_int_eq(view("ByCity").build.done, 600);
    work_to_the_end(world.worker);
    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(view("ByCity").entries, 600);
}
END_TEST

/* A chunk that is done twice changes nothing. */
START_TEST(a_chunk_without_its_checkpoint_is_done_again)
{
    populate(40);
    call_succeeded(create("ByCity", "People", 0));
    ck_assert(work(world.worker));
    test_sql(world.sql, "update operations set phase = 0, has_cursor = false, done = 0");
    work_to_the_end(world.worker);

    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(view("ByCity").build.done, 40);
    world_check(&world);
}
END_TEST

START_TEST(violations_are_counted_and_do_not_stop_a_build)
{
    populate(8);
    call_succeeded(create("ByCity", "People", 5));
    work_to_the_end(world.worker);

    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(view("ByCity").violations, 6);
    ck_assert_int_eq(view("ByCity").entries, 0);
}
END_TEST

struct busy {
    pthread_t thread;
    atomic_bool stop;
    atomic_int writes;
};

/* Insert, change and delete the same 200 keys all the time. */
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

    populate_fast(700);
    pthread_create(&busy.thread, NULL, write_all_the_time, &busy);
    while (atomic_load(&busy.writes) < 20)
        sched_yield();
    call_succeeded(create("ByCity", "People", 0));
    for (int i = 0; work(world.worker); i++)
        if (i % 2 == 0)
            world_reconcile_all(&world);
    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    atomic_store(&busy.stop, true);
    pthread_join(busy.thread, NULL);
    reconcile_what_is_open();

    ck_assert_int_gt(view("ByCity").entries, 500);
    world_check(&world);
}
END_TEST

/* ---- validating ---- */

static const char *const damages[] = {
    /* an entity that nobody has indexed: row and manifest are missing */
    "delete from entities where table_id <> 1000 and properties like '%r000007%'; "
    "delete from index_state where row_key = 'r000007'",
    /* an entry that its source does not know of */
    "update index_state set manifest = '' where row_key = 'r000007'",
};

START_TEST(validation_finds_and_mends_differences)
{
    populate_fast(20);
    call_succeeded(create("ByCity", "People", 0));
    ck_assert(work(world.worker));
    ck_assert_int_eq(view("ByCity").state, INDEX_VALIDATING);
    test_sql(world.sql, "%s", damages[_i]);

    ck_assert(work(world.worker));
    ck_assert_int_eq(test_number(world.sql, "select faults from operations"), 1);
    ck_assert(work(world.worker));
    ck_assert_int_eq(view("ByCity").state, INDEX_VALIDATING);
    work_to_the_end(world.worker);
    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    world_check(&world);
}
END_TEST

static const char *const lasting_damages[] = {
    "delete from entities where table_id <> 1000 and properties like '%r000007%'",
    "insert into entities select bucket, table_id, partition_key, row_key || 'x', version, ts, false, null, "
    "properties from entities where table_id <> 1000 and properties like '%r000007%'",
};

/* An entry that the manifest has wrong cannot be mended by reconciling: it must never be called READY. */
START_TEST(an_index_that_stays_wrong_is_not_ready)
{
    struct index_view seen;

    populate_fast(20);
    call_succeeded(create("ByCity", "People", 0));
    ck_assert(work(world.worker));
    test_sql(world.sql, "%s", lasting_damages[_i]);
    work_to_the_end(world.worker);

    seen = view("ByCity");
    ck_assert_int_eq(seen.state, INDEX_VALIDATING);
    ck_assert_int_eq(seen.build.state, RUN_FAILED);
    ck_assert_uint_gt(seen.build.error.len, 0);
}
END_TEST

/* Keys with an open intent are not judged: their entries follow. */
START_TEST(keys_in_flight_do_not_hold_up_a_build)
{
    populate(20);
    call_succeeded(create("ByCity", "People", 0));
    ck_assert(work(world.worker));
    world_put(&world, "r00000", "Paris", "x");
    world_put(&world, "s00000", "Paris", "x");
    work_to_the_end(world.worker);

    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(view("ByCity").lag.open_intents, 2);
    reconcile_what_is_open();
    world_check(&world);
}
END_TEST

/* ---- dropping ---- */

START_TEST(a_dropped_index_leaves_nothing_and_its_name_at_once)
{
    struct operation *dropped;
    long long first;

    populate(40);
    call_succeeded(create("ByCity", "People", 5));
    work_to_the_end(world.worker);
    first = last_index_id();
    dropped = drop("bycity");
    call_succeeded(dropped);
    call_failed(drop("ByCity"), "INDEX_NOT_FOUND");
    call_failed(
        run(index_get_run, call_make(&world.arena, OPERATION_INDEX_GET, "ByCity")), "INDEX_NOT_FOUND");

    call_succeeded(create("ByCity", "People", 0));
    work_to_the_end(world.worker);
    ck_assert_int_eq(view("ByCity").state, INDEX_READY);
    ck_assert_int_eq(operation_view(dropped->out.runs.runs[0].operation_id.data).state, RUN_DONE);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes where index_id = %lld", first), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from tables where table_id = %lld", first), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

START_TEST(entries_of_a_dropped_index_are_deleted_in_chunks)
{
    long long index_id;

    populate_fast(2500);
    call_succeeded(create("ByCity", "People", 0));
    work_to_the_end(world.worker);
    index_id = last_index_id();
    ck_assert_int_eq(world_entries(&world, index_id), 2500);
    call_succeeded(drop("ByCity"));
    ck_assert(work(world.worker));
    ck_assert_int_eq(world_entries(&world, index_id), 500);
    ck_assert_int_eq(work_to_the_end(world.worker), 2);
    ck_assert_int_eq(world_entries(&world, index_id), 0);
    ck_assert_int_eq(test_number(world.sql, "select done from operations where kind = 'drop_index'"), 2500);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d", TABLE_ID), 2500);
}
END_TEST

START_TEST(dropping_cancels_a_running_build)
{
    const char *build;

    populate_fast(600);
    call_succeeded(create("ByCity", "People", 0));
    ck_assert(work(world.worker));
    build = view("ByCity").build.operation_id.data;
    call_succeeded(drop("ByCity"));

    ck_assert_int_eq(operation_view(build).state, RUN_CANCELLED);
    work_to_the_end(world.worker);
    ck_assert_int_eq(operation_view(build).state, RUN_CANCELLED);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id <> %d", TABLE_ID), 0);
}
END_TEST

START_TEST(a_deleted_table_is_purged_with_its_indexes)
{
    struct operation *deleted = call_make(&world.arena, OPERATION_TABLE_DELETE, "People");

    populate(40);
    call_succeeded(create("ByCity", "People", 0));
    work_to_the_end(world.worker);
    world_put(&world, "r00000", "Paris", "x");
    call_succeeded(run(table_delete_run, deleted));
    work_to_the_end(world.worker);

    ck_assert_int_eq(operation_view(deleted->out.runs.runs[0].operation_id.data).state, RUN_DONE);
    ck_assert_int_eq(
        test_number(world.sql, "select (select count(*) from entities) + (select count(*) from intents) "
                               "+ (select count(*) from index_state) + (select count(*) from indexes) "
                               "+ (select count(*) from tables)"),
        0);
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
    tcase_add_test(tc, a_build_is_carried_on_by_other_workers);
    tcase_add_test(tc, a_worker_that_died_in_a_chunk_is_replaced);
    tcase_add_test(tc, a_chunk_without_its_checkpoint_is_done_again);
    tcase_add_test(tc, violations_are_counted_and_do_not_stop_a_build);
    tcase_add_test(tc, a_build_beside_writers_ends_with_exactly_what_the_source_has);
    tcase_add_loop_test(tc, validation_finds_and_mends_differences, 0, ARRAY_LEN(damages));
    tcase_add_loop_test(tc, an_index_that_stays_wrong_is_not_ready, 0, ARRAY_LEN(lasting_damages));
    tcase_add_test(tc, keys_in_flight_do_not_hold_up_a_build);
    tcase_add_test(tc, a_dropped_index_leaves_nothing_and_its_name_at_once);
    tcase_add_test(tc, entries_of_a_dropped_index_are_deleted_in_chunks);
    tcase_add_test(tc, dropping_cancels_a_running_build);
    tcase_add_test(tc, a_deleted_table_is_purged_with_its_indexes);
    suite_add_tcase(suite, tc);
    return suite;
}
