/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_chunk_stores.c - chunks whose bytes are in a store outside of the database, with the collector and failures of
 * the store between any two steps (guard G68). The store is one of this test, in memory.
 */
#include <check.h>

#include "base/chunk_store.h"
#include "base/digits.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "store/blobs/blob_calls.h"
#include "store/blobs/blob_collect.h"
#include "store/blobs/blob_put.h"
#include "store/blobs/blob_read.h"
#include "store/blobs/stray_remove.h"
#include "store/sql.h"
#include "tests/support/calls.h"
#include "tests/support/worker_world.h"

enum { CHUNK = LIMIT_BLOB_CHUNK_BYTES, OBJECTS = 16 };

struct object {
    char name[200];
    struct str bytes; /* none: there is no such object */
};

/* A store that does what a test tells it. */
static struct memory_store {
    struct chunk_store store;
    struct object objects[OBJECTS];
    int puts, wrong_gets, failing_puts, failing_gets, failing_removals;
    void (*on_put)(void);
    void (*on_get)(void);
} memory;

static struct world world;
static struct chunk_stores chunks;

static struct object *find_object(const char *name)
{
    for (int i = 0; i < OBJECTS; i++)
        if (memory.objects[i].bytes.len > 0 && strcmp(memory.objects[i].name, name) == 0)
            return &memory.objects[i];
    return NULL;
}

static int count_objects(void)
{
    int count = 0;

    for (int i = 0; i < OBJECTS; i++)
        count += memory.objects[i].bytes.len > 0;
    return count;
}

static enum status put_object(struct chunk_store *store, const char *name, struct str bytes,
    const struct chunk_wait *wait, struct error *err)
{
    int slot = 0;

    (void)store, (void)wait;
    if (memory.failing_puts > 0 && memory.failing_puts--)
        return error_set(err, STATUS_UNAVAILABLE, "no space left on /secret/path");
    ck_assert_msg(!find_object(name), "a name is used twice");
    while (memory.objects[slot].bytes.len > 0)
        ck_assert_int_lt(++slot, OBJECTS);
    snprintf(memory.objects[slot].name, sizeof(memory.objects[slot].name), "%s", name);
    memory.objects[slot].bytes = arena_copy(&world.arena, bytes);
    memory.puts++;
    if (memory.on_put)
        memory.on_put();
    return STATUS_OK;
}

static enum status get_object(struct chunk_store *store, const char *name, const struct chunk_wait *wait,
    struct arena *arena, struct str *out, struct error *err)
{
    const struct object *object = find_object(name);

    (void)store, (void)wait;
    if (memory.on_get)
        memory.on_get();
    if (memory.failing_gets > 0 && memory.failing_gets--)
        return error_set(err, STATUS_UNAVAILABLE, "the host secret.example does not answer");
    if (!object)
        return error_set(err, STATUS_NOT_FOUND, "no object");
    *out = memory.wrong_gets > 0 && memory.wrong_gets-- ? STR_LITERAL("wrong")
                                                        : arena_copy(arena, object->bytes);
    return STATUS_OK;
}

static enum status remove_object(
    struct chunk_store *store, const char *name, const struct chunk_wait *wait, struct error *err)
{
    struct object *object = find_object(name);

    (void)store, (void)wait;
    if (memory.failing_removals > 0 && memory.failing_removals--)
        return error_set(err, STATUS_UNAVAILABLE, "the store does not answer");
    if (object)
        object->bytes = STR_EMPTY;
    return STATUS_OK;
}

static const struct chunk_store_calls memory_calls = {
    .put = put_object, .get = get_object, .remove = remove_object
};

static void setup(void)
{
    struct error err = { 0 };

    world_open(&world);
    memory = (struct memory_store){ .store = { &memory_calls } };
    for (int i = 0; i < OBJECTS; i++)
        memory.objects[i].bytes = STR_EMPTY;
    chunks = (struct chunk_stores){ .put_into = CHUNK_STORE_DIRECTORY,
        .of[CHUNK_STORE_DIRECTORY] = &memory.store };
    world.writer.chunks = &chunks;
    worker_use_chunks(world.worker, &chunks);
    ck_assert_int_eq(session_ensure(&world.writer, &err), STATUS_OK);
}

