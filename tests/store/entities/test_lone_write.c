/* SPDX-License-Identifier: Apache-2.0 */
/* test_lone_write.c - a write that is alone runs in the thread that collected it, if that thread may be called away. */
#include <check.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "store/store.h"
#include "tests/support/builders.h"
#include "tests/support/tcp_proxy.h"

enum { ROUNDS = 100 };

static struct scene scene;
static struct tcp_proxy *proxy;
static struct store *store; /* goes through the proxy */
static int arrivals;        /* an eventfd */

static void setup(void)
{
    struct store_options options;

    scene_open(&scene);
    proxy = tcp_proxy_start(scene.conninfo);
    options = plain_options(tcp_proxy_conninfo(proxy));
    options.write_threads = 1;
    store = store_open(&options);
    arrivals = eventfd(0, EFD_NONBLOCK);
}

static void teardown(void)
{
    store_close(store);
    tcp_proxy_stop(proxy);
    scene_close(&scene);
    close(arrivals);
}

static struct operation *collect_write(enum write_kind kind, const char *row, const char *text)
{
    struct property_list properties = some_texts(&scene.arena, "Text", text, NULL);
    struct operation *operation =
        a_write_operation(&scene.arena, "Things", a_write(kind, "p", row, properties));

    store_collect(store, operation);
    return operation;
}

static void check_stored(const char *row, const char *text, int64_t version)
{
    const struct entity *entity = scene_read(&scene, "p", row);

    ck_assert_ptr_nonnull(entity);
    ck_assert(str_equal(text_of(entity->properties, "Text"), str_of(text)));
    ck_assert_int_eq(entity->etag.version, version);
}

static int64_t version_of(const struct operation *operation)
{
    return operation->out.write.results[0].etag.version;
}

/* Write until a write was done in this thread: the session connects, and the database may take long. */
static struct operation *write_here(const char *row, const char *text)
{
    struct operation *operation;

    do {
        bool is_done;

        operation = collect_write(WRITE_INSERT_OR_REPLACE, row, text);
        store_run_until(store, arrivals);
        is_done = is_answered(operation);
        await(operation);
        ck_assert_reason(operation, "OK");
        if (is_done)
            return operation;
    } while (true); /* the test's time limit is the deadline */
}

START_TEST(a_lone_upsert_is_done_when_the_call_returns)
{
    struct operation *operation = write_here("r", "one");

    check_stored("r", "one", version_of(operation));
}
END_TEST

START_TEST(a_caller_that_has_other_work_is_not_kept)
{
    ck_assert_int_eq(eventfd_write(arrivals, 1), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct operation *operation = collect_write(WRITE_INSERT_OR_REPLACE, "r", "x");

        store_run_until(store, arrivals);
        await(operation);
        ck_assert_reason(operation, "OK");
        ck_assert_int_eq(version_of(operation), i + 1);
    }
}
END_TEST

START_TEST(a_stalled_write_does_not_keep_the_caller)
{
    PGconn *holder = test_connect(scene.conninfo);
    struct operation *stalled, *behind;

    write_here("r", "one");
    test_sql(holder, "begin; select from entities for update");
    stalled = collect_write(WRITE_INSERT_OR_REPLACE, "r", "two");
    store_run_until(store, arrivals);
    behind = collect_write(WRITE_INSERT_OR_REPLACE, "s", "x");
    store_run_until(store, arrivals);
    ck_assert(!is_answered(stalled));
    await(behind);
    ck_assert(!is_answered(stalled));
    test_sql(holder, "commit");
    await(stalled);
    ck_assert_reason(stalled, "OK");
    ck_assert_reason(behind, "OK");
    check_stored("r", "two", version_of(stalled));
    PQfinish(holder);
}
END_TEST

/* Those that need to read first, those that come together, and one whose table does not exist. */
START_TEST(other_writes_have_the_outcome_that_they_have_elsewhere)
{
    struct operation *here = write_here("r", "one"), *first, *second, *third, *nowhere;

    first = collect_write(WRITE_INSERT, "r", "x");
    store_run_until(store, arrivals);
    await(first);
    ck_assert_reason(first, "ENTITY_ALREADY_EXISTS");
    second = collect_write(WRITE_INSERT_OR_REPLACE, "r", "two");
    third = collect_write(WRITE_INSERT_OR_REPLACE, "r", "three");
    store_run_until(store, arrivals);
    await(second);
    await(third);
    ck_assert_int_eq(version_of(second), version_of(here) + 1);
    check_stored("r", "three", version_of(here) + 2);
    nowhere = a_write_operation(
        &scene.arena, "Nothing", a_write(WRITE_INSERT_OR_REPLACE, "p", "r", (struct property_list){ 0 }));
    store_collect(store, nowhere);
    store_run_until(store, arrivals);
    await(nowhere);
    ck_assert_reason(nowhere, "TABLE_NOT_FOUND");
}
END_TEST

