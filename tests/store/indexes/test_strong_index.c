/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_strong_index.c - indexes whose entries are written with their entities: by every kind of write, while they are
 * built, and beside each other; and indexes that refuse entities without a possible entry.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/ticks.h"
#include "store/background/expire.h"
#include "store/background/range_delete.h"
#include "store/entities/read_batch.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/lookup_read.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"
#include "tests/support/transaction_calls.h"

enum { STRONG = 2100, STRONG_LIST = 2101, LARGE_BYTES = 100000 };

static struct world world;
static enum index_place place; /* of the indexes; in either they have the same keys */
static struct key_part partition = { .text = { "PartitionKey", 12 } }, city = { .text = { "City", 4 } },
                       number = { .text = { "City", 4 }, .width = 3 };

static struct index a_strong_index(enum index_shape shape, struct key_part *part)
{
    return (struct index){ .shape = shape,
        .place = place,
        .consistency = INDEX_STRONG,
        .partition_key = { &partition, 1 },
        .row_key = { part, 1 },
        .projection = PROJECT_ALL };
}

static void setup(void)
{
    place = PLACE_SAME_PARTITION;
    world_open(&world);
}

static void setup_elsewhere(void)
{
    setup();
    place = PLACE_OTHER_PARTITION;
}

static void add_indexes(void)
{
    world_add_index(&world, STRONG, a_strong_index(INDEX_COPY, &city));
    world_add_index(&world, STRONG_LIST, a_strong_index(INDEX_LIST, &city));
    test_sql(world.sql,
        "insert into operations (operation_id, account, kind, target, state, started, table_id) "
        "values ('', 'acme', 'build', '', 3, 1, %d)",
        TABLE_ID);
}

static void setup_indexed(void)
{
    setup();
    add_indexes();
}

static void setup_indexed_elsewhere(void)
{
    setup_elsewhere();
    add_indexes();
}

static void teardown(void)
{
    world_close(&world);
}

static const char *entry_keys(void)
{
    return test_text(world.sql,
        "select coalesce(string_agg(row_key, ',' order by row_key), '') from entities where table_id = %d",
        STRONG);
}

/* ---- with their writes ---- */

/* Guard G34: the entry of the previous state is deleted in the commit that writes the entry of the new state. */
START_TEST(entries_come_move_and_go_with_their_write)
{
    world_put(&world, "r1", "Bonn", "x");
    ck_assert_str_eq(entry_keys(), "Bonn  !r1");
    world_check(&world);
    world_put(&world, "r1", "Cork", "x");
    ck_assert_str_eq(entry_keys(), "Cork  !r1");
    world_check(&world);
    world_put(&world, "r1", "Cork", "y");
    world_check(&world);
    world_put(&world, "r1", NULL, "y");
    ck_assert_str_eq(entry_keys(), "");
    world_put(&world, "r1", "Cork", "y");
    world_delete(&world, "r1");
    ck_assert_str_eq(entry_keys(), "");
    world_check(&world);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);
}
END_TEST

/* All rows that a group writes are of one database transaction. */
START_TEST(an_entry_comes_and_goes_with_the_match_of_the_filter)
{
    struct index index = a_strong_index(INDEX_COPY, &city);

    index.filter_text = STR_LITERAL("Note eq 'x'");
    world_add_index(&world, STRONG, index);
    world_put(&world, "r1", "Bonn", "y");
    ck_assert_str_eq(entry_keys(), "");
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    ck_assert_str_eq(entry_keys(), "Bonn  !r1,Bonn  !r2");
    world_check(&world);
    world_put(&world, "r1", "Bonn", "y");
    ck_assert_str_eq(entry_keys(), "Bonn  !r2");
    world_delete(&world, "r2");
    ck_assert_str_eq(entry_keys(), "");
    world_check(&world);
}
END_TEST

