/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unique_index.c - one owner per value: which write gets it, which is refused, when it is free again; beside
 * other servers, and in builds over existing entities.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/background/expire.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/reconcile.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"
#include "tests/support/transaction_calls.h"

enum { UNIQUE = 2200 };

static struct world world;
static struct key_part partition = { .text = { "PartitionKey", 12 } }, city = { .text = { "City", 4 } };

/* In the partition of its source; in others, by intents; in others, with its writes. */
static struct index a_unique_index(int place)
{
    struct index index = { .shape = INDEX_COPY,
        .place = PLACE_SAME_PARTITION,
        .consistency = INDEX_STRONG,
        .is_unique = true,
        .partition_key = { &partition, 1 },
        .row_key = { &city, 1 },
        .projection = PROJECT_ALL };

    if (place == 0)
        return index;
    index.place = PLACE_OTHER_PARTITION;
    if (place == 1)
        index.consistency = INDEX_EVENTUAL;
    index.partition_key = (struct key_parts){ &city, 1 };
    index.row_key = (struct key_parts){ 0 };
    return index;
}

static void setup(void)
{
    world_open(&world);
    test_sql(world.sql,
        "insert into operations (operation_id, account, kind, target, state, started, table_id) "
        "values ('', 'acme', 'build', '', 3, 1, %d)",
        TABLE_ID);
}

static void teardown(void)
{
    world_close(&world);
}

static struct write a_put(const char *row, const char *value)
{
    return a_write(WRITE_INSERT_OR_REPLACE, "p", row, some_texts(&world.arena, "City", value, NULL));
}

static struct operation *run_on(struct session *session, struct arena *arena, struct operation *operation)
{
    (void)arena;
    operation->in.write.may_read = true;
    write_batch_for_worker(world.worker, session, operation);
    arena_cleanup(&session->arena);
    return operation;
}

static struct operation *put(const char *row, const char *value)
{
    return run_on(&world.writer, &world.arena, a_write_operation(&world.arena, "People", a_put(row, value)));
}

static struct operation *put_group(const struct write *writes, size_t count)
{
    return run_on(&world.writer, &world.arena, a_group(&world.arena, "People", writes, count));
}

/* "r1,r2": the entities that own a value. */
static const char *owners(void)
{
    return test_text(
        world.sql, "select coalesce(string_agg(row_key, ',' order by row_key), '') from unique_owners");
}

static void settle(void)
{
    while (world_intents(&world) > 0)
        world_reconcile_all(&world);
    world_check(&world);
}

/* ---- writes ---- */

/* Guard G37. */
START_TEST(a_second_owner_is_refused)
{
    struct operation *second;

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "secret"), "OK");
    second = put("r2", "secret");

    ck_assert_reason(second, "UNIQUE_VIOLATION");
    ck_assert_int_eq(second->status, STATUS_EXISTS);
    ck_assert_str_eq(meta_of(second->error, "index"), "PeopleBy2200");
    ck_assert_str_eq(meta_of(second->error, "properties"), _i == 0 ? "PartitionKey, City" : "City");
    ck_assert_str_eq(meta_of(second->error, "owner_row_key"), "r1");
    ck_assert_ptr_null(strstr(second->error->message, "secret"));
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d", TABLE_ID), 1);
    ck_assert_str_eq(owners(), "r1");
    ck_assert_reason(put("r2", "other"), "OK");
    ck_assert_reason(put("r1", "secret"), "OK");
    settle();
}
END_TEST

START_TEST(a_caller_without_read_permission_is_not_told_the_owner)
{
    struct operation *second = a_write_operation(&world.arena, "People", a_put("r2", "Bonn"));

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    write_batch_for_worker(world.worker, &world.writer, second);
    arena_cleanup(&world.writer.arena);

    ck_assert_reason(second, "UNIQUE_VIOLATION");
    ck_assert_str_eq(meta_of(second->error, "owner_row_key"), "");
    ck_assert_str_eq(meta_of(second->error, "owner_partition_key"), "");
}
END_TEST

