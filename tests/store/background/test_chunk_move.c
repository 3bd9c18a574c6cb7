/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_chunk_move.c - chunks of blobs that move between their stores, with the collector, puts and failures of the
 * stores between any two steps (guard G73).
 */
#include <check.h>

#include "store/background/chunk_calls.h"
#include "store/blobs/blob_calls.h"
#include "store/job_work.h"
#include "store/jobs/job_calls.h"
#include "tests/support/chunk_world.h"
#include "tests/support/index_calls.h"

static struct chunk_world at;

static void setup(void)
{
    chunk_world_open(&at);
    at.chunks.of[CHUNK_STORE_S3] = &at.s3.store;
}

static void teardown(void)
{
    chunk_world_close(&at);
}

/* ---- steps ---- */

static struct operation *ask_move(enum chunk_store_kind target)
{
    struct operation *move = call_make(&at.world.arena, OPERATION_CHUNKS_MOVE, "");

    move->in.chunks.target = target;
    return call_run(&at.world.writer, chunk_calls_move, move);
}

static struct str begin_move(enum chunk_store_kind target)
{
    struct operation *move = ask_move(target);

    call_succeeded(move);
    return move->out.jobs.jobs[0].operation_id;
}

/* New chunks are put there too. */
static struct str begin_move_to_s3(void)
{
    at.chunks.put_into = CHUNK_STORE_S3;
    return begin_move(CHUNK_STORE_S3);
}

static bool never(const void *who)
{
    (void)who;
    return false;
}

/* Move one batch; false: there was no work. */
static bool move_batch(void)
{
    struct error err = { 0 };
    struct chunk_turn turn;

    ck_assert_msg(
        job_work_move_chunks(at.world.worker, never, NULL, &turn, &err) == STATUS_OK, "%s", err.message);
    ck_assert(!turn.is_store_down);
    return turn.worked;
}

static void move_rest(void)
{
    while (move_batch())
        continue;
}

/* Whether a store was down. */
static bool fail_batch(void)
{
    struct error err = { 0 };
    struct chunk_turn turn;

    ck_assert_int_eq(job_work_move_chunks(at.world.worker, never, NULL, &turn, &err), STATUS_UNAVAILABLE);
    return turn.is_store_down;
}

static struct job_view look_at(struct str id)
{
    struct operation *get = call_make(&at.world.arena, OPERATION_JOB_GET, "");

    get->in.jobs.operation_id = id;
    call_succeeded(call_run(&at.world.writer, job_calls_get, get));
    return get->out.jobs.jobs[0];
}

/* Move to the end, and return the job. */
static struct job_view move_all(enum chunk_store_kind target)
{
    struct str id = begin_move(target);

    move_rest();
    return look_at(id);
}

static void ended_well(struct job_view job)
{
    ck_assert_msg(job.state == JOB_DONE, "%.*s", STR_ARG(job.error));
}

static void ended_with(struct job_view job, const char *error)
{
    ck_assert_int_eq(job.state, JOB_FAILED);
    ck_assert_msg(
        strstr(arena_copy(&at.world.arena, job.error).data, error) != NULL, "%.*s", STR_ARG(job.error));
}

/* Put contents of one chunk each, with these bytes; their names go, and the contents stay readable. */
static void put_chunks(const char *bytes)
{
    for (uint8_t i = 0; bytes[i]; i++)
        chunk_world_put(&at, (uint8_t)bytes[i], bytes[i]);
}

static void all_are_readable(const char *bytes)
{
    for (; *bytes; bytes++) {
        struct operation *read = chunk_world_read(&at, (uint8_t)*bytes);

        call_succeeded(read);
        ck_assert(str_equal(read->out.blob.bytes, chunk_world_bytes(&at, *bytes)));
    }
}

static void all_are_in(enum chunk_store_kind store, long long count)
{
    ck_assert_int_eq(
        test_number(at.world.sql, "select count(*) from blob_chunks where store = %d", (int)store), count);
    ck_assert_int_eq(
        test_number(at.world.sql, "select count(*) from blob_chunks where store <> %d", (int)store), 0);
    ck_assert_int_eq(
        test_number(at.world.sql,
            "select count(*) from blob_chunks where (bytes is null) = (store = 0) or (object_id is null) <> "
            "(store = 0)"),
        0);
}

/* ---- moving ---- */

