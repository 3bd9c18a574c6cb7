/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_write_batch.c - writes through the store on a real PostgreSQL: what is stored and returned, and writes of
 * several servers on the same keys.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/filter/filter.h"
#include "domain/limits.h"
#include "store/catalogue/table_calls.h"
#include "store/entities/write_batch.h"
#include "store/entities/write_set.h"
#include "store/session/session.h"
#include "tests/support/builders.h"

static struct scene scene;

static void setup(void)
{
    scene_open(&scene);
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct property_list text(const char *value)
{
    return some_texts(&scene.arena, "Text", value, NULL);
}

static const struct property_list none = { { "", 0 } };

static void check_text(const char *row, const char *value)
{
    const struct entity *entity = scene_read(&scene, "p", row);

    ck_assert_msg(
        entity && str_equal(text_of(entity->properties, "Text"), str_of(value)), "%s is not %s", row, value);
}

/* ---- one after another ---- */

START_TEST(what_is_written_can_be_read)
{
    struct write_result written = scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("one")));
    const struct entity *entity = scene_read(&scene, "p", "r");

    ck_assert_ptr_nonnull(entity);
    ck_assert(str_equal(text_of(entity->properties, "Text"), STR_LITERAL("one")));
    ck_assert(etag_equal(entity->etag, written.etag));
    ck_assert_int_eq(entity->timestamp, written.timestamp);
    ck_assert_int_gt(written.timestamp, clock_ticks() - INT64_C(10000000) * 60);
}
END_TEST

START_TEST(every_kind_does_what_it_says)
{
    scene_refused(&scene, a_write(WRITE_REPLACE, "p", "r", text("x")), "RESOURCE_NOT_FOUND");
    scene_refused(&scene, a_write(WRITE_MERGE, "p", "r", text("x")), "RESOURCE_NOT_FOUND");
    scene_refused(&scene, a_write(WRITE_DELETE, "p", "r", none), "RESOURCE_NOT_FOUND");
    scene_write(&scene, a_write(WRITE_INSERT_OR_MERGE, "p", "r", some_texts(&scene.arena, "A", "1", NULL)));
    scene_refused(&scene, a_write(WRITE_INSERT, "p", "r", text("x")), "ENTITY_ALREADY_EXISTS");
    scene_write(&scene, a_write(WRITE_MERGE, "p", "r", some_texts(&scene.arena, "B", "2", NULL)));
    const struct entity *merged = scene_read(&scene, "p", "r");
    ck_assert(str_equal(text_of(merged->properties, "A"), STR_LITERAL("1")));
    ck_assert(str_equal(text_of(merged->properties, "B"), STR_LITERAL("2")));

    scene_write(&scene, a_write(WRITE_REPLACE, "p", "r", text("new")));
    const struct entity *replaced = scene_read(&scene, "p", "r");
    ck_assert_uint_eq(text_of(replaced->properties, "A").len, 0);
    ck_assert(str_equal(text_of(replaced->properties, "Text"), STR_LITERAL("new")));

    ck_assert_int_eq(scene_write(&scene, a_write(WRITE_DELETE, "p", "r", none)).etag.version, 0);
    ck_assert_ptr_null(scene_read(&scene, "p", "r"));
    scene_write(&scene, a_write(WRITE_DELETE_IF_EXISTS, "p", "r", none));
    scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text("back")));
    check_text("r", "back");
}
END_TEST

START_TEST(conditions_compare_etags)
{
    struct write_result first = scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("one")));
    struct write replace = a_write(WRITE_REPLACE, "p", "r", text("two"));

    replace.condition = if_match(first.etag);
    scene_write(&scene, replace);
    scene_refused(&scene, replace, "UPDATE_CONDITION_NOT_SATISFIED");
    scene_write(&scene, a_write(WRITE_DELETE, "p", "r", none));
    scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("one"))); /* the same content again */
    scene_refused(&scene, replace, "UPDATE_CONDITION_NOT_SATISFIED");
    check_text("r", "one");
}
END_TEST