START_TEST(a_value_is_free_when_its_owner_lets_it_go)
{
    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    ck_assert_reason(put("r1", "Cork"), "OK");
    ck_assert_reason(put("r2", "Bonn"), "OK");
    world_delete(&world, "r1");
    ck_assert_reason(put("r3", "Cork"), "OK");
    world_put(&world, "r2", NULL, "x");
    ck_assert_reason(put("r4", "Bonn"), "OK");

    ck_assert_str_eq(owners(), "r3,r4");
    settle();
}
END_TEST

/* Both values are released before either is taken. */
START_TEST(two_entities_swap_their_values_in_one_group)
{
    struct write swap[] = { a_put("r1", "Cork"), a_put("r2", "Bonn") };
    struct write chain[] = { a_put("r1", "Bonn"), a_put("r3", "Cork") };

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    ck_assert_reason(put("r2", "Cork"), "OK");
    ck_assert_reason(put_group(swap, 2), "OK");
    ck_assert_str_eq(owners(), "r1,r2");
    settle();

    ck_assert_reason(put_group(chain, 2), "UNIQUE_VIOLATION");
    ck_assert_str_eq(meta_of(put_group(chain, 2)->error, "operation_index"), "0");
    ck_assert_str_eq(owners(), "r1,r2");
    settle();
}
END_TEST

/*
 * In the order of arrival: the second write may take the value that the first one releases; the fourth may not take
 * the value that the third one has taken.
 */
START_TEST(operations_of_a_batch_are_decided_in_their_order)
{
    static const char *const rows[] = { "r1", "r2", "r3", "r4" }, *const values[] = { "Cork", "Bonn", "Rome",
        "Rome" };
    struct operation *operations[4];

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    for (int i = 3; i >= 0; i--) {
        operations[i] = a_write_operation(&world.arena, "People", a_put(rows[i], values[i]));
        operations[i]->next = i < 3 ? operations[i + 1] : NULL;
    }
    run_on(&world.writer, &world.arena, operations[0]);

    for (int i = 0; i < 3; i++)
        ck_assert_reason(operations[i], "OK");
    ck_assert_reason(operations[3], "UNIQUE_VIOLATION");
    ck_assert_str_eq(owners(), "r1,r2,r3");
    settle();
}
END_TEST

/*
 * The second write of r1 merges into the outcome of the first one, which is refused: so it would take another value.
 */
START_TEST(a_value_that_turns_up_later_is_looked_for)
{
    static struct key_part both[] = { { .text = { "City", 4 } }, { .text = { "Note", 4 } } };
    struct index index = a_unique_index(1);
    struct operation *first, *second;

    index.row_key = (struct key_parts){ &both[1], 1 };
    world_add_index(&world, UNIQUE, index);
    world_put(&world, "r0", "Bonn", "x");
    world_put(&world, "r1", "Cork", "z");
    first = a_write_operation(&world.arena, "People",
        a_write(
            WRITE_INSERT_OR_REPLACE, "p", "r1", some_texts(&world.arena, "City", "Bonn", "Note", "x", NULL)));
    second = a_write_operation(&world.arena, "People",
        a_write(WRITE_INSERT_OR_MERGE, "p", "r1", some_texts(&world.arena, "Note", "y", NULL)));
    first->next = second;
    run_on(&world.writer, &world.arena, first);

    ck_assert_reason(first, "UNIQUE_VIOLATION");
    ck_assert_reason(second, "OK");
    ck_assert_str_eq(owners(), "r0,r1");
    settle();
}
END_TEST

START_TEST(an_expired_entity_owns_until_it_is_swept)
{
    struct error err = { 0 };
    int64_t count = 0;

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    test_sql(world.sql, "update entities set expires = 5 where table_id = %d", TABLE_ID);
    ck_assert_reason(put("r2", "Bonn"), "UNIQUE_VIOLATION");
    ck_assert_int_eq(expire_chunk(world.worker, &count, &err), STATUS_OK);

    ck_assert_str_eq(owners(), "");
    ck_assert_reason(put("r2", "Bonn"), "OK");
}
END_TEST

