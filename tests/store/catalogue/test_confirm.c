/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No refusal leaves the server that was decided from a catalogue older than the request: a reader has looked up in an
 * index or read a table, another caller deletes it and creates another one with its name, and the reader repeats the
 * read.
 */
#include <check.h>

#include "base/clock.h"
#include "domain/operations/operation_times.h"
#include "store/catalogue/table_calls.h"
#include "store/entities/read_batch.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/lookup_read.h"
#include "store/queries/page_read.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

static struct world world;
static struct session reader;

static void setup(void)
{
    world_open(&world);
    session_init(&reader, world.conninfo, "test reader");
}

static void teardown(void)
{
    session_cleanup(&reader);
    world_close(&world);
}

/* ---- words ---- */

/* An index of People in state READY; width > 0: on numbers. An earlier index of its name is dropped first. */
static void make_index(enum index_shape shape, const char *second_part, int width)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByCity");
    struct key_part *parts = ARENA_ARRAY(&world.arena, struct key_part, 2);

    parts[0] = (struct key_part){ .text = STR_LITERAL("City"), .width = width };
    parts[1] = (struct key_part){ .text = str_of(second_part ? second_part : "") };
    operation->in.index.definition = (struct index){ .name = STR_LITERAL("ByCity"),
        .source_name = STR_LITERAL("People"),
        .shape = shape,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { parts, 1 },
        .row_key = { &parts[1], second_part ? 1 : 0 },
        .projection = shape == INDEX_COPY ? PROJECT_ALL : PROJECT_KEYS_ONLY };
    if (test_number(world.sql, "select count(*) from tables where live and folded = 'bycity'") > 0)
        call_succeeded(index_dropped(&world, "ByCity"));
    call_succeeded(call_run(&world.writer, index_calls_create, operation));
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
}

static struct value text(const char *value)
{
    return (struct value){ .type = PROPERTY_STRING, .bytes = str_of(value) };
}

static struct operation *look_up(struct value city)
{
    struct operation *lookup = call_make(&world.arena, OPERATION_LOOKUP, "ByCity");

    lookup->in.lookup.equals = ARENA_NEW(&world.arena, struct value);
    lookup->in.lookup.equals[0] = city;
    lookup->in.lookup.equal_count = 1;
    lookup->in.lookup.limit = 10;
    operation_times_begin(lookup);
    return call_run(&reader, lookup_read_run, lookup);
}

static void found(const struct operation *lookup, size_t count)
{
    call_succeeded(lookup);
    ck_assert_uint_eq(lookup->out.lookup.count, count);
}

static struct operation *read_of(
    enum operation_kind kind, void (*run)(struct session *, struct operation *), const char *table)
{
    struct operation *operation = call_make(&world.arena, kind, table);

    operation->in.page.limit = 10;
    operation_times_begin(operation);
    return call_run(&reader, run, operation);
}

static struct operation *page_of(const char *table)
{
    return read_of(OPERATION_PAGE, page_read_run, table);
}

/* ---- indexes that were created again ---- */

/* Guard G23. */
START_TEST(an_index_made_anew_takes_values_of_its_own_type)
{
    struct value number = { .type = PROPERTY_INT64, .integer = 7 };

    world_put(&world, "r1", "Rome", "x");
    make_index(INDEX_COPY, NULL, 4);
    found(look_up(number), 0);

    make_index(INDEX_COPY, NULL, 0);

    found(look_up(text("Rome")), 1);
}
END_TEST

/* Guard G23. A page of a list is found by its value; an entry of a copy by its value and its source's keys. */
START_TEST(an_index_of_another_shape_is_read_as_what_it_is)
{
    struct operation *page, *get = call_make(&world.arena, OPERATION_GET, "ByCity");

    world_put(&world, "r1", "Rome", "x");
    make_index(INDEX_LIST, NULL, 0);
    page = page_of("ByCity");
    call_succeeded(page);
    ck_assert_uint_eq(page->out.page.count, 1);

    make_index(INDEX_COPY, "Note", 0);
    page = call_make(&world.arena, OPERATION_PAGE, "ByCity");
    page->in.page.limit = 10;
    call_succeeded(call_run(&world.writer, page_read_run, page));
    ck_assert_uint_eq(page->out.page.count, 1);
    get->in.get.keys = &page->out.page.entities[0].key;
    get->in.get.count = 1;
    operation_times_begin(get);
    read_batch_run(&reader, get, NULL);

    call_succeeded(get);
    ck_assert(get->out.get.found[0]);
}
END_TEST

/* Guard G23. A list that is read in descending order has a reader of its own. */
START_TEST(a_list_made_a_copy_can_be_read_backwards)
{
    struct operation *page = call_make(&world.arena, OPERATION_PAGE, "ByCity");

    world_put(&world, "r1", "Rome", "x");
    make_index(INDEX_LIST, NULL, 0);
    call_succeeded(page_of("ByCity"));

    make_index(INDEX_COPY, NULL, 0);
    page->in.page.limit = 10;
    page->in.page.descending = true;
    operation_times_begin(page);

    call_succeeded(call_run(&reader, page_read_run, page));
    ck_assert_uint_eq(page->out.page.count, 1);
}
END_TEST