START_TEST(conditions_are_asked_of_the_locked_row)
{
    struct write replace = a_write(WRITE_REPLACE, "p", "r", text("two"));
    struct operation *refused;
    struct error err = { 0 };

    replace.condition.text = STR_LITERAL("Text eq 'one' and Other eq 'x'");
    ck_assert_int_eq(
        filter_compile(replace.condition.text, &scene.arena, &replace.condition.filter, &err), STATUS_OK);
    scene_refused(&scene, replace, "RESOURCE_NOT_FOUND");
    scene_write(
        &scene, a_write(WRITE_INSERT, "p", "r", some_texts(&scene.arena, "Other", "y", "Text", "one", NULL)));
    refused = a_write_operation(&scene.arena, "Things", replace);
    run(scene.store, refused);

    ck_assert_reason(refused, "UPDATE_CONDITION_NOT_SATISFIED");
    ck_assert_str_eq(meta_of(refused->error, "clause"), "Other eq 'x'");
    ck_assert_ptr_nonnull(refused->out.write.current);
    ck_assert(str_equal(text_of(refused->out.write.current->properties, "Other"), STR_LITERAL("y")));
    check_text("r", "one");

    scene_write(&scene, a_write(WRITE_MERGE, "p", "r", some_texts(&scene.arena, "Other", "x", NULL)));
    scene_write(&scene, replace);
    check_text("r", "two");
}
END_TEST

START_TEST(versions_and_timestamps_grow_through_deletion_and_return)
{
    int64_t version = 0, timestamp = 0;

    for (int life = 0; life < 3; life++) {
        struct write_result written =
            scene_write(&scene, a_write(life ? WRITE_INSERT_OR_REPLACE : WRITE_INSERT, "p", "r", text("x")));

        ck_assert_int_gt(written.etag.version, version);
        ck_assert_int_gt(written.timestamp, timestamp);
        version = written.etag.version;
        timestamp = written.timestamp;
        scene_write(&scene, a_write(WRITE_DELETE, "p", "r", none));
    }
    /* Each deletion has a version of its own. */
    ck_assert_int_eq(
        test_number(scene.sql, "select version from entities where dead and properties = ''"), 6);
}
END_TEST

START_TEST(timestamps_grow_although_the_clock_stands_back)
{
    int64_t future = clock_ticks() + INT64_C(10000000) * 3600;

    scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("x")));
    test_sql(scene.sql, "update entities set ts = %lld", (long long)future);

    ck_assert_int_eq(
        scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text("y"))).timestamp, future + 1);
    ck_assert_int_eq(scene_write(&scene, a_write(WRITE_MERGE, "p", "r", text("z"))).timestamp, future + 2);
}
END_TEST

