/* SPDX-License-Identifier: Apache-2.0 */
/* test_page_read.c - pages of a query: of any size, together they are the whole result, in order. */
#include <check.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/digits.h"
#include "domain/limits.h"
#include "tests/support/builders.h"

enum { PARTITIONS = 6, ROWS = 7, MOST = 64 };

static struct scene scene;
static struct entity_key all[MOST]; /* the live entities, in order */
static size_t all_count;
static const struct key_range *within; /* what the caller may see; NULL: everything */

static const struct property_list none = { { "", 0 } };

static struct str repeated(const char *piece, size_t times)
{
    struct buf out;

    buf_init(&out, &scene.arena);
    for (size_t i = 0; i < times; i++)
        buf_append(&out, str_of(piece));
    return buf_str(&out);
}

static int by_key(const void *a, const void *b)
{
    return entity_key_compare(a, b);
}

/* Partitions and rows with difficult keys: empty, the longest, the highest, above U+FFFF. */
static void fill(void)
{
    const struct str partitions[PARTITIONS] = { STR_EMPTY, STR_LITERAL("a"), STR_LITERAL("b"),
        STR_LITERAL("\xEF\xBF\xBD"), STR_LITERAL("\xF0\x9F\x98\x80"),
        repeated("\xF4\x8F\xBF\xBF", LIMIT_KEY_UNITS / 2) };
    const struct str rows[ROWS] = { STR_EMPTY, STR_LITERAL("1"), STR_LITERAL("10"), STR_LITERAL("2"),
        STR_LITERAL("dead"), STR_LITERAL("\xF0\x9F\x98\x80"),
        repeated("\xF4\x8F\xBF\xBF", LIMIT_KEY_UNITS / 2) };

    all_count = 0;
    for (size_t p = 0; p < PARTITIONS; p++) {
        struct write writes[ROWS];
        struct operation *group;

        for (size_t r = 0; r < ROWS; r++) {
            writes[r] =
                (struct write){ .kind = WRITE_INSERT, .key = { partitions[p], rows[r] }, .properties = none };
            if (r != 4)
                all[all_count++] = writes[r].key;
        }
        group = a_group(&scene.arena, "Things", writes, ROWS);
        run(scene.store, group);
        ck_assert_reason(group, "OK");
        writes[4].kind = WRITE_DELETE;
        scene_write(&scene, writes[4]);
    }
    qsort(all, all_count, sizeof(all[0]), by_key);
}

static void setup(void)
{
    scene_open(&scene);
    within = NULL;
    fill();
}

static void teardown(void)
{
    scene_close(&scene);
}

static bool is_wanted(const struct operation *page, const struct entity_key *key)
{
    const struct entity entity = { .key = *key, .timestamp = clock_ticks(), .properties = none };

    return filter_matches(page->in.page.filter, &entity) && (!within || key_range_contains(within, key));
}

/* The n-th entity of `all` in the direction of the query. */
static const struct entity_key *key_at(size_t n, bool descending)
{
    return &all[descending ? all_count - 1 - n : n];
}

/* Read to the end; the result must be the entities of `all` that match this filter. */
static void check_pages(const char *filter_text, int32_t limit, bool descending)
{
    struct operation *page = NULL;
    size_t next = 0;

    for (int pages = 0; pages == 0 || page->out.page.more; pages++) {
        const struct outcome_page before = page ? page->out.page : (struct outcome_page){ 0 };

        ck_assert_int_lt(pages, 2 * MOST);
        page = a_page(&scene.arena, "Things", limit);
        set_filter(page, filter_text);
        page->in.page.descending = descending;
        page->in.page.has_after = pages > 0;
        page->in.page.after = before.position;
        page->within = within;
        run(scene.store, page);
        ck_assert_reason(page, "OK");
        ck_assert_uint_le(page->out.page.count, (size_t)limit);
        ck_assert_int_eq(page->out.page.stats.rows_returned, (int64_t)page->out.page.count);
        ck_assert(
            !within || !page->out.page.has_position || key_range_contains(within, &page->out.page.position));
        for (size_t i = 0; i < page->out.page.count; i++, next++) {
            while (next < all_count && !is_wanted(page, key_at(next, descending)))
                next++;
            ck_assert_msg(next < all_count && entity_key_compare(&page->out.page.entities[i].key,
                                                  key_at(next, descending)) == 0,
                "'%s', pages of %d: row %zu is another one", filter_text, limit, next);
        }
    }
    for (; next < all_count; next++)
        ck_assert_msg(!is_wanted(page, key_at(next, descending)), "'%s', pages of %d: rows are missing",
            filter_text, limit);
}

