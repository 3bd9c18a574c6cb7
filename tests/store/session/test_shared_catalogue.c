/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_shared_catalogue.c - the catalogue is read once for all sessions, and of it only what has changed; what was read
 * in parts is what a session reads that knows nothing.
 */
#include <check.h>
#include <pthread.h>

#include "base/clock.h"
#include "domain/indexes/index_codec.h"
#include "store/catalogue/table_calls.h"
#include "store/indexes/index_calls.h"
#include "store/session/shared_catalogue.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { READERS = 3 };

static struct world world;
static struct shared_catalogue *shared;
static struct session readers[READERS]; /* they share a catalogue */
static PGconn *holder;

static void setup(void)
{
    world_open(&world);
    holder = test_connect(world.conninfo);
    shared = shared_catalogue_new();
    for (int i = 0; i < READERS; i++) {
        session_init(&readers[i], world.conninfo, "test reader");
        readers[i].shared_catalogue = shared;
    }
}

static void teardown(void)
{
    for (int i = 0; i < READERS; i++)
        session_cleanup(&readers[i]);
    shared_catalogue_free(shared);
    PQfinish(holder);
    world_close(&world);
}

static const struct catalogue *refreshed(struct session *session)
{
    struct error err = { 0 };

    ck_assert_msg(session_ensure(session, &err) == STATUS_OK, "%s", err.message);
    ck_assert_msg(session_refresh(session, NULL, &err) == STATUS_OK, "%s", err.message);
    return session->catalogue;
}

static const struct table *found(const struct catalogue *catalogue, const char *name)
{
    return catalogue_find(catalogue, STR_LITERAL("acme"), str_of(name));
}

/* ---- two catalogues hold the same ---- */

static void check_index(const struct index *a, const struct index *b)
{
    ck_assert_int_eq(a->index_id, b->index_id);
    ck_assert_int_eq(a->source_table_id, b->source_table_id);
    ck_assert_int_eq(a->state, b->state);
    ck_assert_int_eq(a->replaces, b->replaces);
    ck_assert(str_equal(a->name, b->name) && str_equal(a->source_name, b->source_name));
    ck_assert(str_equal(a->definition, b->definition) && str_equal(a->operation_id, b->operation_id));
}

static void check_table(const struct table *a, const struct table *b)
{
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(a->table_id, b->table_id);
    ck_assert_int_eq(a->created, b->created);
    ck_assert_int_eq(a->feed_id, b->feed_id);
    ck_assert_int_eq(a->signatures_from, b->signatures_from);
    ck_assert_int_eq(a->default_max_plan, b->default_max_plan);
    ck_assert_int_eq(a->samples_queries, b->samples_queries);
    ck_assert(str_equal(a->name, b->name));
    ck_assert(!a->entries_of == !b->entries_of);
    if (a->entries_of)
        check_index(a->entries_of, b->entries_of);
    ck_assert_uint_eq(a->index_count, b->index_count);
    for (size_t i = 0; i < a->index_count; i++)
        check_index(a->indexes[i], b->indexes[i]);
}

static void check_same(const struct catalogue *a, const struct catalogue *b)
{
    const struct str account = STR_LITERAL("acme");
    const struct table *x = catalogue_after(a, account, STR_EMPTY),
                       *y = catalogue_after(b, account, STR_EMPTY);

    ck_assert_int_eq(a->version, b->version);
    ck_assert_int_eq(a->floor, b->floor);
    ck_assert_int_eq(a->epoch, b->epoch);
    ck_assert_uint_eq(a->sampled_tables, b->sampled_tables);
    for (; x; x = catalogue_after(a, account, x->folded), y = catalogue_after(b, account, y->folded)) {
        check_table(x, y);
        check_table(x, catalogue_find_id(b, x->table_id));
        ck_assert_ptr_eq(catalogue_find_id(a, x->table_id), x);
    }
    ck_assert_ptr_null(y);
}

/* What the sessions have read in parts is what one reads that knows nothing. */
static void check_readers(void)
{
    struct session fresh;

    session_init(&fresh, world.conninfo, "test fresh");
    for (int i = 0; i < READERS; i++) {
        check_same(refreshed(&readers[i]), refreshed(&fresh));
        ck_assert_ptr_eq(readers[i].catalogue, readers[0].catalogue);
    }
    session_cleanup(&fresh);
}

/* ---- changes, as callers and workers make them ---- */

static void make_table(const char *name)
{
    call_succeeded(
        call_run(&world.writer, table_calls_create, call_make(&world.arena, OPERATION_TABLE_CREATE, name)));
}

static void delete_table(const char *name)
{
    call_succeeded(
        call_run(&world.writer, table_calls_delete, call_make(&world.arena, OPERATION_TABLE_DELETE, name)));
}

static void update_table(const char *name, bool samples, bool has_feed)
{
    struct operation *operation = call_make(&world.arena, OPERATION_TABLE_UPDATE, name);

    operation->in.tables.change = (struct table_change){ .sets_sample_queries = true,
        .samples_queries = samples,
        .sets_change_feed = has_feed,
        .change_feed = has_feed };
    call_succeeded(call_run(&world.writer, table_calls_update, operation));
}