START_TEST(a_new_key_begins_above_the_floor)
{
    scene_change(&scene, "update catalogue set floor = 41");

    ck_assert_int_eq(scene_write(&scene, a_write(WRITE_INSERT, "p", "a", text("x"))).etag.version, 42);
    ck_assert_int_eq(
        scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p", "b", text("x"))).etag.version, 42);
    ck_assert_int_eq(
        scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p", "b", text("x"))).etag.version, 43);
    scene_change(&scene, "update catalogue set floor = 60");
    ck_assert_int_eq(scene_write(&scene, a_write(WRITE_MERGE, "p", "a", text("x"))).etag.version, 61);
    ck_assert_int_eq(
        scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p", "b", text("x"))).etag.version, 61);
}
END_TEST

START_TEST(writes_to_no_table_are_refused)
{
    struct operation *write =
        a_write_operation(&scene.arena, "Nowhere", a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text("x")));

    run(scene.store, write);

    ck_assert_reason(write, "TABLE_NOT_FOUND");
}
END_TEST

START_TEST(both_paths_leave_the_same)
{
    static const enum write_kind kinds[] = { WRITE_INSERT_OR_REPLACE, WRITE_INSERT_OR_MERGE };
    int64_t versions[2][4];

    /* The same four writes, once on the path without a read, once with a read: absent, live, dead, live. */
    for (int path = 0; path < 2; path++) {
        const char *row = path ? "planned" : "blind";

        for (int i = 0; i < 4; i++) {
            if (i == 2)
                scene_write(&scene, a_write(WRITE_DELETE, "p", row, none));
            versions[path][i] = scene_write(&scene, a_write(kinds[path], "p", row, text("x"))).etag.version;
        }
        check_text(row, "x");
    }
    ck_assert_int_eq(memcmp(versions[0], versions[1], sizeof(versions[0])), 0);
    ck_assert_int_eq(
        test_number(scene.sql, "select count(distinct (version, dead, properties)) from entities"), 1);
}
END_TEST

/* ---- groups and batches ---- */

static struct write *hundred(enum write_kind kind, struct property_list properties)
{
    struct write *writes = ARENA_ARRAY(&scene.arena, struct write, LIMIT_BATCH_OPERATIONS);

    for (int i = 0; i < LIMIT_BATCH_OPERATIONS; i++)
        writes[i] = a_write(
            kind, "p", arena_format(&scene.arena, "%03d", LIMIT_BATCH_OPERATIONS - i).data, properties);
    return writes;
}

START_TEST(a_group_of_a_hundred_is_all_or_nothing)
{
    struct write *writes = hundred(WRITE_INSERT, text("x"));
    struct operation *group = a_group(&scene.arena, "Things", writes, LIMIT_BATCH_OPERATIONS);

    run(scene.store, group);
    ck_assert_reason(group, "OK");
    for (int i = 0; i < LIMIT_BATCH_OPERATIONS; i++)
        ck_assert_int_eq(group->out.write.results[i].etag.version, 1);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where not dead"), 100);

    writes = hundred(WRITE_DELETE, none);
    writes[99].condition = if_match((struct etag){ .table_id = 1, .version = 77 });
    group = a_group(&scene.arena, "Things", writes, LIMIT_BATCH_OPERATIONS);
    run(scene.store, group);
    ck_assert_reason(group, "UPDATE_CONDITION_NOT_SATISFIED");
    ck_assert_msg(strncmp(group->error->message, "99:", 3) == 0, "%s", group->error->message);
    ck_assert_int_eq(
        test_number(scene.sql, "select count(*) from entities where not dead and version = 1"), 100);
}
END_TEST

/* A batch is one transaction, with any operations. */
static void run_batch(struct session *session, struct operation *const *operations, size_t count)
{
    struct commit_observer observer = { 0 };
    struct error err = { 0 };

    for (size_t i = 0; i < count; i++)
        operations[i]->next = i + 1 < count ? operations[i + 1] : NULL;
    ck_assert_msg(session_ensure(session, &err) == STATUS_OK, "%s", err.message);
    write_batch_run(session, operations[0], &observer);
    arena_cleanup(&session->arena);
}

START_TEST(a_batch_serves_its_operations_in_their_order)
{
    struct operation *batch[] = {
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT, "p", "r", text("one"))),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT, "p", "r", text("two"))),
        a_write_operation(&scene.arena, "Nowhere", a_write(WRITE_INSERT, "p", "r", text("x"))),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text("three"))),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_DELETE, "p", "s", none)),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT_OR_REPLACE, "p", "t", text("four"))),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT, "p", "u", text("five"))),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_DELETE, "p", "u", none)),
    };
    static const char *const reasons[] = { "OK", "ENTITY_ALREADY_EXISTS", "TABLE_NOT_FOUND", "OK",
        "RESOURCE_NOT_FOUND", "OK", "OK", "OK" };
    struct session session;

    session_init(&session, scene.conninfo, "test writer");
    run_batch(&session, batch, ARRAY_LEN(batch));
    session_cleanup(&session);

    for (size_t i = 0; i < ARRAY_LEN(batch); i++)
        ck_assert_msg(strcmp(reason_of(batch[i]), reasons[i]) == 0, "%zu: %s", i, reason_of(batch[i]));
    ck_assert_int_eq(batch[0]->out.write.results[0].etag.version, 1);
    ck_assert_int_eq(batch[3]->out.write.results[0].etag.version, 2);
    check_text("r", "three");
    check_text("t", "four");
    ck_assert_ptr_null(scene_read(&scene, "p", "u"));
    /*
     * A row that was created only to be locked is removed; an entity that was inserted and deleted in one batch
     * leaves a dead row.
     */
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where row_key = 's'"), 0);
    ck_assert_int_eq(
        test_number(scene.sql, "select count(*) from entities where row_key = 'u' and dead and version = 2"),
        1);
}
END_TEST

