/* SPDX-License-Identifier: Apache-2.0 */
/* test_database_settings.c - a connection whose role, database or server has a setting that would break a promise. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/session/session.h"
#include "tests/support/worker_world.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    pg_allow_data_loss(true);
    world_close(&world);
}

/* Connect as this role; returns the status, with the message in err. */
static enum status connect_as(const char *role, struct error *err)
{
    struct arena *arena = &world.arena;
    struct session session;
    enum status status;

    session_init(&session, arena_format(arena, "%s user='%s'", world.conninfo, role).data, "tavolad test");
    status = session_ensure(&session, err);
    session_cleanup(&session);
    return status;
}

/* Roles belong to the whole server, and other tests may run at the same time. */
static const char *role_with(const char *setting)
{
    const char *role = arena_format(&world.arena, "role_%d_%s", (int)getpid(), "careless").data;

    test_sql(world.sql, "create role %s superuser login", role);
    test_sql(world.sql, "alter role %s set %s", role, setting);
    return role;
}

static void drop_role(const char *role)
{
    test_sql(world.sql, "drop role %s", role);
}

START_TEST(a_role_that_does_not_wait_for_the_disk_is_refused)
{
    const char *role = role_with("synchronous_commit = off");
    struct error err = { 0 };

    pg_allow_data_loss(false);
    ck_assert_int_eq(connect_as(role, &err), STATUS_PRECONDITION);
    ck_assert_msg(strstr(err.message, "synchronous_commit=off") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "TAVOLA_ALLOW_DATA_LOSS") != NULL, "%s", err.message);

    pg_allow_data_loss(true);
    ck_assert_msg(connect_as(role, &err) == STATUS_OK, "%s", err.message);
    drop_role(role);
}
END_TEST

/* The test server has fsync=off. */
START_TEST(a_server_without_fsync_is_refused)
{
    struct error err = { 0 };

    pg_allow_data_loss(false);
    ck_assert_int_eq(session_ensure(&world.writer, &err), STATUS_PRECONDITION);
    ck_assert_msg(strstr(err.message, "fsync=off full_page_writes=off;") != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_role_with_another_isolation_is_overruled)
{
    const char *role = role_with("default_transaction_isolation = 'serializable'");
    struct error err = { 0 };

    ck_assert_msg(connect_as(role, &err) == STATUS_OK, "%s", err.message);
    drop_role(role);
}
END_TEST

START_TEST(keys_in_another_order_are_refused)
{
    struct error err = { 0 };

    test_sql(world.sql, "alter table tables alter column folded type text collate \"default\"");
    ck_assert_int_eq(session_ensure(&world.writer, &err), STATUS_PRECONDITION);
    ck_assert_msg(strstr(err.message, "collation") != NULL, "%s", err.message);
}
END_TEST

Suite *test_database_settings_suite(void)
{
    Suite *suite = suite_create("database_settings");
    TCase *tc = tcase_create("database_settings");
    const char *given = getenv("TAVOLA_POSTGRES");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_role_that_does_not_wait_for_the_disk_is_refused);
    if (!given || !*given)
        tcase_add_test(tc, a_server_without_fsync_is_refused);
    tcase_add_test(tc, a_role_with_another_isolation_is_overruled);
    tcase_add_test(tc, keys_in_another_order_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
