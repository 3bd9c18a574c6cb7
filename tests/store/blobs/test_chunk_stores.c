/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_chunk_stores.c - chunks whose bytes are in a store outside of the database, with the collector and failures of
 * the store between any two steps (guard G68). The store is in memory.
 */
#include <check.h>

#include "base/clock.h"
#include "base/digits.h"
#include "domain/blobs/blob_hash.h"
#include "store/sql.h"
#include "tests/support/chunk_world.h"

static struct chunk_world at;

static void setup(void)
{
    chunk_world_open(&at);
}

static void teardown(void)
{
    chunk_world_close(&at);
}

START_TEST(bytes_are_in_the_store_and_nothing_is_a_stray)
{
    chunk_world_put(&at, 1, 'x');
    ck_assert_int_eq(chunk_world_objects(&at.directory), 1);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_strays"), 0);
    ck_assert_int_eq(
        test_number(at.world.sql, "select count(*) from blob_chunks where bytes is null and store = 1"), 1);
    ck_assert(str_equal(chunk_world_read(&at, 1)->out.blob.bytes, chunk_world_bytes(&at, 'x')));
}
END_TEST

START_TEST(equal_chunks_of_an_account_are_put_once)
{
    chunk_world_put(&at, 1, 'x');
    chunk_world_put(&at, 2, 'x');
    chunk_world_collect(&at, 0);
    ck_assert_int_eq(at.directory.puts, 1);
    call_succeeded(chunk_world_read(&at, 2));
}
END_TEST

START_TEST(the_names_of_accounts_and_digests_make_the_names_of_objects)
{
    chunk_world_put(&at, 1, 'x');
    ck_assert_int_eq(test_number(at.world.sql,
                         "select count(*) from blob_chunks where '%s' = 'acme/' || left(encode(digest, "
                         "'hex'), 2) || '/' || "
                         "encode(digest, 'hex') || '-' || replace(object_id::text, '-', '')",
                         at.directory.objects[0].name),
        1);
}
END_TEST

/* ---- what breaks on the way ---- */

START_TEST(a_put_that_breaks_leaves_a_stray_that_goes)
{
    chunk_world_begin(&at, 1);
    test_sql(at.world.sql, "update blob_contents set state = 3");
    call_failed(chunk_world_append(&at, 1, 'x'), "UPLOAD_OFFSET_MISMATCH");
    ck_assert_int_eq(chunk_world_objects(&at.directory), 1);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_strays where due > now() + interval '10 minutes'"), 1);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 0);

    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    ck_assert_int_eq(chunk_world_objects(&at.directory) + chunk_world_rows(&at, "blob_strays") +
                         chunk_world_rows(&at, "blob_chunks"),
        0);
}
END_TEST

START_TEST(a_store_that_refuses_a_put_stores_nothing_and_is_not_named)
{
    struct operation *append;

    chunk_world_begin(&at, 1);
    at.directory.failing_puts = 1;
    append = chunk_world_append(&at, 1, 'x');
    call_failed(append, "BLOB_STORE_UNAVAILABLE");
    ck_assert_ptr_null(strstr(append->error->message, "secret"));
    ck_assert_ptr_nonnull(strstr(append->error->detail, "no space"));
    ck_assert_int_eq(test_number(at.world.sql, "select size from blob_contents"), 0);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks"), 0);
    call_succeeded(chunk_world_append(&at, 1, 'x'));
    call_succeeded(chunk_world_commit(&at, 1));
    call_succeeded(chunk_world_read(&at, 1));
    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    call_succeeded(chunk_world_read(&at, 1));
}
END_TEST

START_TEST(no_bytes_leave_a_database_that_admits_older_programs)
{
    chunk_world_begin(&at, 1);
    test_sql(at.world.sql, "update schema_migrations set oldest_program = 36");
    call_failed(chunk_world_append(&at, 1, 'x'), "BLOB_STORE_UNAVAILABLE");
    ck_assert_int_eq(at.directory.puts, 0);
}
END_TEST

/* ---- the collector comes between ---- */

/* The put takes so long that its stray is collected. */
static void collect_while_putting(void)
{
    at.directory.on_put = NULL;
    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
}

