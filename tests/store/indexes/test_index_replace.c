/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_index_replace.c - indexes that take the place of another one: built beside it, switched at once, given up.
 */
#include <check.h>

#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "store/catalogue/table_calls.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/lookup_read.h"
#include "store/indexes/replacement_calls.h"
#include "store/job_work.h"
#include "store/jobs/job_calls.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { PEOPLE = 1200 };

static struct world world;

static void setup(void)
{
    world_open(&world);
    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

/* By City, as a list of the entities' keys. */
static struct index a_declaration(void)
{
    struct key_part *part = ARENA_NEW(&world.arena, struct key_part);

    *part = (struct key_part){ .text = STR_LITERAL("City") };
    return (struct index){ .name = STR_LITERAL("bycity"),
        .source_name = STR_LITERAL("people"),
        .shape = INDEX_LIST,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { part, 1 } };
}

static struct operation *replaced(struct index declaration)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_REPLACE, "ByCity");

    operation->in.index.definition = declaration;
    return call_run(&world.writer, replacement_calls_create, operation);
}

/* Begin to replace the index by a list; returns the id of the operation. */
static const char *replacing(void)
{
    struct operation *operation = replaced(a_declaration());

    call_succeeded(operation);
    return operation->out.jobs.jobs[0].operation_id.data;
}

static struct operation *cancelled(const char *operation_id)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_REPLACE_CANCEL, "");

    operation->in.jobs.operation_id = str_of(operation_id);
    operation->in.jobs.control = JOB_CANCEL;
    return call_run(&world.writer, replacement_calls_cancel, operation);
}

static struct operation *looked_up(const char *city)
{
    struct operation *lookup = call_make(&world.arena, OPERATION_LOOKUP, "ByCity");
    struct value *value = ARENA_NEW(&world.arena, struct value);

    *value = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(city) };
    lookup->in.lookup = (struct operation_lookup){ .equals = value, .equal_count = 1, .limit = 1000 };
    return call_run(&world.writer, lookup_read_run, lookup);
}

/* How many are found. */
static int found_in(const char *city)
{
    struct operation *lookup = looked_up(city);

    call_succeeded(lookup);
    return (int)lookup->out.lookup.count;
}

static enum index_shape shape_seen(void)
{
    struct index index = { 0 };

    ck_assert(index_codec_decode(index_seen(&world, "ByCity").definition, &world.arena, &index));
    return index.shape;
}

/* All that must be left: the source, and one index with its entries. */
static void check_one_index(void)
{
    run_chunks(world.worker);
    world_reconcile_all(&world);
    world_check(&world);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes"), 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from tables"), 2);
    ck_assert_int_eq(
        test_number(world.sql, "select count(distinct table_id) from entities where table_id not in "
                               "(select table_id from tables)"),
        0);
}

/* ---- from the beginning to the switch ---- */

START_TEST(it_is_built_beside_the_index_and_takes_its_place)
{
    const char *id = replacing();
    struct index_view seen = index_seen(&world, "ByCity");

    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert(str_equal(seen.replacement.operation_id, str_of(id)));
    ck_assert(str_equal(seen.replacement.kind, STR_LITERAL("replace_index")));
    ck_assert(str_equal(seen.replacement.target, STR_LITERAL("ByCity")));
    ck_assert_int_eq(shape_seen(), INDEX_COPY);

    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, id).state, JOB_DONE);
    seen = index_seen(&world, "ByCity");
    ck_assert_int_eq(seen.state, INDEX_READY);
    ck_assert_int_eq(shape_seen(), INDEX_LIST);
    ck_assert(str_equal(seen.build.operation_id, str_of(id)));
    ck_assert_uint_eq(seen.replacement.operation_id.len, 0);
    ck_assert_int_eq(found_in("Oslo"), 10);
    check_one_index();
}
END_TEST

/* Guard G42: the one or the other answers, with all that it should have, at every moment. */
START_TEST(a_look_up_never_sees_a_gap)
{
    int chunks = 0, moved = 0;

    people_copy(&world, PEOPLE);
    call_succeeded(index_dropped(&world, "ByCity"));
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    replacing();
    do {
        if (moved < 8) {
            world_put(&world, arena_format(&world.arena, "r%05d", 4 * ++moved + 1).data, "Rome", "x");
            world_reconcile_all(&world);
        }
        ck_assert_int_eq(found_in("Oslo"), 10 - moved);
        ck_assert_int_eq(found_in("Rome"), 1000); /* a page */
        ck_assert_int_lt(++chunks, 30);
    } while (run_chunk(world.worker));
    ck_assert_int_eq(shape_seen(), INDEX_LIST);
    check_one_index();
}
END_TEST

