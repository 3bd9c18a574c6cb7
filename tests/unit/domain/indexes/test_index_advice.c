/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/indexes/index_advice.c: which shapes ask for which index.
 */
#include "domain/indexes/index_advice.h"

#include <check.h>

#include "base/buf.h"
#include "base/macros.h"
#include "domain/filter/filter.h"
#include "domain/indexes/index_codec.h"
#include "tests/support/catalogues.h"

static struct arena arena;
static struct shape_sketch sketch;
static struct table table, *tables[2];
static struct catalogue *catalogue;
static struct key_part color_part = { .text = { "Color", 5 } },
                       home_part = { .text = { "PartitionKey", 12 } }, size_part = { .text = { "Size", 4 } };
static struct index by_color, here_by_size, *indexes[2];

static void setup(void)
{
    arena_init(&arena);
    sketch = (struct shape_sketch){ .writes = 70 };
    by_color = (struct index){ .index_id = 7,
        .name = STR_LITERAL("byColor"),
        .state = INDEX_READY,
        .partition_key = { &color_part, 1 } };
    here_by_size = (struct index){ .index_id = 8,
        .name = STR_LITERAL("hereBySize"),
        .state = INDEX_READY,
        .place = PLACE_SAME_PARTITION,
        .partition_key = { &home_part, 1 },
        .row_key = { &size_part, 1 } };
    indexes[0] = &by_color;
    indexes[1] = &here_by_size;
    table = (struct table){ .account = STR_LITERAL("a"),
        .name = STR_LITERAL("Things"),
        .folded = STR_LITERAL("things"),
        .indexes = indexes,
        .index_count = 2 };
    tables[0] = &table;
    catalogue = a_catalogue_of(tables, 1);
}