/* If the rows that a batch has to read are too large for memory, the batch is decided in parts. */
START_TEST(a_batch_over_large_rows_is_decided_in_parts)
{
    enum { LARGE = 45 };
    struct operation *batch[LARGE];
    struct session session;
    static char large[800001];

    memset(large, 'x', sizeof(large) - 1);
    for (int round = 0; round < 2; round++) {
        session_init(&session, scene.conninfo, "test writer");
        for (int i = 0; i < LARGE; i++) {
            struct str row = arena_format(&scene.arena, "%02d", i);

            batch[i] = a_write_operation(&scene.arena, "Things",
                a_write(round == 0 ? WRITE_INSERT : WRITE_INSERT_OR_MERGE, "p", row.data,
                    text(round == 0 ? large : "small")));
        }
        run_batch(&session, batch, LARGE);
        session_cleanup(&session);
        for (int i = 0; i < LARGE; i++)
            ck_assert_msg(strcmp(reason_of(batch[i]), "OK") == 0, "%d: %s", i, reason_of(batch[i]));
    }

    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where version = 2"), LARGE);
    ck_assert_int_eq(test_number(scene.sql, "select max(octet_length(properties)) from entities") < 100, 1);
    ck_assert_int_eq(test_number(scene.sql, "select count(distinct xmin::text) from entities"), 2);
}
END_TEST

START_TEST(upserts_of_one_key_in_one_batch_each_have_a_version)
{
    struct operation *batch[3];
    struct session session;

    for (int i = 0; i < 3; i++)
        batch[i] = a_write_operation(&scene.arena, "Things",
            a_write(WRITE_INSERT_OR_REPLACE, "p", "r", text(i == 2 ? "last" : "first")));
    session_init(&session, scene.conninfo, "test writer");
    run_batch(&session, batch, 3);
    session_cleanup(&session);

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(batch[i]->out.write.results[0].etag.version, i + 1);
    check_text("r", "last");
}
END_TEST

static void merge_two(struct session *session, const char *row, const char *other, const char *value)
{
    struct operation *batch[] = {
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT_OR_MERGE, "p", row, text(value))),
        a_write_operation(&scene.arena, "Things", a_write(WRITE_INSERT_OR_MERGE, "p", other, text(value))),
    };

    run_batch(session, batch, ARRAY_LEN(batch));
    for (size_t i = 0; i < ARRAY_LEN(batch); i++)
        ck_assert_reason(batch[i], "OK");
}

START_TEST(rows_that_exist_are_locked_without_offering_others)
{
    struct session session;

    scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("one")));
    scene_write(&scene, a_write(WRITE_INSERT, "p", "s", text("one")));
    session_init(&session, scene.conninfo, "test writer");
    merge_two(&session, "r", "s", "two");
    ck_assert_int_eq(session.creates_until_us, 0);
    session_cleanup(&session);

    check_text("r", "two");
    check_text("s", "two");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where version = 2"), 2);
}
END_TEST

/* Guard G4. The batch locks the row that exists, finds that the other one is missing, and begins again. */
START_TEST(a_row_that_is_missing_is_created_under_a_lock)
{
    struct session session;
    int64_t creates_until_us;

    scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("one")));
    session_init(&session, scene.conninfo, "test writer");
    merge_two(&session, "r", "s", "two");
    creates_until_us = session.creates_until_us;
    ck_assert_int_gt(creates_until_us, 0);
    merge_two(&session, "s", "t", "three"); /* for a while rows are offered at once */
    ck_assert_int_eq(session.creates_until_us, creates_until_us);
    session_cleanup(&session);

    check_text("r", "two");
    check_text("s", "three");
    check_text("t", "three");
    ck_assert_int_eq(test_number(scene.sql, "select sum(version)::int from entities"), 2 + 2 + 1);
}
END_TEST

