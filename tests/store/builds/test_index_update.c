/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_index_update.c - indexes in other partitions whose entries come with their writes: beside workers that write
 * entries of the same keys, and while an index is made a strong one, or an eventual one again.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "domain/indexes/index_codec.h"
#include "store/entities/write_batch.h"
#include "store/indexes/index_calls.h"
#include "store/intents/freshness.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { BY = 2300 };

static struct world world;
static struct key_part city = { .text = { "City", 4 } }, note = { .text = { "Note", 4 } };

static struct index an_index(struct key_part *part, enum index_consistency consistency)
{
    return (struct index){ .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .consistency = consistency,
        .partition_key = { part, 1 },
        .projection = PROJECT_ALL };
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

/* The partition keys of the entries of an index, which are the values. */
static const char *values_in(int index_id)
{
    return test_text(world.sql,
        "select coalesce(string_agg(partition_key, ',' order by partition_key), '') from entities "
        "where table_id = %d",
        index_id);
}

static struct operation *change(const char *name, enum index_consistency consistency)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_UPDATE, name);

    operation->in.index.consistency = consistency;
    return call_run(&world.writer, index_calls_update, operation);
}

static enum index_consistency consistency_now(const char *name)
{
    struct index index = { 0 };

    ck_assert(index_codec_decode(index_seen(&world, name).definition, &world.arena, &index));
    return index.consistency;
}

/* ---- the manifest ---- */

/* Guard G40: what stands is what the manifest names, and it may be older than the state that the write replaces. */
START_TEST(a_write_removes_what_the_manifest_names)
{
    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile_all(&world);
    world_put(&world, "r1", "Cork", "x");
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    ck_assert_str_eq(values_in(BY), "Bonn");

    world_put(&world, "r1", "Oslo", "x");
    ck_assert_str_eq(values_in(BY), "Oslo");
    world_reconcile_all(&world);
    ck_assert_str_eq(values_in(BY), "Oslo");
    world_check(&world);
}
END_TEST