START_TEST(an_import_rejects_the_entity)
{
    struct write writes[] = { a_put("r1", "Bonn"), a_put("r2", "Bonn"), a_put("r3", "Cork") };
    struct operation *import = a_group(&world.arena, "People", writes, 3);

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    import->in.write.atomic = import->in.write.is_group = false;
    run_on(&world.writer, &world.arena, import);

    ck_assert_reason(import, "OK");
    ck_assert_ptr_null(import->out.write.errors[0]);
    ck_assert_str_eq(import->out.write.errors[1]->reason, "UNIQUE_VIOLATION");
    ck_assert_ptr_null(import->out.write.errors[2]);
    ck_assert_str_eq(owners(), "r1,r3");
    settle();
}
END_TEST

/* A move hands its value over; a step that would take an owned value fails, and so does such a move. */
START_TEST(steps_are_refused_as_writes_are)
{
    struct step moves[] = { step_move("People", "r1", "People", "r5") };
    struct step puts[] = { { .kind = STEP_INSERT_OR_REPLACE,
        .table = STR_LITERAL("People"),
        .table_id = TABLE_ID,
        .key = a_key("p", "r2"),
        .properties = some_texts(&world.arena, "City", "Bonn", NULL) } };

    world_add_index(&world, UNIQUE, a_unique_index(1));
    moves[0].table_id = moves[0].to_table_id = TABLE_ID;
    ck_assert_reason(put("r1", "Bonn"), "OK");
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t1", moves, 1));
    transaction_run(&world, "t1");
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_str_eq(owners(), "r5");

    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t2", puts, 1));
    transaction_run(&world, "t2");
    ck_assert_int_eq(transaction_seen(&world, "t2").state, TRANSACTION_FAILED);
    ck_assert_str_eq(owners(), "r5");
}
END_TEST

/* ---- beside other servers ---- */

struct racer {
    pthread_t thread;
    int number;
    atomic_int *wins;
};

static void *race(void *argument)
{
    const struct racer *self = argument;
    struct session session;
    struct arena arena;
    struct worker *worker = world_worker(&world, "racer");

    arena_init(&arena);
    session_init(&session, world.conninfo, "test racer");
    for (int i = 0; i < 30; i++) {
        const char *row = arena_format(&arena, "w%d", self->number).data;
        struct write write =
            a_write(WRITE_INSERT_OR_REPLACE, "p", arena_format(&arena, "%s-%02d", row, i).data,
                some_texts(&arena, "City", arena_format(&arena, "city%02d", i).data, NULL));
        struct operation *operation = a_write_operation(&arena, "People", write);

        write_batch_for_worker(worker, &session, operation);
        arena_cleanup(&session.arena);
        if (!operation->error)
            atomic_fetch_add(&self->wins[i], 1);
        else
            ck_assert_reason(operation, "UNIQUE_VIOLATION");
    }
    worker_close(worker);
    session_cleanup(&session);
    arena_cleanup(&arena);
    return NULL;
}

/* Guards G36, G37. */
START_TEST(of_several_servers_exactly_one_wins_each_value)
{
    enum { RACERS = 4 };
    struct racer racers[RACERS];
    atomic_int wins[30];

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    for (int i = 0; i < 30; i++)
        atomic_init(&wins[i], 0);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){ .number = i, .wins = wins };
        pthread_create(&racers[i].thread, NULL, race, &racers[i]);
    }
    for (int i = 0; i < RACERS; i++)
        pthread_join(racers[i].thread, NULL);

    for (int i = 0; i < 30; i++)
        ck_assert_int_eq(atomic_load(&wins[i]), 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from unique_owners"), 30);
    settle();
}
END_TEST

struct put_call {
    struct session session;
    struct arena arena;
    struct operation *operation;
};

static void *put_r2(void *argument)
{
    struct put_call *self = argument;

    write_batch_for_worker(world.worker, &self->session, self->operation);
    arena_cleanup(&self->session.arena);
    return NULL;
}

static void await_waiter(void)
{
    test_await(world.sql, "select ((select count(*) from pg_stat_activity where datname = current_database() "
                          "and application_name = 'test waiter' and wait_event_type = 'Lock') = 1 "
                          "or exists (select from entities where row_key = 'r2'))::int");
}

