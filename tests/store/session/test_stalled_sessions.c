/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stalled_sessions.c - sessions whose program stands still: they are ended if they are Tavola's and hold locks,
 * so that a change of the catalogue goes through; and a change that waits for another session is refused.
 */
#include <check.h>

#include "store/connection/stalled_sessions.h"
#include "store/session/fence.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
    ck_assert_int_eq(session_ensure(&world.writer, NULL), STATUS_OK);
}

static void teardown(void)
{
    world_close(&world);
}

static PGconn *connect_as(const char *program)
{
    PGconn *conn = test_connect(world.conninfo);

    test_sql(conn, "set application_name = '%s'", program);
    test_sql(conn, "begin");
    test_sql(conn, "select 1 from write_fence where bucket = 0 for key share");
    return conn;
}

/* A program that was stopped while PostgreSQL sends it rows. */
static PGconn *stopped_reader(const char *program)
{
    PGconn *conn = connect_as(program);

    ck_assert(PQsendQuery(conn, "select repeat('x', 1000000) from generate_series(1, 100)"));
    test_await(world.sql,
        "select count(*) from pg_stat_activity where pid = %d and wait_event = 'ClientWrite'",
        PQbackendPID(conn));
    return conn;
}

/* A program that was stopped after it had sent a part of a flight. */
static PGconn *stopped_writer(const char *program)
{
    PGconn *conn = connect_as(program);

    ck_assert(PQenterPipelineMode(conn));
    ck_assert(PQsendQueryParams(conn, "select 1", 0, NULL, NULL, NULL, NULL, 0));
    ck_assert(PQsendFlushRequest(conn));
    ck_assert_int_eq(PQflush(conn), 0);
    test_await(world.sql,
        "select count(*) from pg_stat_activity where pid = %d and wait_event = 'ClientRead' and query = "
        "'select 1'",
        PQbackendPID(conn));
    return conn;
}

static int ended_after(int64_t stalled_ms)
{
    struct stalled_sessions ended = { 0 };
    struct error err = { 0 };

    ck_assert_msg(
        stalled_sessions_end(&world.writer.pg, stalled_ms, &ended, &err) == STATUS_OK, "%s", err.message);
    return ended.count;
}

static void check_has_ended(PGconn *conn)
{
    test_await(
        world.sql, "select (count(*) = 0)::int from pg_stat_activity where pid = %d", PQbackendPID(conn));
    PQfinish(conn);
}

START_TEST(a_session_whose_client_does_not_read_is_ended)
{
    PGconn *stopped = stopped_reader("tavolad write");

    ck_assert_int_eq(ended_after(0), 1);
    check_has_ended(stopped);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
}
END_TEST

START_TEST(a_session_with_half_a_flight_is_ended)
{
    PGconn *stopped = stopped_writer("tavola-worker");

    ck_assert_int_eq(ended_after(0), 1);
    check_has_ended(stopped);
}
END_TEST

START_TEST(sessions_of_other_programs_are_left_alone)
{
    PGconn *stranger = stopped_reader("pg_dump"), *recent = stopped_reader("tavolad read");
    PGconn *idle = connect_as("tavolad write");

    ck_assert_int_eq(ended_after(60000), 0); /* not for long enough yet */
    ck_assert_int_eq(ended_after(0), 1);
    check_has_ended(recent);
    test_sql(idle, "commit"); /* PostgreSQL's own timeout ends those */
    ck_assert_int_eq(test_number(world.sql, "select count(*) from pg_stat_activity where pid = %d",
                         PQbackendPID(stranger)),
        1);
    PQfinish(idle);
    PQfinish(stranger);
}
END_TEST

/* Without any worker. */
START_TEST(a_change_ends_what_stands_in_its_way)
{
    PGconn *stopped = stopped_reader("tavolad write");

    world.writer.stalled_ms = 100;
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    check_has_ended(stopped);
}
END_TEST

START_TEST(a_change_is_refused_and_names_what_blocks_it)
{
    PGconn *stranger = connect_as("psql by hand");
    struct operation *refused;

    ck_assert_int_eq(session_ensure(&world.writer, NULL), STATUS_OK);
    world.writer.fence_limit_us = 300000;
    refused = index_created(&world, "ByCity", "People", 0);
    call_failed(refused, "CATALOGUE_CHANGE_BLOCKED");
    ck_assert_int_eq(refused->status, STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(refused->error->message, "psql by hand (idle in transaction, ClientRead)"));

    test_sql(stranger, "rollback");
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    PQfinish(stranger);
}
END_TEST

Suite *test_stalled_sessions_suite(void)
{
    Suite *suite = suite_create("standing");
    TCase *tc = tcase_create("standing");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_session_whose_client_does_not_read_is_ended);
    tcase_add_test(tc, a_session_with_half_a_flight_is_ended);
    tcase_add_test(tc, sessions_of_other_programs_are_left_alone);
    tcase_add_test(tc, a_change_ends_what_stands_in_its_way);
    tcase_add_test(tc, a_change_is_refused_and_names_what_blocks_it);
    suite_add_tcase(suite, tc);
    return suite;
}