static const struct move_case {
    enum chunk_store_kind from, to;
} moves[] = {
    { CHUNK_STORE_POSTGRESQL, CHUNK_STORE_DIRECTORY },
    { CHUNK_STORE_DIRECTORY, CHUNK_STORE_POSTGRESQL },
    { CHUNK_STORE_DIRECTORY, CHUNK_STORE_S3 },
    { CHUNK_STORE_S3, CHUNK_STORE_DIRECTORY },
};

START_TEST(chunks_move_from_each_store_to_each_and_stay_readable)
{
    const struct move_case *move = &moves[_i];
    struct job_view job;

    at.chunks.put_into = move->from;
    put_chunks("abcdefghijklmnopqrst");
    at.chunks.put_into = move->to;
    job = move_all(move->to);

    ended_well(job);
    ck_assert_int_eq(job.done, 20);
    ck_assert_int_eq(job.total, 20);
    all_are_in(move->to, 20);
    all_are_readable("abcdefghijklmnopqrst");
    chunk_world_end_waits(&at);
    chunk_world_remove_strays(&at);
    all_are_readable("abcdefghijklmnopqrst");
    ck_assert_int_eq(chunk_world_rows(&at, "blob_strays"), 0);
    ck_assert_int_eq(chunk_world_objects(&at.directory), move->to == CHUNK_STORE_DIRECTORY ? 20 : 0);
    ck_assert_int_eq(chunk_world_objects(&at.s3), move->to == CHUNK_STORE_S3 ? 20 : 0);
}
END_TEST

START_TEST(a_move_of_nothing_and_a_second_one_do_nothing)
{
    ended_well(move_all(CHUNK_STORE_S3));
    put_chunks("a");
    at.chunks.put_into = CHUNK_STORE_S3;
    ck_assert_int_eq(move_all(CHUNK_STORE_S3).done, 1);
    ck_assert_int_eq(move_all(CHUNK_STORE_S3).done, 0);
    ck_assert_int_eq(at.s3.puts, 1);
}
END_TEST

START_TEST(old_bytes_are_kept_for_backups_and_then_go)
{
    put_chunks("a");
    at.chunks.put_into = CHUNK_STORE_S3;
    at.chunks.kept_s = 3600;
    ended_well(move_all(CHUNK_STORE_S3));

    ck_assert_int_eq(chunk_world_rows(&at,
                         "blob_strays where store = 1 and due > now() + interval '50 minutes' and size > 0"),
        1);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 0);
    ck_assert_int_eq(chunk_world_objects(&at.directory), 1);
    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
    all_are_readable("a");
}
END_TEST

START_TEST(chunks_of_other_accounts_than_the_callers_move)
{
    put_chunks("ab");
    test_sql(at.world.sql, "update blob_chunks set account = 'zoo1'");
    for (int i = 0; i < 2; i++)
        memcpy(at.directory.objects[i].name, "zoo1", 4); /* in place of acme */
    at.chunks.put_into = CHUNK_STORE_S3;
    ended_well(move_all(CHUNK_STORE_S3));
    all_are_in(CHUNK_STORE_S3, 2);
    ck_assert(str_starts_with(str_of(at.s3.objects[0].name), STR_LITERAL("zoo1/")));
}
END_TEST

/* ---- what breaks on the way ---- */

START_TEST(damaged_and_missing_chunks_stay_and_the_others_move)
{
    struct job_view job;

    put_chunks("abcde");
    at.directory.objects[1].bytes = STR_LITERAL("damaged");
    at.directory.objects[3].bytes = STR_EMPTY;
    at.chunks.put_into = CHUNK_STORE_S3;
    job = move_all(CHUNK_STORE_S3);

    ended_with(job, "2 chunks are missing or damaged");
    ck_assert_int_eq(job.done, 3);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks where store = 2"), 3);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks where store = 1"), 2);
    all_are_readable("ace");
}
END_TEST

START_TEST(a_store_that_refuses_some_puts_takes_the_rest_later)
{
    struct str id;

    put_chunks("abcd");
    id = begin_move_to_s3();
    at.s3.failing_puts = 2;
    (void)fail_batch();
    ck_assert_int_eq(look_at(id).state, JOB_RUNNING);
    ck_assert_int_eq(look_at(id).done, 2);
    all_are_readable("abcd");
    move_rest();
    ended_well(look_at(id));
    ck_assert_int_eq(look_at(id).done, 4);
    all_are_in(CHUNK_STORE_S3, 4);
    chunk_world_end_waits(&at);
    chunk_world_remove_strays(&at);
    all_are_readable("abcd");
}
END_TEST