/* Guard G42: the old index's name and the new one's state are one change. */
START_TEST(the_names_are_swapped_in_one_change)
{
    long long version;

    replacing();
    while (test_number(world.sql, "select phase from operations where kind = 'replace_index'") < 2)
        ck_assert(run_chunk(world.worker));
    version = test_number(world.sql, "select version from catalogue");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes where state <> 4"), 2);
    ck_assert(run_chunk(world.worker));

    ck_assert_int_eq(test_number(world.sql, "select version from catalogue"), version + 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes where state = 4"), 1);
    ck_assert_int_eq(
        test_number(world.sql,
            "select count(*) from indexes where state = 3 and folded = 'bycity' and replaces is null"),
        1);
}
END_TEST

START_TEST(its_table_cannot_be_found_until_then)
{
    struct operation *list = call_make(&world.arena, OPERATION_TABLE_LIST, ""),
                     *indexes = call_make(&world.arena, OPERATION_INDEX_LIST, "");
    const char *hidden;

    replacing();
    hidden = test_text(world.sql, "select folded from indexes where replaces is not null");
    ck_assert_ptr_nonnull(strchr(hidden, '$'));
    call_failed(index_dropped(&world, hidden), "INDEX_NOT_FOUND");
    list->in.tables.limit = 10;
    call_succeeded(call_run(&world.writer, table_calls_list, list));
    ck_assert_uint_eq(list->out.tables.count, 2);
    indexes->in.index.limit = 10;
    call_succeeded(call_run(&world.writer, index_calls_list, indexes));
    ck_assert_uint_eq(indexes->out.index.count, 1);
    ck_assert_int_eq(found_in("Oslo"), 10);
}
END_TEST

START_TEST(the_settings_of_its_table_stay)
{
    const char *settings =
        "select created || ' ' || default_max_plan || ' ' || encode(policies, 'hex') from tables "
        "where live and folded = 'bycity'";
    const char *before;

    world_change(&world, "update tables set created = 7, default_max_plan = 3 where folded = 'bycity'");
    before = arena_format(&world.arena, "%s", test_text(world.sql, "%s", settings)).data;
    replacing();
    run_chunks(world.worker);
    ck_assert_str_eq(test_text(world.sql, "%s", settings), before);
}
END_TEST

START_TEST(writes_keep_both_and_satisfy_both)
{
    struct index unique = a_declaration();

    unique.shape = INDEX_COPY;
    unique.is_unique = true;
    unique.row_key = (struct key_parts){ ARENA_NEW(&world.arena, struct key_part), 1 };
    unique.row_key.parts[0] = (struct key_part){ .text = STR_LITERAL("Note") };
    test_sql(world.sql, "delete from entities where table_id = %d and row_key > 'r00000'", TABLE_ID);
    call_succeeded(index_dropped(&world, "ByCity"));
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    call_succeeded(replaced(unique));
    world_put(&world, "one", "Bonn", "x");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from unique_owners"), 1);
    world_reconcile_all(&world);
    ck_assert_int_eq(found_in("Bonn"), 1);
    check_one_index();
    ck_assert_int_eq(test_number(world.sql, "select count(*) from unique_owners"), 2);
}
END_TEST

/* ---- refusals ---- */

/*
 * UpdateIndex while a replacement is built changes the index that serves, which is then read as a strong one; the
 * replacement has the consistency of its own declaration.
 */
START_TEST(an_update_meanwhile_changes_the_first_index_alone)
{
    struct operation *update = call_make(&world.arena, OPERATION_INDEX_UPDATE, "ByCity");
    const char *replacement = replacing();
    struct index index = { 0 };

    update->in.index.consistency = INDEX_STRONG;
    call_succeeded(call_run(&world.writer, index_calls_update, update));
    ck_assert(index_codec_decode(index_seen(&world, "ByCity").definition, &world.arena, &index));
    ck_assert_int_eq(index.consistency, INDEX_BECOMING_STRONG);
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, replacement).state, JOB_DONE);
    ck_assert(index_codec_decode(index_seen(&world, "ByCity").definition, &world.arena, &index));
    ck_assert_int_eq(index.shape, INDEX_LIST);
    ck_assert_int_eq(index.consistency, INDEX_EVENTUAL);
    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from operations where kind = 'update_index' and state in (1, 2)"),
        0);
    ck_assert_int_eq(found_in("Oslo"), 10);
    check_one_index();
}
END_TEST

