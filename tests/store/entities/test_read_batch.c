/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_read_batch.c - point reads: many keys, several tables, absent keys, and tables that other servers have created
 * or deleted meanwhile.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/entities/read_batch.h"
#include "store/session/session.h"
#include "tests/support/builders.h"

enum { MANY = 1000, SOME = 100, KEYS = 60, LARGE = 400 * 1000, TOO_LARGE = 1200 * 1000 };

static struct scene scene;
static const struct property_list none = { { "", 0 } };

static void setup(void)
{
    scene_open(&scene);
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct property_list text(const char *value)
{
    return some_texts(&scene.arena, "Text", value, NULL);
}

static void put(const char *table, const char *row, const char *value)
{
    struct operation *write =
        a_write_operation(&scene.arena, table, a_write(WRITE_INSERT_OR_REPLACE, "p", row, text(value)));

    run(scene.store, write);
    ck_assert_reason(write, "OK");
}

/* Run all operations as one statement. */
static void read_together(struct session *session, struct operation *const *operations, size_t count)
{
    struct error err = { 0 };

    for (size_t i = 0; i < count; i++)
        operations[i]->next = i + 1 < count ? operations[i + 1] : NULL;
    ck_assert_msg(session_ensure(session, &err) == STATUS_OK, "%s", err.message);
    read_batch_run(session, operations[0], NULL);
    arena_cleanup(&session->arena);
}

START_TEST(a_batch_reads_many_keys_of_several_tables)
{
    struct entity_key keys[] = { a_key("p", "a"), a_key("p", "missing"), a_key("p", "dead"), a_key("", "") };
    struct operation *reads[4];
    struct session session;

    scene_table(&scene, "Others");
    put("Things", "a", "things a");
    put("Things", "dead", "x");
    scene_write(&scene, a_write(WRITE_DELETE, "p", "dead", none));
    scene_write(&scene, a_write(WRITE_INSERT, "", "", text("nameless")));
    put("Others", "a", "others a");
    reads[0] = a_get(&scene.arena, "Things", keys, 4);
    reads[1] = a_get(&scene.arena, "Nowhere", keys, 4);
    reads[2] = a_get(&scene.arena, "Others", keys, 4);
    reads[3] = a_get(&scene.arena, "tHINGS", keys, 1);
    session_init(&session, scene.conninfo, "test reader");
    read_together(&session, reads, 4);
    session_cleanup(&session);

    static const bool found[][4] = { { true, false, false, true }, { false }, { true, false, false, false },
        { true } };
    ck_assert_reason(reads[1], "TABLE_NOT_FOUND");
    for (size_t i = 0; i < 4; i++) {
        if (i == 1)
            continue;
        ck_assert_reason(reads[i], "OK");
        for (size_t k = 0; k < reads[i]->in.get.count; k++)
            ck_assert_msg(reads[i]->out.get.found[k] == found[i][k], "read %zu, key %zu", i, k);
    }
    ck_assert(str_equal(text_of(reads[0]->out.get.entities[0].properties, "Text"), STR_LITERAL("things a")));
    ck_assert(str_equal(text_of(reads[0]->out.get.entities[3].properties, "Text"), STR_LITERAL("nameless")));
    ck_assert(str_equal(text_of(reads[2]->out.get.entities[0].properties, "Text"), STR_LITERAL("others a")));
    ck_assert(str_equal(text_of(reads[3]->out.get.entities[0].properties, "Text"), STR_LITERAL("things a")));
}
END_TEST

/* Entities outside a signature's range are not read: one there that cannot be decoded fails no read. */
START_TEST(keys_outside_a_range_are_not_looked_for)
{
    static const struct key_range range = {
        .has_high = true, .high_has_row = true, .high = { { "p", 1 }, { "b", 1 } }
    };
    struct entity_key keys[] = { a_key("p", "a"), a_key("p", "outside") };
    struct operation *both, *alone;

    put("Things", "a", "x");
    put("Things", "outside", "x");
    test_sql(scene.sql,
        "update entities set expires = 7 where row_key = 'outside';"
        "create or replace function is_due(expires bigint) returns boolean language plpgsql stable as "
        "$$ begin return coalesce(expires / (expires - 7) < 0, false); end $$");
    both = a_get(&scene.arena, "Things", keys, 2);
    alone = a_get(&scene.arena, "Things", &keys[1], 1);
    both->within = alone->within = &range;
    run(scene.store, both);
    run(scene.store, alone);

    ck_assert_reason(both, "OK");
    ck_assert(both->out.get.found[0] && !both->out.get.found[1]);
    ck_assert_reason(alone, "OK");
    ck_assert(!alone->out.get.found[0]);
}
END_TEST

START_TEST(a_thousand_keys_come_back_in_their_order)
{
    struct entity_key keys[MANY];
    struct operation *read;

    test_sql(scene.sql,
        "insert into entities select %d, 1, 'p', n::text, n + 1, n, false, null, '' from generate_series(0, "
        "%d, 2) n",
        (int)entity_key_bucket(1, STR_LITERAL("p")), MANY - 1);
    for (int i = 0; i < MANY; i++)
        keys[i] = a_key("p", arena_format(&scene.arena, "%d", MANY - 1 - i).data);
    read = a_get(&scene.arena, "Things", keys, MANY);
    run(scene.store, read);

    ck_assert_reason(read, "OK");
    for (int i = 0; i < MANY; i++) {
        int n = MANY - 1 - i;

        ck_assert_int_eq(read->out.get.found[i], n % 2 == 0);
        ck_assert_int_eq(read->out.get.entities[i].etag.version, n % 2 == 0 ? n + 1 : 0);
    }
}
END_TEST

/* ---- more than one statement may read ---- */

/* Entities "p"/n of Things, n from 0 to SOME - 1: of `size` bytes if n is divisible by step, else of 10 bytes. */
static void put_some(int bytes, int step)
{
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'p', n::text, n + 1, n, false, null,"
        " convert_to(lpad(n::text, case when n %% %d = 0 then %d else 10 end, '.'), 'UTF8')"
        " from generate_series(0, %d) n",
        (int)entity_key_bucket(1, STR_LITERAL("p")), step, bytes, SOME - 1);
}