START_TEST(a_group_of_a_hundred_with_five_indexes_is_one_commit)
{
    enum { COUNT = 100 };
    struct write writes[COUNT];
    struct operation *group;

    for (int i = 2; i < 5; i++)
        world_add_index(&world, STRONG + i, a_strong_index(i % 2 ? INDEX_LIST : INDEX_COPY, &city));
    for (int i = 0; i < COUNT; i++)
        writes[i] = a_write(WRITE_INSERT, "p", arena_format(&world.arena, "r%03d", i).data,
            some_texts(&world.arena, "City", "Bonn", NULL));
    group = a_group(&world.arena, "People", writes, COUNT);
    write_batch_for_worker(world.worker, &world.writer, group);
    arena_cleanup(&world.writer.arena);

    ck_assert_reason(group, "OK");
    ck_assert_ptr_null(group->out.write.left_open);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities"), 6 * COUNT);
    ck_assert_int_eq(test_number(world.sql, "select count(distinct xmin::text) from entities"), 1);
    world_check(&world);
}
END_TEST

/* The bucket of an entry is its source's, because a read of the entry by its key looks there. */
START_TEST(an_entry_is_read_by_its_key)
{
    struct entity_key key = a_key("p", "Bonn  !r1");
    struct operation *get;

    world_put(&world, "r1", "Bonn", "x");
    get = a_get(&world.arena, "PeopleBy2100", &key, 1);
    read_batch_run(&world.writer, get, NULL);

    ck_assert_reason(get, "OK");
    ck_assert(get->out.get.found[0]);
    ck_assert(str_equal(text_of(get->out.get.entities[0].properties, "$SourceRowKey"), STR_LITERAL("r1")));
    arena_cleanup(&world.writer.arena);
}
END_TEST

static struct operation *looked_up(const char *index, const char *value, bool latest)
{
    struct operation *lookup = an_operation(&world.arena, OPERATION_LOOKUP, index);
    struct value *values = ARENA_ARRAY(&world.arena, struct value, 2);

    values[0] = (struct value){ .type = PROPERTY_STRING, .bytes = STR_LITERAL("p") };
    values[1] = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(value) };
    lookup->in.lookup = (struct operation_lookup){
        .equals = values, .equal_count = 2, .limit = 100, .freshness.latest = latest
    };
    lookup_read_run(&world.writer, lookup);
    arena_cleanup(&world.writer.arena);
    ck_assert_reason(lookup, "OK");
    return lookup;
}

/* No worker has run: open intents of other indexes do not concern this one. */
START_TEST(a_look_up_finds_what_was_written_and_is_never_behind)
{
    const struct operation *lookup;

    world_index(&world, BY_NOTE, "Note", 0);
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    ck_assert_int_eq(world_intents(&world), 2);
    for (int latest = 0; latest < 2; latest++) {
        lookup = looked_up(_i == 0 ? "PeopleBy2100" : "PeopleBy2101", "Bonn", latest);
        ck_assert_uint_eq(lookup->out.lookup.count, 2);
        ck_assert_int_eq(lookup->out.lookup.lag.age_us, 0);
        ck_assert_int_gt(lookup->out.lookup.lag.as_of, 0);
        ck_assert_int_eq(lookup->out.lookup.stats.rows_examined, 2);
    }
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").lag.open_intents, 0);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").lag.age_us, 0);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2001").lag.open_intents, 2);
}
END_TEST

START_TEST(an_entity_that_expires_loses_its_entry_when_it_is_swept)
{
    struct error err = { 0 };
    int64_t count = 0;

    world_put(&world, "r1", "Bonn", "x");
    test_sql(world.sql, "update entities set expires = 5");
    ck_assert_int_eq(expire_chunk(world.worker, &count, &err), STATUS_OK);

    ck_assert_int_ge(count, 1);
    ck_assert_str_eq(entry_keys(), "");
    world_check(&world);
}
END_TEST

/* Guard G34: the entry of an expired entity stays, and the next write of the key replaces it. */
START_TEST(what_is_due_gives_its_entry_to_the_next)
{
    world_put(&world, "r1", "Bonn", "x");
    test_sql(world.sql, "update entities set expires = 5");
    world_put(&world, "r1", "Cork", "x");

    ck_assert_str_eq(entry_keys(), "Cork  !r1");
    world_check(&world);
}
END_TEST