/*
 * The update's operation has not ended when the replacement takes the name: it ends without a change to either index.
 */
START_TEST(an_update_that_the_replacement_overtakes_ends)
{
    struct operation *update = call_make(&world.arena, OPERATION_INDEX_UPDATE, "ByCity");
    struct index index = { 0 };

    update->in.index.consistency = INDEX_STRONG;
    call_succeeded(call_run(&world.writer, index_calls_update, update));
    test_sql(world.sql, "update operations set state = 2 where kind = 'update_index'");
    replacing();
    run_chunks(world.worker);
    ck_assert(index_codec_decode(index_seen(&world, "ByCity").definition, &world.arena, &index));
    ck_assert_int_eq(index.shape, INDEX_LIST);

    test_sql(world.sql, "update operations set state = 1 where kind = 'update_index' and state = 2");
    run_chunks(world.worker);

    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from operations where kind = 'update_index' and state <> 5"),
        0);
    ck_assert(index_codec_decode(index_seen(&world, "ByCity").definition, &world.arena, &index));
    ck_assert_int_eq(index.consistency, INDEX_EVENTUAL);
    check_one_index();
}
END_TEST

START_TEST(it_is_refused_where_it_cannot_be)
{
    struct index elsewhere = a_declaration();
    struct operation *unknown = call_make(&world.arena, OPERATION_INDEX_REPLACE, "ByNote");

    elsewhere.source_name = STR_LITERAL("Others");
    call_failed(replaced(elsewhere), "INVALID_INPUT");
    unknown->in.index.definition = a_declaration();
    call_failed(call_run(&world.writer, replacement_calls_create, unknown), "INDEX_NOT_FOUND");
    replacing();
    call_failed(replaced(a_declaration()), "INDEX_NOT_READY");
    run_chunks(world.worker);
    for (int i = 1; i < LIMIT_INDEXES_PER_TABLE; i++)
        call_succeeded(index_created(&world, arena_format(&world.arena, "By%c", 'A' + i).data, "People", 0));
    call_failed(replaced(a_declaration()), "INVALID_INPUT");
    call_succeeded(index_dropped(&world, "ByCity"));
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    call_failed(replaced(a_declaration()), "INDEX_NOT_READY");
}
END_TEST

/* ---- other ends ---- */

START_TEST(a_cancelled_one_goes_and_the_index_stays)
{
    const char *id;
    int chunks = _i;

    people_copy(&world, PEOPLE);
    call_succeeded(index_dropped(&world, "ByCity"));
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    id = replacing();
    while (chunks-- > 0)
        ck_assert(run_chunk(world.worker));
    call_succeeded(cancelled(id));
    ck_assert_int_eq(run_seen(&world, id).state, JOB_CANCELLED);
    ck_assert_uint_eq(index_seen(&world, "ByCity").replacement.operation_id.len, 0);
    call_succeeded(cancelled(id));
    check_one_index();
    ck_assert_int_eq(shape_seen(), INDEX_COPY);
    ck_assert_int_eq(found_in("Oslo"), 10);

    id = replacing();
    run_chunks(world.worker);
    ck_assert_int_eq(shape_seen(), INDEX_LIST);
    call_failed(cancelled(id), "OPERATION_NOT_CONTROLLABLE");
    call_failed(cancelled("replace-0"), "OPERATION_NOT_FOUND");
}
END_TEST

/* Cancelling is for others' operations neither. */
START_TEST(only_its_own_account_cancels_it)
{
    const char *id = replacing();
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_REPLACE_CANCEL, "");

    operation->account = STR_LITERAL("others");
    operation->in.jobs.operation_id = str_of(id);
    operation->in.jobs.control = JOB_CANCEL;
    call_failed(call_run(&world.writer, replacement_calls_cancel, operation), "OPERATION_NOT_FOUND");
    ck_assert_int_eq(run_seen(&world, id).state, JOB_RUNNING);
}
END_TEST

