/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wide_indexes.c - indexes of wide entities on a real PostgreSQL: what a builder reads beside a writer, and
 * how much it has in memory. tests/scenario/test_wide_indexes.py has what callers see.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "store/indexes/index_calls.h"
#include "store/indexes/strong_build.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { STRONG = 2100, NOTE_BYTES = 30000, MANY = 700 };

static struct world world;
static struct key_part partition = { .text = { "PartitionKey", 12 } }, city = { .text = { "City", 4 } };

static struct index in_same_partition(void)
{
    return (struct index){ .shape = INDEX_COPY,
        .place = PLACE_SAME_PARTITION,
        .consistency = INDEX_STRONG,
        .partition_key = { &partition, 1 },
        .row_key = { &city, 1 },
        .projection = PROJECT_KEYS_ONLY };
}

static void setup(void)
{
    world_open(&world);
    world_change(&world, "update tables set is_wide = true where table_id = %d", TABLE_ID);
}

static void teardown(void)
{
    world_close(&world);
}

/* An entity with a part of 30,000 bytes that has all its properties. */
static void put_spread(const char *row, const char *in_city)
{
    char *note = malloc(NOTE_BYTES + 1);

    memset(note, 'x', NOTE_BYTES);
    note[NOTE_BYTES] = 0;
    world_put(&world, row, in_city, note);
    free(note);
    test_sql(world.sql,
        "insert into entity_parts select bucket, table_id, partition_key, row_key, '', 2, properties from "
        "entities where table_id = %d and row_key = '%s';"
        "update entities set spread = octet_length(properties), properties = '' where table_id = %d and "
        "row_key = '%s'",
        TABLE_ID, row, TABLE_ID, row);
}

static const char *entry_keys(const char *of_index)
{
    return test_text(world.sql,
        "select coalesce(string_agg(e.row_key, ',' order by e.row_key), '') from entities e join indexes i "
        "on "
        "i.index_id = e.table_id where i.name = '%s'",
        of_index);
}

static void *run_a_chunk(void *unused)
{
    (void)unused;
    ck_assert(run_chunk(world.worker));
    return NULL;
}

/*
 * A chunk that locks entities waits for a writer of r1, who changes the row and its part. The entry must be made
 * from the part as it is under the lock, not as it was when the chunk's statement began.
 */
START_TEST(a_builder_reads_the_parts_as_they_are_under_the_lock) /* guard G67 */
{
    struct operation *create = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");
    PGconn *writer = test_connect(world.conninfo);
    pthread_t thread;

    put_spread("r1", "Bonn");
    put_spread("r2", "Cork");
    create->in.index.definition = in_same_partition();
    create->in.index.definition.name = STR_LITERAL("ByCity");
    create->in.index.definition.source_name = STR_LITERAL("People");
    call_succeeded(call_run(&world.writer, index_calls_create, create));
    test_sql(writer,
        "begin; update entities set version = version + 1 where row_key = 'r1';"
        "update entity_parts p set properties = o.properties from entity_parts o where p.row_key = 'r1' and "
        "o.row_key = 'r2'");
    ck_assert_int_eq(pthread_create(&thread, NULL, run_a_chunk, NULL), 0);
    test_await(world.sql,
        "select (count(*) = 1)::int from pg_stat_activity where datname = current_database() "
        "and application_name = 'tavola-worker' and wait_event_type = 'Lock'");
    test_sql(writer, "commit");
    PQfinish(writer);
    pthread_join(thread, NULL);

    ck_assert_str_eq(entry_keys("ByCity"), "Cork  !r1,Cork  !r2");
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(test_number(world.sql, "select differences from operations"), 0);
}
END_TEST

/* The parts that the entries are made from have more bytes than a transaction may have in memory. */
START_TEST(many_wide_entities_are_mended_in_several_transactions)
{
    struct strong_source *sources = ARENA_ARRAY(&world.arena, struct strong_source, MANY);
    struct strong_mending mending = {
        .index_id = STRONG, .sources = sources, .count = MANY, .arena = &world.arena
    };
    struct error err = { 0 };

    put_spread("r1", "Bonn");
    world_add_index(&world, STRONG, in_same_partition());
    for (const char *const *rows = (const char *const[]){ "entities", "entity_parts", NULL }; *rows; rows++)
        test_sql(world.sql,
            "create temp table copies as select o.*, n from %s o, generate_series(1, %d - 1) n where "
            "o.table_id = %d;"
            "update copies set row_key = 'c' || n; alter table copies drop column n;"
            "insert into %s select * from copies; drop table copies",
            *rows, MANY, TABLE_ID, *rows);
    for (size_t i = 0; i < MANY; i++)
        sources[i].key = (struct entity_key){ STR_LITERAL("p"),
            i == 0 ? STR_LITERAL("r1") : arena_format(&world.arena, "c%zu", i) };

    ck_assert_msg(strong_build_mend(world.worker, &mending, &err) == STATUS_OK, "%s", err.message);
    ck_assert_int_eq(world_entries(&world, STRONG), MANY);
    ck_assert_uint_eq(mending.violation_count, 0);
}
END_TEST

Suite *test_wide_indexes_suite(void)
{
    Suite *suite = suite_create("wide_indexes");
    TCase *builds = tcase_create("builds");

    test_postgres_start();
    tcase_set_timeout(builds, 60);
    tcase_add_checked_fixture(builds, setup, teardown);
    tcase_add_test(builds, a_builder_reads_the_parts_as_they_are_under_the_lock);
    tcase_add_test(builds, many_wide_entities_are_mended_in_several_transactions);
    suite_add_tcase(suite, builds);
    return suite;
}