START_TEST(bytes_that_are_gone_become_no_chunk) /* guard G68 */
{
    chunk_world_begin(&at, 1);
    at.directory.on_put = collect_while_putting;
    call_succeeded(chunk_world_append(&at, 1, 'x'));
    ck_assert_int_eq(at.directory.puts, 2);
    call_succeeded(chunk_world_commit(&at, 1));
    call_succeeded(chunk_world_read(&at, 1));
}
END_TEST

/* The collector has marked the stray, and stands still before it removes the bytes. */
static void mark_while_putting(void)
{
    at.directory.on_put = NULL;
    chunk_world_end_waits(&at);
    at.directory.failing_removals = 1;
    ck_assert_int_eq(chunk_world_remove_strays(&at).failed, 1);
}

START_TEST(bytes_that_the_collector_is_about_to_remove_become_no_chunk) /* guard G68 */
{
    chunk_world_begin(&at, 1);
    at.directory.on_put = mark_while_putting;
    call_succeeded(chunk_world_append(&at, 1, 'x'));
    call_succeeded(chunk_world_commit(&at, 1));
    /* The removal arrives late. */
    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    call_succeeded(chunk_world_read(&at, 1));
}
END_TEST

/* Returns, in the argument, when the note of a stray waits for the holder of the table. */
static void *let_note_go_on(void *noted_us)
{
    PGconn *sql = test_connect(at.world.conninfo);

    test_await(sql, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and "
                    "datname = current_database()");
    *(int64_t *)noted_us = clock_monotonic_us();
    test_sql(at.world.sql, "commit");
    PQfinish(sql);
    return NULL;
}

START_TEST(the_time_of_a_put_runs_from_before_its_stray_is_noted)
{
    const int64_t a_minute_us = 60000000;
    int64_t noted_us = 0;
    pthread_t helper;

    chunk_world_begin(&at, 1);
    test_sql(at.world.sql, "begin; lock table blob_strays in exclusive mode");
    ck_assert_int_eq(pthread_create(&helper, NULL, let_note_go_on, &noted_us), 0);
    call_succeeded(chunk_world_append(&at, 1, 'x'));
    pthread_join(helper, NULL);

    ck_assert_int_lt(at.directory.put_until_us, noted_us + a_minute_us);
}
END_TEST

START_TEST(a_chunk_that_is_gone_is_not_named) /* guard G68 */
{
    struct blob_digest digest = blob_hash_of(STR_LITERAL("x"));
    static char hex[2 * BLOB_DIGEST_BYTES + 3] = "\\x";
    const char *params[] = { "acme", "01000000-0000-0000-0000-000000000000", "1", "0", "0", hex, NULL, "1",
        "1", NULL, "900" };
    PGresult *appended;

    chunk_world_begin(&at, 1);
    digits_encode_hex(blob_digest_str(&digest), hex + 2);
    appended =
        PQexecParams(at.world.sql, sql_blob_append.text, ARRAY_LEN(params), NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(appended) == PGRES_TUPLES_OK, "%s", PQerrorMessage(at.world.sql));
    ck_assert_int_eq(PQntuples(appended), 0);
    PQclear(appended);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks") + chunk_world_rows(&at, "blob_parts"), 0);
}
END_TEST

START_TEST(the_collector_leaves_a_chunk_that_a_stream_has_found) /* guard G68 */
{
    PGconn *stream = test_connect(at.world.conninfo);
    struct str bytes = chunk_world_bytes(&at, 'x');
    struct blob_digest digest = blob_hash_of(bytes);
    static char hex[2 * BLOB_DIGEST_BYTES + 3] = "\\x";
    const char *params[] = { "acme", hex };
    PGresult *held;

    chunk_world_put(&at, 1, 'x');
    chunk_world_delete(&at);
    digits_encode_hex(blob_digest_str(&digest), hex + 2);
    test_sql(at.world.sql, "update blob_chunks set condemned = now()");
    test_sql(at.world.sql, "delete from blob_parts");
    test_sql(at.world.sql, "delete from blob_contents");
    test_sql(stream, "begin");
    held = PQexecParams(stream, sql_chunk_hold.text, ARRAY_LEN(params), NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQntuples(held) == 1, "%s", PQerrorMessage(stream));
    PQclear(held);
    chunk_world_collect(&at, 0);
    test_sql(stream, "commit");
    PQfinish(stream);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks"), 1);
    ck_assert_int_eq(chunk_world_objects(&at.directory), 1);
}
END_TEST