/* The manifest is one for all indexes of the table: what follows later stays named until a worker has been there. */
START_TEST(a_write_leaves_named_what_follows_later)
{
    world_add_index(&world, BY, an_index(&city, INDEX_STRONG));
    world_add_index(&world, BY + 1, an_index(&note, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    ck_assert_str_eq(values_in(BY), "Bonn");
    ck_assert_str_eq(values_in(BY + 1), "");
    world_reconcile_all(&world);
    ck_assert_str_eq(values_in(BY + 1), "x");

    world_put(&world, "r1", "Cork", "y");
    ck_assert_str_eq(values_in(BY), "Cork");
    ck_assert_str_eq(values_in(BY + 1), "x");
    world_reconcile_all(&world);
    world_check(&world);
    world_delete(&world, "r1");
    ck_assert_str_eq(values_in(BY), "");
    ck_assert_str_eq(values_in(BY + 1), "y");
    world_reconcile_all(&world);
    world_check(&world);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);
}
END_TEST

START_TEST(an_entry_that_stays_as_it_is_is_not_written_again)
{
    struct index index = an_index(&city, INDEX_STRONG);
    long long before;

    index.projection = PROJECT_KEYS_ONLY;
    world_add_index(&world, BY, index);
    world_put(&world, "r1", "Bonn", "x");
    before =
        test_number(world.sql, "select sum(xmin::text::int8) from (select xmin from index_state union all "
                               "select xmin from entities where table_id = 2300) x");
    world_put(&world, "r1", "Bonn", "y");

    ck_assert_int_eq(
        test_number(world.sql, "select sum(xmin::text::int8) from (select xmin from index_state union "
                               "all select xmin from entities where table_id = 2300) x"),
        before);
    world_check(&world);
}
END_TEST

/* The entries of the key are not known: the key fails, and the other keys are done. */
START_TEST(a_manifest_that_cannot_be_read_fails_its_write_alone)
{
    struct write write =
        a_write(WRITE_INSERT_OR_REPLACE, "p", "r1", some_texts(&world.arena, "City", "Cork", NULL));
    struct operation *damaged = a_write_operation(&world.arena, "People", write);
    struct operation *other = a_write_operation(&world.arena, "People",
        a_write(WRITE_INSERT_OR_REPLACE, "p", "r2", some_texts(&world.arena, "City", "Cork", NULL)));

    world_add_index(&world, BY, an_index(&city, INDEX_STRONG));
    world_put(&world, "r1", "Bonn", "x");
    test_sql(world.sql, "update index_state set manifest = '\\x07'");
    damaged->next = other;
    write_batch_for_worker(world.worker, &world.writer, damaged);
    arena_cleanup(&world.writer.arena);

    ck_assert_reason(damaged, "INTERNAL_ERROR");
    ck_assert_reason(other, "OK");
    ck_assert_str_eq(values_in(BY), "Bonn,Cork");
}
END_TEST

/* ---- beside a worker ---- */

struct writing {
    pthread_t thread;
    const char *row;
    const char *value; /* NULL: without a City */
};

static void *write_one(void *argument)
{
    const struct writing *self = argument;
    struct world mine = { .conninfo = world.conninfo };

    arena_init(&mine.arena);
    session_init(&mine.writer, world.conninfo, "test waiter");
    world_put(&mine, self->row, self->value, "x");
    session_cleanup(&mine.writer);
    arena_cleanup(&mine.arena);
    return NULL;
}

/* The write waits for `other`, or has been done without waiting. */
static void await_writer(struct writing *writing, const char *is_done)
{
    pthread_create(&writing->thread, NULL, write_one, writing);
    test_await(world.sql,
        "select ((select count(*) from pg_stat_activity where datname = current_database() "
        "and application_name = 'test waiter' and wait_event_type = 'Lock') = 1 or %s)::int",
        is_done);
}

/*
 * Guard G40: the holder of the row's lock has read the entity as it was, and may still write the entry of that state.
 */
START_TEST(a_write_waits_for_the_lock_on_the_state_row)
{
    PGconn *other = test_connect(world.conninfo);
    struct writing writing = { .row = "r1", .value = "Cork" };

    world_add_index(&world, BY, an_index(&city, INDEX_STRONG));
    world_put(&world, "r1", "Bonn", "x");
    test_sql(other, "begin; select from index_state for no key update");
    await_writer(&writing, "exists (select from entities where partition_key = 'Cork')");
    ck_assert_str_eq(values_in(BY), "Bonn");
    test_sql(other, "rollback");
    pthread_join(writing.thread, NULL);

    ck_assert_str_eq(values_in(BY), "Cork");
    world_check(&world);
    PQfinish(other);
}
END_TEST

/*
 * Guard G40: a worker makes the row behind the write's look for it, and gives an entry to the entity as it was. The
 * write waits until it has, begins anew, and finds the entry in the manifest - also if it asks for no entry itself.
 */
START_TEST(a_write_waits_for_the_insert_of_the_state_row)
{
    PGconn *other = test_connect(world.conninfo);
    struct writing writing = { .row = "r1", .value = _i == 0 ? "Cork" : NULL };

    /* As if the index were still being built: the entity has no entry and no manifest yet. */
    world_add_index(&world, BY, an_index(&city, INDEX_STRONG));
    world_put(&world, "r1", "Bonn", "x");
    test_sql(world.sql,
        "create table kept_state as select * from index_state; delete from index_state;"
        "create table kept as select * from entities where table_id = %d;"
        "delete from entities where table_id = %d",
        BY, BY);
    test_sql(other, "begin; insert into index_state select * from kept_state");
    await_writer(&writing, "exists (select from entities where table_id = 1000 and version > 1)");
    ck_assert_int_eq(test_number(world.sql, "select version from entities where table_id = %d", TABLE_ID), 1);
    test_sql(other, "insert into entities select * from kept; commit");
    pthread_join(writing.thread, NULL);

    ck_assert_str_eq(values_in(BY), _i == 0 ? "Cork" : "");
    world_check(&world);
    PQfinish(other);
}
END_TEST

struct busy {
    pthread_t thread;
    atomic_bool *stop;
    unsigned seed;
};

/* Put, change and delete the same few keys all the time; groups of several keys meet in one index partition. */
static void *write_all_the_time(void *argument)
{
    static const char *const cities[] = { "Rome", "Oslo", "Bern" };
    struct busy *self = argument;
    struct session session;
    struct arena arena;

    arena_init(&arena);
    session_init(&session, world.conninfo, "test busy");
    while (!atomic_load(self->stop)) {
        struct write writes[3];
        size_t count = (size_t)rand_r(&self->seed) % 3 + 1;
        int first = rand_r(&self->seed) % 6;
        struct operation *group;

        for (size_t i = 0; i < count; i++)
            writes[i] = a_write(rand_r(&self->seed) % 4 ? WRITE_INSERT_OR_REPLACE : WRITE_DELETE_IF_EXISTS,
                "p", arena_format(&arena, "r%d", (first + (int)(count - i)) % 8).data,
                some_texts(&arena, "City", cities[rand_r(&self->seed) % 3], "Note",
                    arena_format(&arena, "%d", rand_r(&self->seed)).data, NULL));
        group = a_group(&arena, "People", writes, count);
        write_batch_for_worker(world.worker, &session, group);
        arena_cleanup(&session.arena);
        ck_assert_reason(group, "OK");
        arena_cleanup(&arena);
    }
    session_cleanup(&session);
    arena_cleanup(&arena);
    return NULL;
}

static struct worker *reconcile_some(struct worker *worker)
{
    struct intent keys[8];
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    for (int i = 0; i < 8; i++)
        keys[i] = world_message(arena_format(&world.arena, "r%d", i).data);
    ck_assert_msg(reconcile_keys(worker, keys, 8, false, &counts, &err) == STATUS_OK, "%s", err.message);
    return worker;
}

/*
 * Guards G40, G41: writers and workers of the same few keys, while the index is switched to and fro. At rest every
 * entry is there once, and no two transactions have waited for each other.
 */
START_TEST(switches_beside_writers_and_workers_leave_no_entry_behind)
{
    enum { WRITERS = 3, SWITCHES = 12 };
    struct busy writers[WRITERS];
    atomic_bool stop;
    struct worker *worker = world_worker(&world, "another");

    atomic_init(&stop, false);
    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_add_index(&world, BY + 1, an_index(&note, INDEX_EVENTUAL));
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct busy){ .stop = &stop, .seed = (unsigned)i + 1 };
        pthread_create(&writers[i].thread, NULL, write_all_the_time, &writers[i]);
    }
    for (int i = 0; i < SWITCHES; i++) {
        call_succeeded(change("PeopleBy2300", i % 2 ? INDEX_EVENTUAL : INDEX_STRONG));
        for (int k = 0; k < 10; k++)
            reconcile_some(worker);
        if (i % 3)
            run_chunks(world.worker);
    }
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    run_chunks(world.worker);
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_STRONG);
    atomic_store(&stop, true);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    world_reconcile_all(&world);

    world_check(&world);
    ck_assert_int_eq(
        test_number(world.sql, "select deadlocks from pg_stat_database where datname = current_database()"),
        0);
    worker_close(worker);
}
END_TEST