static const int32_t limits[] = { 1, 2, 3, 7, 1000 };

static const char *const filters[] = {
    "",
    "PartitionKey eq 'a'",
    "PartitionKey eq ''",
    "PartitionKey eq 'none'",
    "PartitionKey eq 'a' and RowKey eq '10'",
    "PartitionKey eq 'a' and RowKey eq 'dead'",
    "PartitionKey eq 'a' and RowKey ge '10'",
    "PartitionKey eq 'a' and RowKey gt '10'",
    "PartitionKey eq 'a' and RowKey le '10'",
    "PartitionKey eq 'a' and RowKey lt '10'",
    "PartitionKey eq 'a' and RowKey gt '' and RowKey lt '2'",
    "PartitionKey eq 'a' and RowKey ge '2' and RowKey le '1'",
    "PartitionKey ge 'a' and PartitionKey le 'b'",
    "PartitionKey gt 'a' and PartitionKey lt '\xF0\x9F\x98\x80'",
    "PartitionKey gt ''",
    "RowKey eq '1'",
    "RowKey gt '2'",
    "PartitionKey ge 'a' and RowKey le '10'",
    "PartitionKey ne 'a' and PartitionKey ne ''",
    "PartitionKey eq 'a' and RowKey ne '10'",
    "PartitionKey eq 'a' or PartitionKey eq 'b'",
    "(PartitionKey eq 'a' and RowKey eq '10') or (PartitionKey eq 'b' and RowKey eq '2')",
    "PartitionKey eq 'a' and (RowKey eq '10' or RowKey eq '' or RowKey eq 'dead' or RowKey eq 'none')",
    "(PartitionKey eq 'a' and RowKey eq '10') or (PartitionKey eq 'none' and RowKey eq '2')",
    "not (PartitionKey eq 'a')",
    "PartitionKey eq 'a' and startswith(RowKey, '1')",
    "endswith(RowKey, '0')",
    "Timestamp gt datetime'2000-01-01T00:00:00Z' or PartitionKey eq 'a'",
};

/* Tests that only read have their loops inside: a database and a store for each filter would take ten times as long. */
START_TEST(the_union_of_pages_is_the_whole)
{
    for (size_t f = 0; f < ARRAY_LEN(filters); f++)
        for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
            check_pages(filters[f], limits[i], false);
            check_pages(filters[f], limits[i], true);
        }
}
END_TEST

/* Of signatures: bounds inside partitions, at their ends, on rows that there are not. */
static const struct key_range ranges[] = {
    { .has_low = true, .low = { { "a", 1 }, { "10", 2 } } },
    { .has_high = true, .high_has_row = true, .high = { { "b", 1 }, { "10", 2 } } },
    { .has_low = true,
        .has_high = true,
        .high_has_row = true,
        .low = { { "a", 1 }, { "2", 1 } },
        .high = { { "b", 1 }, { "1", 1 } } },
    { .has_low = true,
        .has_high = true,
        .high_has_row = true,
        .low = { { "a", 1 }, { "1", 1 } },
        .high = { { "a", 1 }, { "5", 1 } } },
    { .has_low = true,
        .has_high = true,
        .low = { { "a", 1 }, { "", 0 } },
        .high = { { "b", 1 }, { "", 0 } } },
    { .has_low = true, .low = { { "zz", 2 }, { "", 0 } } },
    { .has_low = true,
        .has_high = true,
        .low = { { "b", 1 }, { "", 0 } },
        .high = { { "a", 1 }, { "", 0 } } },
};