START_TEST(a_write_that_met_another_catalogue_is_done_by_the_new_one)
{
    int64_t version = version_of(write_here("r", "one"));
    struct operation *operation;

    scene_table(&scene, "More"); /* this store does not know it yet */
    operation = collect_write(WRITE_INSERT_OR_REPLACE, "r", "two");
    store_run_until(store, arrivals);
    await(operation);
    ck_assert_reason(operation, "OK");
    check_stored("r", "two", version + 1);
}
END_TEST

START_TEST(a_write_that_the_database_refuses_leaves_the_session_usable)
{
    int64_t version = version_of(write_here("r", "one"));
    struct operation *refused;

    test_sql(scene.sql,
        "create function refuse() returns trigger language plpgsql as "
        "$$begin raise exception 'refused'; end$$;"
        "create trigger refuse before update on entities for each row execute function refuse()");
    refused = collect_write(WRITE_INSERT_OR_REPLACE, "r", "two");
    store_run_until(store, arrivals);
    await(refused);
    ck_assert_reason(refused, "INTERNAL_ERROR");
    test_sql(scene.sql, "drop trigger refuse on entities");
    check_stored("r", "three", version_of(write_here("r", "three")));
    ck_assert_int_gt(version_of(write_here("r", "three")), version);
}
END_TEST

/* ---- a lost answer ---- */

/* Guard G6: the outcome is that of the database, and the caller does not wait until it is found out. */
START_TEST(a_lone_write_whose_answer_is_lost_has_the_outcome_of_the_database)
{
    int64_t version = version_of(write_here("r", "one"));
    struct operation *operation;

    if (_i == 2)
        tcp_proxy_mute(proxy, "entity_upsert_one");
    tcp_proxy_cut(proxy, "commit", _i == 0 ? CUT_BEFORE : CUT_AFTER, 1);
    operation = collect_write(WRITE_INSERT_OR_REPLACE, "r", "two");
    store_run_until(store, arrivals);
    await(operation);
    ck_assert_reason(operation, "OK");
    ck_assert_int_eq(tcp_proxy_cuts(proxy), 1);
    ck_assert_int_eq(version_of(operation), version + 1);
    check_stored("r", "two", version + 1);
    check_stored("r", "three", version_of(write_here("r", "three")));
}
END_TEST

/*
 * A write that comes before the lane has put away the one before it is not alone: a thread of the lane does it, and its
 * commit is cut a moment later, or is not one that can be cut.
 */
static struct operation *write_whose_commit_is_cut(void)
{
    for (;;) {
        struct operation *operation = collect_write(WRITE_INSERT_OR_REPLACE, "r", "two");

        store_run_until(store, arrivals);
        while (tcp_proxy_cuts(proxy) == 0 && !is_answered(operation))
            sched_yield();
        if (tcp_proxy_cuts(proxy) > 0)
            return operation;
        await(operation);
    }
}

START_TEST(a_caller_does_not_wait_for_a_database_that_is_gone)
{
    struct operation *operation;

    write_here("r", "one");
    tcp_proxy_refuse_after_cut(proxy, true);
    tcp_proxy_cut(proxy, "commit", CUT_AFTER, 1);
    operation = write_whose_commit_is_cut();
    ck_assert_msg(!is_answered(operation), "answered %s",
        reason_of(operation)); /* the session's thread asks for the outcome */
    tcp_proxy_refuse_after_cut(proxy, false);
    await(operation);
    ck_assert_reason(operation, "OK");
}
END_TEST

Suite *test_lone_write_suite(void)
{
    Suite *suite = suite_create("lone_write");
    TCase *tc = tcase_create("lone_write");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_lone_upsert_is_done_when_the_call_returns);
    tcase_add_test(tc, a_caller_that_has_other_work_is_not_kept);
    tcase_add_test(tc, a_stalled_write_does_not_keep_the_caller);
    tcase_add_test(tc, other_writes_have_the_outcome_that_they_have_elsewhere);
    tcase_add_test(tc, a_write_that_met_another_catalogue_is_done_by_the_new_one);
    tcase_add_test(tc, a_write_that_the_database_refuses_leaves_the_session_usable);
    tcase_add_loop_test(tc, a_lone_write_whose_answer_is_lost_has_the_outcome_of_the_database, 0, 3);
    tcase_add_test(tc, a_caller_does_not_wait_for_a_database_that_is_gone);
    suite_add_tcase(suite, tc);
    return suite;
}
