/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/csv.c: what of an entity a line of CSV holds.
 */
#include "client/csv.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

static struct arena arena;
static struct csv_columns columns;
static struct csv_misfit misfit;

static void setup(void)
{
    arena_init(&arena);
    columns = (struct csv_columns){ .columns = { { "PartitionKey", NULL }, { "RowKey", NULL } }, .count = 2 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct tavola_entity *read(const char *json)
{
    struct tavola_entity *entity;
    struct tavola_error error;

    ck_assert_msg(
        tavola_entity_from_json(json, strlen(json), &entity, &error) == TAVOLA_OK, "%s", error.message);
    return entity;
}

/* The header and the line of an entity, with the columns that it needs. */
static char *written(const char *json)
{
    struct tavola_entity *entity = read(json);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    ck_assert(csv_add_columns(&columns, entity, &arena));
    csv_write_header(&columns, out);
    ck_assert(csv_write_entity(&columns, entity, out, &misfit));
    fclose(out);
    tavola_entity_free(entity);
    return text;
}

/* Read the line below a header; the entity as JSON. */
static char *read_back(const char *csv)
{
    struct str rest = str_of(csv), header = str_take(&rest, '\n');
    struct csv_columns found;
    struct tavola_entity *entity;
    struct tavola_error error;
    char *json;

    ck_assert_ptr_null(csv_read_header(header, &arena, &found));
    ck_assert_msg(
        csv_read_entity(&found, str_take(&rest, '\n'), &entity, &error) == TAVOLA_OK, "%s", error.message);
    json = tavola_entity_to_json(entity);
    tavola_entity_free(entity);
    return json;
}

static const struct form_case {
    const char *json, *csv;
} form_cases[] = {
    { "{\"PartitionKey\": \"p\", \"RowKey\": \"\", \"A\": \"\", \"B\": 5}",
        "PartitionKey,RowKey,A,B:int32\np,\"\",\"\",5\n" },
    { "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"tavola.expires\": \"2026-12-31T00:00:00.5Z\", \"A\": "
      "1}",
        "PartitionKey,RowKey,tavola.expires:datetime,A:int32\np,r,2026-12-31T00:00:00.500Z,1\n" },
    { "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"tavola.expires\": \"2026-12-31T00:00:00.1234567Z\"}",
        "PartitionKey,RowKey,tavola.expires:datetime\np,r,2026-12-31T00:00:00.123456700Z\n" },
};

START_TEST(an_entity_is_written_and_read_back)
{
    char *csv = written(form_cases[_i].json), *json;

    ck_assert_str_eq(csv, form_cases[_i].csv);
    json = read_back(csv);
    ck_assert_str_eq(json, form_cases[_i].json);
    free(csv);
    tavola_free(json);
}
END_TEST

START_TEST(an_empty_cell_means_that_the_entity_does_not_expire)
{
    char *json = read_back("PartitionKey,RowKey,tavola.expires:datetime\np,r,\n");

    ck_assert_str_eq(json, "{\"PartitionKey\": \"p\", \"RowKey\": \"r\"}");
    tavola_free(json);
}
END_TEST

START_TEST(a_time_without_a_column_is_not_lost)
{
    struct tavola_entity *entity =
        read("{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"tavola.expires\": \"2026-12-31T00:00:00Z\"}");

    ck_assert(!csv_write_entity(&columns, entity, stdout, &misfit));
    ck_assert_str_eq(misfit.name, "tavola.expires");
    ck_assert_str_eq(misfit.why, "has no column: those of the first entities are all");
    tavola_entity_free(entity);
}
END_TEST

START_TEST(a_text_with_a_nul_is_not_cut)
{
    struct tavola_entity *entity =
        read("{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A\": \"x\", \"B\": \"a\\u0000b\"}");

    ck_assert(csv_add_columns(&columns, entity, &arena));
    ck_assert(!csv_write_entity(&columns, entity, stdout, &misfit));
    ck_assert_str_eq(misfit.name, "B");
    ck_assert_str_eq(misfit.why, "has a character U+0000");
    tavola_entity_free(entity);
}
END_TEST

Suite *test_csv_suite(void)
{
    Suite *suite = suite_create("csv");
    TCase *tc = tcase_create("csv");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, an_entity_is_written_and_read_back, 0, ARRAY_LEN(form_cases));
    tcase_add_test(tc, an_empty_cell_means_that_the_entity_does_not_expire);
    tcase_add_test(tc, a_time_without_a_column_is_not_lost);
    tcase_add_test(tc, a_text_with_a_nul_is_not_cut);
    suite_add_tcase(suite, tc);
    return suite;
}
