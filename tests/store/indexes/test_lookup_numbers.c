/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lookup_numbers.c - look-ups of numbers, each of which stands for several ranges of entries: pages of all
 * sizes, in both directions, with all stored types and sizes of entities.
 */
#include <check.h>

#include "tests/support/builders.h"

enum { INDEX_ID = 900, FORMS = 4, SOURCES = FORMS * FORMS * FORMS, NOTE_BYTES = 60000 };

static struct scene scene;
static struct key_part everything = { .is_literal = true, .text = { "all", 3 } };
static struct key_part by_numbers[] = { { .text = { "A", 1 } }, { .text = { "B", 1 } },
    { .text = { "C", 1 } } };
static struct index numbers;

static const struct value an_int32 = { .type = PROPERTY_INT32 };

/* The four zeros, in the order of their entries. */
static const struct value zeros[FORMS] = {
    { .type = PROPERTY_DOUBLE, .number = -0.0 },
    { .type = PROPERTY_DOUBLE, .number = 0.0 },
    { .type = PROPERTY_INT32 },
    { .type = PROPERTY_INT64 },
};

/* A, B and C are the digits of number; every ninth entity is larger than a page reads of many entities. */
static struct property_list a_source(int number)
{
    struct value note = { .type = PROPERTY_BINARY,
        .bytes = str_of_bytes(arena_calloc(&scene.arena, NOTE_BYTES, 1), number % 9 ? 1 : NOTE_BYTES) };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, &scene.arena);
    property_build(&builder, STR_LITERAL("A"), &zeros[number / (FORMS * FORMS)]);
    property_build(&builder, STR_LITERAL("B"), &zeros[number / FORMS % FORMS]);
    property_build(&builder, STR_LITERAL("C"), &zeros[number % FORMS]);
    property_build(&builder, STR_LITERAL("Note"), &note);
    property_build(&builder, STR_LITERAL("Note2"), &note);
    return (struct property_list){ buf_str(&out) };
}

static const char *row_of(int number)
{
    return arena_format(&scene.arena, "%02d", number).data;
}

static void setup(void)
{
    struct write writes[SOURCES];
    struct operation *group;

    scene_open(&scene);
    for (int i = 0; i < SOURCES; i++)
        writes[i] = a_write(WRITE_INSERT, "p", row_of(i), a_source(i));
    group = a_group(&scene.arena, "Things", writes, SOURCES);
    run(scene.store, group);
    ck_assert_reason(group, "OK");
    numbers = (struct index){ .index_id = INDEX_ID,
        .name = STR_LITERAL("ByNumbers"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .partition_key = { &everything, 1 },
        .row_key = { by_numbers, ARRAY_LEN(by_numbers) },
        .projection = PROJECT_ALL };
    scene_index(&scene, &numbers);
    for (int i = 0; i < SOURCES; i++)
        scene_entry(&scene, &numbers, scene_read(&scene, "p", row_of(i)));
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct operation *a_lookup(const struct value *value, size_t count)
{
    struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, "ByNumbers");
    struct value *values = ARENA_ARRAY(&scene.arena, struct value, count);

    for (size_t i = 0; i < count; i++)
        values[i] = *value;
    lookup->in.lookup = (struct operation_lookup){
        .equals = values, .equal_count = count, .trust_index = true, .limit = 1000
    };
    return lookup;
}

/* Read all pages of this look-up several times: the rows in order, each as "12 ". */
static const char *all_pages(const struct operation *like)
{
    struct buf all;
    struct entity_key after = { STR_EMPTY, STR_EMPTY };
    bool more = true;

    buf_init(&all, &scene.arena);
    for (bool first = true; more; first = false) {
        struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, "ByNumbers");

        lookup->in.lookup = like->in.lookup;
        lookup->in.lookup.has_after = !first;
        lookup->in.lookup.after = after;
        run(scene.store, lookup);
        ck_assert_reason(lookup, "OK");
        ck_assert_uint_le(lookup->out.lookup.count, (size_t)like->in.lookup.limit);
        for (size_t i = 0; i < lookup->out.lookup.count; i++) {
            buf_append(&all, lookup->out.lookup.entities[i].key.row);
            buf_append_byte(&all, ' ');
        }
        more = lookup->out.lookup.more;
        after = lookup->out.lookup.position;
    }
    buf_append_byte(&all, 0);
    return all.data;
}

