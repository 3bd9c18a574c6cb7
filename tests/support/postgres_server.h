/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_server.h - databases for tests: each test gets one with the newest schema and no data.
 *
 * By default they are on a PostgreSQL that the test program starts: on a Unix socket in a folder of its own, without
 * fsync; it ends with the program, however the program ends. If TAVOLA_POSTGRES is set, they are on that server; its
 * role must be allowed to create databases, and all databases made here are dropped at the end. If TEST_SHARED_TEMPLATE
 * is set too, the migrated database from which the others are copied is shared by all programs, and stays there for
 * later ones.
 */
#ifndef TESTS_SUPPORT_POSTGRES_SERVER_H
#define TESTS_SUPPORT_POSTGRES_SERVER_H

#include <libpq-fe.h>

/*
 * Start the server, once per program: call it where a suite is made, which is before check forks. Ends the program on
 * failure.
 */
void test_postgres_start(void);

/*
 * Keep the log of commits that do not wait for the disk in memory until the server crashes, by stopping the process
 * that writes it. Fails the test if that process may not be signalled.
 */
void test_postgres_hold_log(PGconn *conn);

/*
 * Crash the server after test_postgres_hold_log, and wait until it serves again. All connections are lost; *conn is a
 * new one.
 */
void test_postgres_crash(PGconn **conn, const char *conninfo);

/*
 * The connection string of a database as the migrations leave it. Until test_database_end, which frees the string, a
 * process that calls again gets another database; later tests get the same databases, reset.
 */
const char *test_database(void);
void test_database_end(const char *conninfo);

/*
 * A plain connection for preparing and inspecting data; fails the test if there is none. The caller ends it with
 * PQfinish.
 */
PGconn *test_connect(const char *conninfo);

/* Run SQL (printf) and fail the test with the server's message if it does not succeed. */
__attribute__((format(printf, 2, 3))) void test_sql(PGconn *conn, const char *format, ...);

/* The same for a query with one row and one column: returns the number, or the text (valid until the next call). */
__attribute__((format(printf, 2, 3))) long long test_number(PGconn *conn, const char *format, ...);
__attribute__((format(printf, 2, 3))) const char *test_text(PGconn *conn, const char *format, ...);

/* Wait until a query's number is not zero; fails the test after ten seconds. */
__attribute__((format(printf, 2, 3))) void test_await(PGconn *conn, const char *format, ...);

#endif
