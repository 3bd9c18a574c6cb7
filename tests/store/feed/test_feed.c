/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_feed.c - the change feed on a real PostgreSQL: the order of changes of concurrent commits, the pages that a
 * reader gets, the moment from which writers know of a feed, and the purge.
 */
#include <check.h>
#include <stdio.h>

#include "domain/limits.h"
#include "store/background/sweep.h"
#include "store/session/worker.h"
#include "tests/support/builders.h"

enum { DAY_S = 86400 };

static struct scene scene;
static long long feed;

static struct operation *switching(bool on)
{
    struct operation *operation = an_operation(&scene.arena, OPERATION_TABLE_UPDATE, "Things");

    operation->in.tables.change = (struct table_change){ .sets_change_feed = true, .change_feed = on };
    return operation;
}

static void switch_feed(bool on)
{
    struct operation *operation = switching(on);

    run(scene.store, operation);
    ck_assert_reason(operation, "OK");
    ck_assert(operation->out.tables.tables[0].change_feed == on);
    feed = test_number(scene.sql, "select coalesce(feed_id, 0) from tables where name = 'Things'");
}

static void setup(void)
{
    scene_open(&scene);
    switch_feed(true);
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct property_list text(const char *value)
{
    return some_texts(&scene.arena, "Text", value, NULL);
}

static void put(const char *row)
{
    scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p", row, text("x")));
}

/* The position at the end of the feed; or, from a position, the page after it. */
static struct operation *a_changes(const struct feed_position *from)
{
    struct operation *operation = an_operation(&scene.arena, OPERATION_CHANGES, "Things");

    operation->in.changes.has_position = from != NULL;
    if (from)
        operation->in.changes.position = *from;
    return operation;
}

static const struct outcome_changes *read_changes(const struct feed_position *from)
{
    struct operation *operation = a_changes(from);

    run(scene.store, operation);
    ck_assert_reason(operation, "OK");
    return &operation->out.changes;
}

static struct feed_position here(void)
{
    return read_changes(NULL)->position;
}

/* "+a =a -a": the kinds and the row keys. */
static const char *told(const struct outcome_changes *changes)
{
    static const char signs[] = { [CHANGE_INSERTED] = '+', [CHANGE_UPDATED] = '=', [CHANGE_DELETED] = '-' };
    struct buf out;

    buf_init(&out, &scene.arena);
    for (size_t i = 0; i < changes->count; i++)
        buf_format(&out, "%s%c%.*s", i ? " " : "", signs[changes->changes[i].kind],
            STR_ARG(changes->changes[i].entity.key.row));
    buf_append_byte(&out, 0);
    return out.data;
}

/* ---- order ---- */

/* A writer on another server, stopped between taking its number and its commit. */
static PGconn *begin_change(const char *row)
{
    PGconn *other = test_connect(scene.conninfo);

    test_sql(other,
        "begin; select pg_advisory_xact_lock_shared(17765::int8 << 48 | last_value) from change_numbers;"
        "select pg_advisory_xact_lock_shared(17766, %lld);"
        "insert into changes (feed_id, number, kind, partition_key, row_key, version, ts, expires_at, "
        "properties) "
        "values (%lld, nextval('change_numbers'), 1, 'p', '%s', 1, 1, 0, '')",
        feed, feed, row);
    return other;
}

/* guard G47: a change that commits late, with a smaller number, is behind no reader's position. */
START_TEST(a_change_that_commits_late_is_not_skipped)
{
    struct feed_position from, between;
    PGconn *other;

    put("before");
    from = here();
    other = begin_change("first");
    put("second"); /* does not wait */
    ck_assert_str_eq(told(read_changes(&from)), "");
    ck_assert(!read_changes(&from)->more);
    between = here();
    put("third");

    test_sql(other, "commit");
    ck_assert_str_eq(told(read_changes(&from)), "+first +second +third");
    ck_assert_str_eq(told(read_changes(&between)), "+first +second +third");
    PQfinish(other);
}
END_TEST

/* One that reads what is stored first, and one that does not. */
static const enum write_kind announced_kinds[] = { WRITE_INSERT, WRITE_INSERT_OR_REPLACE };

/* guard G47: the announcement of the server's own writers, seen from another session while their commit waits. */
START_TEST(a_writer_announces_itself_before_it_draws)
{
    struct feed_position from = here();
    struct operation *late =
        a_write_operation(&scene.arena, "Things", a_write(announced_kinds[_i], "p", "late", text("x")));
    PGconn *other = test_connect(scene.conninfo);

    /* Commits of the server's writers wait behind their insert of changes. */
    test_sql(scene.sql,
        "create function test_wait() returns trigger language plpgsql as "
        "$$begin perform pg_advisory_xact_lock(1); return null; end$$;"
        "create trigger test_wait after insert on changes for each row when (new.row_key = 'late') "
        "execute function test_wait()");
    test_sql(other, "begin; select pg_advisory_xact_lock(1)");
    submit(scene.store, late);
    test_await(scene.sql, "select count(*) from pg_stat_activity where datname = current_database() "
                          "and wait_event_type = 'Lock'");
    test_sql(scene.sql,
        "insert into changes (feed_id, number, kind, partition_key, row_key, version, ts, expires_at, "
        "properties) "
        "values (%lld, nextval('change_numbers'), 1, 'p', 'early', 1, 1, 0, '')",
        feed);
    ck_assert_str_eq(told(read_changes(&from)), "");
    test_sql(other, "commit");
    await(late);
    ck_assert_reason(late, "OK");
    ck_assert_str_eq(told(read_changes(&from)), "+late +early");
    PQfinish(other);
}
END_TEST

START_TEST(a_number_that_was_rolled_back_is_a_gap)
{
    struct feed_position from = here();
    PGconn *other = begin_change("never");

    test_sql(other, "rollback");
    put("a");
    ck_assert_str_eq(told(read_changes(&from)), "+a");
    PQfinish(other);
}
END_TEST

START_TEST(a_long_transaction_elsewhere_holds_up_nothing)
{
    struct feed_position from = here();
    PGconn *other = test_connect(scene.conninfo);

    test_sql(other, "begin; create table long (); select pg_current_xact_id()");
    put("a");
    put("b");
    ck_assert_str_eq(told(read_changes(&from)), "+a +b");
    PQfinish(other);
}
END_TEST

/* ---- upserts, which do not read what was there ---- */

START_TEST(upserts_are_told_as_what_they_were)
{
    struct feed_position from = here();
    const struct outcome_changes *changes;

    put("a");
    put("a");
    scene_write(&scene, a_write(WRITE_DELETE, "p", "a", text("")));
    put("a");
    test_sql(scene.sql, "update entities set expires = 5 where row_key = 'a'");
    put("a");
    changes = read_changes(&from);

    ck_assert_str_eq(told(changes), "+a =a -a +a =a");
    ck_assert_int_eq(changes->changes[4].entity.etag.version, 5);
    ck_assert_int_eq(changes->changes[4].entity.expires, 0);
    ck_assert(str_equal(text_of(changes->changes[4].entity.properties, "Text"), STR_LITERAL("x")));
}
END_TEST

/* The change that another server makes while the upsert waits for the lock, and the change that the feed tells. */
static const struct meanwhile {
    const char *sql, *told;
} meanwhiles[] = {
    { "update entities set dead = true, version = 2, properties = '' where row_key = 'a'", "+a" },
    { "insert into entities (table_id, partition_key, row_key, bucket, version, ts, dead, properties) "
      "select table_id, partition_key, 'b', bucket, version, ts, dead, properties from entities "
      "where row_key = 'a'",
        "=b" },
};

/* Guard G45. */
START_TEST(an_upsert_that_waited_is_told_as_what_it_replaced)
{
    const struct meanwhile *meanwhile = &meanwhiles[_i];
    const char *row = meanwhile->told + 1;
    PGconn *other = test_connect(scene.conninfo);
    struct operation *upsert =
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT_OR_REPLACE, "p", row, text("x")));
    struct feed_position from;

    put("a");
    from = here();
    test_sql(other, "begin");
    test_sql(other, "%s", meanwhile->sql);
    submit(scene.store, upsert);
    test_await(scene.sql, "select count(*) from pg_stat_activity where datname = current_database() "
                          "and wait_event_type = 'Lock'");
    test_sql(other, "commit");
    PQfinish(other);
    await(upsert);

    ck_assert_reason(upsert, "OK");
    ck_assert_str_eq(told(read_changes(&from)), meanwhile->told);
}
END_TEST

