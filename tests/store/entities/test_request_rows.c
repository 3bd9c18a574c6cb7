/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_request_rows.c - writes with a request_id: each is done once and answered the same (invariant I5), by any
 * server and at any time.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>

#include "store/entities/write_batch.h"
#include "store/session/session.h"
#include "tests/support/builders.h"
#include "tests/support/tcp_proxy.h"

enum { RUNNERS = 4, ROUNDS = 40 };

static struct scene scene;

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

static struct operation *a_request(const char *id, struct write write)
{
    struct operation *operation = a_write_operation(&scene.arena, "Things", write);

    operation->in.write.request_id = str_of(id);
    return operation;
}

static struct operation *request(const char *id, struct write write)
{
    struct operation *operation = a_request(id, write);

    run(scene.store, operation);
    return operation;
}

static void check_same(const struct operation *first, const struct operation *again)
{
    ck_assert_str_eq(reason_of(first), reason_of(again));
    ck_assert(again->out.write.replayed);
    if (first->error) {
        ck_assert_str_eq(first->error->message, again->error->message);
        ck_assert_uint_eq(first->error->meta_count + 1, again->error->meta_count);
        ck_assert_str_eq(again->error->meta[first->error->meta_count].key, "replayed");
        return;
    }
    ck_assert(etag_equal(first->out.write.results[0].etag, again->out.write.results[0].etag));
    ck_assert_int_eq(first->out.write.results[0].timestamp, again->out.write.results[0].timestamp);
}

static long long version_of(const char *row)
{
    return test_number(scene.sql, "select version from entities where row_key = '%s'", row);
}

static long long records(void)
{
    return test_number(scene.sql, "select count(*) from requests");
}

/* ---- one after another ---- */

static const enum write_kind kinds[] = { WRITE_INSERT, WRITE_INSERT_OR_REPLACE, WRITE_INSERT_OR_MERGE,
    WRITE_REPLACE, WRITE_MERGE, WRITE_DELETE };

START_TEST(a_repeat_changes_nothing_and_is_told_the_same)
{
    struct write write = a_write(
        kinds[_i], "p", "r", kinds[_i] == WRITE_DELETE ? (struct property_list){ STR_EMPTY } : text("one"));
    struct operation *first, *again;
    long long version;

    if (_i > 0)
        scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("zero")));
    first = request("id", write);
    version = version_of("r");
    again = request("id", write);

    ck_assert_reason(first, "OK");
    ck_assert(!first->out.write.replayed);
    check_same(first, again);
    ck_assert_int_eq(version_of("r"), version);
    ck_assert_int_eq(records(), 1);
}
END_TEST

START_TEST(a_repeat_is_told_the_same_whatever_has_happened_since)
{
    struct write insert = a_write(WRITE_INSERT, "p", "r", text("one"));
    struct operation *first = request("id", insert);

    scene_write(&scene, a_write(WRITE_REPLACE, "p", "r", text("two")));
    check_same(first, request("id", insert));
    scene_write(&scene, a_write(WRITE_DELETE, "p", "r", (struct property_list){ STR_EMPTY }));
    check_same(first, request("id", insert));
    test_sql(scene.sql, "delete from entities");
    check_same(first, request("id", insert));

    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), 0);
}
END_TEST

START_TEST(a_refusal_is_recorded)
{
    struct write insert = a_write(WRITE_INSERT, "p", "r", text("one"));
    struct operation *first;

    scene_write(&scene, insert);
    first = request("id", insert);
    ck_assert_reason(first, "ENTITY_ALREADY_EXISTS");
    scene_write(&scene, a_write(WRITE_DELETE, "p", "r", (struct property_list){ STR_EMPTY }));

    check_same(first, request("id", insert));
    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
}
END_TEST

START_TEST(what_was_not_decided_is_not_recorded)
{
    struct operation *first = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one"))), *again;

    first->table = STR_LITERAL("Later");
    run(scene.store, first);
    ck_assert_reason(first, "TABLE_NOT_FOUND");
    ck_assert_int_eq(records(), 0);
    scene_table(&scene, "Later");
    again = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one")));
    again->table = STR_LITERAL("Later");
    run(scene.store, again);

    ck_assert_reason(again, "OK");
    ck_assert(!again->out.write.replayed);
}
END_TEST

START_TEST(another_content_is_refused_and_does_nothing)
{
    struct write insert = a_write(WRITE_INSERT, "p", "r", text("one"));
    struct operation *first = request("id", insert);

    ck_assert_reason(request("id", a_write(WRITE_INSERT, "p", "r", text("two"))), "REQUEST_ID_REUSED");
    ck_assert_reason(request("id", a_write(WRITE_INSERT, "q", "r", text("one"))), "REQUEST_ID_REUSED");
    ck_assert_reason(
        request("id", a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text("one"))), "REQUEST_ID_REUSED");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), 1);
    check_same(first, request("id", insert));
    ck_assert_reason(request("Id", a_write(WRITE_INSERT_OR_REPLACE, "q", "r", text("two"))), "OK");
}
END_TEST