START_TEST(a_range_that_is_deleted_takes_its_entries_along)
{
    struct operation *start = an_operation(&world.arena, OPERATION_RANGE_DELETE, "People");

    for (int i = 0; i < 20; i++)
        world_put(&world, arena_format(&world.arena, "r%02d", i).data, "Bonn", "x");
    start->in.page.filter_text = STR_LITERAL("RowKey ge 'r05'");
    set_filter(start, "RowKey ge 'r05'");
    call_succeeded(call_run(&world.writer, range_delete_start, start));
    run_chunks(world.worker);

    ck_assert_int_eq(world_entries(&world, STRONG), 5);
    world_check(&world);
}
END_TEST

/* A step, and a move, whose commit changes both entities. */
START_TEST(steps_bring_entries_along)
{
    struct step steps[] = {
        { .kind = STEP_INSERT_OR_REPLACE,
            .table = STR_LITERAL("People"),
            .table_id = TABLE_ID,
            .key = a_key("p", "r1"),
            .properties = some_texts(&world.arena, "City", "Bonn", NULL) },
        step_move("People", "r1", "People", "r2"),
    };

    steps[1].table_id = steps[1].to_table_id = TABLE_ID;
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t1", steps, 2));
    ck_assert(!transaction_step(world.worker, "t1"));
    ck_assert_str_eq(entry_keys(), "Bonn  !r1");
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_str_eq(entry_keys(), "Bonn  !r2");
    ck_assert_str_eq(
        test_text(world.sql, "select partition_key from entities where table_id = %d", STRONG), "q");
    test_sql(world.sql, "delete from intents");
    world_check(&world);
}
END_TEST

/* The repeat is answered from its record: it does not overwrite a later write. */
START_TEST(a_repeat_of_a_request_changes_no_entry)
{
    for (int i = 0; i < 2; i++) {
        struct write write =
            a_write(WRITE_INSERT_OR_REPLACE, "p", "r1", some_texts(&world.arena, "City", "Bonn", NULL));
        struct operation *operation = a_write_operation(&world.arena, "People", write);

        operation->in.write.request_id = STR_LITERAL("once");
        write_batch_for_worker(world.worker, &world.writer, operation);
        arena_cleanup(&world.writer.arena);
        ck_assert_reason(operation, "OK");
        ck_assert_int_eq(operation->out.write.replayed, i == 1);
        world_put(&world, "r1", "Cork", "x");
    }
    ck_assert_str_eq(entry_keys(), "Cork  !r1");
    world_check(&world);
}
END_TEST

/* A row that was created only to be locked, for a write whose condition fails, is removed. */
START_TEST(a_row_created_in_vain_leaves_no_entry)
{
    struct write write = a_write(WRITE_REPLACE, "p", "r1", some_texts(&world.arena, "City", "Bonn", NULL));
    struct operation *operation = a_write_operation(&world.arena, "People", write);

    write_batch_for_worker(world.worker, &world.writer, operation);
    arena_cleanup(&world.writer.arena);

    ck_assert_reason(operation, "RESOURCE_NOT_FOUND");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities"), 0);
}
END_TEST

/* ---- violations ---- */

/* The write takes effect; the violation is noted afterwards, and the next write that mends it removes the note. */
START_TEST(an_entity_without_its_entry_is_noted)
{
    world_add_index(&world, STRONG + 2, a_strong_index(INDEX_COPY, &number));
    world_put(&world, "r1", "Bonn", "x");
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile_all(&world);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2102").violations, 1);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").violations, 0);

    world_put(&world, "r1", NULL, "x");
    world_reconcile_all(&world);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2102").violations, 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

static struct operation *put(const char *row, const char *value)
{
    struct write write =
        a_write(WRITE_INSERT_OR_REPLACE, "p", row, some_texts(&world.arena, "City", value, NULL));
    struct operation *operation = a_write_operation(&world.arena, "People", write);

    write_batch_for_worker(world.worker, &world.writer, operation);
    arena_cleanup(&world.writer.arena);
    return operation;
}