START_TEST(pages_of_a_range_are_what_the_range_has)
{
    for (size_t r = 0; r < ARRAY_LEN(ranges); r++) {
        within = &ranges[r];
        for (size_t f = 0; f < ARRAY_LEN(filters); f++) {
            check_pages(filters[f], 2, false);
            check_pages(filters[f], 1000, true);
            check_pages(filters[f], 1000, false);
        }
    }
}
END_TEST

/* Live or dead. */
static int64_t rows_within(const struct key_range *range)
{
    int64_t count = 0;

    for (size_t i = 0; i < all_count; i++) {
        struct entity_key dead = { all[i].partition, STR_LITERAL("dead") };

        count += key_range_contains(range, &all[i]);
        count += all[i].row.len == 0 && key_range_contains(range, &dead);
    }
    return count;
}

START_TEST(what_is_outside_a_range_is_not_counted_as_examined)
{
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        struct operation *page = a_page(&scene.arena, "Things", 1000);
        struct operation *count = an_operation(&scene.arena, OPERATION_COUNT, "Things");

        set_filter(page, filters[i]);
        set_filter(count, filters[i]);
        page->within = count->within = &ranges[_i];
        run(scene.store, page);
        run(scene.store, count);
        ck_assert_reason(page, "OK");
        ck_assert_reason(count, "OK");
        ck_assert_uint_eq(count->out.page.count, page->out.page.count);
        ck_assert_int_le(page->out.page.stats.rows_examined, rows_within(&ranges[_i]));
        ck_assert_int_le(count->out.page.stats.rows_examined, rows_within(&ranges[_i]));
    }
}
END_TEST

/* More rows before the range than a page examines, and more behind it, in the range's own partition. */
START_TEST(a_page_begins_at_the_first_key_of_the_range)
{
    static const struct key_range last = { .has_low = true,
        .has_high = true,
        .high_has_row = true,
        .low = { { "y", 1 }, { "030000", 6 } },
        .high = { { "zz", 2 }, { "000001", 6 } } };

    test_sql(scene.sql,
        "insert into entities select case when n < 40000 then %d else %d end, 1, "
        "case when n < 40000 then 'y' else 'zz' end, lpad((n %% 40000)::text, 6, '0'), 1, 1, false, null, '' "
        "from generate_series(0, 79999) n where n not between 30003 and 39999",
        (int)entity_key_bucket(1, STR_LITERAL("y")), (int)entity_key_bucket(1, STR_LITERAL("zz")));
    for (int descending = 0; descending < 2; descending++) {
        struct operation *page = a_page(&scene.arena, "Things", 10);

        page->within = &last;
        page->in.page.descending = descending;
        set_filter(page, "RowKey ne 'none'");
        run(scene.store, page);
        ck_assert_reason(page, "OK");
        ck_assert_uint_eq(page->out.page.count, 5);
        ck_assert(!page->out.page.more);
        ck_assert_int_eq(page->out.page.stats.rows_examined, 5);
    }
}
END_TEST

/* The number of matches, counted page by page. */
static size_t count_all(const char *filter)
{
    struct operation *page = NULL;
    size_t sum = 0;

    for (bool more = true; more; more = page->out.page.more) {
        struct operation *next = an_operation(&scene.arena, OPERATION_COUNT, "Things");

        set_filter(next, filter);
        next->in.page.has_after = page != NULL;
        if (page)
            next->in.page.after = page->out.page.position;
        run(scene.store, next);
        ck_assert_reason(next, "OK");
        sum += next->out.page.count;
        page = next;
    }
    return sum;
}

START_TEST(a_count_is_the_number_of_what_pages_bring)
{
    for (size_t f = 0; f < ARRAY_LEN(filters); f++) {
        struct operation *page = a_page(&scene.arena, "Things", 1000);
        size_t count;

        set_filter(page, filters[f]);
        run(scene.store, page);
        ck_assert_reason(page, "OK");
        ck_assert(!page->out.page.more);
        count = count_all(filters[f]);
        ck_assert_msg(count == page->out.page.count, "'%s': %zu are counted, %zu come", filters[f], count,
            page->out.page.count);
    }
}
END_TEST