static struct operation *get_some_in(struct arena *arena, int first, size_t count)
{
    struct entity_key keys[SOME];

    for (size_t i = 0; i < count; i++)
        keys[i] = a_key("p", arena_format(arena, "%d", first + (int)i).data);
    return a_get(arena, "Things", keys, count);
}

static struct operation *get_some(int first, size_t count)
{
    return get_some_in(&scene.arena, first, count);
}

static void check_some(const struct operation *read, int first, size_t count, size_t bytes, int step)
{
    ck_assert_reason(read, "OK");
    ck_assert_uint_eq(read->out.get.count, count);
    for (size_t i = 0; i < count; i++) {
        int n = first + (int)i;
        struct str got = read->out.get.entities[i].properties.bytes;
        struct str text = arena_format(&scene.arena, ".%d", n);

        ck_assert_msg(read->out.get.found[i], "%d", n);
        ck_assert_int_eq(read->out.get.entities[i].etag.version, n + 1);
        ck_assert_uint_eq(got.len, n % step == 0 ? bytes : 10);
        ck_assert_msg(memcmp(got.data + got.len - text.len, text.data, text.len) == 0, "%d", n);
    }
}

/* The statements that the session executes while the operations are read, from libpq's trace. */
static int statements_of(struct session *session, struct operation *const *operations, size_t count)
{
    FILE *record = tmpfile();
    struct error err = { 0 };
    char *line = NULL;
    size_t room = 0;
    int statements = 0;

    ck_assert_msg(session_ensure(session, &err) == STATUS_OK, "%s", err.message);
    PQtrace(session->pg.conn, record);
    read_together(session, operations, count);
    PQuntrace(session->pg.conn);
    rewind(record);
    while (getline(&line, &room, record) > 0)
        statements += strstr(line, "\tExecute\t") != NULL;
    free(line);
    fclose(record);
    return statements;
}

START_TEST(what_is_larger_than_its_share_is_read_again_in_pieces)
{
    struct operation *small = get_some(1, 2), *reads[2 + SOME - KEYS];
    struct session session;
    int statements;

    put_some(LARGE, 5);
    reads[0] = get_some(0, KEYS);
    reads[1] = get_some(1, 4);
    for (int i = KEYS; i < SOME; i++)
        reads[2 + i - KEYS] = get_some(i, 1);
    session_init(&session, scene.conninfo, "test reader");
    read_together(&session, &small, 1);
    statements = statements_of(&session, reads, ARRAY_LEN(reads));
    session_cleanup(&session);

    /* All 104 keys; the first read by itself, with begin and rollback, in 16, 32 and 12; then the single reads. */
    ck_assert_int_eq(statements, 1 + 5 + 1);
    check_some(small, 1, 2, LARGE, 5);
    check_some(reads[0], 0, KEYS, LARGE, 5);
    check_some(reads[1], 1, 4, LARGE, 5);
    for (int i = KEYS; i < SOME; i++)
        check_some(reads[2 + i - KEYS], i, 1, LARGE, 5);
}
END_TEST

START_TEST(enough_is_enough)
{
    struct operation *read;

    put_some(LARGE, 5);
    for (size_t count = 20; count <= SOME; count += SOME - 20) {
        read = get_some(0, count);
        read->in.get.enough_bytes = 2 * LARGE + 100;
        run(scene.store, read);
        check_some(read, 0, 11, LARGE, 5); /* up to the third large one */
    }
    read = get_some(0, SOME);
    read->in.get.enough_bytes = 1;
    run(scene.store, read);
    check_some(read, 0, 1, LARGE, 5);
}
END_TEST

