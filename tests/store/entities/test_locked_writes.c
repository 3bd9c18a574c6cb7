/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_locked_writes.c - writes beside rows that another transaction has locked: they go on, and the writes to the
 * locked rows are done once these are free. Nothing here is timed: the lock is held until the others were answered.
 */
#include <check.h>

#include "base/clock.h"
#include "domain/limits.h"
#include "store/entities/locked_keys.h"
#include "store/entities/locked_writes.h"
#include "store/session/session.h"
#include "tests/support/builders.h"

enum {
    OTHERS = 5, /* they have less time than the writes that wait for the lock */
    LOCKED = 40,
    MAX_OPERATIONS = 100,
};

static struct scene scene;
static PGconn *holder;
static struct arena arenas[MAX_OPERATIONS];
static int arena_count;

static void setup(void)
{
    scene_open(&scene);
    holder = test_connect(scene.conninfo);
}

static void teardown(void)
{
    PQfinish(holder);
    scene_close(&scene);
    while (arena_count > 0)
        arena_cleanup(&arenas[--arena_count]);
}

/* Several threads work at once, so each operation has an arena of its own, as a call has. */
static struct arena *an_arena(void)
{
    ck_assert_int_lt(arena_count, MAX_OPERATIONS);
    arena_init(&arenas[arena_count]);
    return &arenas[arena_count++];
}

static struct operation *an_upsert(const char *row, const char *text)
{
    struct arena *arena = an_arena();

    return a_write_operation(
        arena, "Things", a_write(WRITE_INSERT_OR_REPLACE, "p", row, some_texts(arena, "Text", text, NULL)));
}

static const char *locked_row(int number)
{
    return arena_format(&scene.arena, "locked%03d", number).data;
}

/* Rows that another transaction locks until it ends. */
static void lock_rows(int count)
{
    for (int i = 0; i < count; i++)
        scene_write(
            &scene, a_write(WRITE_INSERT, "p", locked_row(i), some_texts(&scene.arena, "Text", "old", NULL)));
    test_sql(holder, "begin; select from entities where row_key like 'locked%%' for update");
}

/* Other writes, one after another, while these wait. */
static void check_others_go_on(struct operation *const *waiting, int count)
{
    for (int i = 0; i < OTHERS; i++) {
        struct operation *other = an_upsert(arena_format(&scene.arena, "free%d", i).data, "new");

        run(scene.store, other);
        ck_assert_msg(other->status == STATUS_OK, "%s", other->error ? other->error->message : "");
    }
    for (int i = 0; i < count; i++)
        ck_assert_msg(!is_answered(waiting[i]), "%d has an outcome before the lock was released", i);
}

static int64_t version_of(const struct operation *operation)
{
    return operation->out.write.results[0].etag.version;
}

static void check_done(struct operation *operation)
{
    const struct entity_key *key = &operation->in.write.writes[0].key;
    const struct entity *entity;

    await(operation);
    ck_assert_reason(operation, "OK");
    entity = scene_read(&scene, "p", key->row.data);
    ck_assert(entity && str_equal(text_of(entity->properties, "Text"), STR_LITERAL("new")));
    ck_assert_int_ge(entity->etag.version, version_of(operation));
}

START_TEST(a_locked_row_delays_no_other_write)
{
    struct operation *waiting[2];

    lock_rows(1);
    for (int i = 0; i < 2; i++)
        submit(scene.store, waiting[i] = an_upsert(locked_row(0), "new"));
    check_others_go_on(waiting, 2);
    test_sql(holder, "commit");
    check_done(waiting[0]);
    check_done(waiting[1]);
    ck_assert_int_ne(version_of(waiting[0]), version_of(waiting[1]));
}
END_TEST

/* More than there are threads, connections and batches, of one account: they wait without holding any. */
START_TEST(many_locked_rows_delay_no_other_write)
{
    struct operation *waiting[LOCKED];

    lock_rows(LOCKED);
    for (int i = 0; i < LOCKED; i++)
        submit(scene.store, waiting[i] = an_upsert(locked_row(i), "new"));
    check_others_go_on(waiting, LOCKED);
    test_sql(holder, "commit");
    for (int i = 0; i < LOCKED; i++)
        check_done(waiting[i]);
}
END_TEST

/* In one batch with the others: it takes no effect twice, and the others need not wait for the lock's end. */
START_TEST(a_batch_goes_on_without_its_locked_row)
{
    struct write writes[] = { a_write(WRITE_INSERT, "p", "group", (struct property_list){ STR_EMPTY }),
        a_write(WRITE_REPLACE, "p", locked_row(0), some_texts(&scene.arena, "Text", "new", NULL)) };
    struct operation *group = a_group(an_arena(), "Things", writes, 2), *others[LOCKED], *second;

    lock_rows(1);
    submit(scene.store, group);
    submit(scene.store, second = an_upsert(locked_row(0), "new")); /* for the other thread */
    for (int i = 0; i < LOCKED; i++)
        submit(scene.store, others[i] = a_write_operation(an_arena(), "Things",
                                a_write(WRITE_INSERT, "p", arena_format(&scene.arena, "free%d", i).data,
                                    (struct property_list){ STR_EMPTY })));
    for (int i = 0; i < LOCKED; i++) {
        await(others[i]);
        ck_assert_reason(others[i], "OK");
    }
    ck_assert(!is_answered(group) && !is_answered(second));
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where row_key = 'group'"), 0);
    test_sql(holder, "commit");
    await(group);
    await(second);
    ck_assert_reason(group, "OK");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where row_key = 'group'"), 1);
}
END_TEST