START_TEST(a_long_count_goes_on_where_it_stopped)
{
    struct operation *first = an_operation(&scene.arena, OPERATION_COUNT, "Things");

    test_sql(scene.sql,
        "insert into entities select %d, 1, 'zz', lpad(n::text, 6, '0'), 1, 1, n %% 2 = 0, null, '' from "
        "generate_series(1, %d) n",
        (int)entity_key_bucket(1, STR_LITERAL("zz")), LIMIT_COUNT_EXAMINED + 10);
    set_filter(first, "PartitionKey eq 'zz'");
    run(scene.store, first);

    ck_assert_reason(first, "OK");
    ck_assert(first->out.page.more);
    ck_assert_int_eq(first->out.page.stats.rows_examined, LIMIT_COUNT_EXAMINED);
    ck_assert_uint_eq(count_all("PartitionKey eq 'zz'"), LIMIT_COUNT_EXAMINED / 2 + 5);
    ck_assert_uint_eq(count_all("PartitionKey ge 'zz'"), count_all("PartitionKey eq 'zz'") + 18);
}
END_TEST

static const struct path_case {
    const char *filter;
    enum access_path path;
} path_cases[] = {
    { "", ACCESS_TABLE_SCAN },
    { "RowKey eq '1'", ACCESS_TABLE_SCAN },
    { "PartitionKey eq 'a'", ACCESS_PARTITION_SCAN },
    { "PartitionKey eq 'a' and RowKey ge '1'", ACCESS_ROW_RANGE },
    { "PartitionKey eq 'a' and RowKey eq '1'", ACCESS_POINT },
    { "PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '2')", ACCESS_POINT },
    { "PartitionKey eq 'a' and Name eq '1'", ACCESS_PARTITION_SCAN },
    { "PartitionKey eq 'a' and PartitionKey eq 'b'", ACCESS_POINT },
    { "PartitionKey eq 'a' and RowKey ge '5' and RowKey lt '1'", ACCESS_POINT },
};

START_TEST(the_access_path_is_reported)
{
    for (size_t i = 0; i < ARRAY_LEN(path_cases); i++) {
        struct operation *page = a_page(&scene.arena, "Things", 10);

        set_filter(page, path_cases[i].filter);
        run(scene.store, page);
        ck_assert_reason(page, "OK");
        ck_assert_msg(page->out.page.stats.access_path == path_cases[i].path, "'%s': access path %d",
            path_cases[i].filter, (int)page->out.page.stats.access_path);
    }
}
END_TEST

/* 600 rows of 12 kB and 16 searches: 115 MB to examine, in pages of 64 and the rows that were already sent. */
START_TEST(a_page_that_searches_too_much_ends_early)
{
    static const char filter[] =
        "PartitionKey eq 'zz' and (RowKey eq '000599' or contains(T,'1')"
        " or contains(T,'2') or contains(T,'3') or contains(T,'4') or contains(T,'5')"
        " or contains(T,'6') or contains(T,'7') or contains(T,'8') or contains(T,'9')"
        " or contains(T,'a') or contains(T,'b') or contains(T,'c') or contains(T,'d')"
        " or contains(T,'e') or contains(T,'f') or contains(T,'g'))";
    struct operation *page = a_page(&scene.arena, "Things", 10), *next = a_page(&scene.arena, "Things", 10);
    struct str properties =
        some_texts(&scene.arena, "T", arena_format(&scene.arena, "%012000d", 0).data, NULL).bytes;
    char *hex = arena_alloc(&scene.arena, 2 * properties.len);

    digits_encode_hex(properties, hex);
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'zz', lpad(n::text, 6, '0'), 1, 1, false, null, decode('%.*s', "
        "'hex') from "
        "generate_series(0, 599) n",
        (int)entity_key_bucket(1, STR_LITERAL("zz")), (int)(2 * properties.len), hex);
    set_filter(page, filter);
    run(scene.store, page);
    ck_assert_reason(page, "OK");
    ck_assert_uint_eq(page->out.page.count, 0);
    ck_assert(page->out.page.more);
    ck_assert_int_ge(16 * page->out.page.stats.bytes_examined, LIMIT_PAGE_SEARCHED_BYTES);

    next->in.page = page->in.page;
    next->in.page.has_after = true;
    next->in.page.after = page->out.page.position;
    run(scene.store, next);
    ck_assert_reason(next, "OK");
    ck_assert_uint_eq(next->out.page.count, 1);
    ck_assert(!next->out.page.more);
}
END_TEST