START_TEST(a_damaged_chunk_that_is_deleted_during_the_move_is_no_failure)
{
    struct str id;

    put_chunks("abcdefghijklmnopqrst");
    for (int i = 0; i < CHUNK_WORLD_OBJECTS; i++)
        at.directory.objects[i].bytes = STR_EMPTY;
    id = begin_move_to_s3();
    ck_assert(move_batch());
    test_sql(at.world.sql, "delete from blob_chunks");
    move_rest();
    ended_well(look_at(id));
    ck_assert_uint_eq(look_at(id).error.len, 0);
}
END_TEST

START_TEST(the_chunks_are_counted_once_while_a_store_fails)
{
    struct str id;

    put_chunks("a");
    id = begin_move_to_s3();
    at.s3.failing_puts = 1;
    (void)fail_batch();
    ck_assert_int_eq(look_at(id).total, 1);
    ck_assert_int_eq(chunk_world_rows(&at, "operations where phase = 1 and not has_cursor"), 1);
    move_rest();
    ended_well(look_at(id));
}
END_TEST

/* Chunks without bytes, which stay where they are: more than one statement reads. */
static void add_missing_chunks(int count)
{
    test_sql(at.world.sql,
        "insert into blob_chunks (account, digest, size, store, object_id) select 'zoo', "
        "sha256(convert_to(n::text, 'UTF8')), 1, 1, gen_random_uuid() from generate_series(1, %d) n",
        count);
}

START_TEST(all_of_many_chunks_are_counted)
{
    struct str id;

    add_missing_chunks(1001);
    id = begin_move(CHUNK_STORE_S3);
    ck_assert(move_batch());
    ck_assert_int_eq(look_at(id).total, 1001);
}
END_TEST

START_TEST(a_store_that_takes_nothing_is_told_from_one_that_refuses_some_puts)
{
    put_chunks("ab");
    (void)begin_move_to_s3();
    at.s3.failing_puts = 2;
    ck_assert(fail_batch());
    at.s3.failing_puts = 1;
    ck_assert(!fail_batch());
    move_rest();
    all_are_in(CHUNK_STORE_S3, 2);
}
END_TEST

START_TEST(a_store_that_returns_other_bytes_than_it_took_gets_no_chunk)
{
    put_chunks("a");
    (void)begin_move_to_s3();
    at.s3.wrong_gets = 3;
    (void)fail_batch();
    all_are_in(CHUNK_STORE_DIRECTORY, 1);
    all_are_readable("a");
}
END_TEST

START_TEST(a_store_that_a_worker_does_not_have_ends_the_move_and_is_named)
{
    put_chunks("a");
    (void)begin_move(CHUNK_STORE_S3);
    at.chunks.of[CHUNK_STORE_DIRECTORY] = NULL;
    move_rest();
    at.chunks.of[CHUNK_STORE_DIRECTORY] = &at.directory.store;
    ck_assert_int_eq(
        test_number(at.world.sql,
            "select count(*) from operations where kind = 'move_chunks' and state = 4 and error like "
            "'%%not configured with store \"directory\"%%'"),
        1);
    all_are_readable("a");
}
END_TEST

/* ---- the collector and puts come between ---- */

/* The move takes so long that its new objects, which it has read back, are collected. */
static void collect_new_objects(void)
{
    chunk_world_end_waits(&at);
    ck_assert_int_eq(chunk_world_remove_strays(&at).removed, 1);
}

START_TEST(objects_that_are_gone_become_no_chunks) /* guard G73 */
{
    put_chunks("a");
    (void)begin_move_to_s3();
    at.s3.after_get = collect_new_objects;
    move_rest();
    all_are_readable("a");
    all_are_in(CHUNK_STORE_S3, 1);
    ck_assert_int_eq(at.s3.puts, 2);
}
END_TEST

/* The collector has marked the new object, and stands still before it removes its bytes. */
static void mark_new_object(void)
{
    test_sql(at.world.sql, "update blob_strays set removing = true");
}

START_TEST(objects_that_the_collector_is_about_to_remove_become_no_chunks) /* guard G73 */
{
    put_chunks("a");
    (void)begin_move_to_s3();
    at.s3.after_get = mark_new_object;
    move_rest();
    at.s3.objects[0].bytes = STR_EMPTY; /* the removal arrives late */
    all_are_readable("a");
    all_are_in(CHUNK_STORE_S3, 1);
}
END_TEST

