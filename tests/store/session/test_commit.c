/* SPDX-License-Identifier: Apache-2.0 */
/* test_commit.c - guard G6: if the answer of a COMMIT was lost, the caller gets the outcome that the database has. */
#include <check.h>
#include <pthread.h>
#include <sched.h>

#include "store/entities/write_batch.h"
#include "store/session/session.h"
#include "tests/support/builders.h"
#include "tests/support/tcp_proxy.h"

enum {
    SHORT_LIMIT_US = 300000,
    MARKERS_DELETED_AT = 64, /* the number of the first transaction that deletes markers */
};

static struct scene scene;
static struct tcp_proxy *proxy;
static struct session session; /* goes through the proxy */

static void setup(void)
{
    struct error err = { 0 };

    scene_open(&scene);
    proxy = tcp_proxy_start(scene.conninfo);
    session_init(&session, tcp_proxy_conninfo(proxy), "test writer");
    ck_assert_msg(session_ensure(&session, &err) == STATUS_OK, "%s", err.message);
}

static void teardown(void)
{
    session_cleanup(&session);
    tcp_proxy_stop(proxy);
    scene_close(&scene);
}

static void ignore(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

static void write_now(struct operation *operation)
{
    struct commit_observer observer = { .intents_committed = ignore };

    write_batch_run(&session, operation, &observer);
    arena_cleanup(&session.arena);
}

/* The planned path reads first; the blind path does not. */
static const enum write_kind paths[] = { WRITE_INSERT_OR_MERGE, WRITE_INSERT_OR_REPLACE };

static struct operation *an_upsert(enum write_kind kind, const char *text)
{
    struct property_list properties = some_texts(&scene.arena, "Text", text, NULL);

    return a_write_operation(&scene.arena, "Things", a_write(kind, "p", "r", properties));
}

static void check_stored(const char *text, int64_t version)
{
    const struct entity *entity = scene_read(&scene, "p", "r");

    ck_assert_ptr_nonnull(entity);
    ck_assert_msg(str_equal(text_of(entity->properties, "Text"), str_of(text)), "not %s", text);
    ck_assert_int_eq(entity->etag.version, version);
}

/* Write "one", then "two" with the connection cut; the caller must get the version that is stored. */
static void check_one_write(enum write_kind kind, int cuts)
{
    struct operation *first = an_upsert(kind, "one"), *second = an_upsert(kind, "two");

    ck_assert_int_eq(tcp_proxy_cuts(proxy), cuts);
    write_now(first);
    ck_assert_reason(first, "OK");
    ck_assert_int_gt(tcp_proxy_cuts(proxy), cuts);
    check_stored("one", 1);
    ck_assert_int_eq(first->out.write.results[0].etag.version, 1);

    write_now(second);
    ck_assert_reason(second, "OK");
    check_stored("two", 2);
}

START_TEST(a_commit_that_got_through_is_a_success)
{
    tcp_proxy_cut(proxy, "commit", CUT_AFTER, 1);

    check_one_write(paths[_i], 0);
}
END_TEST

START_TEST(a_commit_that_did_not_get_through_is_run_again)
{
    tcp_proxy_cut(proxy, "commit", CUT_BEFORE, 1);

    check_one_write(paths[_i], 0);
}
END_TEST

START_TEST(a_transaction_lost_before_its_marker_is_run_again)
{
    tcp_proxy_cut(proxy, "marker_insert", CUT_BEFORE, 1);

    check_one_write(paths[_i], 0);
}
END_TEST

/* ---- a conditional write must not find its own effect ---- */

START_TEST(an_insertion_is_not_refused_because_of_itself)
{
    struct operation *insert = an_upsert(WRITE_INSERT, "one");

    tcp_proxy_cut(proxy, "commit", _i ? CUT_AFTER : CUT_BEFORE, 1);
    write_now(insert);

    ck_assert_reason(insert, "OK");
    ck_assert_int_eq(tcp_proxy_cuts(proxy), 1);
    check_stored("one", 1);
}
END_TEST

/* ---- the resolver's own answer is lost ---- */

START_TEST(a_second_resolver_knows_the_marker_of_the_first)
{
    struct operation *insert = an_upsert(WRITE_INSERT, "one");
    struct error err = { 0 };
    int64_t now_us;

    tcp_proxy_cut(proxy, "commit", CUT_BEFORE, 1);
    ck_assert_int_eq(session_send_begin(&session, &err), STATUS_OK);
    ck_assert_int_eq(pg_sync(&session.pg, &err), STATUS_OK);
    ck_assert_int_eq(session_take_begin(&session, &now_us, &err), STATUS_OK);
    ck_assert_int_eq(pg_end(&session.pg, &err), STATUS_OK);
    ck_assert_int_eq(session_send_commit(&session, &err), STATUS_OK);
    while (tcp_proxy_cuts(proxy) == 0)
        ck_assert_int_eq(sched_yield(), 0);
    tcp_proxy_cut(proxy, "marker_resolve", CUT_AFTER, 1); /* on the next connection */

    /* Nothing was committed, and the resolver must say so although its own marker is stored. */
    ck_assert_int_eq(session_take_commit(&session, &err), STATUS_UNAVAILABLE);

    ck_assert_int_eq(tcp_proxy_cuts(proxy), 2);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from commit_markers where connection_id = %lld",
                         (long long)session.connection_id),
        1);
    write_now(insert);
    ck_assert_reason(insert, "OK");
    check_stored("one", 1);
}
END_TEST

