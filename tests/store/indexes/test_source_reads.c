/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_source_reads.c - rows that a message tells the ctids of are found there, and whatever else it tells does no
 * harm: guards G9, G76.
 */
#include <check.h>
#include <pthread.h>

#include "base/macros.h"
#include "store/indexes/reconcile.h"
#include "tests/support/worker_world.h"

enum { ROUNDS = 300 };

static const struct row_ctid nowhere = { { 0, 1, 0, 0, 0, 1 } };

static struct world world;

static void given_a_world(bool keeps_versions)
{
    static struct key_part city = { .text = { "City", 4 } };

    world_open(&world);
    world_add_index(&world, BY_CITY,
        (struct index){ .shape = INDEX_COPY,
            .place = PLACE_OTHER_PARTITION,
            .partition_key = { &city, 1 },
            .projection = PROJECT_ALL,
            .keeps_versions = keeps_versions });
}

/* Upserts of indexes that keep versions read nothing (guard G75); other writes lock and read their rows. */
static void setup(void)
{
    given_a_world(false);
}

static void setup_blind(void)
{
    given_a_world(true);
}

static void teardown(void)
{
    world_close(&world);
}

/* The ctid that the query returns as text. */
static struct row_ctid ctid_of(const char *query)
{
    unsigned block = 0, row = 0;

    ck_assert_int_eq(sscanf(test_text(world.sql, "%s", query), "(%u,%u)", &block, &row), 2);
    return (struct row_ctid){ { (char)(block >> 24), (char)(block >> 16), (char)(block >> 8), (char)block,
        (char)(row >> 8), (char)row } };
}

#define CTID_OF_INTENT(row) "select ctid from intents where row_key = '" row "' order by id desc limit 1"
#define CTID_OF_SOURCE(row) "select ctid from entities where table_id = 1000 and row_key = '" row "'"

static struct reconcile_counts reconcile(const struct intent *message)
{
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    ck_assert_msg(
        reconcile_keys(world.worker, message, 1, false, &counts, &err) == STATUS_OK, "%s", err.message);
    return counts;
}

/* ---- what a write announces ---- */

static void check_announced(const char *intent, const char *source)
{
    struct row_ctid intent_ctid = ctid_of(intent), source_ctid = ctid_of(source);

    ck_assert_mem_eq(&world.announced.ctids.intent, &intent_ctid, sizeof(intent_ctid));
    ck_assert_mem_eq(&world.announced.ctids.source, &source_ctid, sizeof(source_ctid));
}

START_TEST(a_write_announces_where_its_intent_and_its_entity_lie)
{
    world_put(&world, "r1", "Bonn", "x");
    check_announced(CTID_OF_INTENT("r1"), CTID_OF_SOURCE("r1"));
    world_put(&world, "r2", "Bonn", "x");
    world_put(&world, "r1", "Rome", "x");
    check_announced(CTID_OF_INTENT("r1"), CTID_OF_SOURCE("r1"));
    world_put(&world, "r2", "Rome", "x");
    world_delete(&world, "r1");
    check_announced(CTID_OF_INTENT("r1"), CTID_OF_SOURCE("r1"));
}
END_TEST

/* ---- right and wrong ctids ---- */

START_TEST(the_intent_at_the_ctid_is_taken_and_others_of_the_key_stay)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r1", "Rome", "x");

    struct reconcile_counts counts = reconcile(&world.announced);

    ck_assert_int_eq(counts.intents_removed, 1);
    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
    ck_assert_int_eq(reconcile(&world.announced).intents_removed, 1); /* its own is gone: found by key */
    world_check(&world);
}
END_TEST

START_TEST(several_intents_of_a_key_are_taken_together)
{
    struct reconcile_counts counts = { 0 };
    struct intent messages[2];
    struct error err = { 0 };

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r1", "Rome", "x");
    messages[0] = messages[1] = world.announced;

    ck_assert_int_eq(reconcile_keys(world.worker, messages, 2, false, &counts, &err), STATUS_OK);

    ck_assert_int_eq(counts.intents_removed, 2);
    world_check(&world);
}
END_TEST