/* ---- pages ---- */

START_TEST(a_batch_is_told_as_one_commit)
{
    struct feed_position from = here();
    struct write writes[] = { a_write(WRITE_INSERT, "p", "b", text("1")),
        a_write(WRITE_INSERT, "p", "a", text("2")), a_write(WRITE_DELETE_IF_EXISTS, "p", "c", text("")) };
    struct operation *refused, *group = a_group(&scene.arena, "Things", writes, ARRAY_LEN(writes));

    run(scene.store, group);
    ck_assert_reason(group, "OK");
    refused = a_group(&scene.arena, "Things", writes, ARRAY_LEN(writes));
    run(scene.store, refused);
    ck_assert_reason(refused, "ENTITY_ALREADY_EXISTS");
    ck_assert_str_eq(told(read_changes(&from)), "+a +b");
}
END_TEST

START_TEST(a_change_holds_the_entity_as_it_was_then)
{
    struct feed_position from = here();
    struct write_result first = scene_write(&scene, a_write(WRITE_INSERT, "p", "a", text("one")));
    const struct outcome_changes *changes;

    scene_write(
        &scene, a_write(WRITE_INSERT_OR_MERGE, "p", "a", some_texts(&scene.arena, "More", "2", NULL)));
    scene_write(&scene, a_write(WRITE_DELETE_IF_EXISTS, "p", "a", text("")));
    changes = read_changes(&from);

    ck_assert_str_eq(told(changes), "+a =a -a");
    ck_assert(etag_equal(changes->changes[0].entity.etag, first.etag));
    ck_assert_int_eq(changes->changes[0].entity.timestamp, first.timestamp);
    ck_assert(str_equal(text_of(changes->changes[0].entity.properties, "Text"), STR_LITERAL("one")));
    ck_assert(str_equal(text_of(changes->changes[1].entity.properties, "More"), STR_LITERAL("2")));
    ck_assert_uint_eq(changes->changes[2].entity.properties.bytes.len, 0);
    ck_assert_int_gt(changes->changes[2].entity.etag.version, changes->changes[1].entity.etag.version);
}
END_TEST

