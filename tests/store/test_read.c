/*
 * test_read.c - point reads: many keys, several tables, what is not there, and what other servers have made
 * or deleted meanwhile.
 */
#include <check.h>
#include <stdio.h>

#include "store/read_batch.h"
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

/* All operations as one statement. */
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

START_TEST(a_thousand_keys_come_back_in_their_order)
{
    struct entity_key keys[MANY];
    struct operation *read;

    test_sql(scene.sql,
        "insert into entities select %d, 1, 'p', n::text, n + 1, n, false, null, '' from generate_series(0, "
        "%d, 2) n",
        (int)bucket_of(1, STR_LITERAL("p")), MANY - 1);
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

/* ---- more than is read at once ---- */

/* Entities "p"/n of Things, n of 0 to SOME - 1: so many bytes where n is divisible by step, 10 elsewhere. */
static void put_some(int bytes, int step)
{
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'p', n::text, n + 1, n, false, null,"
        " convert_to(lpad(n::text, case when n %% %d = 0 then %d else 10 end, '.'), 'UTF8')"
        " from generate_series(0, %d) n",
        (int)bucket_of(1, STR_LITERAL("p")), step, bytes, SOME - 1);
}

static struct operation *get_some(int first, size_t count)
{
    struct entity_key keys[SOME];

    for (size_t i = 0; i < count; i++)
        keys[i] = a_key("p", arena_format(&scene.arena, "%d", first + (int)i).data);
    return a_get(&scene.arena, "Things", keys, count);
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

/* What the session executes while the operations are read, by libpq's own record. */
static int statements_of(struct session *session, struct operation *const *operations, size_t count)
{
    FILE *record = tmpfile();
    char *line = NULL;
    size_t room = 0;
    int statements = 0;

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

    ck_assert_int_eq(statements, 3); /* all 104 keys, then 16 and 4 that had been left out */
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
        check_some(read, 0, 11, LARGE, 5); /* to the third large one */
    }
    read = get_some(0, SOME);
    read->in.get.enough_bytes = 1;
    run(scene.store, read);
    check_some(read, 0, 1, LARGE, 5);
}
END_TEST

START_TEST(collected_reads_of_large_entities_are_all_answered)
{
    struct operation *reads[KEYS];

    put_some(TOO_LARGE, 7);
    for (int step = 1; step <= 7; step += 6) {
        for (int i = 0; i < KEYS; i++) {
            reads[i] = get_some(i / step * step, 1);
            store_collect(scene.store, reads[i]);
        }
        store_run(scene.store);
        for (int i = 0; i < KEYS; i++) {
            await(reads[i]);
            check_some(reads[i], i / step * step, 1, TOO_LARGE, 7);
        }
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

    run(other, first); /* it knows the catalogue from now on */
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

Suite *test_read_suite(void)
{
    Suite *suite = suite_create("read");
    TCase *tc = tcase_create("read");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_batch_reads_many_keys_of_several_tables);
    tcase_add_test(tc, a_thousand_keys_come_back_in_their_order);
    tcase_add_test(tc, what_is_larger_than_its_share_is_read_again_in_pieces);
    tcase_add_test(tc, enough_is_enough);
    tcase_add_test(tc, collected_reads_of_large_entities_are_all_answered);
    tcase_add_test(tc, a_table_made_elsewhere_a_moment_ago_is_found);
    tcase_add_test(tc, a_table_deleted_elsewhere_gives_no_rows);
    suite_add_tcase(suite, tc);
    return suite;
}