/*
 * Guard G40: in every snapshot a strong index has what its sources ask for, while workers reconcile the same keys for
 * others.
 */
START_TEST(every_snapshot_of_a_strong_index_is_exact)
{
    enum { WRITERS = 2, LOOKS = 200 };
    struct busy writers[WRITERS];
    atomic_bool stop;
    struct worker *worker = world_worker(&world, "another");

    atomic_init(&stop, false);
    world_add_index(&world, BY, an_index(&city, INDEX_STRONG));
    world_add_index(&world, BY + 1, an_index(&note, INDEX_EVENTUAL));
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct busy){ .stop = &stop, .seed = (unsigned)i + 1 };
        pthread_create(&writers[i].thread, NULL, write_all_the_time, &writers[i]);
    }
    for (int i = 0; i < LOOKS; i++) {
        reconcile_some(worker);
        ck_assert_int_eq(
            test_number(world.sql,
                "select count(*) from (select version, ts from entities where table_id = 1000 and not dead) "
                "s "
                "full join (select version, ts from entities where table_id = 2300) e using (version, ts) "
                "where s.version is null or e.version is null"),
            0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    worker_close(worker);
}
END_TEST

/* ---- switching ---- */

/* Look-ups rely on it only once the older writes have their entries too; writes bring theirs along at once. */
START_TEST(an_index_becomes_strong_when_older_writes_are_in)
{
    struct operation *changed;

    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    changed = change("PeopleBy2300", INDEX_STRONG);
    call_succeeded(changed);
    ck_assert(str_equal(changed->out.index.update.kind, STR_LITERAL("update_index")));
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_BECOMING_STRONG);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2300").lag.open_intents, 1);
    world_put(&world, "r2", "Cork", "x");
    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_str_eq(values_in(BY), "Cork");
    ck_assert_uint_eq(index_finds(&world, "PeopleBy2300", "Bonn", true), 1);

    run_chunks(world.worker);
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_STRONG);
    ck_assert_str_eq(values_in(BY), "Bonn,Cork");
    ck_assert_int_eq(run_seen(&world, changed->out.index.update.operation_id.data).state, JOB_DONE);
    world_check(&world);
}
END_TEST