/* The entity that a collected read is for: large ones in every seventh read; all; the first half. */
static int mixed(int i)
{
    return i;
}

static int all_large(int i)
{
    return i / 7 * 7;
}

static int large_then_small(int i)
{
    return i < KEYS / 2 ? all_large(i) : all_large(i) + 1;
}

START_TEST(collected_reads_of_large_entities_are_all_answered)
{
    static int (*const which[])(int) = { mixed, all_large, large_then_small };
    struct operation *reads[KEYS];
    struct arena arenas[KEYS]; /* the store's threads run reads while others are still being made */

    put_some(TOO_LARGE, 7);
    for (size_t w = 0; w < ARRAY_LEN(which); w++) {
        for (int i = 0; i < KEYS; i++) {
            arena_init(&arenas[i]);
            reads[i] = get_some_in(&arenas[i], which[w](i), 1);
            store_collect(scene.store, reads[i]);
        }
        store_run(scene.store);
        for (int i = 0; i < KEYS; i++) {
            await(reads[i]);
            check_some(reads[i], which[w](i), 1, TOO_LARGE, 7);
            arena_cleanup(&arenas[i]);
        }
    }
}
END_TEST

/* Entities "p"/0 to MANY - 1 of Things of this size, and a read of all of them. */
static void put_many(int bytes)
{
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'p', n::text, n + 1, n, false, null, convert_to(repeat('.', %d), "
        "'UTF8') from generate_series(0, %d) n",
        (int)entity_key_bucket(1, STR_LITERAL("p")), bytes, MANY - 1);
}

static struct operation *get_many(void)
{
    struct entity_key keys[MANY];

    for (int i = 0; i < MANY; i++)
        keys[i] = a_key("p", arena_format(&scene.arena, "%d", i).data);
    return a_get(&scene.arena, "Things", keys, MANY);
}

START_TEST(a_read_that_has_enough_soon_needs_few_statements)
{
    struct operation *read;
    struct session session;

    put_many(40 * 1000);
    read = get_many();
    read->in.get.enough_bytes = 3 << 20;
    session_init(&session, scene.conninfo, "test reader");
    ck_assert_int_eq(statements_of(&session, &read, 1), 1 + 5); /* all; begin, 16, 32, 64 and rollback */
    session_cleanup(&session);
    ck_assert_reason(read, "OK");
    ck_assert_uint_eq(read->out.get.count, (3 << 20) / (40 * 1000) + 1);
}
END_TEST

static struct lane_statistics reading(void)
{
    struct store_statistics statistics;

    store_read_statistics(scene.store, &statistics);
    ck_assert_str_eq(statistics.lanes[0].name, "read");
    return statistics.lanes[0];
}

/* Together the reads would have too little room for each key. */
START_TEST(reads_of_many_keys_are_no_batch)
{
    enum { READS = 20 };
    struct operation *reads[READS];
    struct lane_statistics before = reading(), after;

    put_many(2000);
    for (int i = 0; i < READS; i++) {
        reads[i] = i % 2 == 0 ? get_many() : get_some(0, SOME);
        store_collect(scene.store, reads[i]);
    }
    store_run(scene.store);
    for (int i = 0; i < READS; i++) {
        await(reads[i]);
        ck_assert_reason(reads[i], "OK");
        ck_assert_uint_eq(reads[i]->out.get.count, i % 2 == 0 ? MANY : SOME);
        ck_assert_uint_eq(reads[i]->out.get.entities[SOME - 1].properties.bytes.len, 2000);
    }
    after = reading();
    ck_assert_int_eq(after.batches - before.batches, READS);
    ck_assert_int_eq(after.sizes[0] - before.sizes[0], READS);
}
END_TEST

/* ---- one snapshot ---- */

/* Let the first statement of a session that reads the entity "p"/row stop at lock 1, the second at lock 2. */
static void put_stops(const char *row)
{
    test_sql(scene.sql,
        "create or replace function is_due(expires bigint) returns boolean language plpgsql as $$ begin"
        " if expires = 1 then"
        "  perform set_config('test.stop', '1' || coalesce(current_setting('test.stop', true), ''), false);"
        "  perform pg_advisory_xact_lock_shared(length(current_setting('test.stop')));"
        " end if; return false; end $$");
    test_sql(scene.sql, "update entities set expires = 1 where row_key = '%s'", row);
    test_sql(scene.sql, "select pg_advisory_lock(1), pg_advisory_lock(2)");
}