/* The sources of which `wanted` is true, in the order of their entries. */
static const char *sources(bool (*wanted)(int number), bool descending)
{
    struct buf all;

    buf_init(&all, &scene.arena);
    for (int i = 0; i < SOURCES; i++) {
        int number = descending ? SOURCES - 1 - i : i;

        if (wanted(number))
            buf_append(&all, arena_format(&scene.arena, "%02d ", number));
    }
    buf_append_byte(&all, 0);
    return all.data;
}

static bool any(int number)
{
    return number >= 0;
}

static bool has_no_int32(int number)
{
    return number / 16 != 2 && number / 4 % 4 != 2 && number % 4 != 2;
}

static bool has_doubles(int number)
{
    return number / 16 < 2 && number / 4 % 4 < 2 && number % 4 < 2;
}

static const struct number_case {
    struct value value;
    bool (*wanted)(int number);
} number_cases[] = {
    { { .type = PROPERTY_INT32 }, any },
    { { .type = PROPERTY_INT64 }, has_no_int32 },
    { { .type = PROPERTY_DOUBLE }, has_doubles },
    { { .type = PROPERTY_DOUBLE, .number = -0.0 }, has_doubles },
};

START_TEST(a_number_finds_what_it_widens_to)
{
    for (size_t i = 0; i < ARRAY_LEN(number_cases); i++)
        ck_assert_str_eq(
            all_pages(a_lookup(&number_cases[i].value, 3)), sources(number_cases[i].wanted, false));
}
END_TEST

static const int32_t limits[] = { 3, 17, 1000 };

START_TEST(pages_go_on_across_ranges_in_both_directions)
{
    for (int i = 0; i < 4 * (int)ARRAY_LEN(limits); i++) {
        struct operation *lookup = a_lookup(&an_int32, 3);

        lookup->in.lookup.limit = limits[i / 4];
        lookup->in.lookup.descending = i & 1;
        lookup->in.lookup.freshness.latest = i & 2;
        ck_assert_str_eq(all_pages(lookup), sources(any, i & 1));
    }
}
END_TEST

START_TEST(a_prefix_of_numbers_is_several_ranges)
{
    struct operation *lookup = a_lookup(&an_int32, 2);

    lookup->in.lookup.limit = 7;

    ck_assert_str_eq(all_pages(lookup), sources(any, false));
}
END_TEST

START_TEST(a_range_of_numbers_takes_all_types_it_widens_to)
{
    struct operation *lookup = a_lookup(&an_int32, 2);

    lookup->in.lookup.range =
        (struct value_range){ true, true, an_int32, { .type = PROPERTY_INT32, .integer = 1 } };
    lookup->in.lookup.limit = 9;
    lookup->in.lookup.descending = _i;

    ck_assert_str_eq(all_pages(lookup), sources(any, _i));
}
END_TEST

START_TEST(a_range_that_nothing_can_be_in_is_empty)
{
    struct operation *lookup = a_lookup(&an_int32, 2);

    lookup->in.lookup.range = (struct value_range){ true, true, an_int32, an_int32 };

    ck_assert_str_eq(all_pages(lookup), "");
}
END_TEST

Suite *test_lookup_numbers_suite(void)
{
    Suite *suite = suite_create("lookup_numbers");
    TCase *tc = tcase_create("lookup_numbers");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_number_finds_what_it_widens_to);
    tcase_add_test(tc, pages_go_on_across_ranges_in_both_directions);
    tcase_add_test(tc, a_prefix_of_numbers_is_several_ranges);
    tcase_add_loop_test(tc, a_range_of_numbers_takes_all_types_it_widens_to, 0, 2);
    tcase_add_test(tc, a_range_that_nothing_can_be_in_is_empty);
    suite_add_tcase(suite, tc);
    return suite;
}