/* "r2" wants Bonn while `other` holds its owner's row in a transaction that then commits. */
static struct operation *put_behind(PGconn *other, struct put_call *call)
{
    pthread_t thread;

    arena_init(&call->arena);
    session_init(&call->session, world.conninfo, "test waiter");
    call->operation = a_write_operation(&call->arena, "People",
        a_write(WRITE_INSERT, "p", "r2", some_texts(&call->arena, "City", "Bonn", NULL)));
    ck_assert_int_eq(pthread_create(&thread, NULL, put_r2, call), 0);
    await_waiter();
    test_sql(other, "commit");
    pthread_join(thread, NULL);
    return call->operation;
}

static void end_call(struct put_call *call, PGconn *other)
{
    session_cleanup(&call->session);
    arena_cleanup(&call->arena);
    PQfinish(other);
}

/*
 * Guard G36: owners are read after their rows were locked, so a value that another transaction took before counts as
 * owned.
 */
START_TEST(what_another_takes_is_waited_for)
{
    PGconn *other = test_connect(world.conninfo);
    struct put_call call;

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    test_sql(world.sql, "create table kept as select * from unique_owners");
    world_delete(&world, "r1");
    test_sql(other, "begin; insert into unique_owners select index_id, value, 'p', 'r9' from kept");

    ck_assert_reason(put_behind(other, &call), "UNIQUE_VIOLATION");
    ck_assert_str_eq(owners(), "r9");
    end_call(&call, other);
}
END_TEST

START_TEST(what_another_releases_is_waited_for)
{
    PGconn *other = test_connect(world.conninfo);
    struct put_call call;

    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    test_sql(other, "begin; delete from unique_owners");

    ck_assert_reason(put_behind(other, &call), "OK");
    ck_assert_str_eq(owners(), "r2");
    end_call(&call, other);
}
END_TEST

static void *reconcile_r1(void *argument)
{
    const struct intent intent = { .bucket = entity_key_bucket(TABLE_ID, STR_LITERAL("p")),
        .kind = INTENT_RECONCILE,
        .table_id = TABLE_ID,
        .key = { STR_LITERAL("p"), STR_LITERAL("r1") } };
    struct error err = { 0 };

    (void)argument;
    ck_assert_int_eq(reconcile_each(world.worker, &intent, 1, &err), STATUS_OK);
    return NULL;
}

/*
 * An owner that hands its value on needs no intent in an index in its partition, so no later reconcile would correct
 * this one.
 */
START_TEST(an_owner_that_takes_another_value_meanwhile_is_no_violation)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    world_add_index(&world, UNIQUE, a_unique_index(0));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    test_sql(world.sql,
        "create table kept as select properties, value from entities, unique_owners where table_id = %d",
        TABLE_ID);
    ck_assert_reason(put("r1", "Rome"), "OK");
    test_sql(other, "begin; lock table unique_owners in access exclusive mode");
    ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_r1, NULL), 0);
    test_await(world.sql, "select exists (select from pg_locks where relation = 'unique_owners'::regclass "
                          "and not granted)::int");
    test_sql(other,
        "update entities e set properties = k.properties, version = version + 1 from kept k where table_id = "
        "%d",
        TABLE_ID);
    test_sql(other, "update unique_owners o set value = k.value from kept k; commit");
    pthread_join(thread, NULL);

    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    PQfinish(other);
}
END_TEST

/* ---- reading ---- */

/*
 * An entity with open work does not own its value yet: it has no entry, and a look-up with freshness LATEST computes
 * that.
 */
START_TEST(the_latest_has_owners_alone)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    world_add_index(&world, UNIQUE, a_unique_index(1));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    ck_assert_reason(put("r2", "Bonn"), "OK");
    ck_assert_int_eq(world_intents(&world), 2);

    ck_assert_uint_eq(index_finds(&world, "PeopleBy2200", "Bonn", true), 1);
    world_reconcile_all(&world);
    ck_assert_uint_eq(index_finds(&world, "PeopleBy2200", "Bonn", false), 1);
    ck_assert_int_eq(world_entries(&world, UNIQUE), 1);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2200").violations, 1);
}
END_TEST

/* ---- building ---- */