START_TEST(bytes_of_a_collected_chunk_are_kept_and_then_go)
{
    chunk_world_put(&at, 1, 'x');
    chunk_world_delete(&at);
    chunk_world_collect(&at, 3600);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks"), 0);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_strays"), 1);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 0);
    ck_assert_int_eq(chunk_world_objects(&at.directory), 1);

    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    ck_assert_int_eq(chunk_world_objects(&at.directory) + chunk_world_rows(&at, "blob_strays"), 0);
}
END_TEST

START_TEST(a_chunk_that_is_put_again_has_another_name_than_the_bytes_that_are_to_go) /* guard G68 */
{
    chunk_world_put(&at, 1, 'x');
    chunk_world_delete(&at);
    chunk_world_collect(&at, 0);
    chunk_world_put(&at, 2, 'x');
    ck_assert_int_eq(chunk_world_objects(&at.directory), 2);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    call_succeeded(chunk_world_read(&at, 2));
}
END_TEST

START_TEST(a_removal_that_fails_is_tried_again)
{
    chunk_world_put(&at, 1, 'x');
    chunk_world_delete(&at);
    chunk_world_collect(&at, 0);
    at.directory.failing_removals = 1;
    ck_assert_int_eq(chunk_world_remove_strays(&at).failed, 1);
    ck_assert_int_eq(
        chunk_world_rows(&at, "blob_strays where removing and due > now() + interval '30 seconds'"), 1);
    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    ck_assert_int_eq(chunk_world_objects(&at.directory) + chunk_world_rows(&at, "blob_strays"), 0);
}
END_TEST

START_TEST(strays_in_a_store_that_the_worker_does_not_have_stay)
{
    chunk_world_put(&at, 1, 'x');
    chunk_world_delete(&at);
    chunk_world_collect(&at, 0);
    test_sql(at.world.sql, "update blob_strays set store = 2");
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 0);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_strays where not removing"), 1);
}
END_TEST

static void add_strays(const char *due, int count)
{
    test_sql(at.world.sql,
        "insert into blob_strays (object_id, account, digest, store, due, size, moved) select "
        "gen_random_uuid(), 'acme', 'b', 1, %s, 20, false from generate_series(1, %d)",
        due, count);
}

/* With statistics of a table that was nearly empty, the planner joins a selection by a nested loop. */
START_TEST(a_round_takes_no_more_strays_than_it_has_places_for)
{
    add_strays("now()", 300);
    test_sql(at.world.sql, "delete from blob_strays");
    add_strays("now() + interval '1 day'", 1);
    test_sql(at.world.sql, "vacuum analyze blob_strays");
    add_strays("now()", 300);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 100);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_strays where not removing"), 201);
}
END_TEST

/* ---- reading ---- */

START_TEST(bytes_that_are_wrong_once_are_read_again)
{
    chunk_world_put(&at, 1, 'x');
    at.directory.wrong_gets = 1;
    ck_assert(str_equal(chunk_world_read(&at, 1)->out.blob.bytes, chunk_world_bytes(&at, 'x')));
}
END_TEST

START_TEST(bytes_that_are_wrong_or_missing_are_never_returned)
{
    chunk_world_put(&at, 1, 'x');
    at.directory.wrong_gets = 1000;
    call_failed(chunk_world_read(&at, 1), "BLOB_DAMAGED");
    at.directory.wrong_gets = 0;
    at.directory.objects[0].bytes = STR_EMPTY;
    call_failed(chunk_world_read(&at, 1), "BLOB_DAMAGED");
}
END_TEST

START_TEST(a_store_that_does_not_answer_is_said_without_its_name)
{
    struct operation *read;

    chunk_world_put(&at, 1, 'x');
    at.directory.failing_gets = 1;
    read = chunk_world_read(&at, 1);
    call_failed(read, "BLOB_STORE_UNAVAILABLE");
    ck_assert_ptr_null(strstr(read->error->message, "secret"));
    call_succeeded(chunk_world_read(&at, 1));
    at.chunks.of[CHUNK_STORE_DIRECTORY] = NULL;
    call_failed(chunk_world_read(&at, 1), "BLOB_STORE_UNAVAILABLE");
    at.world.writer.chunks = NULL;
    call_failed(chunk_world_read(&at, 1), "BLOB_STORE_UNAVAILABLE");
}
END_TEST