START_TEST(a_page_that_looks_at_too_much_ends_early)
{
    struct operation *page = a_page(&scene.arena, "Things", 10);
    int pages = 1;

    /* After all other rows: many dead rows, then a live one. */
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'zz', lpad(n::text, 6, '0'), 1, 1, n < %d, null, '' from "
        "generate_series(0, %d) n",
        (int)entity_key_bucket(1, STR_LITERAL("zz")), 2 * LIMIT_PAGE_EXAMINED, 2 * LIMIT_PAGE_EXAMINED);
    set_filter(page, "PartitionKey eq 'zz'");
    run(scene.store, page);
    ck_assert_reason(page, "OK");
    ck_assert_uint_eq(page->out.page.count, 0);
    ck_assert(page->out.page.more);
    ck_assert_int_ge(page->out.page.stats.rows_examined, LIMIT_PAGE_EXAMINED);
    ck_assert_int_lt(page->out.page.stats.rows_examined, LIMIT_PAGE_EXAMINED + LIMIT_PAGE_ROWS);

    while (page->out.page.count == 0 && page->out.page.more) {
        struct operation *next = a_page(&scene.arena, "Things", 10);

        next->in.page = page->in.page;
        next->in.page.has_after = true;
        next->in.page.after = page->out.page.position;
        run(scene.store, next);
        ck_assert_reason(next, "OK");
        page = next;
        pages++;
    }
    ck_assert_uint_eq(page->out.page.count, 1);
    ck_assert_int_eq(pages, 3);
}
END_TEST

/* Entities of 64 KiB in the partition "large", their row keys two digits. */
static void write_large(int count)
{
    struct value value = { .type = PROPERTY_BINARY,
        .bytes = repeated("0123456789abcdef", LIMIT_BINARY_BYTES / 16) };
    struct property_builder builder;
    struct buf out;

    buf_init(&out, &scene.arena);
    builder = (struct property_builder){ .out = &out, .last_name = STR_EMPTY };
    property_build(&builder, STR_LITERAL("Bytes"), &value);
    for (int i = 0; i < count; i++)
        scene_write(
            &scene, a_write(WRITE_INSERT_OR_REPLACE, "large", arena_format(&scene.arena, "%02d", i).data,
                        (struct property_list){ buf_str(&out) }));
}

START_TEST(a_page_of_large_entities_ends_by_bytes)
{
    struct operation *page = a_page(&scene.arena, "Things", 1000);

    write_large(60);
    set_filter(page, "PartitionKey eq 'large'");
    run(scene.store, page);

    ck_assert_reason(page, "OK");
    ck_assert(page->out.page.more);
    ck_assert_int_ge(page->out.page.stats.bytes_returned, LIMIT_REPLY_BYTES);
    ck_assert_int_lt(page->out.page.stats.bytes_returned, LIMIT_REPLY_BYTES + LIMIT_BINARY_BYTES + 100);
    ck_assert_uint_eq(page->out.page.count, (size_t)(LIMIT_REPLY_BYTES / LIMIT_BINARY_BYTES));
}
END_TEST