START_TEST(a_record_belongs_to_the_table_it_was_made_for)
{
    struct write insert = a_write(WRITE_INSERT, "p", "r", text("one"));

    ck_assert_reason(request("id", insert), "OK");
    run(scene.store, an_operation(&scene.arena, OPERATION_TABLE_DELETE, "Things"));
    scene_table(&scene, "Things");

    ck_assert_reason(request("id", insert), "REQUEST_ID_REUSED");
    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
}
END_TEST

START_TEST(accounts_have_ids_of_their_own)
{
    struct operation *other = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one")));

    ck_assert_reason(request("id", a_write(WRITE_INSERT, "p", "r", text("one"))), "OK");
    test_sql(scene.sql, "insert into tables values (900, 'other', 'Things', 'things', 1, true)");
    scene_change(&scene, "select 1");
    other->account = STR_LITERAL("other");
    run(scene.store, other);

    ck_assert_reason(other, "OK");
    ck_assert(!other->out.write.replayed);
}
END_TEST

START_TEST(a_group_is_one_request)
{
    struct write writes[] = { a_write(WRITE_INSERT, "p", "a", text("1")),
        a_write(WRITE_INSERT, "p", "b", text("2")) };
    struct operation *answers[2];

    for (int i = 0; i < 2; i++) {
        answers[i] = a_group(&scene.arena, "Things", writes, 2);
        answers[i]->in.write.request_id = STR_LITERAL("id");
        run(scene.store, answers[i]);
        ck_assert_reason(answers[i], "OK");
    }

    ck_assert(answers[1]->out.write.replayed);
    for (int i = 0; i < 2; i++)
        ck_assert(etag_equal(answers[0]->out.write.results[i].etag, answers[1]->out.write.results[i].etag));
    ck_assert_int_eq(version_of("a"), 1);
}
END_TEST

/* ---- in one batch, on a session of the test ---- */

static void ignore(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

static void write_now(struct session *session, struct operation *batch)
{
    struct commit_observer observer = { .intents_committed = ignore };

    write_batch_run(session, batch, &observer);
    arena_cleanup(&session->arena);
}

START_TEST(repeats_in_one_batch_are_told_the_same)
{
    struct operation *batch[4];
    struct session session;

    batch[0] = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one")));
    batch[1] = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one")));
    batch[2] = a_request("id", a_write(WRITE_INSERT, "p", "s", text("two")));
    batch[3] = a_request("other", a_write(WRITE_INSERT, "p", "r", text("one")));
    for (int i = 0; i < 3; i++)
        batch[i]->next = batch[i + 1];
    session_init(&session, scene.conninfo, "test writer");
    write_now(&session, batch[0]);
    session_cleanup(&session);

    ck_assert_reason(batch[0], "OK");
    check_same(batch[0], batch[1]);
    ck_assert_reason(batch[2], "REQUEST_ID_REUSED");
    ck_assert_reason(batch[3], "ENTITY_ALREADY_EXISTS");
    ck_assert_int_eq(records(), 2);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), 1);
}
END_TEST

/*
 * Guard G5. A batch of upserts does not read records: one that is there is met at its key, and is read from then on for
 * a while.
 */
START_TEST(a_repeat_among_upserts_changes_nothing)
{
    struct write upsert = a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text("one"));
    struct operation *first = request("id", upsert), *again = a_request("id", upsert);
    struct operation *other = a_request("other", a_write(WRITE_INSERT_OR_REPLACE, "p", "s", text("one")));
    struct operation *without =
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT_OR_REPLACE, "p", "t", text("one")));
    struct session session;

    again->next = other;
    other->next = without;
    session_init(&session, scene.conninfo, "test writer");
    write_now(&session, again);
    ck_assert_int_gt(session.reads_until_us, 0);
    session_cleanup(&session);

    check_same(first, again);
    ck_assert_reason(other, "OK");
    ck_assert(!other->out.write.replayed);
    ck_assert_reason(without, "OK");
    ck_assert_int_eq(version_of("r"), 1);
    ck_assert_int_eq(version_of("s"), 1);
    ck_assert_int_eq(records(), 2);
}
END_TEST

/* ---- a lost answer ---- */