/* Upserts of two keys in turn; the last ones say "last". */
static void upsert_in_turn(struct session *session, struct operation **batch, size_t count)
{
    struct write_set set;
    struct error err = { 0 };

    for (size_t i = 0; i < count; i++)
        batch[i] = a_write_operation(&scene.arena, "Things",
            a_write(WRITE_INSERT_OR_REPLACE, "p", i % 2 ? "r" : "s", text(i + 2 < count ? "first" : "last")));
    for (size_t i = 0; i < count; i++)
        batch[i]->next = i + 1 < count ? batch[i + 1] : NULL;
    ck_assert_int_eq(session_ensure(session, &err), STATUS_OK);
    write_set_build(&set, session, batch[0]);
    ck_assert(set.is_blind);
    ck_assert_uint_eq(set.row_count, 2);
    run_batch(session, batch, count);
    check_text("r", "last");
    check_text("s", "last");
}

/* Each of the row's versions and times is given to one caller, as if the upserts had come one after another. */
START_TEST(repeated_upserts_are_written_without_reading)
{
    enum { COUNT = 6 };
    struct operation *batch[COUNT], *again[COUNT];
    struct session session;

    session_init(&session, scene.conninfo, "test writer");
    upsert_in_turn(&session, batch, COUNT);
    upsert_in_turn(&session, again, COUNT);
    session_cleanup(&session);

    for (size_t i = 0; i < COUNT; i++) {
        const struct write_result *first = &batch[i]->out.write.results[0];
        const struct write_result *second = &again[i]->out.write.results[0];

        ck_assert_int_eq(first->etag.version, (int64_t)i / 2 + 1);
        ck_assert_int_eq(second->etag.version, (int64_t)i / 2 + 1 + COUNT / 2);
        ck_assert_int_gt(second->timestamp, batch[COUNT - 1]->out.write.results[0].timestamp);
        if (i >= 2)
            ck_assert_int_gt(second->timestamp, again[i - 2]->out.write.results[0].timestamp);
    }
    ck_assert(etag_equal(scene_read(&scene, "p", "r")->etag, again[COUNT - 1]->out.write.results[0].etag));
    ck_assert_int_eq(
        scene_read(&scene, "p", "r")->timestamp, again[COUNT - 1]->out.write.results[0].timestamp);
}
END_TEST

/* ---- two servers ---- */

enum { RACERS = 4, RACES = 40, OVERLAP_KEYS = 12, OVERLAP_US = 2000000 };

struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    unsigned seed;
    struct arena arena;
    struct session session;
    int inserted[RACES]; /* true, or the version */
    int rounds, refused;
    const char *failure;
};

static void start_racers(struct racer *racers, void *(*race)(void *racer))
{
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, RACERS);
    for (unsigned i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){ .start = &start, .seed = i + 1 };
        arena_init(&racers[i].arena);
        session_init(&racers[i].session, scene.conninfo, "test racer");
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++) {
        pthread_join(racers[i].thread, NULL);
        session_cleanup(&racers[i].session);
    }
    pthread_barrier_destroy(&start);
}

static void free_racers(struct racer *racers)
{
    for (int i = 0; i < RACERS; i++)
        arena_cleanup(&racers[i].arena);
}

static void run_racer(struct racer *racer, struct operation *batch)
{
    struct commit_observer observer = { 0 };

    write_batch_run(&racer->session, batch, &observer);
    arena_cleanup(&racer->session.arena);
}

/* All servers insert the same absent keys at the same moments. */
static void *insert_all(void *argument)
{
    struct racer *racer = argument;
    struct error err = { 0 };

    (void)!session_ensure(&racer->session, &err);
    for (int i = 0; i < RACES; i++) {
        struct operation *insert = a_write_operation(&racer->arena, "Things",
            a_write(WRITE_INSERT, "p", arena_format(&racer->arena, "%d", i).data,
                some_texts(&racer->arena, "Text", "x", NULL)));

        pthread_barrier_wait(racer->start);
        run_racer(racer, insert);
        racer->inserted[i] = insert->status == STATUS_OK;
        if (insert->status != STATUS_OK && insert->status != STATUS_EXISTS)
            racer->failure = reason_of(insert);
    }
    return NULL;
}