START_TEST(one_that_fails_goes_and_the_index_stays)
{
    struct index numbers = a_declaration();
    struct operation *operation;
    const char *id;

    numbers.partition_key.parts[0].width = 3;
    numbers.on_violation = VIOLATION_REJECT;
    operation = replaced(numbers);
    call_succeeded(operation);
    id = operation->out.jobs.jobs[0].operation_id.data;
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, id).state, JOB_FAILED);
    ck_assert_ptr_nonnull(strstr(run_seen(&world, id).error.data, "30 entities cannot have their entry"));
    ck_assert_ptr_nonnull(strstr(run_seen(&world, id).error.data, "stayed as it was"));
    world_put(&world, "r00000", "Oslo", "x"); /* which the declaration would have refused */
    check_one_index();
    ck_assert_int_eq(found_in("Oslo"), 11);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
}
END_TEST

START_TEST(dropping_the_index_drops_both)
{
    const char *id = replacing();

    ck_assert(run_chunk(world.worker));
    call_succeeded(index_dropped(&world, "ByCity"));
    ck_assert_int_eq(run_seen(&world, id).state, JOB_CANCELLED);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    check_one_index();
}
END_TEST

START_TEST(deleting_the_table_ends_it)
{
    const char *id = replacing();

    ck_assert(run_chunk(world.worker));
    call_succeeded(call_run(
        &world.writer, table_calls_delete, call_make(&world.arena, OPERATION_TABLE_DELETE, "People")));
    ck_assert_int_eq(run_seen(&world, id).state, JOB_CANCELLED);
    run_chunks(world.worker);
    ck_assert_int_eq(
        test_number(world.sql, "select (select count(*) from entities) + (select count(*) from indexes) "
                               "+ (select count(*) from tables)"),
        0);
}
END_TEST

/* Guard G43: nothing was waited for, since the index was strong; the one that has its name now may be behind. */
START_TEST(a_look_up_that_a_strong_index_needed_no_wait_for_asks_again)
{
    struct operation *lookup = call_make(&world.arena, OPERATION_LOOKUP, "ByCity");

    world_put(&world, "r00000", "Oslo", "x");
    lookup->in.lookup = (struct operation_lookup){ .equals = looked_up("Oslo")->in.lookup.equals,
        .equal_count = 1,
        .limit = 100,
        .freshness = { .has_max_staleness = true, .max_staleness_us = 1, .was_strong = true } };
    operation_times_set_fresh(lookup, INT64_MAX);
    call_failed(call_run(&world.writer, lookup_read_run, lookup), "STORE_UNAVAILABLE");

    lookup->in.lookup.freshness.was_strong = false;
    operation_times_set_fresh(lookup, INT64_MAX);
    call_succeeded(call_run(&world.writer, lookup_read_run, lookup));
}
END_TEST

Suite *test_index_replace_suite(void)
{
    Suite *suite = suite_create("index_replace");
    TCase *tc = tcase_create("index_replace");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, it_is_built_beside_the_index_and_takes_its_place);
    tcase_add_test(tc, a_look_up_never_sees_a_gap);
    tcase_add_test(tc, the_names_are_swapped_in_one_change);
    tcase_add_test(tc, its_table_cannot_be_found_until_then);
    tcase_add_test(tc, the_settings_of_its_table_stay);
    tcase_add_test(tc, writes_keep_both_and_satisfy_both);
    tcase_add_test(tc, an_update_meanwhile_changes_the_first_index_alone);
    tcase_add_test(tc, an_update_that_the_replacement_overtakes_ends);
    tcase_add_test(tc, it_is_refused_where_it_cannot_be);
    tcase_add_loop_test(tc, a_cancelled_one_goes_and_the_index_stays, 0, 4);
    tcase_add_test(tc, only_its_own_account_cancels_it);
    tcase_add_test(tc, one_that_fails_goes_and_the_index_stays);
    tcase_add_test(tc, dropping_the_index_drops_both);
    tcase_add_test(tc, deleting_the_table_ends_it);
    tcase_add_test(tc, a_look_up_that_a_strong_index_needed_no_wait_for_asks_again);
    suite_add_tcase(suite, tc);
    return suite;
}