/* ---- the old transaction has not ended yet ---- */

static void *write_in_thread(void *argument)
{
    write_now(argument);
    return NULL;
}

START_TEST(the_resolver_waits_for_a_transaction_that_is_open) /* guard G6 */
{
    struct operation *insert = an_upsert(WRITE_INSERT, "one");
    pthread_t writer;

    tcp_proxy_refuse_after_cut(proxy, true); /* until the marker of the open transaction is there */
    tcp_proxy_cut(proxy, "commit", CUT_LATE, 1);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_in_thread, insert), 0);
    test_await(scene.sql,
        "select count(*) from pg_stat_activity where wait_event = 'ClientRead' and state = 'active' "
        "and query like '%%insert into commit_markers%%' and datname = current_database()");
    tcp_proxy_refuse_after_cut(proxy, false);
    test_await(scene.sql, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                          "and query like '%%insert into commit_markers%%' and datname = current_database()");
    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
    tcp_proxy_release(proxy);
    pthread_join(writer, NULL);

    ck_assert_reason(insert, "OK");
    check_stored("one", 1);
}
END_TEST

START_TEST(a_marker_that_comes_late_collides_with_the_resolvers) /* guard G6 */
{
    struct operation *insert = an_upsert(WRITE_INSERT, "one");
    pthread_t writer;

    tcp_proxy_cut(proxy, "marker_insert", CUT_LATE, 1);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_in_thread, insert), 0);
    test_await(scene.sql, "select count(*) from commit_markers where connection_id < 0");
    tcp_proxy_release(proxy);
    pthread_join(writer, NULL);

    ck_assert_reason(insert, "OK");
    check_stored("one", 1);
}
END_TEST

START_TEST(a_new_connection_has_an_id_of_its_own)
{
    int64_t before = session.connection_id;
    struct error err = { 0 };

    pg_close(&session.pg);
    ck_assert_int_eq(session_ensure(&session, &err), STATUS_OK);

    ck_assert_int_ne(session.connection_id, before);
}
END_TEST

/* ---- the outcome cannot be found out ---- */

START_TEST(an_outcome_that_cannot_be_found_out_is_unknown)
{
    struct operation *insert = an_upsert(paths[_i / 2], "one");

    session.resolve_limit_us = SHORT_LIMIT_US;
    tcp_proxy_refuse_after_cut(proxy, true);
    tcp_proxy_cut(proxy, "commit", _i % 2 ? CUT_AFTER : CUT_BEFORE, 1);
    write_now(insert);

    ck_assert_reason(insert, "OUTCOME_UNKNOWN");
    ck_assert_int_eq(insert->status, STATUS_MAYBE_DONE);
    if (_i % 2)
        check_stored("one", 1);
    else
        ck_assert_ptr_null(scene_read(&scene, "p", "r"));
}
END_TEST

/* ---- the ETag was in an answer that was lost as well ---- */

