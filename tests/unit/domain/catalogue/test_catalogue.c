/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/catalogue/catalogue.c.
 */
#include "domain/catalogue/catalogue.h"

#include <check.h>
#include <stdio.h>

#include "base/macros.h"
#include "tests/support/catalogues.h"

enum { MANY = 257 };

/* Tables of two accounts, sorted by (account, folded name); ids descend, so that their order is another. */
static struct table tables[MANY];
static struct table *pointers[MANY];
static char names[MANY][32], folded[MANY][32];
static struct catalogue *catalogue;

static void a_catalogue(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_second = i >= count / 2;
        size_t number = is_second ? i - count / 2 : i;

        snprintf(names[i], sizeof(names[i]), "Tab%03zu", number);
        snprintf(folded[i], sizeof(folded[i]), "tab%03zu", number);
        tables[i] = (struct table){
            .table_id = (int64_t)(1000 - i),
            .account = is_second ? STR_LITERAL("second") : STR_LITERAL("first"),
            .name = str_of(names[i]),
            .folded = str_of(folded[i]),
        };
        pointers[i] = &tables[i];
    }
    catalogue_release(catalogue);
    catalogue = a_catalogue_of(pointers, count);
}

static const size_t sizes[] = { 1, 2, 3, 64, MANY };

START_TEST(every_table_is_found_in_any_case)
{
    a_catalogue(sizes[_i]);

    for (size_t i = 0; i < sizes[_i]; i++) {
        char upper[40];

        snprintf(upper, sizeof(upper), "TAB%s", names[i] + 3);
        ck_assert_ptr_eq(catalogue_find(catalogue, tables[i].account, tables[i].name), &tables[i]);
        ck_assert_ptr_eq(catalogue_find(catalogue, tables[i].account, tables[i].folded), &tables[i]);
        ck_assert_ptr_eq(catalogue_find(catalogue, tables[i].account, str_of(upper)), &tables[i]);
        ck_assert_ptr_eq(catalogue_find_id(catalogue, tables[i].table_id), &tables[i]);
    }
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
    a_catalogue(64);

    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("first"), STR_LITERAL("tab999")));
    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("first"), STR_LITERAL("tab00")));
    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("first"), STR_LITERAL("tab0000")));
    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("first"), STR_EMPTY));
    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("first"), STR_LITERAL("\xFFzz")));
    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("third"), STR_LITERAL("tab000")));
    ck_assert_ptr_null(catalogue_find_id(catalogue, 1));
}
END_TEST

START_TEST(an_index_without_its_name_is_found_by_its_id_alone)
{
    struct index index = { .index_id = 900, .source_table_id = 1000 },
                 replacement = { .index_id = 999, .source_table_id = 1000, .replaces = 900 };
    struct index *indexes[] = { &index, &replacement };

    a_catalogue(2);
    tables[0].indexes = indexes;
    tables[0].index_count = 2;
    ck_assert_ptr_eq(catalogue_find_replacement(catalogue, &index), &replacement);
    ck_assert_ptr_null(catalogue_find_replacement(catalogue, &replacement));
    tables[1].entries_of = &replacement;
    ck_assert(table_is_hidden(&tables[1]) && !table_is_hidden(&tables[0]));
    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("second"), STR_LITERAL("tab000")));
    ck_assert_ptr_eq(catalogue_find_id(catalogue, 999), &tables[1]);
    tables[1].entries_of = &index;
    ck_assert_ptr_eq(catalogue_find(catalogue, STR_LITERAL("second"), STR_LITERAL("tab000")), &tables[1]);
    tables[0].index_count = 1;
    ck_assert_ptr_null(catalogue_find_replacement(catalogue, &index));
}
END_TEST

START_TEST(the_rules_of_a_source_are_found_until_their_family_goes)
{
    struct copy_rule of_first = { .source_table_id = 1000 }, of_second = { .source_table_id = 999 };
    struct index plain = { .index_id = 899, .source_table_id = 999 },
                 first = { .index_id = 900, .source_table_id = 999, .copies = &of_first },
                 again = { .index_id = 901, .source_table_id = 999, .copies = &of_first },
                 own = { .index_id = 902, .source_table_id = 999, .copies = &of_second };
    struct index *indexes[] = { &again, &plain, &own, &first };
    struct catalogue *changed;

    a_catalogue(2);
    ck_assert_ptr_null(catalogue_next_follower(catalogue, 1000, 0));
    tables[1].indexes = indexes;
    tables[1].index_count = ARRAY_LEN(indexes);
    catalogue_release(catalogue);
    catalogue = a_catalogue_of(pointers, 2);
    ck_assert_ptr_eq(catalogue_next_follower(catalogue, 1000, 0), &first);
    ck_assert_ptr_eq(catalogue_next_follower(catalogue, 1000, 900), &again);
    ck_assert_ptr_null(catalogue_next_follower(catalogue, 1000, 901));
    ck_assert_ptr_eq(catalogue_next_follower(catalogue, 999, 0), &own);

    changed = catalogue_copy(catalogue);
    catalogue_remove(changed, 1);
    ck_assert_ptr_null(catalogue_next_follower(changed, 1000, 0));
    ck_assert_uint_eq(changed->copy_rules, 0);
    ck_assert_ptr_eq(catalogue_next_follower(catalogue, 1000, 0), &first);
    catalogue_release(changed);
}
END_TEST

START_TEST(an_empty_catalogue_holds_nothing)
{
    a_catalogue(0);

    ck_assert_ptr_null(catalogue_find(catalogue, STR_LITERAL("first"), STR_LITERAL("tab000")));
    ck_assert_ptr_null(catalogue_find_id(catalogue, 1));
}
END_TEST

Suite *test_catalogue_suite(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *tc = tcase_create("catalogue");

    tcase_add_loop_test(tc, every_table_is_found_in_any_case, 0, ARRAY_LEN(sizes));
    tcase_add_test(tc, what_is_not_there_is_not_found);
    tcase_add_test(tc, an_index_without_its_name_is_found_by_its_id_alone);
    tcase_add_test(tc, the_rules_of_a_source_are_found_until_their_family_goes);
    tcase_add_test(tc, an_empty_catalogue_holds_nothing);
    suite_add_tcase(suite, tc);
    return suite;
}