/* When the reader has stopped, or has ended without a stop, change the group; then let the reader go on. */
static void change_at_stop(int stop)
{
    test_await(scene.sql,
        "select (select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = %d)"
        " + (select count(*) = 0 from pg_stat_activity where application_name = 'test reader'"
        " and datname = current_database())::int",
        stop);
    test_sql(scene.sql, "update entities set version = %d where row_key in ('0', '1', '95')", 1000 + stop);
    test_sql(scene.sql, "select pg_advisory_unlock(%d)", stop);
}

struct reader {
    struct session session;
    struct operation *read;
};

static void *read_and_close(void *argument)
{
    struct reader *reader = argument;

    read_together(&reader->session, &reader->read, 1);
    session_cleanup(&reader->session);
    return NULL;
}

START_TEST(a_read_of_several_keys_is_one_snapshot)
{
    static const size_t group[] = { 0, 1, 95, SOME - 1 }; /* the last key is the first one again */
    struct operation *read = get_some(0, SOME);
    struct reader reader = { .read = read };
    struct error err = { 0 };
    pthread_t thread;

    put_some(LARGE, 5);
    put_stops("21");
    test_sql(scene.sql, "update entities set version = 1000 where row_key in ('0', '1', '95')");
    read->in.get.keys[SOME - 1] = read->in.get.keys[0];
    session_init(&reader.session, scene.conninfo, "test reader");
    ck_assert_msg(session_ensure(&reader.session, &err) == STATUS_OK, "%s", err.message);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_and_close, &reader), 0);
    change_at_stop(1);
    change_at_stop(2);
    pthread_join(thread, NULL);

    ck_assert_reason(read, "OK");
    for (size_t i = 0; i < ARRAY_LEN(group); i++) {
        ck_assert(read->out.get.found[group[i]]);
        ck_assert_int_eq(read->out.get.entities[group[i]].etag.version, 1001);
    }
}
END_TEST

/* ---- other servers ---- */

START_TEST(a_table_made_elsewhere_a_moment_ago_is_found)
{
    struct store_options options = plain_options(scene.conninfo);
    struct store *other = store_open(&options);
    struct entity_key key = a_key("p", "r");
    struct operation *first = a_get(&scene.arena, "Things", &key, 1);

    run(other, first); /* the session has the new catalogue from now on */
    ck_assert_reason(first, "OK");
    for (int i = 0; i < 3; i++) {
        const char *name = arena_format(&scene.arena, "Fresh%d", i).data;
        struct operation *read = a_get(&scene.arena, name, &key, 1);

        scene_table(&scene, name);
        put(name, "r", "x");
        run(other, read);
        ck_assert_reason(read, "OK");
        ck_assert(read->out.get.found[0]);
    }
    store_close(other);
}
END_TEST

START_TEST(a_table_deleted_elsewhere_gives_no_rows)
{
    struct store_options options = plain_options(scene.conninfo);
    struct store *other = store_open(&options);
    struct entity_key key = a_key("p", "r");
    struct operation *before = a_get(&scene.arena, "Things", &key, 1);
    struct operation *after = a_get(&scene.arena, "Things", &key, 1);
    struct operation *renewed = a_get(&scene.arena, "Things", &key, 1);
    struct operation *page = a_page(&scene.arena, "Things", 10);

    put("Things", "r", "x");
    run(other, before);
    ck_assert(before->out.get.found[0]);
    run(other, a_page(&scene.arena, "Things", 10));
    run(scene.store, an_operation(&scene.arena, OPERATION_TABLE_DELETE, "Things"));
    run(other, after);
    run(other, page);
    ck_assert_reason(after, "TABLE_NOT_FOUND");
    ck_assert_reason(page, "TABLE_NOT_FOUND");

    scene_table(&scene, "Things");
    run(other, renewed);
    ck_assert_reason(renewed, "OK");
    ck_assert(!renewed->out.get.found[0]);
    store_close(other);
}
END_TEST

Suite *test_read_batch_suite(void)
{
    Suite *suite = suite_create("read");
    TCase *tc = tcase_create("read");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_batch_reads_many_keys_of_several_tables);
    tcase_add_test(tc, keys_outside_a_range_are_not_looked_for);
    tcase_add_test(tc, a_thousand_keys_come_back_in_their_order);
    tcase_add_test(tc, what_is_larger_than_its_share_is_read_again_in_pieces);
    tcase_add_test(tc, enough_is_enough);
    tcase_add_test(tc, collected_reads_of_large_entities_are_all_answered);
    tcase_add_test(tc, a_read_that_has_enough_soon_needs_few_statements);
    tcase_add_test(tc, reads_of_many_keys_are_no_batch);
    tcase_add_test(tc, a_read_of_several_keys_is_one_snapshot);
    tcase_add_test(tc, a_table_made_elsewhere_a_moment_ago_is_found);
    tcase_add_test(tc, a_table_deleted_elsewhere_gives_no_rows);
    suite_add_tcase(suite, tc);
    return suite;
}