/* A large row among small ones, for which the bytes of one round trip do not suffice. */
START_TEST(rows_of_any_size_come_in_their_place)
{
    struct operation *page;
    const size_t small = 300;

    write_large(2);
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'large', '00' || lpad(n::text, 4, '0'), 1, 1, false, null, '' "
        "from "
        "generate_series(1, %zu) n",
        (int)entity_key_bucket(1, STR_LITERAL("large")), small);
    for (int down = 0; down < 2; down++) {
        page = a_page(&scene.arena, "Things", 1000);
        set_filter(page, "PartitionKey eq 'large'");
        page->in.page.descending = down;
        run(scene.store, page);

        ck_assert_reason(page, "OK");
        ck_assert(!page->out.page.more);
        ck_assert_uint_eq(page->out.page.count, small + 2);
        ck_assert_int_eq(page->out.page.stats.rows_examined, (int64_t)small + 2);
        for (size_t i = 1; i < small + 2; i++)
            ck_assert_int_eq(
                entity_key_compare(&page->out.page.entities[i - 1].key, &page->out.page.entities[i].key) < 0,
                !down);
        ck_assert_uint_gt(
            page->out.page.entities[down ? small + 1 : 0].properties.bytes.len, LIMIT_BINARY_BYTES);
    }
}
END_TEST

/* The last page has no token, also if it is exactly full. */
START_TEST(a_full_page_with_nothing_behind_is_the_last)
{
    struct operation *page = a_page(&scene.arena, "Things", 4);

    set_filter(page, "PartitionKey eq 'a' and RowKey lt 'dead'");
    run(scene.store, page);

    ck_assert_reason(page, "OK");
    ck_assert_uint_eq(page->out.page.count, 4);
    ck_assert(!page->out.page.more);
}
END_TEST

START_TEST(no_table_has_no_pages)
{
    struct operation *page = a_page(&scene.arena, "Nowhere", 10);

    run(scene.store, page);

    ck_assert_reason(page, "TABLE_NOT_FOUND");
}
END_TEST

static const char *const contradictions[] = {
    "PartitionKey gt 'z' and PartitionKey lt 'a'",
    "PartitionKey eq 'A' and RowKey ge '5' and RowKey lt '1'",
};

/* The table was deleted by another session: no row is read, and the session must still notice it. */
START_TEST(what_has_no_matches_needs_a_living_table)
{
    const enum operation_kind kinds[] = { OPERATION_PAGE, OPERATION_COUNT };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct operation *before = a_page(&scene.arena, "Things", 10),
                         *after = a_page(&scene.arena, "Things", 10);

        scene_change(&scene, "select 1");
        before->kind = after->kind = kinds[i];
        set_filter(before, contradictions[_i]);
        set_filter(after, contradictions[_i]);
        run(scene.store, before);
        ck_assert_reason(before, "OK");
        ck_assert_uint_eq(before->out.page.count, 0);
        scene_change(&scene, "update tables set live = false where name = 'Things'");
        run(scene.store, after);

        ck_assert_reason(after, "TABLE_NOT_FOUND");
        scene_change(&scene, "update tables set live = true where name = 'Things'");
    }
}
END_TEST

Suite *test_page_read_suite(void)
{
    Suite *suite = suite_create("page");
    TCase *tc = tcase_create("page");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_union_of_pages_is_the_whole);
    tcase_add_test(tc, pages_of_a_range_are_what_the_range_has);
    tcase_add_loop_test(tc, what_is_outside_a_range_is_not_counted_as_examined, 0, ARRAY_LEN(ranges));
    tcase_add_test(tc, a_page_begins_at_the_first_key_of_the_range);
    tcase_add_test(tc, the_access_path_is_reported);
    tcase_add_test(tc, a_page_that_searches_too_much_ends_early);
    tcase_add_test(tc, a_page_that_looks_at_too_much_ends_early);
    tcase_add_test(tc, a_page_of_large_entities_ends_by_bytes);
    tcase_add_test(tc, rows_of_any_size_come_in_their_place);
    tcase_add_test(tc, a_full_page_with_nothing_behind_is_the_last);
    tcase_add_test(tc, a_count_is_the_number_of_what_pages_bring);
    tcase_add_test(tc, a_long_count_goes_on_where_it_stopped);
    tcase_add_test(tc, no_table_has_no_pages);
    tcase_add_loop_test(tc, what_has_no_matches_needs_a_living_table, 0, ARRAY_LEN(contradictions));
    suite_add_tcase(suite, tc);
    return suite;
}