/* Guard G23. */
START_TEST(a_token_of_a_newer_table_is_of_now)
{
    struct operation *put, *lookup;

    world_put(&world, "r1", "Rome", "x");
    make_index(INDEX_COPY, NULL, 0);
    found(look_up(text("Rome")), 1);

    call_succeeded(call_run(
        &world.writer, table_calls_delete, call_make(&world.arena, OPERATION_TABLE_DELETE, "People")));
    call_succeeded(call_run(
        &world.writer, table_calls_create, call_make(&world.arena, OPERATION_TABLE_CREATE, "People")));
    make_index(INDEX_COPY, NULL, 0);
    put = call_write(
        &world.writer, &world.arena, WRITE_INSERT, "People", call_key("p", "r2"), "of the new one");
    call_succeeded(put);
    lookup = call_make(&world.arena, OPERATION_LOOKUP, "ByCity");
    lookup->in.lookup = (struct operation_lookup){ .equals = ARENA_NEW(&world.arena, struct value),
        .equal_count = 1,
        .limit = 10,
        .freshness = { .at_least_count = 1, .at_least = ARENA_NEW(&world.arena, struct consistency) } };
    lookup->in.lookup.equals[0] = text("Rome");
    lookup->in.lookup.freshness.at_least[0].table_id = put->out.write.results[0].etag.table_id;
    operation_times_begin(lookup);
    operation_times_set_fresh(lookup, clock_monotonic_us());

    found(call_run(&reader, lookup_read_run, lookup), 0);
}
END_TEST

/* ---- tables that were created again ---- */

START_TEST(what_a_table_has_become_is_known)
{
    call_failed(page_of("Later"), "TABLE_NOT_FOUND");
    call_succeeded(page_of("People"));

    call_succeeded(call_run(
        &world.writer, table_calls_create, call_make(&world.arena, OPERATION_TABLE_CREATE, "Later")));
    world_change(&world, "update tables set name = 'Gone', folded = 'gone' where folded = 'people'");

    call_succeeded(page_of("Later"));
    call_failed(page_of("People"), "TABLE_NOT_FOUND");
    call_failed(read_of(OPERATION_EXPLAIN, page_read_explain, "People"), "TABLE_NOT_FOUND");
    call_succeeded(page_of("Gone"));
}
END_TEST

START_TEST(an_explanation_is_of_the_table_as_it_is)
{
    call_succeeded(read_of(OPERATION_EXPLAIN, page_read_explain, "People"));

    world_change(&world, "update tables set name = 'Gone', folded = 'gone' where folded = 'people'");

    call_failed(read_of(OPERATION_EXPLAIN, page_read_explain, "People"), "TABLE_NOT_FOUND");
}
END_TEST

/* ---- what it costs ---- */

/*
 * Guard G23: one check of the catalogue counts for every operation that arrived before it was sent, and for no other.
 */
START_TEST(what_waits_together_is_confirmed_together)
{
    struct operation *early = call_make(&world.arena, OPERATION_PAGE, "Nowhere");
    int64_t asked_us;

    operation_times_begin(early);
    call_failed(page_of("Nowhere"), "TABLE_NOT_FOUND");
    asked_us = reader.confirmed_us;

    call_failed(call_run(&reader, page_read_run, early), "TABLE_NOT_FOUND");
    ck_assert_int_eq(reader.confirmed_us, asked_us); /* no check was sent */
    call_failed(page_of("Nowhere"), "TABLE_NOT_FOUND");
    ck_assert_int_gt(reader.confirmed_us, asked_us);
}
END_TEST

START_TEST(a_batch_of_refusals_is_confirmed_at_once)
{
    struct operation *reads[3];
    struct entity_key key = call_key("p", "r1");

    world_put(&world, "r1", "Rome", "x");
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        reads[i] = call_make(&world.arena, OPERATION_GET, i == 1 ? "People" : "Nowhere");
        reads[i]->in.get.keys = &key;
        reads[i]->in.get.count = 1;
        operation_times_begin(reads[i]);
        if (i > 0)
            reads[i - 1]->next = reads[i];
    }

    read_batch_run(&reader, reads[0], NULL);

    call_failed(reads[0], "TABLE_NOT_FOUND");
    call_succeeded(reads[1]);
    call_failed(reads[2], "TABLE_NOT_FOUND");
    ck_assert_int_gt(reader.confirmed_us, operation_times_arrived_us(reads[2]));
}
END_TEST

Suite *test_confirm_suite(void)
{
    Suite *suite = suite_create("confirm");
    TCase *tc = tcase_create("confirm");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, an_index_made_anew_takes_values_of_its_own_type);
    tcase_add_test(tc, an_index_of_another_shape_is_read_as_what_it_is);
    tcase_add_test(tc, a_list_made_a_copy_can_be_read_backwards);
    tcase_add_test(tc, a_token_of_a_newer_table_is_of_now);
    tcase_add_test(tc, what_a_table_has_become_is_known);
    tcase_add_test(tc, an_explanation_is_of_the_table_as_it_is);
    tcase_add_test(tc, what_waits_together_is_confirmed_together);
    tcase_add_test(tc, a_batch_of_refusals_is_confirmed_at_once);
    suite_add_tcase(suite, tc);
    return suite;
}
