/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_blobs.c - writing, replacing and collecting contents, with the collector between any two steps (guards G54 to
 * G57).
 */
#include <check.h>

#include "base/digits.h"
#include "chunks/chunk_directory.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "store/blobs/blob_calls.h"
#include "store/blobs/blob_collect.h"
#include "store/blobs/blob_put.h"
#include "store/blobs/blob_read.h"
#include "store/sql.h"
#include "tests/support/calls.h"
#include "tests/support/temporary.h"
#include "tests/support/worker_world.h"

enum { CHUNK = LIMIT_BLOB_CHUNK_BYTES };

static struct world world;

static void setup(void)
{
    struct error err = { 0 };

    world_open(&world);
    ck_assert_int_eq(session_ensure(&world.writer, &err), STATUS_OK);
}

static struct chunk_stores stores;
static char chunks_folder[MAX_TEMPORARY_PATH];

/* The same tests with chunks in a directory. */
static void setup_directory(void)
{
    setup();
    temporary_folder_make("chunks", chunks_folder, sizeof(chunks_folder));
    stores = (struct chunk_stores){ .put_into = CHUNK_STORE_DIRECTORY,
        .of[CHUNK_STORE_DIRECTORY] = chunk_directory_open(chunks_folder) };
    world.writer.chunks = &stores;
    worker_use_chunks(world.worker, &stores);
}

static void teardown(void)
{
    world_close(&world);
}

static void teardown_directory(void)
{
    world_close(&world);
    stores.of[CHUNK_STORE_DIRECTORY]->calls->close(stores.of[CHUNK_STORE_DIRECTORY]);
    temporary_folder_remove(chunks_folder);
}

/* A chunk whose bytes are all the same. */
static struct str chunk_of(char byte)
{
    char *bytes = arena_alloc(&world.arena, CHUNK);

    memset(bytes, byte, CHUNK);
    return str_of_bytes(bytes, CHUNK);
}

static struct blob_id id_of(uint8_t number)
{
    return (struct blob_id){ { number } };
}

/* An operation of the stream `writer` on the content `number`, for the blob "b". */
static struct operation *make_call(enum operation_kind kind, uint8_t number, int64_t writer)
{
    struct operation *operation = call_make(&world.arena, kind, "");

    operation->in.blob.name = STR_LITERAL("b");
    operation->in.blob.content = id_of(number);
    operation->in.blob.writer = writer;
    return operation;
}

static struct operation *begin_content(uint8_t number, int64_t writer, const char *upload_id, int64_t offset)
{
    struct operation *begin = make_call(OPERATION_BLOB_BEGIN, number, writer);

    begin->in.blob.upload_id = str_of(upload_id);
    begin->in.blob.offset = offset;
    blob_put_begin(&world.writer, begin);
    return begin;
}

static struct operation *append_chunk(uint8_t number, int64_t writer, int64_t chunk, char byte)
{
    struct operation *append = make_call(OPERATION_BLOB_APPEND, number, writer);

    append->in.blob.offset = chunk * CHUNK;
    append->in.blob.bytes = chunk_of(byte);
    blob_put_append(&world.writer, append);
    return append;
}

static struct operation *commit_content(uint8_t number, int64_t writer, int64_t chunks)
{
    struct operation *commit = make_call(OPERATION_BLOB_COMMIT, number, writer);

    commit->in.blob.offset = chunks * CHUNK;
    blob_put_commit(&world.writer, commit);
    return commit;
}

/* Put the blob "b" with one chunk of this byte. */
static void put_chunk(uint8_t number, char byte)
{
    call_succeeded(begin_content(number, number, "", 0));
    call_succeeded(append_chunk(number, number, 0, byte));
    call_succeeded(commit_content(number, number, 1));
}

static void delete_blob(void)
{
    struct operation *delete = make_call(OPERATION_BLOB_DELETE, 0, 0);

    blob_calls_delete(&world.writer, delete);
    call_succeeded(delete);
}

static struct operation *read_chunk(uint8_t number, int64_t chunk)
{
    struct operation *read = make_call(OPERATION_BLOB_READ, number, 0);

    read->in.blob.number = chunk;
    blob_read_chunk(&world.writer, read);
    return read;
}

static struct blob_counts collect_due(void)
{
    struct blob_counts counts = { 0 };
    struct error err = { 0 };
    bool more = false;

    ck_assert_msg(blob_collect_round(world.worker, 0, &counts, &more, &err) == STATUS_OK, "%s", err.message);
    ck_assert(!more);
    return counts;
}

/* Let all waits of contents end, and run the collector. Returns the number of deleted chunks. */
static int64_t collect_all(void)
{
    test_sql(world.sql, "update blob_contents set kept_until = now() where state <> 2");
    return collect_due().chunks;
}

