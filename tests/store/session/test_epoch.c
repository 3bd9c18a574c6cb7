/* SPDX-License-Identifier: Apache-2.0 */
/* test_epoch.c - another timeline raises the floor, so that no version is used twice (invariant I7). */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/connection/remembered.h"
#include "store/session/epoch.h"
#include "store/sql.h"
#include "tests/support/worker_world.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static long long catalogue(const char *column)
{
    return test_number(world.sql, "select %s from catalogue", column);
}

/* A writer of another server, on a new connection. */
static int64_t put_on_a_new_connection(const char *row)
{
    session_cleanup(&world.writer);
    session_init(&world.writer, world.conninfo, "test writer");
    return world_put(&world, row, "Bonn", "x");
}

START_TEST(on_its_own_timeline_nothing_changes)
{
    int64_t first = world_put(&world, "r", "Bonn", "x");

    ck_assert_int_eq(put_on_a_new_connection("r"), first + 1);
    ck_assert_int_eq(catalogue("epoch"), 0);
    ck_assert_int_eq(catalogue("floor"), 0);
}
END_TEST

static const char *const moved_away[] = { "timeline = timeline + 1", "system_id = system_id + 1" };

START_TEST(elsewhere_every_new_version_is_above_all_old_ones)
{
    world_put(&world, "r", "Bonn", "x");
    test_sql(world.sql, "update catalogue set %s", moved_away[_i]);

    int64_t version = put_on_a_new_connection("r");

    int64_t epoch = catalogue("epoch");
    ck_assert_int_gt(epoch, 0);
    ck_assert_int_eq(catalogue("floor"), epoch << EPOCH_SHIFT);
    ck_assert_int_eq(version, (epoch << EPOCH_SHIFT) + 1);

    /* Once is enough: the next connection finds the catalogue raised already. */
    ck_assert_int_eq(put_on_a_new_connection("r"), version + 1);
    ck_assert_int_eq(catalogue("epoch"), epoch);
}
END_TEST

START_TEST(the_floor_never_falls)
{
    test_sql(world.sql, "update catalogue set floor = 1::int8 << 62, timeline = timeline + 1");

    put_on_a_new_connection("r");

    ck_assert_int_eq(catalogue("floor"), INT64_C(1) << 62);
    ck_assert_int_gt(catalogue("epoch"), 0);
}
END_TEST

/* ---- restores (guard G29) ---- */

static struct remembered *remembered;

static struct history found(void)
{
    return (struct history){ .system_id = catalogue("system_id"),
        .timeline = catalogue("timeline"),
        .epoch = catalogue("epoch"),
        .lsn = test_number(world.sql, "select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8") };
}

static struct token_key key(void)
{
    struct session *session = &world.writer;
    struct token_key key;
    struct pg_params params;
    PG_RESULT result = NULL;
    struct error err;

    pg_params_init(&params, &world.arena);
    pg_add_bytes(&params, STR_LITERAL("token_key"));
    ck_assert_int_eq(session_ensure(session, &err), STATUS_OK);
    ck_assert_int_eq(pg_query(&session->pg, &sql_secret_get, &params, &result, &err), STATUS_OK);
    memcpy(key.bytes, PQgetvalue(result, 0, 0), sizeof(key.bytes));
    return key;
}

/* A writer of another program that remembers this history, on a new connection. */
static void meet(struct remembered *by)
{
    struct error err = { 0 };

    session_cleanup(&world.writer);
    session_init(&world.writer, world.conninfo, "test writer");
    world.writer.remembered = by;
    ck_assert_msg(session_ensure(&world.writer, &err) == STATUS_OK, "%s", err.message);
}

/* The flush position before the database was put back. */
static struct history lost(void)
{
    struct history history = found();

    history.lsn += 1 << 20;
    return history;
}

START_TEST(a_database_behind_what_is_remembered_gets_an_epoch_once) /* guard G29 */
{
    struct remembered *other = remembered_new();
    struct history before = lost();
    int64_t epoch, raised;

    remembered = remembered_new();
    remembered_confirm(remembered, &before);
    remembered_confirm(other, &before);

    meet(remembered);
    epoch = catalogue("epoch");
    ck_assert_int_gt(epoch, before.epoch);
    ck_assert(remembered_take_raise(remembered, &raised));
    ck_assert_int_eq(raised, epoch);

    meet(remembered);
    meet(other); /* it remembers the lost epoch too, and sees that it was accepted */
    ck_assert_int_eq(catalogue("epoch"), epoch);
    ck_assert(!remembered_take_raise(remembered, &raised));
    remembered_free(other);
    remembered_free(remembered);
}
END_TEST

static const struct put_back {
    const char *name;
    struct history by;
    bool raises;
} put_backs[] = {
    { "an epoch that is not there any more", { .epoch = 7 }, true },
    { "a timeline that is not there any more", { .timeline = 1 }, true },
    { "another cluster", { .system_id = 1, .lsn = 1 << 20 }, false },
    { "just here", { .lsn = 0 }, false },
};

START_TEST(what_was_there_says_whether_it_was_put_back)
{
    const struct put_back *c = &put_backs[_i];
    struct history before;

    remembered = remembered_new();
    meet(remembered);
    before = found();
    before.system_id += c->by.system_id;
    before.timeline += c->by.timeline;
    before.epoch += c->by.epoch;
    before.lsn += c->by.lsn;
    remembered_free(remembered);
    remembered = remembered_new();
    remembered_confirm(remembered, &before);
    meet(remembered);
    ck_assert_msg((catalogue("epoch") > before.epoch - c->by.epoch) == c->raises, "%s", c->name);
    if (c->raises)
        ck_assert_int_gt(catalogue("epoch"), before.epoch);
    remembered_free(remembered);
}
END_TEST