START_TEST(one_of_several_servers_inserts_an_absent_key) /* guard G4 */
{
    static struct racer racers[RACERS];

    start_racers(racers, insert_all);

    for (int i = 0; i < RACES; i++) {
        int winners = 0;

        for (int k = 0; k < RACERS; k++)
            winners += racers[k].inserted[i];
        ck_assert_msg(winners == 1, "%d insertions of key %d", winners, i);
    }
    for (int k = 0; k < RACERS; k++)
        ck_assert_msg(!racers[k].failure, "%s", racers[k].failure);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where version = 1"), RACES);
    free_racers(racers);
}
END_TEST

/* All servers change the same entity at the same moments. */
static void *merge_all(void *argument)
{
    struct racer *racer = argument;
    struct error err = { 0 };

    (void)!session_ensure(&racer->session, &err);
    for (int i = 0; i < RACES; i++) {
        struct operation *merge = a_write_operation(&racer->arena, "Things",
            a_write(WRITE_INSERT_OR_MERGE, "p", "r", some_texts(&racer->arena, "Text", "x", NULL)));

        pthread_barrier_wait(racer->start);
        run_racer(racer, merge);
        if (merge->status == STATUS_OK)
            racer->inserted[i] = (int)merge->out.write.results[0].etag.version;
        else
            racer->failure = reason_of(merge);
    }
    return NULL;
}

/* 0: the key is absent at first, and is locked or created; 1: it is there, and is held. Guard G4, invariant I7. */
START_TEST(no_two_writes_of_a_key_have_one_version)
{
    static struct racer racers[RACERS];
    bool given[RACERS * RACES + 2] = { false };

    if (_i == 1)
        scene_write(&scene, a_write(WRITE_INSERT, "p", "r", text("one")));
    start_racers(racers, merge_all);

    for (int k = 0; k < RACERS; k++) {
        ck_assert_msg(!racers[k].failure, "%s", racers[k].failure);
        for (int i = 0; i < RACES; i++) {
            int version = racers[k].inserted[i];

            ck_assert(version >= 1 + _i && version <= RACERS * RACES + _i);
            ck_assert_msg(!given[version], "version %d was given twice", version);
            given[version] = true;
        }
    }
    free_racers(racers);
}
END_TEST

/* A batch of a few groups of random kinds on few keys, in random order. */
static struct operation *random_batch(struct racer *racer)
{
    static const enum write_kind kinds[] = { WRITE_INSERT, WRITE_INSERT_OR_REPLACE, WRITE_INSERT_OR_MERGE,
        WRITE_DELETE_IF_EXISTS, WRITE_DELETE, WRITE_REPLACE };
    struct operation *batch = NULL;

    for (int i = 0; i < 3; i++) {
        struct write writes[4];
        int first = rand_r(&racer->seed) % OVERLAP_KEYS,
            step = rand_r(&racer->seed) % 2 ? 1 : OVERLAP_KEYS - 1;
        struct operation *group;

        for (int k = 0; k < 4; k++) {
            enum write_kind kind = kinds[(size_t)rand_r(&racer->seed) % ARRAY_LEN(kinds)];
            int key = (first + k * step) % OVERLAP_KEYS;
            bool deletes = kind == WRITE_DELETE || kind == WRITE_DELETE_IF_EXISTS;

            writes[k] = a_write(kind, "p", arena_format(&racer->arena, "%d", key).data,
                deletes ? none : some_texts(&racer->arena, "Text", "x", NULL));
        }
        group = a_group(&racer->arena, "Things", writes, 4);
        group->next = batch;
        batch = group;
    }
    return batch;
}

static void *overlap(void *argument)
{
    struct racer *racer = argument;
    struct error err = { 0 };
    int64_t until_us;

    (void)!session_ensure(&racer->session, &err);
    pthread_barrier_wait(racer->start);
    until_us = clock_monotonic_us() + OVERLAP_US;
    while (clock_monotonic_us() < until_us) {
        struct operation *batch = random_batch(racer);

        run_racer(racer, batch);
        racer->rounds++;
        for (; batch; batch = batch->next) {
            bool decided = batch->status == STATUS_OK || batch->status == STATUS_EXISTS ||
                           batch->status == STATUS_NOT_FOUND;

            if (!decided)
                racer->failure = reason_of(batch);
        }
    }
    return NULL;
}