static void teardown(void)
{
    world_close(&world);
}

static struct str chunk_of(char byte)
{
    char *bytes = arena_alloc(&world.arena, CHUNK);

    memset(bytes, byte, CHUNK);
    return str_of_bytes(bytes, CHUNK);
}

static struct operation *make_call(enum operation_kind kind, uint8_t number)
{
    struct operation *operation = call_make(&world.arena, kind, "");

    operation->in.blob.name = STR_LITERAL("b");
    operation->in.blob.content = (struct blob_id){ { number } };
    operation->in.blob.writer = number;
    return operation;
}

static void begin_content(uint8_t number)
{
    struct operation *begin = make_call(OPERATION_BLOB_BEGIN, number);

    blob_put_begin(&world.writer, begin);
    call_succeeded(begin);
}

static struct operation *append_chunk(uint8_t number, char byte)
{
    struct operation *append = make_call(OPERATION_BLOB_APPEND, number);

    append->in.blob.bytes = chunk_of(byte);
    blob_put_append(&world.writer, append);
    return append;
}

static struct operation *commit_content(uint8_t number)
{
    struct operation *commit = make_call(OPERATION_BLOB_COMMIT, number);

    commit->in.blob.offset = CHUNK;
    blob_put_commit(&world.writer, commit);
    return commit;
}

static void put_chunk(uint8_t number, char byte)
{
    begin_content(number);
    call_succeeded(append_chunk(number, byte));
    call_succeeded(commit_content(number));
}

static void delete_blob(void)
{
    struct operation *delete = make_call(OPERATION_BLOB_DELETE, 0);

    blob_calls_delete(&world.writer, delete);
    call_succeeded(delete);
}

static struct operation *read_chunk(uint8_t number)
{
    struct operation *read = make_call(OPERATION_BLOB_READ, number);

    blob_read_chunk(&world.writer, read);
    return read;
}

static long long count_rows(const char *table)
{
    return test_number(world.sql, "select count(*) from %s", table);
}

/* Let the waits of contents end, and run the collector, which keeps the bytes of chunks for some seconds. */
static void collect_chunks(int64_t kept_s)
{
    struct blob_counts counts = { 0 };
    struct error err = { 0 };
    bool more = false;

    test_sql(world.sql, "update blob_contents set kept_until = now() where state <> 2");
    ck_assert_msg(
        blob_collect_round(world.worker, kept_s, &counts, &more, &err) == STATUS_OK, "%s", err.message);
}

static bool never(const void *context)
{
    (void)context;
    return false;
}

static struct stray_round remove_strays(void)
{
    struct stray_round round = { .is_stopping = never };
    struct error err = { 0 };

    ck_assert_msg(stray_remove_round(world.worker, &round, &err) == STATUS_OK, "%s", err.message);
    return round;
}

static void end_waits_of_strays(void)
{
    test_sql(world.sql, "update blob_strays set due = now()");
}

START_TEST(bytes_are_in_the_store_and_nothing_is_a_stray)
{
    put_chunk(1, 'x');
    ck_assert_int_eq(count_objects(), 1);
    ck_assert_int_eq(count_rows("blob_strays"), 0);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from blob_chunks where bytes is null and store = 1"), 1);
    ck_assert(str_equal(read_chunk(1)->out.blob.bytes, chunk_of('x')));
}
END_TEST

START_TEST(equal_chunks_of_an_account_are_put_once)
{
    put_chunk(1, 'x');
    put_chunk(2, 'x');
    collect_chunks(0);
    ck_assert_int_eq(memory.puts, 1);
    call_succeeded(read_chunk(2));
}
END_TEST