START_TEST(a_hint_outlives_the_program)
{
    struct history before = lost();
    struct token_key own = key();
    struct str hint = history_seal(&before, &own, &world.arena), kept;
    int64_t epoch;

    remembered = remembered_new();
    remembered_offer(remembered, hint);
    ck_assert(
        !remembered_hint(remembered, &world.arena, &kept)); /* what is stored elsewhere was not compared */
    meet(remembered);
    epoch = catalogue("epoch");
    ck_assert_int_gt(epoch, before.epoch);
    ck_assert(remembered_hint(remembered, &world.arena, &kept));
    remembered_free(remembered);

    /* The same history again, or a later one: nothing was lost since. */
    for (int i = 0; i < 2; i++) {
        remembered = remembered_new();
        remembered_offer(remembered, i ? kept : hint);
        meet(remembered);
        ck_assert_int_eq(catalogue("epoch"), epoch);
        remembered_free(remembered);
    }
}
END_TEST

static const char *const garbage[] = { "", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "forged" };

START_TEST(a_hint_that_is_not_ours_does_nothing)
{
    struct history before = lost();
    struct token_key other = { { 1 } };
    struct str hint = str_of(garbage[_i]), kept;

    if (str_equal(hint, STR_LITERAL("forged")))
        hint = history_seal(&before, &other, &world.arena);
    remembered = remembered_new();
    remembered_offer(remembered, hint);
    meet(remembered);
    ck_assert_int_eq(catalogue("epoch"), 0);
    ck_assert(remembered_hint(remembered, &world.arena, &kept));
    remembered_free(remembered);
}
END_TEST

/* ---- several programs check at once ---- */

static atomic_bool looked_enough;

static void *look_again_and_again(void *argument)
{
    struct session session;
    struct error err = { 0 };

    session_init(&session, argument, "test looker");
    session.remembered = remembered;
    for (int i = 0; i < 500 && session_ensure(&session, &err) == STATUS_OK; i++)
        if (epoch_ensure(&session, &err) != STATUS_OK)
            break;
    session_cleanup(&session);
    atomic_store(&looked_enough, true);
    return NULL;
}

/* What one program has seen meanwhile is not a loss of what another one has sent before. */
START_TEST(a_slow_epoch_check_reports_no_restore)
{
    pthread_t threads[6];

    remembered = remembered_new();
    atomic_store(&looked_enough, false);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_again_and_again, (void *)world.conninfo), 0);
    for (int i = 0; !atomic_load(&looked_enough); i++)
        world_put(&world, "r", i % 2 ? "Bonn" : "Rome", "x");
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);

    ck_assert_int_eq(catalogue("epoch"), 0);
    remembered_free(remembered);
}
END_TEST

/* What a crash undoes was not on disk: that is no restore. */
START_TEST(a_crash_is_no_restore)
{
    struct error err;

    remembered = remembered_new();
    meet(remembered);
    test_postgres_hold_log(world.sql);
    test_sql(
        world.sql, "set synchronous_commit = off; create table lost (n int); insert into lost values (1)");
    ck_assert_int_eq(epoch_ensure(&world.writer, &err), STATUS_OK);
    world_crash(&world);

    meet(remembered);

    ck_assert_int_eq(test_number(world.sql, "select count(*) from pg_class where relname = 'lost'"), 0);
    ck_assert_int_eq(catalogue("epoch"), 0);
    remembered_free(remembered);
}
END_TEST

START_TEST(an_operator_raises_it_by_hand)
{
    struct error err;
    int64_t epoch = 0, next = 0;

    ck_assert_int_eq(epoch_raise(world.conninfo, &epoch, &err), STATUS_OK);
    ck_assert_int_eq(epoch_raise(world.conninfo, &next, &err), STATUS_OK);
    ck_assert_int_gt(epoch, 0);
    ck_assert_int_gt(next, epoch);
    ck_assert_int_eq(put_on_a_new_connection("r"), (next << EPOCH_SHIFT) + 1);
}
END_TEST

Suite *test_epoch_suite(void)
{
    Suite *suite = suite_create("epoch");
    TCase *tc = tcase_create("epoch");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, on_its_own_timeline_nothing_changes);
    tcase_add_loop_test(tc, elsewhere_every_new_version_is_above_all_old_ones, 0, 2);
    tcase_add_test(tc, the_floor_never_falls);
    tcase_add_test(tc, a_database_behind_what_is_remembered_gets_an_epoch_once);
    tcase_add_loop_test(tc, what_was_there_says_whether_it_was_put_back, 0, ARRAY_LEN(put_backs));
    tcase_add_test(tc, a_hint_outlives_the_program);
    tcase_add_loop_test(tc, a_hint_that_is_not_ours_does_nothing, 0, ARRAY_LEN(garbage));
    tcase_add_test(tc, a_slow_epoch_check_reports_no_restore);
    tcase_add_test(tc, a_crash_is_no_restore);
    tcase_add_test(tc, an_operator_raises_it_by_hand);
    suite_add_tcase(suite, tc);
    return suite;
}