START_TEST(pages_are_bounded_by_rows_and_by_bytes)
{
    struct feed_position from = here();
    const struct outcome_changes *page;

    test_sql(scene.sql,
        "insert into changes select %lld, nextval('change_numbers'), now(), 1, 'p', n, 1, 1, 0, "
        "case when n > 2000 then repeat('x', 1000000)::bytea else '' end from generate_series(1, 2010) n",
        feed);
    for (int i = 0; i < 2; i++) {
        page = read_changes(&from);
        ck_assert_uint_eq(page->count, LIMIT_PAGE_ROWS);
        ck_assert(page->more);
        from = page->position;
    }
    page = read_changes(&from);
    ck_assert(page->more);
    ck_assert_uint_ge(page->count, 3);
    ck_assert_uint_le(page->count, 4);
    while (page->more) {
        from = page->position;
        page = read_changes(&from);
    }
    ck_assert_uint_eq(read_changes(&page->position)->count, 0);
}
END_TEST

START_TEST(a_range_hides_what_is_outside)
{
    const struct key_range within = { .has_low = true,
        .has_high = true,
        .high_has_row = true,
        .low = a_key("p", "b"),
        .high = a_key("p", "c") };
    struct feed_position from = here();
    struct operation *operation;

    for (const char *row = "abcd"; *row; row++)
        put((char[]){ *row, 0 });
    operation = a_changes(&from);
    operation->within = &within;
    run(scene.store, operation);

    ck_assert_reason(operation, "OK");
    ck_assert_str_eq(told(&operation->out.changes), "+b +c");
    ck_assert_int_eq(operation->out.changes.position.number, here().number);
}
END_TEST

