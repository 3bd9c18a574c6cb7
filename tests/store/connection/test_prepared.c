/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_prepared.c - a statement is parsed when it is first sent, once per connection, even if flights around it fail.
 */
#include <check.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/connection/pg.h"
#include "store/sql.h"
#include "tests/support/postgres_server.h"

#define ANSWERS (&sql_catalogue_version) /* returns one row */
#define FAILS (&sql_watermark_read)      /* fails while its table is renamed */

static struct pg pg;
static PGconn *sql;
static const char *conninfo;
static struct error err;

static void setup(void)
{
    conninfo = test_database();
    sql = test_connect(conninfo);
    pg_init(&pg, conninfo, "test");
    ck_assert_msg(pg_ensure(&pg, &err) == STATUS_OK, "%s", err.message);
}

static void teardown(void)
{
    pg_close(&pg);
    PQfinish(sql);
    test_database_end(conninfo);
}

static void send(const struct embedded *statement)
{
    ck_assert_int_eq(pg_send(&pg, statement, NULL, &err), STATUS_OK);
}

static void sync_flight(void)
{
    ck_assert_int_eq(pg_sync(&pg, &err), STATUS_OK);
}

static void answers(void)
{
    PG_RESULT result = NULL;

    ck_assert_msg(pg_next(&pg, &result, &err) == STATUS_OK, "%s", err.message);
    ck_assert_int_eq(PQntuples(result), 1);
}

static void fails(enum status status, const char *sqlstate)
{
    err = (struct error){ 0 };
    ck_assert_int_eq(pg_done(&pg, &err), status);
    ck_assert_str_eq(err.sqlstate, sqlstate);
}

static void end_flight(void)
{
    ck_assert_msg(pg_end(&pg, &err) == STATUS_OK, "%s", err.message);
}

static void ask_alone(void)
{
    send(ANSWERS);
    sync_flight();
    answers();
    end_flight();
}

/* The prepared statements of the connection by name, with the number of their executions. */
static void check_prepared(const char *expected)
{
    PGresult *result;

    ck_assert(PQexitPipelineMode(pg.conn));
    result = PQexec(pg.conn,
        "select coalesce(string_agg(concat(name, ' ', generic_plans + custom_plans), ', '), '')"
        " from pg_prepared_statements where name <> ''");
    ck_assert_str_eq(PQgetvalue(result, 0, 0), expected);
    PQclear(result);
    ck_assert(PQenterPipelineMode(pg.conn));
}

static void take_table_away(void)
{
    test_sql(sql, "alter table watermarks rename to away");
}

static void bring_table_back(void)
{
    test_sql(sql, "alter table away rename to watermarks");
}

START_TEST(a_new_connection_has_no_statement)
{
    check_prepared("");
}
END_TEST

START_TEST(a_statement_is_parsed_once)
{
    ask_alone();
    ask_alone();

    check_prepared("catalogue_version 2");
}
END_TEST

START_TEST(a_statement_is_parsed_once_in_a_flight)
{
    send(ANSWERS);
    send(ANSWERS);
    sync_flight();

    answers();
    answers();
    end_flight();
    check_prepared("catalogue_version 2");
}
END_TEST

START_TEST(a_flight_that_does_not_read_its_results_prepares_too)
{
    send(ANSWERS);
    sync_flight();
    end_flight();

    check_prepared("catalogue_version 1");
    ask_alone();
}
END_TEST

START_TEST(a_parse_that_fails_is_the_failure_of_the_statement)
{
    take_table_away();
    send(FAILS);
    send(ANSWERS);
    sync_flight();

    fails(STATUS_INTERNAL, "42P01");
    fails(STATUS_CANCELLED, "");
    end_flight();
}
END_TEST

START_TEST(a_parse_that_failed_is_made_again)
{
    take_table_away();
    send(FAILS);
    sync_flight();
    fails(STATUS_INTERNAL, "42P01");
    end_flight();

    bring_table_back();
    send(FAILS);
    sync_flight();

    ck_assert_int_eq(pg_done(&pg, &err), STATUS_OK);
    end_flight();
    check_prepared("watermark_read 1");
}
END_TEST

