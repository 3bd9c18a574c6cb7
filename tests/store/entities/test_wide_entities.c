/* SPDX-License-Identifier: Apache-2.0 */
/* Wide entities on a real PostgreSQL: readers beside a writer, and writers that wait for each other. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "domain/limits.h"
#include "domain/properties/property_parts.h"
#include "tests/support/builders.h"

enum { NAMES = 2000, VALUE_BYTES = 60 };

static struct scene scene;

static void setup(void)
{
    struct operation *create;

    scene_open(&scene);
    create = an_operation(&scene.arena, OPERATION_TABLE_CREATE, "Wide");
    create->in.tables.change.is_wide = true;
    run(scene.store, create);
    ck_assert_reason(create, "OK");
}

static void teardown(void)
{
    scene_close(&scene);
}

/* Properties n0000 and so on, each with a text of this letter. */
static struct property_list filled(size_t from, size_t to, char letter)
{
    char value[VALUE_BYTES];
    struct buf list;
    struct property_builder builder = { .out = &list };

    memset(value, letter, sizeof(value));
    buf_init(&list, &scene.arena);
    for (size_t i = from; i < to; i++)
        property_build(&builder, arena_format(&scene.arena, "n%04zu", i),
            &(struct value){ .type = PROPERTY_STRING, .bytes = { value, sizeof(value) } });
    return (struct property_list){ buf_str(&list) };
}

/* More than a read returns. */
static struct property_list large(void)
{
    char *value = arena_alloc(&scene.arena, LIMIT_BINARY_BYTES);
    struct buf list;
    struct property_builder builder = { .out = &list };

    memset(value, 'x', LIMIT_BINARY_BYTES);
    buf_init(&list, &scene.arena);
    for (size_t i = 0; i <= LIMIT_REPLY_BYTES / LIMIT_BINARY_BYTES; i++)
        property_build(&builder, arena_format(&scene.arena, "b%03zu", i),
            &(struct value){ .type = PROPERTY_BINARY, .bytes = { value, LIMIT_BINARY_BYTES } });
    return (struct property_list){ buf_str(&list) };
}

static struct operation *a_wide_write(enum write_kind kind, struct property_list properties)
{
    return a_write_operation(&scene.arena, "Wide", a_write(kind, "p", "r", properties));
}

static struct write_result put(enum write_kind kind, struct property_list properties)
{
    struct operation *write = a_wide_write(kind, properties);

    run(scene.store, write);
    ck_assert_reason(write, "OK");
    return write->out.write.results[0];
}

static const struct entity *read_all(void)
{
    struct entity_key wanted = a_key("p", "r");
    struct operation *get = a_get(&scene.arena, "Wide", &wanted, 1);

    run(scene.store, get);
    ck_assert_reason(get, "OK");
    ck_assert(get->out.get.found[0]);
    return &get->out.get.entities[0];
}

static void check_is(const struct entity *entity, struct property_list list, int64_t version)
{
    ck_assert_int_eq(entity->etag.version, version);
    ck_assert_msg(str_equal(entity->properties.bytes, list.bytes),
        "%zu bytes, not the %zu bytes of version %lld", entity->properties.bytes.len, list.bytes.len,
        (long long)version);
}

static void wait_for_lock(void)
{
    test_await(scene.sql,
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = "
        "current_database()");
}

/*
 * The reader's statement has read the row of the entity and is held up before it reads the parts; meanwhile a
 * writer changes them all.
 */
START_TEST(a_reader_sees_the_parts_of_the_row_that_it_has_read) /* guard G62 */
{
    struct property_list before = filled(0, NAMES, 'a'), after = filled(0, NAMES, 'b');
    int64_t version = put(WRITE_INSERT_OR_REPLACE, before).etag.version;
    struct entity_key wanted = a_key("p", "r");
    struct operation *get = a_get(&scene.arena, "Wide", &wanted, 1);

    test_sql(scene.sql,
        "alter function spread_properties rename to spread_properties_at_once;"
        "create function spread_properties(t bigint, p text, r text, b smallint, s bigint, m integer, n "
        "text[]) "
        "returns bytea language plpgsql stable as $$ begin perform pg_advisory_lock_shared(62); "
        "perform pg_advisory_unlock_shared(62); return spread_properties_at_once(t, p, r, b, s, m, n); end "
        "$$;"
        "select pg_advisory_lock(62)");
    submit(scene.store, get);
    wait_for_lock();
    put(WRITE_INSERT_OR_REPLACE, after);
    test_sql(scene.sql, "select pg_advisory_unlock(62)");
    await(get);

    ck_assert_reason(get, "OK");
    check_is(&get->out.get.entities[0], before, version);
    check_is(read_all(), after, version + 1);
}
END_TEST