/* A look-up that waits does so on a session that may know the index as it was. */
START_TEST(a_waiting_lookup_notices_that_the_index_is_strong)
{
    struct operation *lookup = an_operation(&world.arena, OPERATION_LOOKUP, "PeopleBy2300");
    struct freshness_wait wait = { .operation = lookup };
    struct session waiter;
    struct error err = { 0 };

    lookup->in.lookup.freshness.has_max_staleness = true;
    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    test_sql(world.sql,
        "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version)"
        " select 0, '00000000000003e80000000000000000', 1, source_table_id, 'p', 'r', 1 from indexes");
    session_init(&waiter, world.conninfo, "test waiter");
    ck_assert_int_eq(freshness_ask(&waiter, &wait, 1, &err), STATUS_OK);
    ck_assert_int_eq(wait.answer, FRESHNESS_OPEN);
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    run_chunks(world.worker);

    ck_assert_int_eq(freshness_ask(&waiter, &wait, 1, &err), STATUS_OK);
    ck_assert_int_eq(wait.answer, FRESHNESS_NOW);
    session_cleanup(&waiter);
}
END_TEST

START_TEST(what_is_as_it_should_be_is_left_alone)
{
    static const enum index_consistency all[] = { INDEX_EVENTUAL, INDEX_STRONG };
    struct operation *changed;
    long long version;

    world_add_index(&world, BY, an_index(&city, all[_i]));
    version = test_number(world.sql, "select version from catalogue");
    changed = change("PeopleBy2300", all[_i]);
    call_succeeded(changed);

    ck_assert_uint_eq(changed->out.index.update.operation_id.len, 0);
    ck_assert_int_eq(consistency_now("PeopleBy2300"), all[_i]);
    ck_assert_int_eq(test_number(world.sql, "select version from catalogue"), version);
}
END_TEST

START_TEST(a_second_call_answers_with_the_operation_of_the_first)
{
    struct operation *first, *second;

    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    first = change("PeopleBy2300", INDEX_STRONG);
    second = change("PeopleBy2300", INDEX_STRONG);
    call_succeeded(second);

    ck_assert(str_equal(first->out.index.update.operation_id, second->out.index.update.operation_id));
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from operations where kind = 'update_index'"), 1);
}
END_TEST

START_TEST(an_index_that_is_eventual_again_leaves_intents)
{
    world_add_index(&world, BY, an_index(&city, INDEX_STRONG));
    world_put(&world, "r1", "Bonn", "x");
    call_succeeded(change("PeopleBy2300", INDEX_EVENTUAL));
    world_put(&world, "r1", "Cork", "x");

    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_EVENTUAL);
    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_str_eq(values_in(BY), "Bonn");
    ck_assert_uint_eq(index_finds(&world, "PeopleBy2300", "Cork", true), 1);
    world_reconcile_all(&world);
    world_check(&world);
}
END_TEST

/*
 * Guard G41: an operation whose walk was before a time in which the index was an eventual one must not declare it
 * strong: it has not seen the work of that time.
 */