START_TEST(the_names_of_accounts_and_digests_make_the_names_of_objects)
{
    put_chunk(1, 'x');
    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from blob_chunks where '%s' = 'acme/' || left(encode(digest, "
                         "'hex'), 2) || '/' || "
                         "encode(digest, 'hex') || '-' || replace(object_id::text, '-', '')",
                         memory.objects[0].name),
        1);
}
END_TEST

/* ---- what breaks on the way ---- */

START_TEST(a_put_that_breaks_leaves_a_stray_that_goes)
{
    begin_content(1);
    test_sql(world.sql, "update blob_contents set state = 3");
    call_failed(append_chunk(1, 'x'), "UPLOAD_OFFSET_MISMATCH");
    ck_assert_int_eq(count_objects(), 1);
    ck_assert_int_eq(count_rows("blob_strays where due > now() + interval '10 minutes'"), 1);
    ck_assert_int_eq(remove_strays().removed, 0);

    end_waits_of_strays();
    ck_assert_int_eq(remove_strays().removed, 1);
    ck_assert_int_eq(count_objects() + count_rows("blob_strays") + count_rows("blob_chunks"), 0);
}
END_TEST

START_TEST(a_store_that_refuses_a_put_stores_nothing_and_is_not_named)
{
    struct operation *append;

    begin_content(1);
    memory.failing_puts = 1;
    append = append_chunk(1, 'x');
    call_failed(append, "BLOB_STORE_UNAVAILABLE");
    ck_assert_ptr_null(strstr(append->error->message, "secret"));
    ck_assert_ptr_nonnull(strstr(append->error->detail, "no space"));
    ck_assert_int_eq(test_number(world.sql, "select size from blob_contents"), 0);
    ck_assert_int_eq(count_rows("blob_chunks"), 0);
    call_succeeded(append_chunk(1, 'x'));
    call_succeeded(commit_content(1));
    call_succeeded(read_chunk(1));
    end_waits_of_strays();
    ck_assert_int_eq(remove_strays().removed, 1);
    call_succeeded(read_chunk(1));
}
END_TEST

START_TEST(no_bytes_leave_a_database_that_admits_older_programs)
{
    begin_content(1);
    test_sql(world.sql, "update schema_migrations set oldest_program = 36");
    call_failed(append_chunk(1, 'x'), "BLOB_STORE_UNAVAILABLE");
    ck_assert_int_eq(memory.puts, 0);
}
END_TEST

/* ---- the collector comes between ---- */

/* The put takes so long that its stray is collected. */
static void collect_while_putting(void)
{
    memory.on_put = NULL;
    end_waits_of_strays();
    ck_assert_int_eq(remove_strays().removed, 1);
}

START_TEST(bytes_that_are_gone_become_no_chunk) /* guard G68 */
{
    begin_content(1);
    memory.on_put = collect_while_putting;
    call_succeeded(append_chunk(1, 'x'));
    ck_assert_int_eq(memory.puts, 2);
    call_succeeded(commit_content(1));
    call_succeeded(read_chunk(1));
}
END_TEST

/* The collector has marked the stray, and stands still before it removes the bytes. */
static void mark_while_putting(void)
{
    memory.on_put = NULL;
    end_waits_of_strays();
    memory.failing_removals = 1;
    ck_assert_int_eq(remove_strays().failed, 1);
}

START_TEST(bytes_that_the_collector_is_about_to_remove_become_no_chunk) /* guard G68 */
{
    begin_content(1);
    memory.on_put = mark_while_putting;
    call_succeeded(append_chunk(1, 'x'));
    call_succeeded(commit_content(1));
    /* The removal arrives late. */
    end_waits_of_strays();
    ck_assert_int_eq(remove_strays().removed, 1);
    call_succeeded(read_chunk(1));
}
END_TEST