START_TEST(an_etag_that_was_lost_is_read_back)
{
    struct operation *upsert = an_upsert(WRITE_INSERT_OR_REPLACE, "two"), *other, *more;
    struct write_result result;

    scene_write(&scene, a_write(WRITE_INSERT, "p", "r", some_texts(&scene.arena, "Text", "one", NULL)));
    other = a_write_operation(&scene.arena, "Things",
        a_write(WRITE_INSERT_OR_REPLACE, "p", "a", some_texts(&scene.arena, "Text", "x", NULL)));
    upsert->next = other;
    tcp_proxy_mute(proxy, "entity_upsert_blind");
    tcp_proxy_cut(proxy, "commit", CUT_AFTER, 1);
    write_now(upsert);

    ck_assert_int_eq(tcp_proxy_cuts(proxy), 1);
    ck_assert_reason(upsert, "OK");
    check_stored("two", 2);
    result = upsert->out.write.results[0];
    ck_assert_int_eq(result.etag.version, 2);
    ck_assert_int_eq(result.timestamp, scene_read(&scene, "p", "r")->timestamp);
    ck_assert_reason(other, "OK");
    ck_assert_int_eq(other->out.write.results[0].etag.version, 1);
    more = an_upsert(WRITE_INSERT_OR_REPLACE, "three"); /* the session goes on */
    write_now(more);
    ck_assert_int_eq(more->out.write.results[0].etag.version, 3);
}
END_TEST

/* Between the commit and the read of its rows another server writes. */
static void *overwrite(void *argument)
{
    (void)argument;
    test_await(scene.sql, "select count(*) from entities where row_key = 'r'");
    test_sql(scene.sql, "update entities set version = version + 1 where row_key = 'r'");
    tcp_proxy_refuse_after_cut(proxy, false);
    return NULL;
}

START_TEST(an_etag_that_is_lost_for_good_is_not_made_up)
{
    struct operation *upsert = an_upsert(WRITE_INSERT_OR_REPLACE, "one");
    pthread_t other;

    tcp_proxy_refuse_after_cut(proxy, true);
    tcp_proxy_mute(proxy, "entity_upsert_one");
    tcp_proxy_cut(proxy, "commit", CUT_AFTER, 1);
    ck_assert_int_eq(pthread_create(&other, NULL, overwrite, NULL), 0);
    write_now(upsert);
    pthread_join(other, NULL);

    ck_assert_int_eq(tcp_proxy_cuts(proxy), 1);
    ck_assert_reason(upsert, "OUTCOME_UNKNOWN");
    check_stored("one", 2);
}
END_TEST

/* A write that met another catalogue wrote nothing, and must not take its own commit for a commit of rows. */
START_TEST(a_commit_of_nothing_is_no_success) /* guard G33 */
{
    struct operation *first = an_upsert(WRITE_INSERT_OR_REPLACE, "one");
    struct operation *second = an_upsert(WRITE_INSERT_OR_REPLACE, "two");
    struct operation *change = an_operation(&scene.arena, OPERATION_TABLE_CREATE, "Others");

    write_now(first);
    ck_assert_reason(first, "OK");
    run(scene.store, change);
    ck_assert_reason(change, "OK");
    tcp_proxy_mute(proxy, "entity_upsert_one");
    tcp_proxy_cut(proxy, "commit", CUT_AFTER, 1);
    write_now(second);

    ck_assert_int_eq(tcp_proxy_cuts(proxy), 1);
    ck_assert_reason(second, "OK");
    check_stored("two", 2);
    ck_assert_int_eq(second->out.write.results[0].etag.version, 2);
}
END_TEST

START_TEST(all_callers_of_a_batch_are_told_the_same)
{
    struct operation *first = an_upsert(WRITE_INSERT, "one");
    struct operation *second = a_write_operation(
        &scene.arena, "Things", a_write(WRITE_INSERT, "p", "s", some_texts(&scene.arena, "Text", "x", NULL)));
    struct operation *third = an_upsert(WRITE_INSERT, "three");

    first->next = second;
    second->next = third;
    tcp_proxy_cut(proxy, "commit", CUT_AFTER, 1);
    write_now(first);

    ck_assert_reason(first, "OK");
    ck_assert_reason(second, "OK");
    ck_assert_reason(third, "ENTITY_ALREADY_EXISTS");
    check_stored("one", 1);
    ck_assert_ptr_nonnull(scene_read(&scene, "p", "s"));
}
END_TEST

/* ---- old markers ---- */