/* ---- a feed that is switched on, off, and on again ---- */

static void check_resync(const struct feed_position *from)
{
    struct operation *operation = a_changes(from);

    run(scene.store, operation);
    ck_assert_reason(operation, "RESYNC_REQUIRED");
}

START_TEST(writers_know_of_a_feed_before_it_begins)
{
    PGconn *writer = test_connect(scene.conninfo);
    struct operation *on;

    switch_feed(false);
    put("unseen");
    test_sql(writer, "begin; select 1 from write_fence where bucket = 0 for key share");
    on = switching(true);
    submit(scene.store, on);
    test_await(scene.sql, "select count(*) from pg_stat_activity where datname = current_database() "
                          "and wait_event_type = 'Lock'");
    ck_assert(!is_answered(on));
    test_sql(writer, "commit");
    await(on);
    ck_assert_reason(on, "OK");

    struct feed_position from = here();
    put("seen");
    ck_assert_str_eq(told(read_changes(&from)), "+seen");
    PQfinish(writer);
}
END_TEST

START_TEST(a_place_is_good_for_one_feed_of_one_epoch)
{
    struct feed_position from = here(), other;

    switch_feed(true); /* the feed is on already */
    ck_assert_uint_eq(read_changes(&from)->count, 0);
    switch_feed(false);
    struct operation *off = a_changes(&from);
    run(scene.store, off);
    ck_assert_reason(off, "CHANGE_FEED_OFF");
    switch_feed(true);
    check_resync(&from);

    other = from = here();
    other.table_id++;
    check_resync(&other);
    scene_change(&scene, "update catalogue set epoch = epoch + 1");
    check_resync(&from);
}
END_TEST

START_TEST(a_place_ahead_of_the_feed_asks_for_a_resync)
{
    struct feed_position from = here();
    struct operation *waiting = a_changes(&from);

    from.number++; /* the position of a change that a restore has lost */
    check_resync(&from);

    waiting->kind = OPERATION_CHANGES_WAIT;
    waiting->in.changes.position = from;
    waiting->in.changes.wait_until_us = INT64_MAX;
    submit(scene.store, waiting);
    await(waiting); /* it is answered at once, with an error */
}
END_TEST

/* ---- the purge ---- */

static struct sweep_counts sweep(void)
{
    const struct sweep_ages ages = { DAY_S, DAY_S, DAY_S, DAY_S, DAY_S, DAY_S };
    struct sweep_counts counts = { 0 };
    struct worker *worker;
    struct error err = { 0 };
    bool more = true;

    ck_assert_int_eq(worker_open(scene.conninfo, "w", &worker, &err), STATUS_OK);
    while (more)
        ck_assert_msg(sweep_run(worker, &ages, &counts, &more, &err) == STATUS_OK, "%s", err.message);
    worker_close(worker);
    return counts;
}

static void age_all(void)
{
    test_sql(scene.sql, "update changes set at = at - interval '2 days'");
}

START_TEST(a_purge_takes_the_old_and_raises_the_floor)
{
    struct feed_position before = here(), between;

    put("a");
    put("b");
    between = here();
    age_all();
    put("c");
    ck_assert_int_eq(sweep().changes, 2);

    check_resync(&before);
    ck_assert_str_eq(told(read_changes(&between)), "+c");
    ck_assert_int_eq(sweep().changes, 0);
    age_all();
    ck_assert_int_eq(sweep().changes, 1);
    ck_assert_int_gt(here().number, between.number);
    check_resync(&between);
    between = here();
    put("d");
    ck_assert_str_eq(told(read_changes(&between)), "+d");
}
END_TEST