static const struct {
    const char *name, *intent, *source; /* NULL: the right one */
} wrong_cases[] = {
    { "both right", NULL, NULL },
    { "another key's intent", CTID_OF_INTENT("r2"), NULL },
    { "another entity", NULL, CTID_OF_SOURCE("r2") },
    { "both of another key", CTID_OF_INTENT("r2"), CTID_OF_SOURCE("r2") },
    { "an entry of the index", NULL, "select ctid from entities where table_id = 2000 limit 1" },
    { "the version before", NULL, "select was from before" },
    { "an intent of another kind", "select ctid from intents where kind = 2", NULL },
    { "a block that does not exist", "select '(4294967294,1)'::tid", "select '(4294967294,1)'::tid" },
    { "a row that cannot exist", "select '(0,65535)'::tid", "select '(0,65535)'::tid" },
    { "a row without a number", "select '(1,0)'::tid", "select '(1,0)'::tid" },
};

/* Guard G76: the key decides, and what is not at the ctid is searched for. */
START_TEST(a_wrong_ctid_costs_a_search_and_nothing_else)
{
    struct intent message;

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Oslo", "y");
    world_reconcile_all(&world);
    test_sql(world.sql,
        "create table before as select ctid as was from entities where table_id = 1000 and row_key = 'r1'");
    world_put(&world, "r2", "Bern", "z");
    world_put(&world, "r1", "Rome", "x");
    test_sql(world.sql, "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version) "
                        "select bucket, '00000000-0000-0000-0000-000000000001', 2, table_id, partition_key, "
                        "row_key, version from intents where row_key = 'r1'");
    message = world.announced;
    if (wrong_cases[_i].intent)
        message.ctids.intent = ctid_of(wrong_cases[_i].intent);
    if (wrong_cases[_i].source)
        message.ctids.source = ctid_of(wrong_cases[_i].source);

    struct reconcile_counts counts = reconcile(&message);

    ck_assert_msg(counts.intents_removed == 1, "%s", wrong_cases[_i].name);
    ck_assert_str_eq(
        test_text(world.sql, "select string_agg(row_key || kind, ' ' order by kind) from intents"),
        "r21 r12");
    test_sql(world.sql, "delete from intents where kind = 2");
    world_reconcile_all(&world);
    world_check(&world);
}
END_TEST

/* A message of before, or of a write whose commit had to be resolved, has none. */
START_TEST(a_message_without_ctids_is_searched_for)
{
    struct intent message;

    world_put(&world, "r1", "Bonn", "x");
    message = world_message("r1");

    ck_assert_int_eq(reconcile(&message).intents_removed, 1);
    world_check(&world);
}
END_TEST

/* ---- beside a writer ---- */

static struct intent raced;

static void *reconcile_raced(void *context)
{
    (void)context;
    reconcile(&raced);
    return NULL;
}

/* Guard G9: where an intent had to be searched for, its source is read once more. */
START_TEST(what_is_searched_for_is_followed_by_a_reading)
{
    pthread_t thread;
    int taken = 0;

    world_put(&world, "r1", "Bonn", "x");
    for (int i = 0; i < ROUNDS; i++) {
        world_reconcile_all(&world);
        world_put(&world, "r1", "Rome", "x");
        raced = world.announced;
        raced.ctids.intent = nowhere;
        ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_raced, NULL), 0);
        world_put(&world, "r1", "Bonn", "x");
        pthread_join(thread, NULL);
        if (world_intents(&world) > 0)
            continue;
        taken++;
        world_check(&world);
    }
    ck_assert_int_gt(taken, 0); /* in some rounds the worker had the intents of both writes */
}
END_TEST

static struct intent both[2];