START_TEST(a_chunk_that_is_gone_is_not_named) /* guard G68 */
{
    struct blob_digest digest = blob_hash_of(STR_LITERAL("x"));
    static char hex[2 * BLOB_DIGEST_BYTES + 3] = "\\x";
    const char *params[] = { "acme", "01000000-0000-0000-0000-000000000000", "1", "0", "0", hex, NULL, "1",
        "1", NULL, "900" };
    PGresult *appended;

    begin_content(1);
    digits_encode_hex(blob_digest_str(&digest), hex + 2);
    appended = PQexecParams(world.sql, sql_blob_append.text, ARRAY_LEN(params), NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(appended) == PGRES_TUPLES_OK, "%s", PQerrorMessage(world.sql));
    ck_assert_int_eq(PQntuples(appended), 0);
    PQclear(appended);
    ck_assert_int_eq(count_rows("blob_chunks") + count_rows("blob_parts"), 0);
}
END_TEST

START_TEST(the_collector_leaves_a_chunk_that_a_stream_has_found) /* guard G68 */
{
    PGconn *stream = test_connect(world.conninfo);
    struct str bytes = chunk_of('x');
    struct blob_digest digest = blob_hash_of(bytes);
    static char hex[2 * BLOB_DIGEST_BYTES + 3] = "\\x";
    const char *params[] = { "acme", hex };
    PGresult *held;

    put_chunk(1, 'x');
    delete_blob();
    digits_encode_hex(blob_digest_str(&digest), hex + 2);
    test_sql(world.sql, "update blob_chunks set condemned = now()");
    test_sql(world.sql, "delete from blob_parts");
    test_sql(world.sql, "delete from blob_contents");
    test_sql(stream, "begin");
    held = PQexecParams(stream, sql_chunk_hold.text, ARRAY_LEN(params), NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQntuples(held) == 1, "%s", PQerrorMessage(stream));
    PQclear(held);
    collect_chunks(0);
    test_sql(stream, "commit");
    PQfinish(stream);
    ck_assert_int_eq(count_rows("blob_chunks"), 1);
    ck_assert_int_eq(count_objects(), 1);
}
END_TEST

START_TEST(bytes_of_a_collected_chunk_are_kept_and_then_go)
{
    put_chunk(1, 'x');
    delete_blob();
    collect_chunks(3600);
    ck_assert_int_eq(count_rows("blob_chunks"), 0);
    ck_assert_int_eq(count_rows("blob_strays"), 1);
    ck_assert_int_eq(remove_strays().removed, 0);
    ck_assert_int_eq(count_objects(), 1);

    end_waits_of_strays();
    ck_assert_int_eq(remove_strays().removed, 1);
    ck_assert_int_eq(count_objects() + count_rows("blob_strays"), 0);
}
END_TEST

START_TEST(a_chunk_that_is_put_again_has_another_name_than_the_bytes_that_are_to_go) /* guard G68 */
{
    put_chunk(1, 'x');
    delete_blob();
    collect_chunks(0);
    put_chunk(2, 'x');
    ck_assert_int_eq(count_objects(), 2);
    ck_assert_int_eq(remove_strays().removed, 1);
    call_succeeded(read_chunk(2));
}
END_TEST

START_TEST(a_removal_that_fails_is_tried_again)
{
    put_chunk(1, 'x');
    delete_blob();
    collect_chunks(0);
    memory.failing_removals = 1;
    ck_assert_int_eq(remove_strays().failed, 1);
    ck_assert_int_eq(count_rows("blob_strays where removing and due > now() + interval '30 seconds'"), 1);
    end_waits_of_strays();
    ck_assert_int_eq(remove_strays().removed, 1);
    ck_assert_int_eq(count_objects() + count_rows("blob_strays"), 0);
}
END_TEST

START_TEST(strays_in_a_store_that_the_worker_does_not_have_stay)
{
    put_chunk(1, 'x');
    delete_blob();
    collect_chunks(0);
    test_sql(world.sql, "update blob_strays set store = 2");
    ck_assert_int_eq(remove_strays().removed, 0);
    ck_assert_int_eq(count_rows("blob_strays where not removing"), 1);
}
END_TEST