START_TEST(overlapping_batches_never_deadlock) /* invariant I13 */
{
    static struct racer racers[RACERS];
    int rounds = 0;

    start_racers(racers, overlap);

    for (int i = 0; i < RACERS; i++) {
        ck_assert_msg(!racers[i].failure, "%s", racers[i].failure);
        rounds += racers[i].rounds;
    }
    ck_assert_int_gt(rounds, RACERS);
    test_await(
        scene.sql, "select (count(*) = 0)::int from pg_stat_activity where application_name = 'test racer'");
    ck_assert_int_eq(
        test_number(scene.sql, "select deadlocks from pg_stat_database where datname = current_database()"),
        0);
    free_racers(racers);
}
END_TEST

/* ---- the catalogue changes between plan and commit: guard G1 ---- */

static const enum write_kind paths[] = { WRITE_INSERT_OR_REPLACE, WRITE_INSERT };

/* A batch of one upsert has a statement of its own. */
START_TEST(a_writer_that_knows_a_deleted_table_writes_nothing) /* guard G1 */
{
    enum write_kind kind = paths[_i / 2];
    struct operation *before = a_write_operation(&scene.arena, "Things", a_write(kind, "p", "a", text("x")));
    struct operation *after[] = {
        a_write_operation(&scene.arena, "Things", a_write(kind, "p", "b", text("x"))),
        a_write_operation(&scene.arena, "Things", a_write(kind, "p", "c", text("x"))),
    };
    size_t count = _i % 2 ? 2 : 1;
    struct operation *delete = an_operation(&scene.arena, OPERATION_TABLE_DELETE, "Things");
    struct session late;

    session_init(&late, scene.conninfo, "test writer");
    run_batch(&late, &before, 1);
    ck_assert_reason(before, "OK");
    run(scene.store, delete);
    ck_assert_reason(delete, "OK");
    run_batch(&late, after, count);
    session_cleanup(&late);

    for (size_t i = 0; i < count; i++)
        ck_assert_reason(after[i], "TABLE_NOT_FOUND");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), 1);
}
END_TEST

START_TEST(a_writer_follows_the_name_to_the_new_table)
{
    struct operation *before =
        a_write_operation(&scene.arena, "Things", a_write(paths[_i], "p", "a", text("x")));
    struct operation *after =
        a_write_operation(&scene.arena, "Things", a_write(paths[_i], "p", "a", text("x")));
    struct session late;
    long long id;

    session_init(&late, scene.conninfo, "test writer");
    run_batch(&late, &before, 1);
    run(scene.store, an_operation(&scene.arena, OPERATION_TABLE_DELETE, "Things"));
    id = scene_table(&scene, "Things");
    run_batch(&late, &after, 1);
    session_cleanup(&late);

    ck_assert_reason(after, "OK");
    ck_assert_int_eq(after->out.write.results[0].etag.table_id, id);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities where table_id = %lld", id), 1);
}
END_TEST

/* Write until the table is gone. */
static void *write_until_gone(void *argument)
{
    struct racer *racer = argument;
    struct error err = { 0 };

    (void)!session_ensure(&racer->session, &err);
    pthread_barrier_wait(racer->start);
    for (int i = 0; !racer->failure; i++) {
        struct operation *write = a_write_operation(&racer->arena, "Things",
            a_write(paths[racer->seed % 2], "p", arena_format(&racer->arena, "%u.%d", racer->seed, i).data,
                some_texts(&racer->arena, "Text", "x", NULL)));

        if (racer->seed == 1 && i == 30) {
            struct operation *delete = an_operation(&racer->arena, OPERATION_TABLE_DELETE, "Things");

            run(scene.store, delete);
            racer->refused = (int)test_number(scene.sql, "select count(*) from entities");
        }
        run_racer(racer, write);
        racer->rounds++;
        if (write->status != STATUS_OK)
            racer->failure = reason_of(write);
    }
    return NULL;
}

