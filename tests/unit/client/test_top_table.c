/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/top/top_table.c.
 */
#include "client/top/top_table.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

static const struct top_column columns[] = {
    { "name", 10, true, TOP_PLAIN, false },
    { "rate", 10, false, TOP_RATE, true },
    { NULL, 0, false, TOP_PLAIN, false },
};

static struct top_table table;

static void begin(void)
{
    table = (struct top_table){ .columns = columns, .sort = 1 };
}

/* Give a round of rows, named a, b, c ... */
static void give(size_t count, const double *rates)
{
    top_table_begin(&table);
    for (size_t i = 0; i < count; i++) {
        const char key[] = { (char)('a' + i), '\0' };
        struct top_row *row = top_table_row(&table, key);

        if (rates[i] < 0)
            continue;
        snprintf(row->cells[0].text, TOP_TEXT, "name of %s", key);
        row->cells[1].number = rates[i];
    }
    top_table_end(&table);
}

static const char *order(void)
{
    static char keys[TOP_ROWS + 1];

    for (size_t i = 0; i < table.count; i++)
        keys[i] = table.rows[i].key[0];
    keys[table.count] = '\0';
    return keys;
}

START_TEST(rows_are_sorted_and_those_not_given_are_gone)
{
    give(3, (const double[]){ 1, 3, 2 });
    ck_assert_str_eq(order(), "bca");
    table.ascending = true;
    give(2, (const double[]){ 5, 4 });
    ck_assert_str_eq(order(), "ba");
    table.ascending = false;
    top_table_sort_next(&table);
    ck_assert_int_eq(table.sort, 0);
    ck_assert_str_eq(order(), "ab");
}
END_TEST

START_TEST(a_row_keeps_its_history)
{
    char line[3 * 4 + 1];

    for (int i = 0; i < TOP_HISTORY + 2; i++)
        give(2, (const double[]){ i, 1 });
    ck_assert_uint_eq(table.rows[0].history_count, TOP_HISTORY);
    ck_assert(table.rows[0].history[TOP_HISTORY - 1] == TOP_HISTORY + 1);
    table.rows[0].history_count = 3;
    memcpy(table.rows[0].history, (const double[]){ 0, 7, 14 }, 3 * sizeof(double));
    top_table_sparkline(&table.rows[0], 4, line);
    ck_assert_str_eq(line, " ▁▅█");
    top_table_sparkline(&table.rows[0], 2, line);
    ck_assert_str_eq(line, "▅█");
}
END_TEST

START_TEST(rows_match_texts_in_any_case)
{
    give(1, (const double[]){ 1 });
    ck_assert(top_table_matches(&table, &table.rows[0], ""));
    ck_assert(top_table_matches(&table, &table.rows[0], "NAME OF"));
    ck_assert(!top_table_matches(&table, &table.rows[0], "x"));
}
END_TEST

START_TEST(numbers_have_their_form)
{
    static const struct {
        enum top_form form;
        double number;
        const char *text;
    } cases[] = { { TOP_PLAIN, 12, "12" }, { TOP_RATE, 0.25, "0.2" }, { TOP_DURATION, 0.0125, "12.5 ms" },
        { TOP_DURATION, 12, "12.0 s" }, { TOP_DURATION, 1200, "20 min" }, { TOP_SHARE, 0.5, "50%" },
        { TOP_RATE, -1, "-" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct top_column column = { "x", 8, false, cases[i].form, false };
        const struct top_cell cell = { .number = cases[i].number };
        char text[TOP_TEXT];

        ck_assert_str_eq(top_table_cell(&column, &cell, text), cases[i].text);
    }
}
END_TEST

START_TEST(there_is_a_bound_of_rows)
{
    char key[16];

    for (int i = 0; i < TOP_ROWS; i++) {
        snprintf(key, sizeof(key), "%d", i);
        ck_assert_ptr_nonnull(top_table_row(&table, key));
    }
    ck_assert_ptr_null(top_table_row(&table, "one more"));
    ck_assert_ptr_nonnull(top_table_row(&table, "7"));
}
END_TEST

Suite *test_top_table_suite(void)
{
    Suite *suite = suite_create("top_table");
    TCase *tc = tcase_create("top_table");

    tcase_add_checked_fixture(tc, begin, NULL);
    tcase_add_test(tc, rows_are_sorted_and_those_not_given_are_gone);
    tcase_add_test(tc, a_row_keeps_its_history);
    tcase_add_test(tc, rows_match_texts_in_any_case);
    tcase_add_test(tc, numbers_have_their_form);
    tcase_add_test(tc, there_is_a_bound_of_rows);
    suite_add_tcase(suite, tc);
    return suite;
}