static void *reconcile_both(void *context)
{
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    (void)context;
    ck_assert_msg(
        reconcile_keys(world.worker, both, 2, false, &counts, &err) == STATUS_OK, "%s", err.message);
    return NULL;
}

#define IN_LOCK "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
#define WORKER_ALONE_IN_LOCK "count(*) = 1 and bool_and(application_name = 'tavola-worker')"

/*
 * The worker has r1, reads both entities at their ctids, and finds that `other` was first to insert the state row of
 * r2. So it begins again, and `third` has r1 until r2 has moved. false: the worker got r1 again before `third`.
 */
static bool moves_between_two_rounds(PGconn *other, PGconn *third, const char *note)
{
    pthread_t thread;
    PGresult *result;
    bool has_waited;

    world_put(&world, "r1", "Bonn", note);
    both[0] = world.announced;
    world_put(&world, "r2", "Rome", "x");
    both[1] = world.announced;
    test_sql(
        other, "begin; insert into index_state values (%d, %d, 'p', 'r2', 0, '')", both[1].bucket, TABLE_ID);
    ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_both, NULL), 0);
    test_await(world.sql, "select (count(*) = 1)::int " IN_LOCK);
    ck_assert_int_eq(PQsendQuery(third, "begin; select from index_state where row_key = 'r1' for update"), 1);
    test_await(world.sql, "select (count(*) = 2)::int " IN_LOCK);
    test_sql(other, "commit");
    test_await(
        world.sql, "select (" WORKER_ALONE_IN_LOCK " or not exists (select from intents))::int " IN_LOCK);
    has_waited = test_number(world.sql, "select (" WORKER_ALONE_IN_LOCK ")::int " IN_LOCK) == 1;
    world_put(&world, "r2", "Oslo", "x");
    while ((result = PQgetResult(third)))
        PQclear(result);
    test_sql(third, "commit");
    pthread_join(thread, NULL);
    return has_waited;
}

/* Guards G8, G9: what was read before the locks were released is not used. */
START_TEST(a_reconcile_that_begins_again_reads_again)
{
    PGconn *other = test_connect(world.conninfo), *third = test_connect(world.conninfo);
    bool happened = false;

    world_put(&world, "r1", "Bonn", "x");
    world_reconcile_all(&world);
    for (int tries = 0; tries < 50 && !happened; tries++) {
        happened = moves_between_two_rounds(other, third, tries % 2 ? "y" : "z");
        if (happened)
            ck_assert_str_eq(test_text(world.sql,
                                 "select string_agg(partition_key, ' ' order by partition_key) from entities "
                                 "where table_id = %d and not dead",
                                 BY_CITY),
                "Bonn Oslo");
        world_delete(&world, "r2");
        world_reconcile_all(&world);
        world_check(&world);
    }
    ck_assert(happened);
    PQfinish(other);
    PQfinish(third);
}
END_TEST

static void add_tests(Suite *suite, const char *name, SFun fixture)
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, fixture, teardown);
    tcase_add_test(tc, a_write_announces_where_its_intent_and_its_entity_lie);
    tcase_add_test(tc, the_intent_at_the_ctid_is_taken_and_others_of_the_key_stay);
    tcase_add_test(tc, several_intents_of_a_key_are_taken_together);
    tcase_add_loop_test(tc, a_wrong_ctid_costs_a_search_and_nothing_else, 0, ARRAY_LEN(wrong_cases));
    tcase_add_test(tc, a_message_without_ctids_is_searched_for);
    tcase_add_test(tc, what_is_searched_for_is_followed_by_a_reading);
    tcase_add_test(tc, a_reconcile_that_begins_again_reads_again);
    suite_add_tcase(suite, tc);
}

Suite *test_source_reads_suite(void)
{
    Suite *suite = suite_create("source_reads");

    test_postgres_start();
    add_tests(suite, "source reads", setup);
    add_tests(suite, "source reads after blind upserts", setup_blind);
    return suite;
}