START_TEST(a_lost_answer_is_recovered_by_the_same_request)
{
    enum write_kind kind = _i < 2 ? WRITE_INSERT : WRITE_INSERT_OR_REPLACE;
    struct tcp_proxy *proxy = tcp_proxy_start(scene.conninfo);
    struct operation *insert = a_request("id", a_write(kind, "p", "r", text("one")));
    struct operation *again = a_request("id", a_write(kind, "p", "r", text("one")));
    struct session session;
    struct error err = { 0 };

    session_init(&session, tcp_proxy_conninfo(proxy), "test writer");
    ck_assert_int_eq(session_ensure(&session, &err), STATUS_OK);
    session.resolve_limit_us = 300000;
    tcp_proxy_refuse_after_cut(proxy, true);
    tcp_proxy_cut(proxy, "commit", _i % 2 ? CUT_AFTER : CUT_BEFORE, 1);
    write_now(&session, insert);
    session_cleanup(&session);
    tcp_proxy_stop(proxy);
    ck_assert_reason(insert, "OUTCOME_UNKNOWN");
    ck_assert_str_eq(meta_of(insert->error, "retry"), "same-request-id");

    run(scene.store, again);

    ck_assert_reason(again, "OK");
    ck_assert_int_eq(again->out.write.replayed, _i % 2);
    ck_assert_int_eq(version_of("r"), 1);
}
END_TEST

/* ---- servers at once ---- */

struct runner {
    pthread_t thread;
    int number;
    enum write_kind kind;
    struct arena arena;
    struct operation *answers[ROUNDS];
};

static struct write round_write(struct runner *runner, int round, const char *row)
{
    return a_write(runner->kind, "p", row, some_texts(&runner->arena, "Text", round % 2 ? "x" : "y", NULL));
}

/* Every server makes the same writes, in another order. */
static void *repeat(void *argument)
{
    struct runner *runner = argument;
    struct session session;

    session_init(&session, scene.conninfo, "test writer");
    for (int i = 0; i < ROUNDS; i++) {
        int round = runner->number % 2 ? ROUNDS - 1 - i : i;
        struct str id = arena_format(&runner->arena, "id %d", round);
        struct operation *operation =
            a_write_operation(&runner->arena, "Things", round_write(runner, round, id.data));

        operation->in.write.request_id = id;
        session.reads_until_us = 0; /* it is to meet the others at the records' keys */
        write_now(&session, operation);
        runner->answers[round] = operation;
    }
    session_cleanup(&session);
    return NULL;
}

static void race(struct runner *runners, enum write_kind kind, void *(*work)(void *))
{
    for (int i = 0; i < RUNNERS; i++) {
        runners[i] = (struct runner){ .number = i, .kind = kind };
        arena_init(&runners[i].arena);
        ck_assert_int_eq(pthread_create(&runners[i].thread, NULL, work, &runners[i]), 0);
    }
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(runners[i].thread, NULL);
}

START_TEST(servers_that_race_for_one_request_do_it_once) /* guard G5 */
{
    struct runner runners[RUNNERS];

    race(runners, _i == 0 ? WRITE_INSERT : WRITE_INSERT_OR_REPLACE, repeat);
    for (int round = 0; round < ROUNDS; round++) {
        int done = 0;

        for (int i = 0; i < RUNNERS; i++) {
            const struct operation *answer = runners[i].answers[round];

            ck_assert_reason(answer, "OK");
            ck_assert_int_eq(answer->out.write.results[0].etag.version, 1);
            done += !answer->out.write.replayed;
        }
        ck_assert_int_eq(done, 1);
    }
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where version = 1"), ROUNDS);
    for (int i = 0; i < RUNNERS; i++)
        arena_cleanup(&runners[i].arena);
}
END_TEST

/*
 * One id with another entity on every server, several ids in a batch: the servers meet only at the request records.
 */
static void *misuse(void *argument)
{
    struct runner *runner = argument;
    struct session session;

    session_init(&session, scene.conninfo, "test writer");
    for (int round = 0; round < ROUNDS; round += 4) {
        for (int i = 0; i < 4; i++) {
            int at = round + (runner->number % 2 ? 3 - i : i);
            struct str row = arena_format(&runner->arena, "%d.%d", at, runner->number);

            runner->answers[round + i] =
                a_write_operation(&runner->arena, "Things", round_write(runner, at, row.data));
            runner->answers[round + i]->in.write.request_id = arena_format(&runner->arena, "id %d", at);
            if (i > 0)
                runner->answers[round + i - 1]->next = runner->answers[round + i];
        }
        session.reads_until_us = 0;
        write_now(&session, runner->answers[round]);
    }
    session_cleanup(&session);
    return NULL;
}

