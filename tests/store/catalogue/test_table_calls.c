/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_table_calls.c - tables: names, ids, lists, and what a deletion frees.
 */
#include <check.h>

#include "tests/support/builders.h"

static struct scene scene;

static void setup(void)
{
    scene_open(&scene);
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct operation *ask(enum operation_kind kind, const char *name)
{
    struct operation *operation = an_operation(&scene.arena, kind, name);

    run(scene.store, operation);
    return operation;
}

START_TEST(a_name_is_taken_in_any_case)
{
    ck_assert_reason(ask(OPERATION_TABLE_CREATE, "Things"), "TABLE_ALREADY_EXISTS");
    ck_assert_reason(ask(OPERATION_TABLE_CREATE, "tHiNgS"), "TABLE_ALREADY_EXISTS");
    ck_assert_reason(ask(OPERATION_TABLE_CREATE, "Thing"), "OK");
}
END_TEST

START_TEST(a_table_is_found_in_any_case_under_the_name_it_was_given)
{
    struct operation *get = ask(OPERATION_TABLE_GET, "THINGS");

    ck_assert_reason(get, "OK");
    ck_assert_uint_eq(get->out.tables.count, 1);
    ck_assert(str_equal(get->out.tables.tables[0].name, STR_LITERAL("Things")));
    ck_assert_uint_eq(get->out.tables.tables[0].index.len, 0);
    ck_assert_reason(ask(OPERATION_TABLE_GET, "Nowhere"), "TABLE_NOT_FOUND");
}
END_TEST

START_TEST(accounts_do_not_see_each_other)
{
    struct operation *other = an_operation(&scene.arena, OPERATION_TABLE_CREATE, "Things");
    struct operation *delete = an_operation(&scene.arena, OPERATION_TABLE_DELETE, "Things");

    other->account = delete->account = STR_LITERAL("globex");
    run(scene.store, other);
    ck_assert_reason(other, "OK");
    run(scene.store, delete);
    ck_assert_reason(delete, "OK");

    ck_assert_reason(ask(OPERATION_TABLE_GET, "Things"), "OK");
}
END_TEST

START_TEST(a_deletion_frees_the_name_at_once)
{
    struct property_list properties = some_texts(&scene.arena, "Text", "x", NULL);
    long long first = test_number(scene.sql, "select table_id from tables where live"), second;
    struct operation *delete;

    scene_write(&scene, a_write(WRITE_INSERT, "p", "r", properties));
    delete = ask(OPERATION_TABLE_DELETE, "things");
    ck_assert_reason(delete, "OK");
    ck_assert_uint_eq(delete->out.jobs.count, 1);
    ck_assert(str_equal(delete->out.jobs.jobs[0].kind, STR_LITERAL("delete_table")));
    ck_assert_int_eq(delete->out.jobs.jobs[0].state, JOB_RUNNING);
    ck_assert_reason(ask(OPERATION_TABLE_GET, "Things"), "TABLE_NOT_FOUND");
    ck_assert_reason(ask(OPERATION_TABLE_DELETE, "Things"), "RESOURCE_NOT_FOUND");

    second = scene_table(&scene, "Things");
    ck_assert_int_ne(first, second);
    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
    /* The new table has another id, so no ETag of the earlier one matches. */
    ck_assert_int_eq(scene_write(&scene, a_write(WRITE_INSERT, "p", "r", properties)).etag.table_id, second);
    ck_assert_int_eq(
        test_number(scene.sql,
            "select count(*) from operations where operation_id = 'purge-%llx' and table_id = %lld", first,
            first),
        1);
}
END_TEST

START_TEST(lists_are_in_order_and_end)
{
    static const char *const names[] = { "bees", "Ants", "cats", "Dogs" }, *const order[] = { "Ants", "bees",
        "cats", "Dogs", "Things" };
    struct str after = STR_EMPTY;
    size_t next = 0;
    bool more = true;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        scene_table(&scene, names[i]);
    while (more) {
        struct operation *list = an_operation(&scene.arena, OPERATION_TABLE_LIST, "");

        list->in.tables = (struct operation_tables){ .limit = _i + 1, .after = after };
        run(scene.store, list);
        ck_assert_reason(list, "OK");
        ck_assert_uint_le(list->out.tables.count, (size_t)_i + 1);
        for (size_t i = 0; i < list->out.tables.count; i++, next++)
            ck_assert(
                next < ARRAY_LEN(order) && str_equal(list->out.tables.tables[i].name, str_of(order[next])));
        more = list->out.tables.more;
        after = list->out.tables.position;
    }
    ck_assert_uint_eq(next, ARRAY_LEN(order));
}
END_TEST

START_TEST(tables_can_be_made_by_several_servers_at_once)
{
    struct store_options options = plain_options(scene.conninfo);
    struct store *other = store_open(&options);
    struct operation *creates[40];
    struct arena arenas[40]; /* each operation has its own, because different threads run them */

    for (int i = 0; i < 40; i++) {
        arena_init(&arenas[i]);
        creates[i] =
            an_operation(&arenas[i], OPERATION_TABLE_CREATE, arena_format(&arenas[i], "Many%d", i / 2).data);
        submit(i % 2 ? other : scene.store, creates[i]);
    }
    for (int i = 0; i < 40; i += 2) {
        await(creates[i]);
        await(creates[i + 1]);
        ck_assert_int_eq((creates[i]->status == STATUS_OK) + (creates[i + 1]->status == STATUS_OK), 1);
        ck_assert_int_eq(
            (creates[i]->status == STATUS_EXISTS) + (creates[i + 1]->status == STATUS_EXISTS), 1);
    }
    store_close(other);
    for (int i = 0; i < 40; i++)
        arena_cleanup(&arenas[i]);
}
END_TEST

Suite *test_table_calls_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *tc = tcase_create("table");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_name_is_taken_in_any_case);
    tcase_add_test(tc, a_table_is_found_in_any_case_under_the_name_it_was_given);
    tcase_add_test(tc, accounts_do_not_see_each_other);
    tcase_add_test(tc, a_deletion_frees_the_name_at_once);
    tcase_add_loop_test(tc, lists_are_in_order_and_end, 0, 6);
    tcase_add_test(tc, tables_can_be_made_by_several_servers_at_once);
    suite_add_tcase(suite, tc);
    return suite;
}