START_TEST(an_operation_of_an_earlier_switch_declares_nothing)
{
    struct operation *first;

    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    first = change("PeopleBy2300", INDEX_STRONG);
    ck_assert(run_chunk(world.worker)); /* all keys: what is left is to declare it strong */
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_BECOMING_STRONG);
    call_succeeded(change("PeopleBy2300", INDEX_EVENTUAL));
    world_put(&world, "r0", "Cork", "x");
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    ck_assert_int_eq(run_seen(&world, first->out.index.update.operation_id.data).state, JOB_CANCELLED);
    ck_assert_str_eq(values_in(BY), "Bonn");

    run_chunks(world.worker);
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_STRONG);
    ck_assert_str_eq(values_in(BY), "Bonn,Cork");
    world_check(&world);
}
END_TEST

/* Guard G41: the entry of a key whose work was given up may be an old one. */
START_TEST(a_key_that_was_given_up_is_brought_in)
{
    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    test_sql(world.sql, "insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, "
                        "dead, failures, cause, "
                        "history) select 1, table_id, partition_key, row_key, bucket, 0, true, 5, 'was given "
                        "up', '' from intents;"
                        "delete from intents");
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    ck_assert_int_eq(index_seen(&world, "PeopleBy2300").keys_behind, 1);
    run_chunks(world.worker);

    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_STRONG);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2300").keys_behind, 0);
    ck_assert_str_eq(values_in(BY), "Bonn");
    world_check(&world);
}
END_TEST

/* The operation says which entity is in the way, and the index is not called strong before it is out of it. */
START_TEST(an_entity_that_cannot_be_brought_in_fails_the_operation)
{
    struct operation *first;

    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile_all(&world);
    world_put(&world, "r1", "Cork", "x");
    test_sql(
        world.sql, "alter table entities add constraint poison check (partition_key <> 'Cork') not valid");
    first = change("PeopleBy2300", INDEX_STRONG);
    run_chunks(world.worker);
    ck_assert_int_eq(run_seen(&world, first->out.index.update.operation_id.data).state, JOB_FAILED);
    ck_assert_ptr_nonnull(
        strstr(run_seen(&world, first->out.index.update.operation_id.data).error.data, "entity (p, r1)"));
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_BECOMING_STRONG);

    test_sql(world.sql, "alter table entities drop constraint poison");
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    run_chunks(world.worker);
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_STRONG);
    world_check(&world);
}
END_TEST

START_TEST(an_index_in_the_partition_of_its_entities_is_always_strong)
{
    static struct key_part partition = { .text = { "PartitionKey", 12 } };
    struct index index = an_index(&partition, INDEX_STRONG);
    struct operation *refused;

    index.place = PLACE_SAME_PARTITION;
    index.row_key = (struct key_parts){ &city, 1 };
    world_add_index(&world, BY, index);
    call_succeeded(change("PeopleBy2300", INDEX_STRONG));
    refused = change("PeopleBy2300", INDEX_EVENTUAL);

    ck_assert_reason(refused, "INVALID_INPUT");
    ck_assert_str_eq(refused->error->field, "consistency");
    ck_assert_reason(change("Nothing", INDEX_STRONG), "INDEX_NOT_FOUND");
    ck_assert_reason(change("People", INDEX_STRONG), "INDEX_NOT_FOUND");
}
END_TEST

/* An entity and its entries are on different nodes: they cannot commit together. */
START_TEST(a_distributed_database_has_no_strong_index_in_other_partitions)
{
    struct operation *create = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByNote"), *changed;

    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    test_sql(world.sql,
        "set allow_system_table_mods = on;"
        "insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) "
        "select 99999, 'citus', 10, oid, false, '1' from pg_namespace where nspname = 'public'");
    create->in.index.definition = an_index(&note, INDEX_STRONG);
    create->in.index.definition.name = STR_LITERAL("ByNote");
    create->in.index.definition.source_name = STR_LITERAL("People");

    changed = change("PeopleBy2300", INDEX_STRONG);
    ck_assert_reason(changed, "DATABASE_DISTRIBUTED");
    ck_assert_str_eq(changed->error->field, "consistency");
    ck_assert_int_eq(consistency_now("PeopleBy2300"), INDEX_EVENTUAL);
    ck_assert_reason(call_run(&world.writer, index_calls_create, create), "DATABASE_DISTRIBUTED");
    ck_assert_str_eq(create->error->field, "index.consistency");
    call_succeeded(change("PeopleBy2300", INDEX_EVENTUAL));
    test_sql(world.sql, "delete from pg_extension where extname = 'citus'");
}
END_TEST