START_TEST(what_is_read_in_parts_is_the_whole)
{
    const struct table *people;

    check_readers();
    people = found(readers[0].catalogue, "People");
    make_table("Letters");
    check_readers();
    ck_assert_ptr_eq(found(readers[0].catalogue, "People"), people);
    update_table("Letters", true, false);
    check_readers();
    ck_assert_uint_eq(readers[0].catalogue->sampled_tables, 1);
    update_table("Letters", true, true);
    check_readers();
    call_succeeded(index_created(&world, "LettersByCity", "Letters", 0));
    check_readers();
    run_chunks(world.worker); /* the index becomes READY */
    check_readers();
    ck_assert_int_eq(found(readers[0].catalogue, "Letters")->indexes[0]->state, INDEX_READY);
    ck_assert_ptr_eq(found(readers[0].catalogue, "People"), people);
    call_succeeded(index_dropped(&world, "LettersByCity"));
    run_chunks(world.worker);
    check_readers();
    delete_table("Letters");
    run_chunks(world.worker);
    check_readers();
    ck_assert_ptr_null(found(readers[0].catalogue, "Letters"));
    ck_assert_ptr_eq(found(readers[0].catalogue, "People"), people);
}
END_TEST

/* Several changes at once, one of which frees the name that another takes. */
START_TEST(a_name_passes_from_one_table_to_another)
{
    int64_t first;

    make_table("Letters");
    check_readers();
    first = found(readers[0].catalogue, "Letters")->table_id;
    delete_table("Letters");
    make_table("Letters");
    check_readers();
    ck_assert_int_ne(found(readers[0].catalogue, "Letters")->table_id, first);
}
END_TEST

/* Guard G44. A change by an earlier program, or by hand, has no note of what changed. */
START_TEST(a_version_that_says_nothing_is_read_whole)
{
    check_readers();
    test_sql(world.sql,
        "begin; update tables set default_max_plan = 2; update catalogue set version = version + 1; commit");
    make_table("Letters");
    check_readers();
    ck_assert_int_eq(found(readers[0].catalogue, "People")->default_max_plan, 2);
}
END_TEST

/* Guard G44: a catalogue of another history is not the beginning of this one. */
START_TEST(another_history_is_read_whole)
{
    const struct table *people = found(refreshed(&world.writer), "People");

    if (_i == 0)
        world.writer.catalogue->origin++;
    else
        world.writer.catalogue->epoch++;
    make_table("Letters");
    refreshed(&world.writer);
    ck_assert_ptr_ne(found(world.writer.catalogue, "People"), people);
    ck_assert_ptr_nonnull(found(world.writer.catalogue, "People"));
}
END_TEST

/* ---- one reads, the others wait ---- */

static void *refresh_in_thread(void *argument)
{
    refreshed(argument);
    return NULL;
}

/* Sessions of readers that wait for the table `tables`, which a test has locked. */
#define SQL_READING                                                                                          \
    "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'test "     \
    "reader'"

START_TEST(one_session_reads_for_all)
{
    pthread_t threads[READERS];

    check_readers();
    make_table("Letters");
    test_sql(holder, "begin; lock table tables in access exclusive mode");
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, refresh_in_thread, &readers[i]), 0);
    test_await(world.sql, SQL_READING);
    /* All have asked for the version: the others have nothing to do in the database. */
    while (test_number(world.sql,
               "select count(*) from pg_stat_activity where application_name = 'test reader' "
               "and query like '%%version from catalogue%%' and state = 'idle'") < READERS - 1)
        continue;
    ck_assert_int_eq(test_number(world.sql, SQL_READING), 1);
    test_sql(holder, "commit");
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    check_readers();
}
END_TEST

enum { LIMIT_US = 2000000, LOCK_WAIT_MS = 60000 };

static void *time_in_thread(void *argument)
{
    struct session *session = argument;
    int64_t *took_us = ARENA_NEW(&session->arena, int64_t), begun_us = clock_monotonic_us();

    ck_assert_int_ne(session_refresh(session, NULL, NULL), STATUS_OK);
    *took_us = clock_monotonic_us() - begun_us;
    return took_us;
}

/* The time of two limits, one after the other, would be that of a stop while the database stands still. */
START_TEST(a_reading_without_an_answer_costs_all_one_time_limit)
{
    pthread_t threads[READERS];

    for (int i = 0; i < READERS; i++)
        readers[i].pg.lock_wait_ms = LOCK_WAIT_MS; /* PostgreSQL's own limit must not end a reading */
    check_readers();
    make_table("Letters");
    test_sql(holder, "begin; lock table tables in access exclusive mode");
    for (int i = 0; i < READERS; i++) {
        readers[i].pg.limit_us = LIMIT_US;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, time_in_thread, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; i++) {
        void *took_us;

        ck_assert_int_eq(pthread_join(threads[i], &took_us), 0);
        ck_assert_int_lt(*(int64_t *)took_us, LIMIT_US * 3 / 2);
    }
    test_sql(holder, "rollback");
}
END_TEST

Suite *test_shared_catalogue_suite(void)
{
    Suite *suite = suite_create("shared_catalogue");
    TCase *tc = tcase_create("shared_catalogue");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_read_in_parts_is_the_whole);
    tcase_add_test(tc, a_name_passes_from_one_table_to_another);
    tcase_add_test(tc, a_version_that_says_nothing_is_read_whole);
    tcase_add_loop_test(tc, another_history_is_read_whole, 0, 2);
    tcase_add_test(tc, one_session_reads_for_all);
    tcase_add_test(tc, a_reading_without_an_answer_costs_all_one_time_limit);
    suite_add_tcase(suite, tc);
    return suite;
}