/* guard G47: nothing is removed above a number whose transaction is open, as the floor would hide it. */
START_TEST(a_purge_stops_below_open_transactions)
{
    struct feed_position from = here();
    PGconn *other = begin_change("first");

    put("second");
    age_all();
    ck_assert_int_eq(sweep().changes, 0);
    test_sql(other, "commit");
    ck_assert_str_eq(told(read_changes(&from)), "+first +second");
    PQfinish(other);
}
END_TEST

START_TEST(a_feed_that_is_over_goes_whole)
{
    long long over = feed;

    put("a");
    switch_feed(false);
    switch_feed(true);
    put("b");
    test_sql(scene.sql,
        "insert into changes select %lld, nextval('change_numbers'), now(), 1, 'p', n, 1, 1, 0, '' "
        "from generate_series(1, 2500) n",
        over);
    ck_assert_int_eq(sweep().changes, 2501);

    ck_assert_int_eq(test_number(scene.sql, "select count(*) from feeds where feed_id = %lld", over), 0);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from feeds where feed_id = %lld", feed), 1);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from changes"), 1);
}
END_TEST

/* ---- waiting ---- */

START_TEST(a_waiting_watch_is_answered_on_news_or_at_its_deadline)
{
    struct feed_position from = here();
    struct operation *news = a_changes(&from), *bookmark = a_changes(&from);

    news->kind = bookmark->kind = OPERATION_CHANGES_WAIT;
    news->in.changes.wait_until_us = INT64_MAX;
    bookmark->in.changes.wait_until_us = 0;
    submit(scene.store, news);
    run(scene.store, bookmark);
    ck_assert_reason(bookmark, "OK");
    ck_assert_uint_eq(bookmark->out.changes.count, 0);
    ck_assert(!is_answered(news));
    put("a");
    await(news);
    ck_assert_reason(news, "OK");
    ck_assert_str_eq(told(&news->out.changes), "+a");
}
END_TEST

START_TEST(a_waiting_watch_is_told_that_the_feed_is_over)
{
    struct feed_position from = here();
    struct operation *waiting = a_changes(&from);

    waiting->kind = OPERATION_CHANGES_WAIT;
    waiting->in.changes.wait_until_us = INT64_MAX;
    submit(scene.store, waiting);
    switch_feed(false);
    await(waiting);
    ck_assert_reason(waiting, "CHANGE_FEED_OFF");
}
END_TEST

Suite *test_feed_suite(void);

Suite *test_feed_suite(void)
{
    Suite *suite = suite_create("changes");
    TCase *tc = tcase_create("changes");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_change_that_commits_late_is_not_skipped);
    tcase_add_loop_test(tc, a_writer_announces_itself_before_it_draws, 0, ARRAY_LEN(announced_kinds));
    tcase_add_test(tc, a_number_that_was_rolled_back_is_a_gap);
    tcase_add_test(tc, a_long_transaction_elsewhere_holds_up_nothing);
    tcase_add_test(tc, upserts_are_told_as_what_they_were);
    tcase_add_loop_test(tc, an_upsert_that_waited_is_told_as_what_it_replaced, 0, ARRAY_LEN(meanwhiles));
    tcase_add_test(tc, a_batch_is_told_as_one_commit);
    tcase_add_test(tc, a_change_holds_the_entity_as_it_was_then);
    tcase_add_test(tc, pages_are_bounded_by_rows_and_by_bytes);
    tcase_add_test(tc, a_range_hides_what_is_outside);
    tcase_add_test(tc, writers_know_of_a_feed_before_it_begins);
    tcase_add_test(tc, a_place_is_good_for_one_feed_of_one_epoch);
    tcase_add_test(tc, a_place_ahead_of_the_feed_asks_for_a_resync);
    tcase_add_test(tc, a_purge_takes_the_old_and_raises_the_floor);
    tcase_add_test(tc, a_purge_stops_below_open_transactions);
    tcase_add_test(tc, a_feed_that_is_over_goes_whole);
    tcase_add_test(tc, a_waiting_watch_is_answered_on_news_or_at_its_deadline);
    tcase_add_test(tc, a_waiting_watch_is_told_that_the_feed_is_over);
    suite_add_tcase(suite, tc);
    return suite;
}