static void add_refusing_index(enum index_place of)
{
    struct index index = a_strong_index(INDEX_COPY, &number);

    index.on_violation = VIOLATION_REJECT;
    index.place = of;
    if (of != place && of == PLACE_OTHER_PARTITION) {
        index.consistency = INDEX_EVENTUAL;
        index.partition_key = (struct key_parts){ &number, 1 };
        index.row_key = (struct key_parts){ 0 };
    }
    world_add_index(&world, STRONG + 2, index);
}

START_TEST(an_index_that_rejects_refuses_the_write)
{
    struct operation *operation;

    add_refusing_index(_i == 0 ? PLACE_SAME_PARTITION : PLACE_OTHER_PARTITION);
    operation = put("r1", "secret");

    ck_assert_reason(operation, "INDEX_KEY_VIOLATION");
    ck_assert_int_eq(operation->status, STATUS_INVALID);
    ck_assert_str_eq(meta_of(operation->error, "index"), "PeopleBy2102");
    ck_assert_ptr_nonnull(strstr(operation->error->message, "City is of type String"));
    ck_assert_ptr_null(strstr(operation->error->message, "secret"));
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities"), 0);
    ck_assert_int_eq(world_intents(&world), 0);
}
END_TEST

START_TEST(a_group_with_a_refused_entity_does_nothing)
{
    struct write writes[] = { a_write(WRITE_INSERT, "p", "r1", some_texts(&world.arena, "Note", "x", NULL)),
        a_write(WRITE_INSERT, "p", "r2", some_texts(&world.arena, "City", "Bonn", NULL)) };
    struct operation *group;

    add_refusing_index(place);
    group = a_group(&world.arena, "People", writes, 2);
    write_batch_for_worker(world.worker, &world.writer, group);
    arena_cleanup(&world.writer.arena);

    ck_assert_reason(group, "INDEX_KEY_VIOLATION");
    ck_assert_str_eq(meta_of(group->error, "operation_index"), "1");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities"), 0);
}
END_TEST

/* Both halves of a move are rolled back. */
START_TEST(a_move_onto_a_refusal_fails_and_leaves_the_source)
{
    struct step steps[] = {
        { .kind = STEP_INSERT_OR_REPLACE,
            .table = STR_LITERAL("Others"),
            .table_id = 1001,
            .key = a_key("p", "r1"),
            .properties = some_texts(&world.arena, "City", "Bonn", NULL) },
        step_move("Others", "r1", "People", "r1"),
    };

    world_change(&world, "insert into tables (table_id, account, name, folded, created, live) "
                         "values (1001, 'acme', 'Others', 'others', 1, true)");
    add_refusing_index(place);
    steps[1].table_id = 1001;
    steps[1].to_table_id = TABLE_ID;
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t1", steps, 2));
    transaction_run(&world, "t1");

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_FAILED);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where not dead and table_id = 1001"), 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where table_id <> 1001"), 0);
}
END_TEST

/* ---- building ---- */

static struct operation *created(struct index index)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");

    index.name = STR_LITERAL("ByCity");
    index.source_name = STR_LITERAL("People");
    operation->in.index.definition = index;
    call_succeeded(call_run(&world.writer, index_calls_create, operation));
    return operation;
}

START_TEST(a_build_makes_an_entry_for_every_entity)
{
    people_copy(&world, 1200);
    world_put(&world, "r9", NULL, "x");
    created(a_strong_index(_i == 0 ? INDEX_COPY : INDEX_LIST, &city));
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 1200);
    ck_assert_int_eq(test_number(world.sql, "select differences from operations"), 0);
    world_check(&world);
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

/* Only the build is a worker's work. A validation in one snapshot finds no difference at any moment. */
START_TEST(a_build_beside_writers_ends_with_exactly_what_the_source_has)
{
    struct busy busy = { .writes = 0 };

    people_copy(&world, 700);
    pthread_create(&busy.thread, NULL, write_all_the_time, &busy);
    while (atomic_load(&busy.writes) < 20)
        sched_yield();
    created(a_strong_index(INDEX_COPY, &city));
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(test_number(world.sql, "select differences from operations"), 0);
    atomic_store(&busy.stop, true);
    pthread_join(busy.thread, NULL);

    ck_assert_int_gt(index_seen(&world, "ByCity").entries, 500);
    world_check(&world);
}
END_TEST