START_TEST(no_row_appears_once_a_deletion_has_returned) /* guard G1 */
{
    static struct racer racers[RACERS];
    int acknowledged = 0;

    start_racers(racers, write_until_gone);

    for (int i = 0; i < RACERS; i++) {
        ck_assert_str_eq(racers[i].failure, "TABLE_NOT_FOUND");
        acknowledged += racers[i].rounds - 1;
    }
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), racers[0].refused);
    ck_assert_int_eq(acknowledged, racers[0].refused);
    free_racers(racers);
}
END_TEST

/* The same with one writer at one chosen moment; the race above finds it only by chance. */
START_TEST(a_deletion_waits_for_an_open_write) /* guard G1 */
{
    struct operation *delete = an_operation(&scene.arena, OPERATION_TABLE_DELETE, "Things");
    struct session writer, changer;
    struct error err = { 0 };
    int64_t now_us;

    session_init(&writer, scene.conninfo, "test writer");
    session_init(&changer, scene.conninfo, "test changer");
    changer.fence_limit_us = 300000;
    ck_assert_int_eq(session_ensure(&writer, &err), STATUS_OK);
    ck_assert_int_eq(session_send_begin(&writer, &err), STATUS_OK);
    ck_assert_int_eq(pg_sync(&writer.pg, &err), STATUS_OK);
    ck_assert_int_eq(session_take_begin(&writer, &now_us, &err), STATUS_OK);
    ck_assert_int_eq(pg_end(&writer.pg, &err), STATUS_OK);

    table_calls_delete(&changer, delete);
    ck_assert_reason(delete, "CATALOGUE_CHANGE_BLOCKED");

    pg_recover(&writer.pg); /* rolls back */
    table_calls_delete(&changer, delete);
    ck_assert_reason(delete, "OK");
    session_cleanup(&writer);
    session_cleanup(&changer);
}
END_TEST

Suite *test_write_batch_suite(void)
{
    Suite *suite = suite_create("write");
    TCase *tc = tcase_create("write");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_written_can_be_read);
    tcase_add_test(tc, every_kind_does_what_it_says);
    tcase_add_test(tc, conditions_compare_etags);
    tcase_add_test(tc, conditions_are_asked_of_the_locked_row);
    tcase_add_test(tc, versions_and_timestamps_grow_through_deletion_and_return);
    tcase_add_test(tc, timestamps_grow_although_the_clock_stands_back);
    tcase_add_test(tc, a_new_key_begins_above_the_floor);
    tcase_add_test(tc, writes_to_no_table_are_refused);
    tcase_add_test(tc, both_paths_leave_the_same);
    tcase_add_test(tc, a_group_of_a_hundred_is_all_or_nothing);
    tcase_add_test(tc, a_batch_serves_its_operations_in_their_order);
    tcase_add_test(tc, a_batch_over_large_rows_is_decided_in_parts);
    tcase_add_test(tc, upserts_of_one_key_in_one_batch_each_have_a_version);
    tcase_add_test(tc, repeated_upserts_are_written_without_reading);
    tcase_add_test(tc, rows_that_exist_are_locked_without_offering_others);
    tcase_add_test(tc, a_row_that_is_missing_is_created_under_a_lock);
    tcase_add_test(tc, one_of_several_servers_inserts_an_absent_key);
    tcase_add_loop_test(tc, no_two_writes_of_a_key_have_one_version, 0, 2);
    tcase_add_test(tc, overlapping_batches_never_deadlock);
    tcase_add_loop_test(tc, a_writer_that_knows_a_deleted_table_writes_nothing, 0, 2 * ARRAY_LEN(paths));
    tcase_add_loop_test(tc, a_writer_follows_the_name_to_the_new_table, 0, ARRAY_LEN(paths));
    tcase_add_test(tc, no_row_appears_once_a_deletion_has_returned);
    tcase_add_test(tc, a_deletion_waits_for_an_open_write);
    suite_add_tcase(suite, tc);
    return suite;
}