static long long count_rows(const char *table)
{
    return test_number(world.sql, "select count(*) from %s", table);
}

START_TEST(a_replaced_content_goes_and_the_new_one_stays) /* guard G57 */
{
    put_chunk(1, 'x');
    put_chunk(2, 'y');

    ck_assert_int_eq(collect_all(), 1);
    ck_assert_int_eq(count_rows("blob_contents"), 1);
    ck_assert_int_eq(count_rows("blob_chunks"), 1);
    call_succeeded(read_chunk(2, 0));
    call_failed(read_chunk(1, 0), "BLOB_CHANGED");
}
END_TEST

START_TEST(a_deleted_blob_leaves_nothing) /* guard G57 */
{
    put_chunk(1, 'x');
    delete_blob();

    ck_assert_int_eq(collect_all(), 1);
    ck_assert_int_eq(count_rows("blobs") + count_rows("blob_contents") + count_rows("blob_parts"), 0);
    ck_assert_int_eq(count_rows("blob_chunks"), 0);
}
END_TEST

START_TEST(a_chunk_that_another_content_names_stays) /* guard G56 */
{
    struct blob_counts counts;

    put_chunk(1, 'x');
    call_succeeded(begin_content(2, 2, "", 0));
    call_succeeded(append_chunk(2, 2, 0, 'x'));
    delete_blob();
    test_sql(world.sql, "update blob_contents set kept_until = now() where state = 3");
    counts = collect_due();

    ck_assert_int_eq(counts.parts, 1);
    ck_assert_int_eq(counts.chunks, 0);
    call_succeeded(commit_content(2, 2, 1));
    call_succeeded(read_chunk(2, 0));
    ck_assert_int_eq(test_number(world.sql, "select count(*) from blob_chunks where condemned is null"), 1);
}
END_TEST

START_TEST(the_collector_does_not_delete_a_chunk_that_a_stream_is_about_to_name) /* guard G55 */
{
    PGconn *stream = test_connect(world.conninfo);
    struct str bytes = chunk_of('x');
    struct blob_digest digest = blob_hash_of(bytes);
    static char hex[2 * BLOB_DIGEST_BYTES + 3] = "\\x", text[2 * CHUNK + 3] = "\\x";
    const char *params[] = { "acme", "02000000-0000-0000-0000-000000000000", "2", "0", "0", hex, text,
        "262144", "0", NULL, "900" };
    PGresult *appended;

    put_chunk(1, 'x');
    delete_blob();
    test_sql(world.sql, "update blob_contents set kept_until = now()");
    test_sql(world.sql, "delete from blob_parts");
    test_sql(world.sql, "update blob_chunks set condemned = now()");
    call_succeeded(begin_content(2, 2, "", 0));
    digits_encode_hex(blob_digest_str(&digest), hex + 2);
    digits_encode_hex(bytes, text + 2);

    /* The stream has named the chunk, and has not committed. */
    test_sql(stream, "begin");
    appended = PQexecParams(stream, sql_blob_append.text, ARRAY_LEN(params), NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQntuples(appended) == 1, "%s", PQerrorMessage(stream));
    PQclear(appended);
    ck_assert_int_eq(collect_due().chunks, 0);
    test_sql(stream, "commit");
    PQfinish(stream);
    call_succeeded(commit_content(2, 2, 1));
    call_succeeded(read_chunk(2, 0));
}
END_TEST

START_TEST(only_the_last_stream_of_an_upload_appends) /* guard G54 */
{
    struct operation *continued;

    call_succeeded(begin_content(1, 1, "u", 0));
    call_succeeded(append_chunk(1, 1, 0, 'x'));
    continued = begin_content(9, 2, "u", CHUNK);
    call_succeeded(continued);
    ck_assert(
        str_equal(blob_id_str(&continued->out.blob.upload.content), blob_id_str(&(struct blob_id){ { 1 } })));

    call_failed(append_chunk(1, 1, 1, 'y'), "UPLOAD_OFFSET_MISMATCH");
    call_failed(commit_content(1, 1, 1), "UPLOAD_OFFSET_MISMATCH");
    call_succeeded(append_chunk(1, 2, 1, 'z'));
    call_succeeded(commit_content(1, 2, 2));
    ck_assert_int_eq(read_chunk(1, 1)->out.blob.bytes.data[0], 'z');
}
END_TEST