static void *run_a_chunk(void *unused)
{
    (void)unused;
    run_chunk(world.worker);
    return NULL;
}

/*
 * Guard G35: the builder locks an entity before it reads it, and so waits for a write that holds the lock and has not
 * committed. Without the lock the chunk would overwrite the entry of that write with the entry of the earlier state.
 */
START_TEST(the_builder_waits_for_the_lock_on_the_entity)
{
    PGconn *other = test_connect(world.conninfo);
    struct index index = a_strong_index(INDEX_COPY, &city);
    pthread_t thread;

    index.is_unique = _i; /* which is built key by key */
    world_put(&world, "r1", "Bonn", "x");
    created(index);
    test_sql(other, "begin; select from entities where table_id = %d for update", TABLE_ID);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_a_chunk, NULL), 0);
    test_await(world.sql, "select ((select count(*) from pg_stat_activity where datname = current_database() "
                          "and application_name = 'tavola-worker' and wait_event_type = 'Lock') = 1 "
                          "or (select phase from operations) > 0)::int");
    ck_assert_int_eq(test_number(world.sql, "select phase from operations"), 0);
    test_sql(other, "rollback");
    pthread_join(thread, NULL);
    run_chunks(world.worker);
    world_check(&world);
    PQfinish(other);
}
END_TEST

/* Large ones are read by themselves, at the beginning of a chunk and within it. */
START_TEST(large_entities_get_their_entries)
{
    char *note = malloc(LARGE_BYTES + 1);

    memset(note, 'x', LARGE_BYTES);
    note[LARGE_BYTES] = 0;
    people_copy(&world, 50);
    world_put(&world, "model", "Rome", note);
    world_put(&world, "r000007", "Rome", note);
    world_put(&world, "r000008", "Rome", note);
    free(note);
    created(a_strong_index(INDEX_COPY, &city));
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(test_number(world.sql, "select differences from operations"), 0);
    world_check(&world);
}
END_TEST

static const char *const damages[] = {
    "delete from entities where table_id <> 1000 and row_key like '%r000007'",
    "update entities set row_key = 'Oslo' || substr(row_key, 5) where table_id <> 1000 and row_key like "
    "'%r000007'",
    "delete from entities where table_id = 1000 and row_key = 'r000007'",
    "update entities set expires = 9000000000000000000 where table_id = 1000 and row_key = 'r000007'",
};

START_TEST(validation_finds_and_mends_differences)
{
    people_copy(&world, 20);
    created(a_strong_index(INDEX_COPY, &city));
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_VALIDATING);
    test_sql(world.sql, "%s", damages[_i]);
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    world_check(&world);
}
END_TEST

static void *run_all_chunks(void *unused)
{
    (void)unused;
    run_chunks(world.worker);
    return NULL;
}

/* Guard G35: the same holds for an entity whose entry the validation corrects. */
START_TEST(a_correction_waits_for_the_lock_on_the_entity)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    people_copy(&world, 20);
    created(a_strong_index(INDEX_COPY, &city));
    ck_assert(run_chunk(world.worker));
    test_sql(world.sql, "%s", damages[0]);
    test_sql(other, "begin; select from entities where table_id = 1000 and row_key = 'r000007' for update");
    ck_assert_int_eq(pthread_create(&thread, NULL, run_all_chunks, NULL), 0);
    test_await(world.sql,
        "select ((select count(*) from pg_stat_activity where datname = current_database() "
        "and application_name = 'tavola-worker' and wait_event_type = 'Lock') = 1 "
        "or (select state from indexes) = %d)::int",
        INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_VALIDATING);
    test_sql(other, "rollback");
    pthread_join(thread, NULL);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    world_check(&world);
    PQfinish(other);
}
END_TEST

START_TEST(a_build_counts_what_it_cannot_hold)
{
    people_put(&world, 8);
    created(a_strong_index(INDEX_COPY, &number));
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").violations, 6);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 0);
}
END_TEST