/* ---- reading ---- */

START_TEST(bytes_that_are_wrong_once_are_read_again)
{
    put_chunk(1, 'x');
    memory.wrong_gets = 1;
    ck_assert(str_equal(read_chunk(1)->out.blob.bytes, chunk_of('x')));
}
END_TEST

START_TEST(bytes_that_are_wrong_or_missing_are_never_returned)
{
    put_chunk(1, 'x');
    memory.wrong_gets = 1000;
    call_failed(read_chunk(1), "BLOB_DAMAGED");
    memory.wrong_gets = 0;
    memory.objects[0].bytes = STR_EMPTY;
    call_failed(read_chunk(1), "BLOB_DAMAGED");
}
END_TEST

START_TEST(a_store_that_does_not_answer_is_said_without_its_name)
{
    struct operation *read;

    put_chunk(1, 'x');
    memory.failing_gets = 1;
    read = read_chunk(1);
    call_failed(read, "BLOB_STORE_UNAVAILABLE");
    ck_assert_ptr_null(strstr(read->error->message, "secret"));
    call_succeeded(read_chunk(1));
    chunks.of[CHUNK_STORE_DIRECTORY] = NULL;
    call_failed(read_chunk(1), "BLOB_STORE_UNAVAILABLE");
    world.writer.chunks = NULL;
    call_failed(read_chunk(1), "BLOB_STORE_UNAVAILABLE");
}
END_TEST

/* The content is replaced and collected between the reading of the row and that of the object. */
static void collect_while_reading(void)
{
    memory.on_get = NULL;
    memory.objects[0].bytes = STR_EMPTY;
    test_sql(world.sql, "delete from blobs");
    test_sql(world.sql, "delete from blob_parts");
    test_sql(world.sql, "delete from blob_contents");
    test_sql(world.sql, "delete from blob_chunks");
    memory.wrong_gets = 1;
}

START_TEST(a_reader_whose_content_is_collected_meanwhile_is_told_so)
{
    put_chunk(1, 'x');
    memory.on_get = collect_while_reading;
    call_failed(read_chunk(1), "BLOB_CHANGED");
}
END_TEST

START_TEST(chunks_stay_where_they_are_when_the_setting_changes)
{
    world.writer.chunks = NULL;
    put_chunk(1, 'x');
    world.writer.chunks = &chunks;
    call_succeeded(read_chunk(1));
    put_chunk(2, 'x');
    ck_assert_int_eq(memory.puts, 0);
    put_chunk(3, 'y');
    ck_assert_int_eq(memory.puts, 1);
    chunks.put_into = CHUNK_STORE_POSTGRESQL;
    put_chunk(4, 'z');
    ck_assert_int_eq(memory.puts, 1);
    call_succeeded(read_chunk(4));
    call_succeeded(read_chunk(3));
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
    tcase_add_test(tc, a_chunk_that_is_gone_is_not_named);
    tcase_add_test(tc, the_collector_leaves_a_chunk_that_a_stream_has_found);
    tcase_add_test(tc, bytes_of_a_collected_chunk_are_kept_and_then_go);
    tcase_add_test(tc, a_chunk_that_is_put_again_has_another_name_than_the_bytes_that_are_to_go);
    tcase_add_test(tc, a_removal_that_fails_is_tried_again);
    tcase_add_test(tc, strays_in_a_store_that_the_worker_does_not_have_stay);
    tcase_add_test(tc, bytes_that_are_wrong_once_are_read_again);
    tcase_add_test(tc, bytes_that_are_wrong_or_missing_are_never_returned);
    tcase_add_test(tc, a_store_that_does_not_answer_is_said_without_its_name);
    tcase_add_test(tc, a_reader_whose_content_is_collected_meanwhile_is_told_so);
    tcase_add_test(tc, chunks_stay_where_they_are_when_the_setting_changes);
    suite_add_tcase(suite, tc);
    return suite;
}