/*
 * A merge waits for the row while another writer, with the lock, joins the last two parts. The merge must see the
 * parts as they are then.
 */
START_TEST(a_writer_sees_the_parts_as_they_are_under_the_lock) /* guard G63 */
{
    struct property_list list = filled(0, NAMES, 'a'), one = filled(NAMES - 1, NAMES, 'b');
    int64_t version = put(WRITE_INSERT_OR_REPLACE, list).etag.version;
    struct operation *merge = a_wide_write(WRITE_INSERT_OR_MERGE, one);
    PGconn *holder = PQconnectdb(scene.conninfo);

    test_sql(holder, "begin; select from entities where row_key = 'r' for update");
    submit(scene.store, merge);
    wait_for_lock();
    test_sql(holder,
        "with two as (select first_name, properties, property_count from entity_parts order by first_name "
        "desc limit 2),"
        "last as (delete from entity_parts where first_name = (select max(first_name) from two)) "
        "update entity_parts set properties = (select string_agg(properties, ''::bytea order by first_name) "
        "from two), "
        "property_count = (select sum(property_count) from two) where first_name = (select min(first_name) "
        "from two);"
        "commit");
    PQfinish(holder);
    await(merge);

    ck_assert_reason(merge, "OK");
    check_is(read_all(), property_list_merge(list, one, &scene.arena), version + 1);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities e where spread = (select "
                                            "sum(octet_length(p.properties)) from entity_parts p)"),
        1);
    ck_assert_int_eq(test_number(scene.sql, "select sum(property_count) from entity_parts"), NAMES);
}
END_TEST

/* A merge that fails leaves the row and the parts as they were. */
START_TEST(a_write_takes_effect_with_all_parts_or_none)
{
    struct property_list list = filled(0, NAMES, 'a');
    int64_t version = put(WRITE_INSERT_OR_REPLACE, list).etag.version;
    struct operation *write;

    test_sql(scene.sql, "alter table entity_parts add constraint few check (first_name < 'n1500') not valid");
    write = a_wide_write(WRITE_INSERT_OR_MERGE, filled(0, NAMES, 'b'));
    run(scene.store, write);

    ck_assert_ptr_nonnull(write->error);
    check_is(read_all(), list, version);
    test_sql(scene.sql, "alter table entity_parts drop constraint few");
    put(WRITE_INSERT_OR_MERGE, filled(0, NAMES, 'b'));
    check_is(read_all(), filled(0, NAMES, 'b'), version + 1);
}
END_TEST

/* Writes that need more of wide entities than may be in memory are decided one after the other. */
START_TEST(several_writes_of_one_batch_touch_one_entity)
{
    struct write writes[] = {
        a_write(WRITE_INSERT_OR_MERGE, "p", "r", filled(0, 1, 'b')),
        a_write(WRITE_INSERT_OR_MERGE, "p", "other", filled(0, NAMES, 'c')),
    };
    struct operation *group = a_group(&scene.arena, "Wide", writes, ARRAY_LEN(writes));
    struct operation *merge = a_wide_write(WRITE_INSERT_OR_MERGE, filled(NAMES - 1, NAMES, 'd'));
    struct property_list expected;

    put(WRITE_INSERT_OR_REPLACE, filled(0, NAMES, 'a'));
    submit(scene.store, group);
    submit(scene.store, merge);
    await(group);
    await(merge);

    ck_assert_reason(group, "OK");
    ck_assert_reason(merge, "OK");
    expected = property_list_merge(filled(0, NAMES, 'a'), filled(0, 1, 'b'), &scene.arena);
    expected = property_list_merge(expected, filled(NAMES - 1, NAMES, 'd'), &scene.arena);
    ck_assert(str_equal(read_all()->properties.bytes, expected.bytes));
}
END_TEST

/* Every merge plans a list of all that was read for the batch; none of them is kept until all are answered. */
START_TEST(merges_of_many_callers_do_not_keep_the_entity_in_memory)
{
    enum { MERGES = 64, ALL = 9900, KEPT_BYTES = 128 * 1024 };
    struct arena arenas[MERGES];
    struct operation *merges[MERGES];
    struct property_list expected = filled(0, ALL, 'a');
    PGconn *holder = PQconnectdb(scene.conninfo);

    put(WRITE_INSERT_OR_REPLACE, expected);
    test_sql(holder, "begin; select from entities where row_key = 'r' for update");
    for (size_t i = 0; i < MERGES; i++) {
        struct property_list one = filled(i * ALL / MERGES, i * ALL / MERGES + 1, 'b');

        arena_init(&arenas[i]);
        merges[i] = a_write_operation(&arenas[i], "Wide", a_write(WRITE_INSERT_OR_MERGE, "p", "r", one));
        expected = property_list_merge(expected, one, &scene.arena);
    }
    submit(scene.store, merges[0]);
    wait_for_lock();
    for (size_t i = 1; i < MERGES; i++)
        submit(scene.store, merges[i]);
    test_sql(holder, "commit");
    PQfinish(holder);
    for (size_t i = 0; i < MERGES; i++) {
        await(merges[i]);
        ck_assert_reason(merges[i], "OK");
        ck_assert_uint_lt(arenas[i].held_bytes, KEPT_BYTES);
    }
    ck_assert(str_equal(read_all()->properties.bytes, expected.bytes));
    for (size_t i = 0; i < MERGES; i++)
        arena_cleanup(&arenas[i]);
}
END_TEST