/* The content is replaced and collected between the reading of the row and that of the object. */
static void collect_while_reading(void)
{
    at.directory.on_get = NULL;
    at.directory.objects[0].bytes = STR_EMPTY;
    test_sql(at.world.sql, "delete from blobs");
    test_sql(at.world.sql, "delete from blob_parts");
    test_sql(at.world.sql, "delete from blob_contents");
    test_sql(at.world.sql, "delete from blob_chunks");
    at.directory.wrong_gets = 1;
}

START_TEST(a_reader_whose_content_is_collected_meanwhile_is_told_so)
{
    chunk_world_put(&at, 1, 'x');
    at.directory.on_get = collect_while_reading;
    call_failed(chunk_world_read(&at, 1), "BLOB_CHANGED");
}
END_TEST

START_TEST(chunks_stay_where_they_are_when_the_setting_changes)
{
    at.world.writer.chunks = NULL;
    chunk_world_put(&at, 1, 'x');
    at.world.writer.chunks = &at.chunks;
    call_succeeded(chunk_world_read(&at, 1));
    chunk_world_put(&at, 2, 'x');
    ck_assert_int_eq(at.directory.puts, 0);
    chunk_world_put(&at, 3, 'y');
    ck_assert_int_eq(at.directory.puts, 1);
    at.chunks.put_into = CHUNK_STORE_POSTGRESQL;
    chunk_world_put(&at, 4, 'z');
    ck_assert_int_eq(at.directory.puts, 1);
    call_succeeded(chunk_world_read(&at, 4));
    call_succeeded(chunk_world_read(&at, 3));
}
END_TEST

Suite *test_chunk_stores_suite(void)
{
    Suite *suite = suite_create("chunk_stores");
    TCase *tc = tcase_create("chunk_stores");

    test_postgres_start();
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, bytes_are_in_the_store_and_nothing_is_a_stray);
    tcase_add_test(tc, equal_chunks_of_an_account_are_put_once);
    tcase_add_test(tc, the_names_of_accounts_and_digests_make_the_names_of_objects);
    tcase_add_test(tc, a_put_that_breaks_leaves_a_stray_that_goes);
    tcase_add_test(tc, a_store_that_refuses_a_put_stores_nothing_and_is_not_named);
    tcase_add_test(tc, no_bytes_leave_a_database_that_admits_older_programs);
    tcase_add_test(tc, bytes_that_are_gone_become_no_chunk);
    tcase_add_test(tc, bytes_that_the_collector_is_about_to_remove_become_no_chunk);
    tcase_add_test(tc, the_time_of_a_put_runs_from_before_its_stray_is_noted);
    tcase_add_test(tc, a_chunk_that_is_gone_is_not_named);
    tcase_add_test(tc, the_collector_leaves_a_chunk_that_a_stream_has_found);
    tcase_add_test(tc, bytes_of_a_collected_chunk_are_kept_and_then_go);
    tcase_add_test(tc, a_chunk_that_is_put_again_has_another_name_than_the_bytes_that_are_to_go);
    tcase_add_test(tc, a_removal_that_fails_is_tried_again);
    tcase_add_test(tc, strays_in_a_store_that_the_worker_does_not_have_stay);
    tcase_add_test(tc, a_round_takes_no_more_strays_than_it_has_places_for);
    tcase_add_test(tc, bytes_that_are_wrong_once_are_read_again);
    tcase_add_test(tc, bytes_that_are_wrong_or_missing_are_never_returned);
    tcase_add_test(tc, a_store_that_does_not_answer_is_said_without_its_name);
    tcase_add_test(tc, a_reader_whose_content_is_collected_meanwhile_is_told_so);
    tcase_add_test(tc, chunks_stay_where_they_are_when_the_setting_changes);
    suite_add_tcase(suite, tc);
    return suite;
}