START_TEST(a_parse_that_was_skipped_is_made_again)
{
    take_table_away();
    send(FAILS);
    send(ANSWERS);
    sync_flight();
    pg_recover(&pg);

    ask_alone();
    check_prepared("catalogue_version 1");
}
END_TEST

START_TEST(a_segment_does_not_rely_on_a_parse_of_one_that_may_fail)
{
    take_table_away();
    send(FAILS);
    send(ANSWERS);
    sync_flight();
    send(ANSWERS);
    sync_flight();

    fails(STATUS_INTERNAL, "42P01");
    fails(STATUS_CANCELLED, "");
    end_flight();
    answers();
    end_flight();
}
END_TEST

START_TEST(a_segment_behind_one_that_succeeds_answers_too)
{
    send(ANSWERS);
    sync_flight();
    send(ANSWERS);
    send(ANSWERS);
    sync_flight();

    answers();
    end_flight();
    answers();
    answers();
    end_flight();
    ask_alone();
    check_prepared("catalogue_version 2");
}
END_TEST

START_TEST(rows_come_singly_from_a_statement_that_is_new)
{
    PG_RESULT row = NULL;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pg_send_singly(&pg, ANSWERS, NULL, &err), STATUS_OK);
        sync_flight();
        ck_assert_int_eq(pg_row(&pg, &row, &err), STATUS_OK);
        ck_assert_ptr_nonnull(row);
        ck_assert_int_eq(pg_row(&pg, &row, &err), STATUS_OK);
        ck_assert_ptr_null(row);
        end_flight();
    }
    check_prepared("catalogue_version 2");
}
END_TEST

START_TEST(rows_do_not_come_from_a_statement_that_cannot_be_parsed)
{
    take_table_away();

    ck_assert_int_eq(pg_send_singly(&pg, FAILS, NULL, &err), STATUS_INTERNAL);

    ck_assert_str_eq(err.sqlstate, "42P01");
    ask_alone();
}
END_TEST

START_TEST(nothing_is_written_to_stderr_when_an_idle_connection_ends)
{
    FILE *written = tmpfile();
    int stderr_before = dup(STDERR_FILENO);
    struct stat stat;

    ck_assert_int_ge(dup2(fileno(written), STDERR_FILENO), 0);
    ask_alone();
    test_sql(sql, "select pg_terminate_backend(%d, 5000)", PQbackendPID(pg.conn));
    (void)PQconsumeInput(pg.conn);
    (void)PQisBusy(pg.conn);
    (void)dup2(stderr_before, STDERR_FILENO);

    ck_assert_int_eq(fstat(fileno(written), &stat), 0);
    ck_assert_int_eq(stat.st_size, 0);
    fclose(written);
}
END_TEST

START_TEST(the_next_connection_has_no_statement)
{
    ask_alone();
    send(FAILS); /* still running when the connection ends */
    sync_flight();
    pg_close(&pg);

    ck_assert_int_eq(pg_ensure(&pg, &err), STATUS_OK);

    check_prepared("");
    ask_alone();
}
END_TEST

Suite *test_prepared_suite(void)
{
    Suite *suite = suite_create("prepared");
    TCase *tc = tcase_create("prepared");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_new_connection_has_no_statement);
    tcase_add_test(tc, a_statement_is_parsed_once);
    tcase_add_test(tc, a_statement_is_parsed_once_in_a_flight);
    tcase_add_test(tc, a_flight_that_does_not_read_its_results_prepares_too);
    tcase_add_test(tc, a_parse_that_fails_is_the_failure_of_the_statement);
    tcase_add_test(tc, a_parse_that_failed_is_made_again);
    tcase_add_test(tc, a_parse_that_was_skipped_is_made_again);
    tcase_add_test(tc, a_segment_does_not_rely_on_a_parse_of_one_that_may_fail);
    tcase_add_test(tc, a_segment_behind_one_that_succeeds_answers_too);
    tcase_add_test(tc, rows_come_singly_from_a_statement_that_is_new);
    tcase_add_test(tc, rows_do_not_come_from_a_statement_that_cannot_be_parsed);
    tcase_add_test(tc, nothing_is_written_to_stderr_when_an_idle_connection_ends);
    tcase_add_test(tc, the_next_connection_has_no_statement);
    suite_add_tcase(suite, tc);
    return suite;
}