static void create(struct index index)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");

    index.name = STR_LITERAL("ByCity");
    index.source_name = STR_LITERAL("People");
    operation->in.index.definition = index;
    call_succeeded(call_run(&world.writer, index_calls_create, operation));
}

/* Guard G37. */
START_TEST(the_first_of_those_that_were_there_owns)
{
    struct index_view seen;

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    world_put(&world, "r3", "Cork", "x");
    create(a_unique_index(_i));
    run_chunks(world.worker);
    seen = index_seen(&world, "ByCity");

    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert_int_eq(seen.entries, 2);
    ck_assert_int_eq(seen.violations, 1);
    ck_assert_ptr_nonnull(
        strstr(seen.causes.data, "another entity has the same value in the unique index: "));
    ck_assert_str_eq(owners(), "r1,r3");
    ck_assert_int_eq(
        test_number(world.sql, "select differences from operations where kind = 'build' and target <> ''"),
        0);
}
END_TEST

/*
 * A reconcile that comes before the builder finds no owner yet, and notes a violation; the builder makes the entity the
 * owner.
 */
START_TEST(what_was_reconciled_before_the_builder_came_is_no_violation)
{
    world_put(&world, "r1", "Bonn", "x");
    create(a_unique_index(_i));
    reconcile_r1(NULL);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 1);
    run_chunks(world.worker);

    ck_assert_str_eq(owners(), "r1");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
}
END_TEST

/* While an entity keeps its value it may be written; with another value it becomes an owner like all others. */
START_TEST(an_entity_without_ownership_may_keep_its_value)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    create(a_unique_index(_i));
    run_chunks(world.worker);
    world_put(&world, "r2", "Bonn", "y");
    ck_assert_str_eq(owners(), "r1");
    ck_assert_int_eq(world_entries(&world, test_number(world.sql, "select index_id from indexes")), 1);
    world_put(&world, "r2", "Cork", "y");
    world_reconcile_all(&world);

    ck_assert_str_eq(owners(), "r1,r2");
    ck_assert_int_eq(index_seen(&world, "ByCity").violations, 0);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 2);
    settle();
}
END_TEST

/*
 * Guard G37. What has expired is there no more: a write of it brings in a new entity, which may not have the value of
 * another one.
 */
START_TEST(an_entity_without_ownership_has_no_value_to_keep_once_it_has_expired)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    create(a_unique_index(_i));
    run_chunks(world.worker);
    test_sql(world.sql, "update entities set expires = 5 where table_id = %d and row_key = 'r2'", TABLE_ID);

    ck_assert_reason(put("r2", "Bonn"), "UNIQUE_VIOLATION");
    ck_assert_reason(put("r2", "Cork"), "OK");
    ck_assert_str_eq(owners(), "r1,r2");
    settle();
}
END_TEST

/* The same where an earlier write of the batch has brought in what expires at once. */
START_TEST(what_a_batch_has_written_to_expire_at_once_has_no_value_to_keep)
{
    struct write expiring = a_put("r2", "Bonn");
    struct operation *first, *second;

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    create(a_unique_index(_i));
    run_chunks(world.worker);
    expiring.expires = 5;
    first = a_write_operation(&world.arena, "People", expiring);
    second = a_write_operation(&world.arena, "People", a_put("r2", "Bonn"));
    first->next = second;
    run_on(&world.writer, &world.arena, first);

    ck_assert_reason(first, "OK");
    ck_assert_reason(second, "UNIQUE_VIOLATION");
    ck_assert_str_eq(owners(), "r1");
}
END_TEST

/* The owner that has expired keeps its value, so a write of it may have that value again. */
START_TEST(an_owner_that_has_expired_may_be_written_with_its_value)
{
    world_add_index(&world, UNIQUE, a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    test_sql(world.sql, "update entities set expires = 5 where table_id = %d", TABLE_ID);

    ck_assert_reason(put("r1", "Bonn"), "OK");
    ck_assert_str_eq(owners(), "r1");
    settle();
}
END_TEST

/* The entity gets the value that is free by then, although its own value did not change. */
START_TEST(an_entity_without_ownership_gets_it_when_it_is_written_later)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    create(a_unique_index(_i));
    run_chunks(world.worker);
    world_delete(&world, "r1");
    ck_assert_str_eq(owners(), "");
    world_put(&world, "r2", "Bonn", "y");

    ck_assert_str_eq(owners(), "r2");
    settle();
    ck_assert_int_eq(index_seen(&world, "ByCity").violations, 0);
}
END_TEST