/* Spread an entity over this many parts, each with one property whose name has 500 bytes: 14,000 of them are 7 MB. */
static void scatter(const char *row, int count)
{
    run(scene.store, a_write_operation(&scene.arena, "Wide",
                         a_write(WRITE_INSERT, "p", row, (struct property_list){ STR_EMPTY })));
    test_sql(scene.sql,
        "insert into entity_parts (bucket, table_id, partition_key, row_key, first_name, property_count, "
        "properties) "
        "select bucket, table_id, partition_key, row_key, case when i > 0 then name else '' end, 1, "
        "'\\x7afc030af403'::bytea || name::bytea || '\\x12030a0178'::bytea "
        "from entities, generate_series(0, %d) i, lateral (select 'n' || lpad(i::text, 499, '0') as name) n "
        "where row_key = '%s' order by 5",
        count - 1, row);
    test_sql(scene.sql,
        "update entities e set spread = (select sum(octet_length(p.properties)) from entity_parts p where "
        "p.row_key = "
        "e.row_key) where row_key = '%s'",
        row);
}

static struct write merge_into(const char *row)
{
    return a_write(WRITE_MERGE, "p", row, some_texts(&scene.arena, "z", "text", NULL));
}

START_TEST(lists_of_many_short_parts_are_bounded_and_a_write_of_one_entity_joins_them)
{
    enum { PARTS = 14000 };
    struct write writes[] = { merge_into("a"), merge_into("b") };
    struct operation *group = a_group(&scene.arena, "Wide", writes, ARRAY_LEN(writes));

    scatter("a", PARTS);
    scatter("b", PARTS);
    run(scene.store, group);
    ck_assert_reason(group, "ENTITY_TOO_LARGE");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entity_parts"), 2 * PARTS);

    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        struct operation *write = a_write_operation(&scene.arena, "Wide", writes[i]);

        run(scene.store, write);
        ck_assert_reason(write, "OK");
    }
    ck_assert_int_lt(test_number(scene.sql, "select count(*) from entity_parts"), PARTS / 10);
    group = a_group(&scene.arena, "Wide", writes, ARRAY_LEN(writes));
    run(scene.store, group);
    ck_assert_reason(group, "OK");
    ck_assert_int_eq(test_number(scene.sql, "select sum(property_count) from entity_parts"), 2 * (PARTS + 1));
}
END_TEST

/* As long as no worker has deleted it, an entity that has expired is in the way of no page. */
START_TEST(an_expired_entity_does_not_fail_a_page)
{
    struct write gone = a_write(WRITE_INSERT_OR_REPLACE, "p", "gone", large());
    struct operation *page = a_page(&scene.arena, "Wide", 10), *write;

    gone.expires = 1;
    write = a_write_operation(&scene.arena, "Wide", gone);
    run(scene.store, write);
    ck_assert_reason(write, "OK");
    put(WRITE_INSERT_OR_REPLACE, filled(0, 1, 'a'));
    run(scene.store, page);

    ck_assert_reason(page, "OK");
    ck_assert_uint_eq(page->out.page.count, 1);
}
END_TEST

Suite *test_wide_entities_suite(void)
{
    Suite *suite = suite_create("wide_entities");
    TCase *tc = tcase_create("wide_entities");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_reader_sees_the_parts_of_the_row_that_it_has_read);
    tcase_add_test(tc, a_writer_sees_the_parts_as_they_are_under_the_lock);
    tcase_add_test(tc, a_write_takes_effect_with_all_parts_or_none);
    tcase_add_test(tc, several_writes_of_one_batch_touch_one_entity);
    tcase_add_test(tc, merges_of_many_callers_do_not_keep_the_entity_in_memory);
    tcase_add_test(tc, lists_of_many_short_parts_are_bounded_and_a_write_of_one_entity_joins_them);
    tcase_add_test(tc, an_expired_entity_does_not_fail_a_page);
    suite_add_tcase(suite, tc);
    return suite;
}