START_TEST(servers_that_race_for_one_id_do_not_share_it) /* guard G5 */
{
    struct runner runners[RUNNERS];
    int done = 0, refused = 0;

    race(runners, _i == 0 ? WRITE_INSERT : WRITE_INSERT_OR_REPLACE, misuse);
    for (int i = 0; i < RUNNERS; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            const char *reason = reason_of(runners[i].answers[round]);

            done += strcmp(reason, "OK") == 0;
            refused += strcmp(reason, "REQUEST_ID_REUSED") == 0;
        }
        arena_cleanup(&runners[i].arena);
    }

    ck_assert_int_eq(done, ROUNDS);
    ck_assert_int_eq(refused, ROUNDS * (RUNNERS - 1));
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), ROUNDS);
    ck_assert_int_eq(records(), ROUNDS);
}
END_TEST

START_TEST(duplicates_at_every_attempt_are_no_failure_of_the_server)
{
    static const enum write_kind both_paths[] = { WRITE_INSERT_OR_REPLACE, WRITE_INSERT };

    test_sql(scene.sql, "create function taken() returns trigger language plpgsql as $$ "
                        "begin raise exception 'taken' using errcode = 'unique_violation'; end $$");
    test_sql(
        scene.sql, "create trigger taken before insert on requests for each row execute function taken()");
    for (size_t i = 0; i < ARRAY_LEN(both_paths); i++) {
        struct operation *operation = request("id", a_write(both_paths[i], "p", "r", text("one")));

        ck_assert_reason(operation, "STORE_UNAVAILABLE");
        ck_assert_ptr_null(scene_read(&scene, "p", "r"));
    }
    test_sql(scene.sql, "drop trigger taken on requests; drop function taken");
    ck_assert_ptr_null(request("id", a_write(WRITE_INSERT, "p", "r", text("one")))->error);
}
END_TEST

START_TEST(a_server_waits_for_another_that_is_deciding)
{
    struct operation *operation = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one")));
    struct operation *first = request("id", a_write(WRITE_INSERT, "p", "r", text("one")));
    PGconn *other = test_connect(scene.conninfo);

    /* Another server has done the write and has not committed it yet. */
    test_sql(scene.sql,
        "create table kept as select * from requests; create table rows as select * from entities");
    test_sql(scene.sql, "delete from requests; delete from entities");
    test_sql(
        other, "begin; insert into entities select * from rows; insert into requests select * from kept");
    submit(scene.store, operation);
    test_await(scene.sql, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                          "and query like '%%insert into entities%%' and datname = current_database()");
    ck_assert(!is_answered(operation));
    test_sql(other, "commit");
    PQfinish(other);
    await(operation);

    check_same(first, operation);
}
END_TEST

START_TEST(a_server_waits_for_another_that_decides_elsewhere)
{
    struct operation *operation = a_request("id", a_write(WRITE_INSERT, "p", "r", text("one")));
    PGconn *other = test_connect(scene.conninfo);

    /* The id is in use for another entity: the writes meet only at the request record. */
    request("id", a_write(WRITE_INSERT, "q", "r", text("one")));
    test_sql(scene.sql, "create table kept as select * from requests; delete from requests");
    test_sql(other, "begin; insert into requests select * from kept");
    submit(scene.store, operation);
    test_await(scene.sql, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                          "and query like '%%insert into requests%%' and datname = current_database()");
    ck_assert(!is_answered(operation));
    test_sql(other, "commit");
    PQfinish(other);
    await(operation);

    ck_assert_reason(operation, "REQUEST_ID_REUSED");
    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
}
END_TEST

Suite *test_request_rows_suite(void)
{
    Suite *suite = suite_create("requests");
    TCase *tc = tcase_create("requests");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_repeat_changes_nothing_and_is_told_the_same, 0, 6);
    tcase_add_test(tc, a_repeat_is_told_the_same_whatever_has_happened_since);
    tcase_add_test(tc, a_refusal_is_recorded);
    tcase_add_test(tc, what_was_not_decided_is_not_recorded);
    tcase_add_test(tc, another_content_is_refused_and_does_nothing);
    tcase_add_test(tc, a_record_belongs_to_the_table_it_was_made_for);
    tcase_add_test(tc, accounts_have_ids_of_their_own);
    tcase_add_test(tc, a_group_is_one_request);
    tcase_add_test(tc, repeats_in_one_batch_are_told_the_same);
    tcase_add_test(tc, a_repeat_among_upserts_changes_nothing);
    tcase_add_loop_test(tc, a_lost_answer_is_recovered_by_the_same_request, 0, 4);
    tcase_add_loop_test(tc, servers_that_race_for_one_request_do_it_once, 0, 2);
    tcase_add_loop_test(tc, servers_that_race_for_one_id_do_not_share_it, 0, 2);
    tcase_add_test(tc, duplicates_at_every_attempt_are_no_failure_of_the_server);
    tcase_add_test(tc, a_server_waits_for_another_that_is_deciding);
    tcase_add_test(tc, a_server_waits_for_another_that_decides_elsewhere);
    suite_add_tcase(suite, tc);
    return suite;
}