START_TEST(a_build_that_may_not_leave_entities_out_fails)
{
    struct index index = a_unique_index(_i);

    index.on_violation = VIOLATION_REJECT;
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    create(index);
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").build.state, JOB_FAILED);
    ck_assert_ptr_nonnull(strstr(index_seen(&world, "ByCity").build.error.data,
        "another entity has the same value in the unique index"));
}
END_TEST

START_TEST(from_its_creation_on_no_second_owner_is_admitted)
{
    create(a_unique_index(_i));
    ck_assert_reason(put("r1", "Bonn"), "OK");
    ck_assert_reason(put("r2", "Bonn"), "UNIQUE_VIOLATION");
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    settle();
}
END_TEST

START_TEST(a_dropped_index_has_no_owners)
{
    world_put(&world, "r1", "Bonn", "x");
    create(a_unique_index(_i));
    run_chunks(world.worker);
    ck_assert_str_eq(owners(), "r1");
    call_succeeded(index_dropped(&world, "ByCity"));
    run_chunks(world.worker);

    ck_assert_str_eq(owners(), "");
}
END_TEST

Suite *test_unique_index_suite(void)
{
    Suite *suite = suite_create("unique_index");
    TCase *tc = tcase_create("unique_index");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_second_owner_is_refused, 0, 3);
    tcase_add_loop_test(tc, a_caller_without_read_permission_is_not_told_the_owner, 0, 3);
    tcase_add_loop_test(tc, a_value_is_free_when_its_owner_lets_it_go, 0, 3);
    tcase_add_loop_test(tc, two_entities_swap_their_values_in_one_group, 0, 3);
    tcase_add_loop_test(tc, operations_of_a_batch_are_decided_in_their_order, 0, 3);
    tcase_add_test(tc, a_value_that_turns_up_later_is_looked_for);
    tcase_add_loop_test(tc, an_expired_entity_owns_until_it_is_swept, 0, 3);
    tcase_add_loop_test(tc, an_import_rejects_the_entity, 0, 3);
    tcase_add_test(tc, steps_are_refused_as_writes_are);
    tcase_add_loop_test(tc, of_several_servers_exactly_one_wins_each_value, 0, 3);
    tcase_add_loop_test(tc, what_another_takes_is_waited_for, 0, 3);
    tcase_add_loop_test(tc, what_another_releases_is_waited_for, 0, 3);
    tcase_add_test(tc, an_owner_that_takes_another_value_meanwhile_is_no_violation);
    tcase_add_test(tc, the_latest_has_owners_alone);
    tcase_add_loop_test(tc, the_first_of_those_that_were_there_owns, 0, 3);
    tcase_add_loop_test(tc, what_was_reconciled_before_the_builder_came_is_no_violation, 0, 3);
    tcase_add_loop_test(tc, an_entity_without_ownership_may_keep_its_value, 0, 3);
    tcase_add_loop_test(tc, an_entity_without_ownership_has_no_value_to_keep_once_it_has_expired, 0, 3);
    tcase_add_loop_test(tc, what_a_batch_has_written_to_expire_at_once_has_no_value_to_keep, 0, 3);
    tcase_add_loop_test(tc, an_owner_that_has_expired_may_be_written_with_its_value, 0, 3);
    tcase_add_loop_test(tc, an_entity_without_ownership_gets_it_when_it_is_written_later, 0, 3);
    tcase_add_loop_test(tc, a_build_that_may_not_leave_entities_out_fails, 0, 3);
    tcase_add_loop_test(tc, from_its_creation_on_no_second_owner_is_admitted, 0, 3);
    tcase_add_loop_test(tc, a_dropped_index_has_no_owners, 0, 3);
    suite_add_tcase(suite, tc);
    return suite;
}
