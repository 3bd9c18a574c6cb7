/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/index_names.h"

#include <check.h>

#include "base/buf.h"
#include "domain/filter/filter.h"

static struct arena arena;
static struct key_part by_city[] = { { .is_literal = true, .text = { "x", 1 } }, { .text = { "City", 4 } } };
static struct key_part by_age[] = { { .text = { "Age", 3 } }, { .text = { "RowKey", 6 } },
    { .text = { "Timestamp", 9 } } };
static struct key_part by_partition[] = { { .text = { "PartitionKey", 12 } } };
static struct str copied[] = { { "City", 4 }, { "Note", 4 } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct index an_index(void)
{
    struct index index = { .shape = INDEX_COPY,
        .partition_key = { by_city, 2 },
        .row_key = { by_age, 3 },
        .projection = PROJECT_SOME,
        .names = copied,
        .name_count = 2 };
    struct error err;

    ck_assert_int_eq(
        filter_compile(STR_LITERAL("Zone eq 1 and (Age gt 3 or RowKey eq 'x')"), &arena, &index.filter, &err),
        STATUS_OK);
    return index;
}

static const char *listed(const struct str *names, size_t count)
{
    struct buf out;

    buf_init(&out, &arena);
    for (size_t i = 0; i < count; i++)
        buf_format(&out, "%s%.*s", i > 0 ? " " : "", STR_ARG(names[i]));
    buf_append_byte(&out, 0);
    return out.data;
}

START_TEST(keys_filter_and_copies_are_needed_each_once)
{
    const struct index index = an_index();
    const struct str *names;
    size_t count = index_names_of(&index, &arena, &names);

    ck_assert_str_eq(listed(names, count), "Age City Note Zone");
    count = index_names_to_read(&index, &arena, &names);
    ck_assert_str_eq(listed(names, count), "Age City Note Zone");
}
END_TEST

START_TEST(whether_an_entity_has_its_entry_needs_no_copies)
{
    const struct index index = an_index();
    const struct str *names;
    size_t count = index_names_of_key(&index, &arena, &names);

    ck_assert_str_eq(listed(names, count), "Age City Zone");
}
END_TEST

/* Entries made from keys alone need no property; a read that names none would read all. */
START_TEST(a_read_names_at_least_one)
{
    const struct index index = { .shape = INDEX_LIST, .partition_key = { by_partition, 1 } };
    const struct str *names;

    ck_assert_uint_eq(index_names_of(&index, &arena, &names), 0);
    ck_assert_uint_eq(index_names_to_read(&index, &arena, &names), 1);
    ck_assert_str_eq(listed(names, 1), "PartitionKey");
    ck_assert_uint_eq(index_names_of_key(&index, &arena, &names), 1);
}
END_TEST

START_TEST(a_table_needs_what_its_indexes_need)
{
    struct index first = an_index(), second = { .shape = INDEX_LIST, .partition_key = { by_age, 1 } };
    struct index *indexes[] = { &first, &second };
    const struct table table = { .indexes = indexes, .index_count = 2 }, without = { 0 };
    const struct str *names;
    size_t count = index_names_of_table(&table, &arena, &names);

    ck_assert_str_eq(listed(names, count), "Age City Note Zone");
    ck_assert_uint_eq(index_names_of_table(&without, &arena, &names), 0);
}
END_TEST

Suite *test_index_names_suite(void)
{
    Suite *suite = suite_create("index_names");
    TCase *tc = tcase_create("index_names");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, keys_filter_and_copies_are_needed_each_once);
    tcase_add_test(tc, whether_an_entity_has_its_entry_needs_no_copies);
    tcase_add_test(tc, a_read_names_at_least_one);
    tcase_add_test(tc, a_table_needs_what_its_indexes_need);
    suite_add_tcase(suite, tc);
    return suite;
}