static void teardown(void)
{
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static void add_key(struct buf *out, const struct key_parts *key)
{
    for (size_t i = 0; i < key->count; i++)
        buf_format(out, "%s%.*s", i > 0 ? "," : "", STR_ARG(key->parts[i].text));
}

/* "NAME partition|row", with a * if the entries are in the partition of their entities. */
static struct str declared(struct str definition)
{
    struct index index = { 0 };
    struct buf out;

    buf_init(&out, &arena);
    ck_assert(index_codec_decode(definition, &arena, &index));
    buf_format(&out, "%.*s%s ", STR_ARG(index.name), index.place == PLACE_SAME_PARTITION ? "*" : "");
    add_key(&out, &index.partition_key);
    buf_append(&out, STR_LITERAL("|"));
    add_key(&out, &index.row_key);
    return buf_str(&out);
}

static const struct advice_case {
    const char *shape;
    int64_t examined, returned;
    const char *want; /* a declaration, the name of an index, or nothing */
} advice_cases[] = {
    { "=State", 1000, 1, "ThingsByState State|" },
    { "=Kind =State", 1000, 1, "ThingsByKindState Kind,State|" },
    { "<Age =State ?Note", 1000, 1, "ThingsByStateAge State|Age" },
    { "=PartitionKey =State", 1000, 1, "ThingsByState* PartitionKey|State" },
    { "<Age =PartitionKey =State", 1000, 1, "ThingsByStateAge* PartitionKey|State,Age" },
    { "<Age =PartitionKey", 1000, 1, "ThingsByAge* PartitionKey|Age" },
    { "=RowKey", 1000, 1, "ThingsByRowKey RowKey|" },
    { "=Color", 1000, 1, "byColor" },
    { "=Color =State", 1000, 1, "byColor" },
    { "=PartitionKey =Size", 1000, 1, "hereBySize" },
    { "<Size =PartitionKey", 1000, 1, "hereBySize" },
    { "=Size", 1000, 1, "ThingsBySize Size|" }, /* the partition is not known */
    { "=State", 1000, 100, "" },                /* a tenth is wanted */
    { "<Age", 1000, 1, "" },
    { "<RowKey =PartitionKey", 1000, 1, "" },
    { "?State", 1000, 1, "" },
    { "=Timestamp", 1000, 1, "" },
    { "=PartitionKey ?State", 1000, 1, "" },
};

START_TEST(a_shape_asks_for_an_index)
{
    const struct advice_case *c = &advice_cases[_i];
    struct index_advices advices;
    struct str found = STR_EMPTY;

    shape_sketch_note(&sketch, str_of(c->shape), c->examined, c->returned);
    advices = index_advice_make(catalogue, &table, &sketch, &arena);

    ck_assert_uint_eq(advices.count, c->want[0] != 0);
    if (advices.count > 0)
        found = advices.items[0].existing.len > 0 ? advices.items[0].existing
                                                  : declared(advices.items[0].definition);
    ck_assert_msg(str_equal(found, str_of(c->want)), "%s: %.*s", c->shape, STR_ARG(found));
}
END_TEST

START_TEST(one_index_answers_several_shapes_and_the_best_is_first)
{
    struct index_advices advices;

    shape_sketch_note(&sketch, STR_LITERAL("=Kind"), 5000, 0);
    shape_sketch_note(&sketch, STR_LITERAL("=State"), 4000, 10);
    shape_sketch_note(&sketch, STR_LITERAL("=State ?Note"), 3000, 0);
    advices = index_advice_make(catalogue, &table, &sketch, &arena);

    ck_assert_uint_eq(advices.count, 2);
    ck_assert_uint_eq(advices.items[0].shape_count, 2);
    ck_assert_int_eq(advices.items[0].queries, 2);
    ck_assert_int_eq(advices.items[0].examined, 7000);
    ck_assert_int_eq(advices.items[0].returned, 10);
    ck_assert_int_eq(advices.items[0].entries, 70);
}
END_TEST

START_TEST(a_name_that_is_taken_gets_a_number)
{
    struct table taken = { .account = STR_LITERAL("a"),
        .name = STR_LITERAL("thingsbystate"),
        .folded = STR_LITERAL("thingsbystate") };
    struct index_advices advices;

    tables[1] = &taken;
    catalogue_release(catalogue);
    catalogue = a_catalogue_of(tables, 2);
    shape_sketch_note(&sketch, STR_LITERAL("=State"), 1000, 1);
    advices = index_advice_make(catalogue, &table, &sketch, &arena);

    ck_assert(str_equal(declared(advices.items[0].definition), STR_LITERAL("ThingsByState2 State|")));
}
END_TEST

START_TEST(a_filtered_index_is_not_advised_for_unfiltered_queries)
{
    const struct filter *filter;
    struct index_advices advices;
    struct error err;

    ck_assert_int_eq(filter_compile(STR_LITERAL("Size gt 3"), &arena, &filter, &err), STATUS_OK);
    by_color.filter = filter;
    shape_sketch_note(&sketch, STR_LITERAL("=Color"), 1000, 1);
    advices = index_advice_make(catalogue, &table, &sketch, &arena);

    ck_assert_uint_eq(advices.items[0].existing.len, 0);
}
END_TEST

START_TEST(unread_indexes_are_named_unless_they_are_unique)
{
    struct index_advices advices;

    shape_sketch_note_index(&sketch, 8, 1);
    advices = index_advice_make(catalogue, &table, &sketch, &arena);
    ck_assert_uint_eq(advices.unread_count, 1);
    ck_assert(str_equal(advices.unread[0].name, STR_LITERAL("byColor")));
    ck_assert_int_eq(advices.unread[0].entries, 70);
    by_color.is_unique = true;
    ck_assert_uint_eq(index_advice_make(catalogue, &table, &sketch, &arena).unread_count, 0);
    by_color.is_unique = false;
    by_color.state = INDEX_BUILDING;
    ck_assert_uint_eq(index_advice_make(catalogue, &table, &sketch, &arena).unread_count, 0);
}
END_TEST

Suite *test_index_advice_suite(void)
{
    Suite *suite = suite_create("index_advice");
    TCase *tc = tcase_create("index_advice");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_shape_asks_for_an_index, 0, ARRAY_LEN(advice_cases));
    tcase_add_test(tc, one_index_answers_several_shapes_and_the_best_is_first);
    tcase_add_test(tc, a_name_that_is_taken_gets_a_number);
    tcase_add_test(tc, a_filtered_index_is_not_advised_for_unfiltered_queries);
    tcase_add_test(tc, unread_indexes_are_named_unless_they_are_unique);
    suite_add_tcase(suite, tc);
    return suite;
}