/* The chunk is collected and put again while its old bytes are copied. */
static void put_again(void)
{
    test_sql(at.world.sql, "delete from blobs");
    test_sql(at.world.sql, "update blob_contents set state = 3");
    chunk_world_collect(&at, 0);
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks"), 0);
    at.chunks.put_into = CHUNK_STORE_DIRECTORY;
    chunk_world_put(&at, 'z', 'a');
    at.chunks.put_into = CHUNK_STORE_S3;
}

START_TEST(a_chunk_that_has_other_bytes_meanwhile_is_left_to_the_next_pass) /* guard G73 */
{
    put_chunks("a");
    (void)begin_move_to_s3();
    at.s3.on_put = put_again;
    move_rest();
    all_are_in(CHUNK_STORE_S3, 1);
    call_succeeded(chunk_world_read(&at, 'z'));
    chunk_world_end_waits(&at);
    chunk_world_remove_strays(&at);
    call_succeeded(chunk_world_read(&at, 'z'));
    ck_assert_int_eq(chunk_world_objects(&at.directory), 0);
    ck_assert_int_eq(chunk_world_objects(&at.s3), 1);
}
END_TEST

/* A move has ended between the reading of a row and that of its object. */
static void move_while_reading(void)
{
    at.chunks.put_into = CHUNK_STORE_S3;
    ended_well(move_all(CHUNK_STORE_S3));
    chunk_world_end_waits(&at);
    chunk_world_remove_strays(&at);
}

START_TEST(a_reader_whose_chunk_moves_meanwhile_reads_it_where_it_is)
{
    put_chunks("a");
    at.directory.on_get = move_while_reading;
    all_are_readable("a");
}
END_TEST

/* Whenever a chunk has been copied, a server puts another one into the directory. */
static void put_elsewhere(void)
{
    static char byte = 'b';

    chunk_world_put(&at, (uint8_t)byte, byte);
    byte++;
    at.s3.on_put = put_elsewhere;
}

START_TEST(servers_that_put_elsewhere_are_said)
{
    put_chunks("a");
    (void)begin_move(CHUNK_STORE_S3);
    at.s3.on_put = put_elsewhere;
    move_rest();
    ck_assert_int_eq(
        test_number(at.world.sql,
            "select count(*) from operations where kind = 'move_chunks' and state = 4 and done = 3 and error "
            "like '1 chunks %%TAVOLA_BLOB_STORE=s3%%'"),
        1);
}
END_TEST

/* ---- requests ---- */

START_TEST(a_repeated_request_is_answered_with_the_open_move_and_another_is_refused)
{
    struct str id;

    put_chunks("a");
    id = begin_move(CHUNK_STORE_S3);
    ck_assert(str_equal(begin_move(CHUNK_STORE_S3), id));
    call_failed(ask_move(CHUNK_STORE_POSTGRESQL), "CHUNK_MOVE_REFUSED");
    move_rest();
    ck_assert(!str_equal(begin_move(CHUNK_STORE_POSTGRESQL), id));
}
END_TEST

START_TEST(a_move_can_be_paused_and_cancelled_and_another_goes_on)
{
    struct operation *control = call_make(&at.world.arena, OPERATION_JOB_CONTROL, "");
    struct str id;

    put_chunks("abcdefghijklmnopqrst");
    id = begin_move_to_s3();
    ck_assert(move_batch());
    control->in.jobs = (struct operation_jobs){ .operation_id = id, .control = JOB_CANCEL };
    call_succeeded(call_run(&at.world.writer, job_calls_control, control));
    ck_assert(!move_batch());
    ck_assert_int_eq(chunk_world_rows(&at, "blob_chunks where store = 2"), 16);
    ck_assert_int_eq(move_all(CHUNK_STORE_S3).done, 4);
    all_are_readable("abcdefghijklmnopqrst");
}
END_TEST

START_TEST(the_threads_of_other_jobs_do_not_move_chunks)
{
    struct error err = { 0 };
    bool worked = false;

    put_chunks("a");
    (void)begin_move(CHUNK_STORE_S3);
    ck_assert_int_eq(job_work_run(at.world.worker, &worked, &err), STATUS_OK);
    ck_assert(!worked);
}
END_TEST

