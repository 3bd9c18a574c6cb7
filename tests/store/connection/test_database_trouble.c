/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_database_trouble.c - a database that cannot read or write its files (SQLSTATE class 58) or has no room (53):
 * that is never counted as a failure of a write, a key or a build.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "store/indexes/index_calls.h"
#include "store/indexes/reconcile.h"
#include "store/job_work.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { PATH_BYTES = 1000 };

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

/* From now on writes of rows of this table fail. */
static void break_disk(const char *sqlstate, long long table_id)
{
    test_sql(world.sql,
        "create or replace function break() returns trigger language plpgsql as $$begin raise exception "
        "'could not write block 7 in file \"base/1/2\"' using errcode = '%s'; end$$;"
        "create trigger break before insert or update on entities for each row when (new.table_id = %lld) "
        "execute function break()",
        sqlstate, table_id);
}

static void mend_disk(void)
{
    test_sql(world.sql, "drop trigger break on entities");
}

static const char *const troubles[] = { "58030", "58P01", "53100", "53400" };

START_TEST(a_write_that_meets_it_may_be_repeated)
{
    struct operation *write;

    break_disk(troubles[_i], TABLE_ID);
    write = call_write(&world.writer, &world.arena, WRITE_INSERT, "People", call_key("p", "r"), "x");
    call_failed(write, "STORE_UNAVAILABLE");
    ck_assert_int_eq(write->status, STATUS_UNAVAILABLE);
    mend_disk();
    call_succeeded(call_write(&world.writer, &world.arena, WRITE_INSERT, "People", call_key("p", "r"), "x"));
}
END_TEST

START_TEST(a_build_that_meets_it_goes_on_later)
{
    struct error err = { 0 };
    bool worked = false;

    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    break_disk(troubles[_i], test_number(world.sql, "select index_id from indexes"));
    ck_assert_int_eq(job_work_run(world.worker, &worked, &err), STATUS_UNAVAILABLE);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.state, JOB_RUNNING);
    mend_disk();
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.state, JOB_DONE);
    world_check(&world);
}
END_TEST

START_TEST(a_reconcile_that_meets_it_says_so)
{
    struct intent message = world_message("r");
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    world_index(&world, BY_CITY, "City", 0);
    world_put(&world, "r", "Bonn", "x");
    break_disk(troubles[_i], BY_CITY);
    ck_assert_int_eq(reconcile_keys(world.worker, &message, 1, false, &counts, &err), STATUS_UNAVAILABLE);
    ck_assert_str_eq(err.sqlstate, troubles[_i]);
    mend_disk();
    world_reconcile(&world, "r");
    world_check(&world);
}
END_TEST

/* The folder of temporary files, and where it lies while a file has its name. */
static char folder[PATH_BYTES], away[PATH_BYTES + sizeof(".away")];

static void lose_folder(void)
{
    FILE *file;

    snprintf(folder, sizeof(folder), "%s/base/pgsql_tmp", test_text(world.sql, "show data_directory"));
    snprintf(away, sizeof(away), "%s.away", folder);
    ck_assert(rename(folder, away) == 0 || errno == ENOENT);
    file = fopen(folder, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

static void restore_folder(void)
{
    ck_assert_int_eq(unlink(folder), 0);
    ck_assert(rename(away, folder) == 0 || errno == ENOENT);
}

/* PostgreSQL reports it as an internal error. */
START_TEST(a_write_without_temporary_files_may_be_repeated)
{
    struct operation *write;

    test_sql(world.sql,
        "create or replace function break() returns trigger language plpgsql set work_mem = '64kB' as "
        "$$begin perform from generate_series(1, 100000) g order by -g; return new; end$$;"
        "create trigger break before insert on entities for each row execute function break()");
    lose_folder();
    write = call_write(&world.writer, &world.arena, WRITE_INSERT, "People", call_key("p", "r"), "x");
    restore_folder();
    call_failed(write, "STORE_UNAVAILABLE");
    ck_assert_int_eq(write->status, STATUS_UNAVAILABLE);
    mend_disk();
    call_succeeded(call_write(&world.writer, &world.arena, WRITE_INSERT, "People", call_key("p", "r"), "x"));
}
END_TEST

Suite *test_database_trouble_suite(void)
{
    Suite *suite = suite_create("database_trouble");
    TCase *tc = tcase_create("database_trouble");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_write_that_meets_it_may_be_repeated, 0, ARRAY_LEN(troubles));
    tcase_add_loop_test(tc, a_build_that_meets_it_goes_on_later, 0, ARRAY_LEN(troubles));
    tcase_add_loop_test(tc, a_reconcile_that_meets_it_says_so, 0, ARRAY_LEN(troubles));
    tcase_add_test(tc, a_write_without_temporary_files_may_be_repeated);
    suite_add_tcase(suite, tc);
    return suite;
}