START_TEST(a_build_that_may_not_leave_entities_out_fails)
{
    struct index index = a_strong_index(INDEX_COPY, &number);

    index.on_violation = VIOLATION_REJECT;
    people_put(&world, 8);
    created(index);
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").build.state, JOB_FAILED);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_BUILDING);
    ck_assert_ptr_nonnull(strstr(index_seen(&world, "ByCity").build.error.data, "6 entities"));
    ck_assert_ptr_nonnull(strstr(index_seen(&world, "ByCity").build.error.data, "City is of type String"));
}
END_TEST

START_TEST(a_dropped_index_leaves_nothing)
{
    people_put(&world, 8);
    created(a_strong_index(INDEX_COPY, &city));
    run_chunks(world.worker);
    call_succeeded(index_dropped(&world, "ByCity"));
    world_put(&world, "r00001", "Cork", "x");
    run_chunks(world.worker);

    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id <> %d", TABLE_ID), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes"), 0);
}
END_TEST

static void add_writes(Suite *suite, const char *name, void (*given)(void))
{
    TCase *writes = tcase_create(name);

    tcase_set_timeout(writes, 30);
    tcase_add_checked_fixture(writes, given, teardown);
    tcase_add_test(writes, entries_come_move_and_go_with_their_write);
    tcase_add_test(writes, a_group_of_a_hundred_with_five_indexes_is_one_commit);
    tcase_add_test(writes, an_entry_is_read_by_its_key);
    tcase_add_loop_test(writes, a_look_up_finds_what_was_written_and_is_never_behind, 0, 2);
    tcase_add_test(writes, an_entity_that_expires_loses_its_entry_when_it_is_swept);
    tcase_add_test(writes, what_is_due_gives_its_entry_to_the_next);
    tcase_add_test(writes, a_range_that_is_deleted_takes_its_entries_along);
    tcase_add_test(writes, steps_bring_entries_along);
    tcase_add_test(writes, a_repeat_of_a_request_changes_no_entry);
    tcase_add_test(writes, a_row_created_in_vain_leaves_no_entry);
    tcase_add_test(writes, an_entity_without_its_entry_is_noted);
    tcase_add_loop_test(writes, an_index_that_rejects_refuses_the_write, 0, 2);
    tcase_add_test(writes, a_group_with_a_refused_entity_does_nothing);
    tcase_add_test(writes, a_move_onto_a_refusal_fails_and_leaves_the_source);
    suite_add_tcase(suite, writes);
}

static TCase *add_builds(Suite *suite, const char *name, void (*given)(void))
{
    TCase *builds = tcase_create(name);

    tcase_set_timeout(builds, 60);
    tcase_add_checked_fixture(builds, given, teardown);
    tcase_add_test(builds, an_entry_comes_and_goes_with_the_match_of_the_filter);
    tcase_add_loop_test(builds, a_build_makes_an_entry_for_every_entity, 0, 2);
    tcase_add_test(builds, a_build_beside_writers_ends_with_exactly_what_the_source_has);
    tcase_add_test(builds, a_build_counts_what_it_cannot_hold);
    tcase_add_test(builds, a_build_that_may_not_leave_entities_out_fails);
    tcase_add_test(builds, a_dropped_index_leaves_nothing);
    suite_add_tcase(suite, builds);
    return builds;
}

Suite *test_strong_index_suite(void)
{
    Suite *suite = suite_create("strong_index");
    TCase *builds;

    test_postgres_start();
    add_writes(suite, "writes", setup_indexed);
    add_writes(suite, "writes_elsewhere", setup_indexed_elsewhere);
    builds = add_builds(suite, "builds", setup);
    tcase_add_loop_test(builds, the_builder_waits_for_the_lock_on_the_entity, 0, 2);
    tcase_add_test(builds, large_entities_get_their_entries);
    tcase_add_loop_test(builds, validation_finds_and_mends_differences, 0, ARRAY_LEN(damages));
    tcase_add_test(builds, a_correction_waits_for_the_lock_on_the_entity);
    add_builds(suite, "builds_elsewhere", setup_elsewhere);
    return suite;
}