START_TEST(a_chunk_that_is_sent_again_is_stored_once)
{
    call_succeeded(begin_content(1, 1, "", 0));
    call_succeeded(append_chunk(1, 1, 0, 'x'));
    call_succeeded(append_chunk(1, 1, 0, 'x'));
    call_failed(append_chunk(1, 1, 0, 'y'), "UPLOAD_OFFSET_MISMATCH");
    call_failed(append_chunk(1, 1, 2, 'x'), "UPLOAD_OFFSET_MISMATCH");
    call_failed(commit_content(1, 1, 2), "UPLOAD_OFFSET_MISMATCH");
    call_succeeded(commit_content(1, 1, 1));
}
END_TEST

START_TEST(an_abandoned_upload_is_collected_and_cannot_be_published) /* guard G54 */
{
    call_succeeded(begin_content(1, 1, "u", 0));
    call_succeeded(append_chunk(1, 1, 0, 'x'));
    test_sql(world.sql, "update blob_contents set state = 3");
    call_failed(commit_content(1, 1, 1), "UPLOAD_OFFSET_MISMATCH");
    call_failed(append_chunk(1, 1, 1, 'x'), "UPLOAD_OFFSET_MISMATCH");
    call_failed(begin_content(1, 2, "u", CHUNK), "UPLOAD_NOT_FOUND");
    ck_assert_int_eq(collect_all(), 1);
    call_succeeded(begin_content(2, 2, "u", 0));
}
END_TEST

START_TEST(a_reader_keeps_what_was_replaced_but_not_for_ever)
{
    put_chunk(1, 'x');
    delete_blob();

    test_sql(world.sql, "update blob_contents set kept_until = now() + interval '1 second'");
    call_succeeded(read_chunk(1, 0));
    ck_assert_int_eq(
        test_number(
            world.sql, "select count(*) from blob_contents where kept_until > now() + interval '5 seconds'"),
        1);
    test_sql(world.sql, "update blob_contents set discarded = now() - interval '59 minutes 58 seconds'");
    test_sql(world.sql, "update blob_contents set kept_until = now() + interval '1 second'");
    call_succeeded(read_chunk(1, 0));
    ck_assert_int_eq(
        test_number(
            world.sql, "select count(*) from blob_contents where kept_until > now() + interval '5 seconds'"),
        0);
}
END_TEST

START_TEST(a_large_content_is_collected_in_pieces)
{
    call_succeeded(begin_content(1, 1, "", 0));
    test_sql(world.sql,
        "insert into blob_parts select 'acme', content_id, n, sha256(n::text::bytea) from blob_contents, "
        "generate_series(0, 2499) n");
    test_sql(world.sql, "insert into blob_chunks select 'acme', sha256(n::text::bytea), 1, 'x' from "
                        "generate_series(0, 2499) n");

    ck_assert_int_eq(collect_all(), 2500);
    ck_assert_int_eq(count_rows("blob_contents") + count_rows("blob_parts") + count_rows("blob_chunks"), 0);
}
END_TEST

START_TEST(accounts_share_no_chunk)
{
    struct operation *begin = make_call(OPERATION_BLOB_BEGIN, 2, 2);
    struct operation *append = make_call(OPERATION_BLOB_APPEND, 2, 2);

    put_chunk(1, 'x');
    begin->account = append->account = STR_LITERAL("globex");
    append->in.blob.bytes = chunk_of('x');
    blob_put_begin(&world.writer, begin);
    blob_put_append(&world.writer, append);
    call_succeeded(append);
    ck_assert_int_eq(count_rows("blob_chunks"), 2);
}
END_TEST

static void add_tests(Suite *suite, const char *name, void (*begins)(void), void (*ends)(void))
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, begins, ends);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_replaced_content_goes_and_the_new_one_stays);
    tcase_add_test(tc, a_deleted_blob_leaves_nothing);
    tcase_add_test(tc, a_chunk_that_another_content_names_stays);
    tcase_add_test(tc, the_collector_does_not_delete_a_chunk_that_a_stream_is_about_to_name);
    tcase_add_test(tc, only_the_last_stream_of_an_upload_appends);
    tcase_add_test(tc, a_chunk_that_is_sent_again_is_stored_once);
    tcase_add_test(tc, an_abandoned_upload_is_collected_and_cannot_be_published);
    tcase_add_test(tc, a_reader_keeps_what_was_replaced_but_not_for_ever);
    tcase_add_test(tc, a_large_content_is_collected_in_pieces);
    tcase_add_test(tc, accounts_share_no_chunk);
    suite_add_tcase(suite, tc);
}

Suite *test_blobs_suite(void)
{
    Suite *suite = suite_create("blobs");

    test_postgres_start();
    add_tests(suite, "in the database", setup, teardown);
    add_tests(suite, "in a directory", setup_directory, teardown_directory);
    return suite;
}
