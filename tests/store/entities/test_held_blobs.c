/* SPDX-License-Identifier: Apache-2.0 */
/* Entities that take contents of blobs and give them up (guards G60, G61). */
#include <check.h>

#include "base/buf.h"
#include "domain/limits.h"
#include "store/sql.h"
#include "tests/support/builders.h"

#define ONE "00000000-0000-0000-0000-000000000001"
#define REFERENCE "tavola-blob:00000000000000000000000000000001"
#define ABSENT "tavola-blob:00000000000000000000000000000002"

static struct scene scene;

static void setup(void)
{
    scene_open(&scene);
    scene_change(&scene, "update tables set blob_properties = true");
    test_sql(scene.sql,
        "insert into blob_contents (account, content_id, state, size, writer, kept_until, sha256, "
        "content_type, created) values ('acme', '" ONE "', 4, 0, 1, now() + interval '1 hour', '', '', 1)");
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct write upsert(const char *row, const char *photo)
{
    return a_write(WRITE_INSERT_OR_REPLACE, "p", row, some_texts(&scene.arena, "Photo", photo, NULL));
}

static struct write deletion(const char *row)
{
    struct write write = a_write(WRITE_DELETE, "p", row, (struct property_list){ STR_EMPTY });

    write.condition = (struct condition){ .kind = CONDITION_EXISTS };
    return write;
}

static long long state_of_content(void)
{
    return test_number(scene.sql, "select state from blob_contents where content_id = '" ONE "'");
}

static long long holders(void)
{
    return test_number(scene.sql, "select count(*) from blob_references");
}

START_TEST(an_entity_publishes_the_content_that_it_takes)
{
    scene_write(&scene, upsert("a", REFERENCE));
    ck_assert_int_eq(state_of_content(), 2);
    ck_assert_int_eq(holders(), 1);
}
END_TEST

START_TEST(a_content_stays_while_another_entity_holds_it) /* guard G61 */
{
    scene_write(&scene, upsert("a", REFERENCE));
    scene_write(&scene, upsert("b", REFERENCE));
    scene_write(&scene, upsert("a", "nothing"));
    ck_assert_int_eq(state_of_content(), 2);
    scene_write(&scene, deletion("b"));
    ck_assert_int_eq(state_of_content(), 3);
    ck_assert_int_eq(holders(), 0);
}
END_TEST

START_TEST(what_was_given_up_or_never_put_cannot_be_taken) /* guard G60 */
{
    scene_write(&scene, upsert("a", REFERENCE));
    scene_write(&scene, deletion("a"));
    scene_refused(&scene, upsert("b", REFERENCE), "BLOB_NOT_FOUND");
    scene_refused(&scene, upsert("b", ABSENT), "BLOB_NOT_FOUND");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where row_key = 'b'"), 0);
}
END_TEST

START_TEST(a_writer_that_gives_a_content_up_waits_for_one_that_takes_it) /* guard G60 */
{
    PGconn *taker = test_connect(scene.conninfo);
    const char *params[] = { "{acme}", "{" ONE "}" };
    struct operation *removal = a_write_operation(&scene.arena, "Things", deletion("a"));
    PGresult *locked;

    scene_write(&scene, upsert("a", REFERENCE));
    test_sql(taker, "begin");
    locked = PQexecParams(taker, sql_held_lock.text, 2, NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQntuples(locked) == 1, "%s", PQerrorMessage(taker));
    PQclear(locked);
    test_sql(taker, "insert into entities select bucket, table_id, partition_key, 'b', version, ts, false, "
                    "null, properties "
                    "from entities");
    test_sql(taker, "insert into blob_references select account, content_id, table_id, partition_key, 'b' "
                    "from blob_references");
    submit(scene.store, removal);
    test_await(scene.sql,
        "select (count(*) = 1)::int from pg_stat_activity where wait_event_type = 'Lock' and datname = "
        "current_database()");
    test_sql(taker, "commit");
    PQfinish(taker);
    await(removal);
    ck_assert_int_eq(removal->status, STATUS_OK);
    ck_assert_int_eq(state_of_content(), 2);
    ck_assert_int_eq(holders(), 1);
}
END_TEST

START_TEST(what_one_write_of_a_batch_gives_up_another_takes)
{
    struct write writes[] = { deletion("a"), upsert("b", REFERENCE) };
    struct operation *group = a_group(&scene.arena, "Things", writes, ARRAY_LEN(writes));

    scene_write(&scene, upsert("a", REFERENCE));
    run(scene.store, group);
    ck_assert_int_eq(group->status, STATUS_OK);
    ck_assert_int_eq(state_of_content(), 2);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from blob_references where row_key = 'b'"), 1);
    ck_assert_int_eq(holders(), 1);
}
END_TEST

START_TEST(the_contents_of_another_account_are_unknown)
{
    test_sql(scene.sql, "update blob_contents set account = 'globex'");
    scene_refused(&scene, upsert("a", REFERENCE), "BLOB_NOT_FOUND");
}
END_TEST

/* ---- wide entities ---- */

enum { NAMES = 2000 };

static struct write wide_write(enum write_kind kind, struct property_list properties)
{
    return a_write(kind, "p", "wide", properties);
}

static struct property_list photos(const char *first, const char *last)
{
    return some_texts(&scene.arena, "A", first, "z", last, NULL);
}

/* Two properties, one before and one behind all others, so that they are in different parts. */
static void write_spread(const char *first, const char *last)
{
    struct buf list;
    struct property_builder builder = { .out = &list };

    scene_change(&scene, "update tables set is_wide = true");
    buf_init(&list, &scene.arena);
    for (size_t i = 0; i < NAMES; i++)
        property_build(&builder, arena_format(&scene.arena, "n%04zu", i),
            &(struct value){
                .type = PROPERTY_STRING, .bytes = STR_LITERAL("a value of some length to be spread") });
    scene_write(&scene,
        wide_write(WRITE_INSERT_OR_REPLACE, property_list_merge((struct property_list){ buf_str(&list) },
                                                photos(first, last), &scene.arena)));
    ck_assert_int_gt(test_number(scene.sql, "select count(*) from entity_parts"), 2);
}

static void merge(const char *name, const char *text)
{
    scene_write(&scene, wide_write(WRITE_MERGE, some_texts(&scene.arena, name, text, NULL)));
}

START_TEST(a_content_stays_while_a_part_that_is_not_read_holds_it) /* guard G74 */
{
    write_spread(REFERENCE, REFERENCE);
    ck_assert_int_eq(holders(), 1);
    merge("A", "nothing");
    ck_assert_int_eq(state_of_content(), 2);
    ck_assert_int_eq(holders(), 1);
    merge("z", "nothing");
    ck_assert_int_eq(state_of_content(), 3);
    ck_assert_int_eq(holders(), 0);
}
END_TEST

START_TEST(a_wide_entity_gives_up_what_its_parts_hold_without_reading_them) /* guard G74 */
{
    struct write deletes = wide_write(WRITE_DELETE, (struct property_list){ STR_EMPTY });

    deletes.condition = (struct condition){ .kind = CONDITION_EXISTS };
    write_spread("nothing", REFERENCE);
    merge("n0000", "other");
    ck_assert_int_eq(holders(), 1);
    scene_write(&scene, deletes);
    ck_assert_int_eq(state_of_content(), 3);
    ck_assert_int_eq(holders(), 0);
}
END_TEST

START_TEST(the_contents_of_unread_parts_count_for_the_limit)
{
    struct property_list many = { STR_EMPTY };

    write_spread("nothing", REFERENCE);
    for (int i = 1; i < LIMIT_ENTITY_BLOBS; i++)
        many = property_list_merge(many,
            some_texts(&scene.arena, (const char *)arena_format(&scene.arena, "A%02d%c", i, 0).data,
                REFERENCE, NULL),
            &scene.arena);
    scene_write(&scene, wide_write(WRITE_MERGE, many));
    scene_refused(
        &scene, wide_write(WRITE_MERGE, some_texts(&scene.arena, "A99", REFERENCE, NULL)), "INVALID_INPUT");
    ck_assert_int_eq(holders(), 1);
}
END_TEST

Suite *test_held_blobs_suite(void)
{
    Suite *suite = suite_create("held_blobs");
    TCase *tc = tcase_create("held_blobs");

    test_postgres_start();
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, an_entity_publishes_the_content_that_it_takes);
    tcase_add_test(tc, a_content_stays_while_another_entity_holds_it);
    tcase_add_test(tc, what_was_given_up_or_never_put_cannot_be_taken);
    tcase_add_test(tc, a_writer_that_gives_a_content_up_waits_for_one_that_takes_it);
    tcase_add_test(tc, what_one_write_of_a_batch_gives_up_another_takes);
    tcase_add_test(tc, the_contents_of_another_account_are_unknown);
    tcase_add_test(tc, a_content_stays_while_a_part_that_is_not_read_holds_it);
    tcase_add_test(tc, a_wide_entity_gives_up_what_its_parts_hold_without_reading_them);
    tcase_add_test(tc, the_contents_of_unread_parts_count_for_the_limit);
    suite_add_tcase(suite, tc);
    return suite;
}