static int64_t markers_before(int64_t number)
{
    return test_number(scene.sql,
        "select count(*) from commit_markers where connection_id = %lld and number < %lld",
        (long long)session.connection_id, (long long)number);
}

static void write_until(int64_t number)
{
    while (session.marker_number < number) {
        struct operation *upsert = an_upsert(WRITE_INSERT_OR_REPLACE, "one");

        write_now(upsert);
        ck_assert_reason(upsert, "OK");
    }
}

START_TEST(a_connection_keeps_few_of_its_markers)
{
    write_until(MARKERS_DELETED_AT + 2);

    ck_assert_int_eq(markers_before(MARKERS_DELETED_AT), 0);
    ck_assert_int_eq(markers_before(MARKERS_DELETED_AT + 3), 3);
}
END_TEST

START_TEST(markers_are_deleted_later_if_the_transaction_that_deletes_them_fails)
{
    struct operation *refused = an_upsert(WRITE_INSERT_OR_REPLACE, "one");

    write_until(MARKERS_DELETED_AT - 1);
    test_sql(scene.sql,
        "create function refuse() returns trigger language plpgsql as "
        "$$begin raise exception 'refused'; end$$;"
        "create trigger refuse before update on entities for each row execute function refuse()");
    write_now(refused);
    test_sql(scene.sql, "drop trigger refuse on entities");
    ck_assert_reason(refused, "INTERNAL_ERROR");
    ck_assert_int_ge(session.marker_number, MARKERS_DELETED_AT);
    ck_assert_int_eq(markers_before(MARKERS_DELETED_AT), MARKERS_DELETED_AT - 1);

    write_until(2 * MARKERS_DELETED_AT);

    ck_assert_int_eq(markers_before(2 * MARKERS_DELETED_AT), 0);
}
END_TEST

/* ---- changes of the catalogue ---- */

START_TEST(a_table_is_created_once_whatever_becomes_of_the_answer)
{
    struct store_options options = plain_options(tcp_proxy_conninfo(proxy));
    struct store *store = store_open(&options);
    struct operation *before = an_operation(&scene.arena, OPERATION_TABLE_CREATE, "Before");
    struct operation *create = an_operation(&scene.arena, OPERATION_TABLE_CREATE, "Others");

    while (!store_is_available(store))
        ck_assert_int_eq(sched_yield(), 0);
    run(store, before);
    tcp_proxy_cut(proxy, "commit", _i ? CUT_AFTER : CUT_BEFORE, 1);
    run(store, create);

    ck_assert_reason(create, "OK");
    ck_assert_int_eq(tcp_proxy_cuts(proxy), 1);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from tables where folded = 'others'"), 1);
    store_close(store);
}
END_TEST

Suite *test_commit_suite(void)
{
    Suite *suite = suite_create("commit");
    TCase *tc = tcase_create("commit");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_commit_that_got_through_is_a_success, 0, 2);
    tcase_add_loop_test(tc, a_commit_that_did_not_get_through_is_run_again, 0, 2);
    tcase_add_loop_test(tc, a_transaction_lost_before_its_marker_is_run_again, 0, 2);
    tcase_add_loop_test(tc, an_insertion_is_not_refused_because_of_itself, 0, 2);
    tcase_add_test(tc, a_second_resolver_knows_the_marker_of_the_first);
    tcase_add_test(tc, the_resolver_waits_for_a_transaction_that_is_open);
    tcase_add_test(tc, a_marker_that_comes_late_collides_with_the_resolvers);
    tcase_add_test(tc, a_new_connection_has_an_id_of_its_own);
    tcase_add_loop_test(tc, an_outcome_that_cannot_be_found_out_is_unknown, 0, 4);
    tcase_add_test(tc, an_etag_that_was_lost_is_read_back);
    tcase_add_test(tc, an_etag_that_is_lost_for_good_is_not_made_up);
    tcase_add_test(tc, a_commit_of_nothing_is_no_success);
    tcase_add_test(tc, all_callers_of_a_batch_are_told_the_same);
    tcase_add_test(tc, a_connection_keeps_few_of_its_markers);
    tcase_add_test(tc, markers_are_deleted_later_if_the_transaction_that_deletes_them_fails);
    tcase_add_loop_test(tc, a_table_is_created_once_whatever_becomes_of_the_answer, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}