/* The walk of the build and that of the switch bring in every key between them. */
START_TEST(an_index_is_switched_while_it_is_built)
{
    struct operation *create = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");

    people_copy(&world, 700);
    create->in.index.definition = an_index(&city, _i == 0 ? INDEX_EVENTUAL : INDEX_STRONG);
    create->in.index.definition.name = STR_LITERAL("ByCity");
    create->in.index.definition.source_name = STR_LITERAL("People");
    call_succeeded(call_run(&world.writer, index_calls_create, create));
    ck_assert(run_chunk(world.worker));
    world_put(&world, "r1", "Bonn", "x");
    call_succeeded(change("ByCity", _i == 0 ? INDEX_STRONG : INDEX_EVENTUAL));
    world_put(&world, "r2", "Cork", "x");
    run_chunks(world.worker);
    world_reconcile_all(&world);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(consistency_now("ByCity"), _i == 0 ? INDEX_STRONG : INDEX_EVENTUAL);
    world_check(&world);
}
END_TEST

START_TEST(an_index_that_is_dropped_ends_its_switch)
{
    struct operation *first;

    world_add_index(&world, BY, an_index(&city, INDEX_EVENTUAL));
    world_put(&world, "r1", "Bonn", "x");
    first = change("PeopleBy2300", INDEX_STRONG);
    call_succeeded(index_dropped(&world, "PeopleBy2300"));
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, first->out.index.update.operation_id.data).state, JOB_CANCELLED);
    ck_assert_reason(change("PeopleBy2300", INDEX_STRONG), "INDEX_NOT_FOUND");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);
}
END_TEST

Suite *test_index_update_suite(void)
{
    Suite *suite = suite_create("index_update");
    TCase *manifests = tcase_create("manifests"), *switches = tcase_create("switches");

    test_postgres_start();
    tcase_set_timeout(manifests, 60);
    tcase_add_checked_fixture(manifests, setup, teardown);
    tcase_add_test(manifests, a_write_removes_what_the_manifest_names);
    tcase_add_test(manifests, a_write_leaves_named_what_follows_later);
    tcase_add_test(manifests, an_entry_that_stays_as_it_is_is_not_written_again);
    tcase_add_test(manifests, a_manifest_that_cannot_be_read_fails_its_write_alone);
    tcase_add_test(manifests, a_write_waits_for_the_lock_on_the_state_row);
    tcase_add_loop_test(manifests, a_write_waits_for_the_insert_of_the_state_row, 0, 2);
    tcase_add_test(manifests, switches_beside_writers_and_workers_leave_no_entry_behind);
    tcase_add_test(manifests, every_snapshot_of_a_strong_index_is_exact);
    suite_add_tcase(suite, manifests);

    tcase_set_timeout(switches, 30);
    tcase_add_checked_fixture(switches, setup, teardown);
    tcase_add_test(switches, an_index_becomes_strong_when_older_writes_are_in);
    tcase_add_test(switches, a_waiting_lookup_notices_that_the_index_is_strong);
    tcase_add_loop_test(switches, what_is_as_it_should_be_is_left_alone, 0, 2);
    tcase_add_test(switches, a_second_call_answers_with_the_operation_of_the_first);
    tcase_add_test(switches, an_index_that_is_eventual_again_leaves_intents);
    tcase_add_test(switches, an_operation_of_an_earlier_switch_declares_nothing);
    tcase_add_test(switches, a_key_that_was_given_up_is_brought_in);
    tcase_add_test(switches, an_entity_that_cannot_be_brought_in_fails_the_operation);
    tcase_add_test(switches, an_index_in_the_partition_of_its_entities_is_always_strong);
    tcase_add_test(switches, a_distributed_database_has_no_strong_index_in_other_partitions);
    tcase_add_loop_test(switches, an_index_is_switched_while_it_is_built, 0, 2);
    tcase_add_test(switches, an_index_that_is_dropped_ends_its_switch);
    suite_add_tcase(suite, switches);
    return suite;
}