START_TEST(a_move_that_cannot_be_carried_out_is_refused)
{
    at.chunks.of[CHUNK_STORE_S3] = NULL;
    call_failed(ask_move(CHUNK_STORE_S3), "CHUNK_MOVE_REFUSED");
    test_sql(at.world.sql, "update schema_migrations set oldest_program = 46");
    call_failed(ask_move(CHUNK_STORE_DIRECTORY), "CHUNK_MOVE_REFUSED");
    at.world.writer.chunks = NULL;
    call_failed(ask_move(CHUNK_STORE_POSTGRESQL), "CHUNK_MOVE_REFUSED");
    ck_assert_int_eq(chunk_world_rows(&at, "operations"), 0);
}
END_TEST

START_TEST(stores_are_listed_with_what_they_have)
{
    struct operation *list = call_make(&at.world.arena, OPERATION_CHUNK_STORES_LIST, "");
    const struct chunk_store_view *stores = list->out.chunks.stores;

    put_chunks("ab");
    at.chunks.put_into = CHUNK_STORE_S3;
    put_chunks("c");
    chunk_world_delete(&at);
    chunk_world_collect(&at, 3600);
    call_succeeded(call_run(&at.world.writer, chunk_calls_list, list));
    ck_assert(stores[CHUNK_STORE_POSTGRESQL].is_configured && !stores[CHUNK_STORE_DIRECTORY].takes_puts);
    ck_assert(stores[CHUNK_STORE_S3].takes_puts);
    ck_assert_int_eq(stores[CHUNK_STORE_POSTGRESQL].chunks, 0);
    ck_assert_int_eq(stores[CHUNK_STORE_S3].strays, 1);
    ck_assert_int_eq(stores[CHUNK_STORE_S3].stray_bytes, CHUNK_WORLD_CHUNK);
    ck_assert_int_eq(stores[CHUNK_STORE_DIRECTORY].chunks + stores[CHUNK_STORE_DIRECTORY].strays, 2);
    ck_assert_int_eq(stores[CHUNK_STORE_DIRECTORY].bytes + stores[CHUNK_STORE_DIRECTORY].stray_bytes,
        2 * CHUNK_WORLD_CHUNK);
}
END_TEST

Suite *test_chunk_move_suite(void)
{
    Suite *suite = suite_create("chunk_move");
    TCase *tc = tcase_create("chunk_move");

    test_postgres_start();
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, chunks_move_from_each_store_to_each_and_stay_readable, 0, ARRAY_LEN(moves));
    tcase_add_test(tc, a_move_of_nothing_and_a_second_one_do_nothing);
    tcase_add_test(tc, old_bytes_are_kept_for_backups_and_then_go);
    tcase_add_test(tc, chunks_of_other_accounts_than_the_callers_move);
    tcase_add_test(tc, damaged_and_missing_chunks_stay_and_the_others_move);
    tcase_add_test(tc, a_store_that_refuses_some_puts_takes_the_rest_later);
    tcase_add_test(tc, a_damaged_chunk_that_is_deleted_during_the_move_is_no_failure);
    tcase_add_test(tc, the_chunks_are_counted_once_while_a_store_fails);
    tcase_add_test(tc, all_of_many_chunks_are_counted);
    tcase_add_test(tc, a_store_that_takes_nothing_is_told_from_one_that_refuses_some_puts);
    tcase_add_test(tc, a_store_that_returns_other_bytes_than_it_took_gets_no_chunk);
    tcase_add_test(tc, a_store_that_a_worker_does_not_have_ends_the_move_and_is_named);
    tcase_add_test(tc, objects_that_are_gone_become_no_chunks);
    tcase_add_test(tc, objects_that_the_collector_is_about_to_remove_become_no_chunks);
    tcase_add_test(tc, a_chunk_that_has_other_bytes_meanwhile_is_left_to_the_next_pass);
    tcase_add_test(tc, a_reader_whose_chunk_moves_meanwhile_reads_it_where_it_is);
    tcase_add_test(tc, servers_that_put_elsewhere_are_said);
    tcase_add_test(tc, a_repeated_request_is_answered_with_the_open_move_and_another_is_refused);
    tcase_add_test(tc, a_move_can_be_paused_and_cancelled_and_another_goes_on);
    tcase_add_test(tc, the_threads_of_other_jobs_do_not_move_chunks);
    tcase_add_test(tc, a_move_that_cannot_be_carried_out_is_refused);
    tcase_add_test(tc, stores_are_listed_with_what_they_have);
    suite_add_tcase(suite, tc);
    return suite;
}