/* It cannot be found without waiting: the row is not visible yet. */
START_TEST(a_row_that_another_transaction_inserts_delays_no_other_write)
{
    struct operation *waiting[] = { an_upsert("locked", "new"), an_upsert("locked", "new") };

    test_sql(holder,
        "begin; insert into entities (table_id, partition_key, row_key, bucket, version, ts, properties) "
        "select table_id, 'p', 'locked', %d, 1, 1, '' from tables where name = 'Things'",
        entity_key_bucket(
            test_number(scene.sql, "select table_id from tables where name = 'Things'"), STR_LITERAL("p")));
    submit(scene.store, waiting[0]);
    submit(scene.store, waiting[1]);
    check_others_go_on(waiting, 2);
    test_sql(holder, "rollback");
    check_done(waiting[0]);
    check_done(waiting[1]);
}
END_TEST

START_TEST(a_caller_that_gives_up_is_answered_while_the_row_is_locked)
{
    struct operation *hasty = an_upsert(locked_row(0), "new"), *gone = an_upsert(locked_row(0), "new");

    lock_rows(1);
    hasty->deadline_us = clock_monotonic_us() + 1000000;
    submit(scene.store, hasty);
    submit(scene.store, gone);
    await(hasty);
    ck_assert_str_ne(reason_of(hasty), "OK");
    atomic_store(&gone->cancelled, true);
    await(gone);
    ck_assert_reason(gone, "CANCELLED");
    test_sql(holder, "commit");
    scene_write(&scene, a_write(WRITE_DELETE, "p", locked_row(0), (struct property_list){ STR_EMPTY }));
}
END_TEST

/* A write whose time of arrival is not known has waited since ever. */
START_TEST(a_row_that_stays_locked_is_told_in_the_end)
{
    struct operation *waiting = an_upsert(locked_row(0), "new");
    struct locked_keys *keys = locked_keys_new();
    struct commit_observer observer = { 0 };
    struct session session;

    lock_rows(1);
    session_init(&session, scene.conninfo, "test writer");
    session.locked_keys = keys;
    session.pg.lock_wait_ms = 1;
    waiting->next = NULL;
    locked_writes_retry(&session, waiting, &observer);
    ck_assert_reason(waiting, "STORE_UNAVAILABLE");
    ck_assert_int_eq(waiting->status, STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(waiting->error->message, "another transaction has locked"));
    session_cleanup(&session);
    locked_keys_free(keys);
    test_sql(holder, "commit");
    ck_assert(
        str_equal(text_of(scene_read(&scene, "p", locked_row(0))->properties, "Text"), STR_LITERAL("old")));
}
END_TEST

START_TEST(a_store_that_closes_answers_the_writes_that_wait)
{
    struct operation *waiting = an_upsert(locked_row(0), "new");
    struct store_options options = plain_options(scene.conninfo);
    struct store *store = store_open(&options);

    lock_rows(1);
    submit(store, waiting);
    test_await(scene.sql,
        "select count(*) from pg_stat_activity where application_name = 'tavolad locked' and datname = "
        "current_database()");
    store_close(store);
    ck_assert(is_answered(waiting));
    ck_assert_str_ne(reason_of(waiting), "OK");
    test_sql(holder, "rollback");
}
END_TEST

/* ---- the keys ---- */

static struct operation *a_wait(const char *account, const char *row)
{
    struct operation *operation = an_upsert(row, "x");

    operation->account = str_of(account);
    return operation;
}

START_TEST(a_key_is_known_until_a_write_of_it_has_ended)
{
    struct locked_keys *keys = locked_keys_new();
    struct operation *first = a_wait("acme", "a"), *second = a_wait("acme", "a"),
                     *other = a_wait("acme", "b"), *stranger = a_wait("other", "a");

    ck_assert(!locked_keys_has(keys, first));
    locked_keys_add(keys, first);
    locked_keys_add(keys, second);
    ck_assert(locked_keys_has(keys, second));
    ck_assert(!locked_keys_has(keys, other));
    ck_assert(!locked_keys_has(keys, stranger));
    locked_keys_remove(keys, second);
    ck_assert(!locked_keys_has(keys, first));
    locked_keys_remove(keys, first);
    locked_keys_add(keys, other); /* freed with the set */
    locked_keys_free(keys);
}
END_TEST

START_TEST(locks_are_looked_for_for_a_moment)
{
    struct locked_keys *keys = locked_keys_new();

    ck_assert(!locked_keys_met_lately(keys, 1));
    locked_keys_note_met(keys, 5000000);
    ck_assert(locked_keys_met_lately(keys, 5999999));
    ck_assert(!locked_keys_met_lately(keys, 6000000));
    locked_keys_free(keys);
}
END_TEST

Suite *test_locked_writes_suite(void)
{
    Suite *suite = suite_create("locked_writes");
    TCase *tc = tcase_create("locked_writes");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_locked_row_delays_no_other_write);
    tcase_add_test(tc, many_locked_rows_delay_no_other_write);
    tcase_add_test(tc, a_batch_goes_on_without_its_locked_row);
    tcase_add_test(tc, a_row_that_another_transaction_inserts_delays_no_other_write);
    tcase_add_test(tc, a_caller_that_gives_up_is_answered_while_the_row_is_locked);
    tcase_add_test(tc, a_row_that_stays_locked_is_told_in_the_end);
    tcase_add_test(tc, a_store_that_closes_answers_the_writes_that_wait);
    tcase_add_test(tc, a_key_is_known_until_a_write_of_it_has_ended);
    tcase_add_test(tc, locks_are_looked_for_for_a_moment);
    suite_add_tcase(suite, tc);
    return suite;
}
