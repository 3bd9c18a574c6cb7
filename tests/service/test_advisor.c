/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/sampling/advisor.c: which operations are counted for which table, and that no account takes the room
 * of another.
 */
#include "service/sampling/advisor.h"

#include <check.h>
#include <stdio.h>

#include "base/clock.h"
#include "domain/filter/filter.h"
#include "domain/sampling/shape_sketch.h"
#include "tests/support/catalogues.h"

enum { TABLES = 200 };

static struct advisor advisor;
static struct arena arena;
static struct table tables[TABLES], *sorted[TABLES];
static char names[TABLES][8];
static struct catalogue *catalogue;
static struct index index_of_first = { .index_id = 2, .source_name = STR_LITERAL("t000") };

/* All of one account, but the last one; the second has the entries of an index of the first. */
static void setup(void)
{
    arena_init(&arena);
    advisor_init(&advisor);
    for (int i = 0; i < TABLES; i++) {
        snprintf(names[i], sizeof(names[i]), "t%03d", i);
        tables[i] = (struct table){ .table_id = i + 1,
            .account = i < TABLES - 1 ? STR_LITERAL("crowd") : STR_LITERAL("small"),
            .name = str_of(names[i]),
            .folded = str_of(names[i]),
            .samples_queries = true };
        sorted[i] = &tables[i];
    }
    tables[1].entries_of = &index_of_first;
    catalogue = a_catalogue_of(sorted, TABLES);
}

static void teardown(void)
{
    advisor_cleanup(&advisor);
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static void note(int table, enum operation_kind kind, enum access_path path, int64_t weight)
{
    struct operation operation = {
        .kind = kind, .account = tables[table].account, .table = tables[table].name, .arena = &arena
    };
    struct error err;

    if (kind == OPERATION_WRITE) {
        operation.in.write.count = 3;
    } else if (kind == OPERATION_PAGE) {
        ck_assert_int_eq(
            filter_compile(STR_LITERAL("State eq 'secret'"), &arena, &operation.in.page.filter, &err),
            STATUS_OK);
        operation.out.page.stats = (struct query_stats){ path, 100, 0, 2, 0 };
    }
    advisor_note(&advisor, catalogue, &operation, weight);
}

static const struct shape_sketch *taken(int table, int64_t only)
{
    struct operation_samples out = { .reports =
                                         ARENA_ARRAY(&arena, struct sample_report, MAX_ADVISED_TABLES) };
    struct shape_sketch *sketch = ARENA_NEW(&arena, struct shape_sketch);

    advisor_take(&advisor, clock_monotonic_us(), only, &arena, &out);
    for (size_t i = 0; i < out.report_count; i++)
        if (out.reports[i].table_id == table + 1 && shape_sketch_read(out.reports[i].content, &arena, sketch))
            return sketch;
    return NULL;
}

static int count_taken(void)
{
    int count = 0;

    for (int i = 0; i < TABLES; i++)
        count += taken(i, 0) != NULL;
    return count;
}

START_TEST(queries_count_by_shape_and_writes_by_weight)
{
    note(0, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);
    note(0, OPERATION_PAGE, ACCESS_POINT, 0);
    note(0, OPERATION_WRITE, ACCESS_POINT, 8);
    note(0, OPERATION_WRITE, ACCESS_POINT, 0); /* no sample */
    note(0, OPERATION_GET, ACCESS_POINT, 8);

    ck_assert_int_eq(taken(0, 0)->queries, 2);
    ck_assert_int_eq(taken(0, 0)->writes, 24);
    ck_assert_uint_eq(taken(0, 0)->shape_count, 1);
    ck_assert(str_equal(shape_sketch_text(&taken(0, 0)->shapes[0]), STR_LITERAL("=State")));
    ck_assert_int_eq(taken(0, 0)->shapes[0].examined, 100);
}
END_TEST

START_TEST(reads_of_an_index_count_for_its_source)
{
    note(1, OPERATION_LOOKUP, ACCESS_POINT, 0);
    note(1, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);

    ck_assert_int_eq(shape_sketch_reads_of(taken(0, 0), 2), 2);
    ck_assert_ptr_null(taken(1, 0));
}
END_TEST

static void look_at_tables(void)
{
    catalogue_release(catalogue);
    catalogue = a_catalogue_of(sorted, TABLES);
    advisor_look(&advisor, catalogue);
}

START_TEST(queries_of_a_table_without_sampling_are_not_counted)
{
    tables[0].samples_queries = false;
    note(0, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);
    note(1, OPERATION_LOOKUP, ACCESS_POINT, 0);
    ck_assert_ptr_null(taken(0, 0));

    for (int i = 0; i < TABLES; i++)
        tables[i].samples_queries = false;
    look_at_tables();
    ck_assert(!atomic_load(&advisor.is_asked));
    tables[9].samples_queries = true;
    look_at_tables();
    ck_assert(atomic_load(&advisor.is_asked));
}
END_TEST

START_TEST(an_account_with_many_tables_leaves_room_for_others)
{
    note(TABLES - 1, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);
    for (int round = 0; round < 3; round++)
        for (int i = 2; i < TABLES - 1; i++)
            note(i, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);

    ck_assert_int_eq(taken(TABLES - 1, 0)->queries, 1);
    ck_assert_int_le(count_taken(), MAX_ADVISED_TABLES / 2 + 1);
}
END_TEST

START_TEST(one_table_alone_can_be_taken)
{
    note(3, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);
    note(4, OPERATION_PAGE, ACCESS_TABLE_SCAN, 0);

    ck_assert_ptr_nonnull(taken(3, 4));
    ck_assert_ptr_null(taken(4, 4));
}
END_TEST

Suite *test_advisor_suite(void)
{
    Suite *suite = suite_create("advisor");
    TCase *tc = tcase_create("advisor");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, queries_count_by_shape_and_writes_by_weight);
    tcase_add_test(tc, reads_of_an_index_count_for_its_source);
    tcase_add_test(tc, queries_of_a_table_without_sampling_are_not_counted);
    tcase_add_test(tc, an_account_with_many_tables_leaves_room_for_others);
    tcase_add_test(tc, one_table_alone_can_be_taken);
    suite_add_tcase(suite, tc);
    return suite;
}
