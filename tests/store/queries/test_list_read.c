/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_list_read.c - a list index read as pages: by address, one after another, and by a query.
 */
#include <check.h>
#include <stdio.h>

#include "domain/limits.h"
#include "store/entities/write_batch.h"
#include "store/session/session.h"
#include "tests/support/builders.h"

enum { MEMBERS = 500, INDEX_ID = 900, MAX_PAGES = 32 };

static struct scene scene;
static struct key_part by_tag = { .text = { "Tag", 3 } }, by_level = { .text = { "Level", 5 } };
static struct index list_index;

/* All pages, as a reader by page addresses finds them. */
static struct entity pages[MAX_PAGES];
static size_t page_count;

static bool descending; /* of the queries */

static void add_member(const char *tag, const char *level, int number)
{
    /* Long row keys, so that one value has several pages. */
    struct entity source = { .key = a_key("p", arena_format(&scene.arena, "%0200d", number).data),
        .etag = { .table_id = 1, .version = number + 1 },
        .timestamp = 1000 + number,
        .properties = some_texts(&scene.arena, "Level", level, "Tag", tag, NULL) };

    scene_entry(&scene, &list_index, &source);
}

static const struct entity *read_address(const char *partition, struct str row)
{
    struct entity_key key = { str_of(partition), row };
    struct operation *get = a_get(&scene.arena, "ByTag", &key, 1);

    run(scene.store, get);
    ck_assert_reason(get, "OK");
    return get->out.get.found[0] ? &get->out.get.entities[0] : NULL;
}

static void walk(const char *partition, const char *value)
{
    struct str next = str_of(value);

    do {
        const struct entity *page = read_address(partition, next);

        ck_assert_msg(page, "%s/%.*s: no such page", partition, STR_ARG(next));
        ck_assert(str_equal(page->key.row, next));
        ck_assert_uint_lt(page_count, MAX_PAGES);
        pages[page_count++] = *page;
        next = text_of(page->properties, "NextRowKey");
    } while (next.len > 0);
}

static void setup(void)
{
    scene_open(&scene);
    list_index = (struct index){ .index_id = INDEX_ID,
        .name = STR_LITERAL("ByTag"),
        .shape = INDEX_LIST,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .partition_key = { &by_tag, 1 },
        .row_key = { &by_level, 1 },
        .projection = PROJECT_KEYS_ONLY };
    scene_index(&scene, &list_index);
    test_sql(scene.sql, "begin");
    add_member("blue", "high", 7);
    for (int i = 0; i < MEMBERS; i++)
        add_member("red", "high", i);
    for (int i = 0; i < 3; i++)
        add_member("red", "low", i);
    test_sql(scene.sql, "commit");
    page_count = 0;
    descending = false;
    walk("blue", "high");
    walk("red", "high");
    walk("red", "low");
}

static void teardown(void)
{
    scene_close(&scene);
}

/* ---- addresses ---- */

START_TEST(members_stand_in_order_on_several_pages)
{
    struct buf wanted, got;

    buf_init(&wanted, &scene.arena);
    buf_init(&got, &scene.arena);
    for (int i = 0; i < MEMBERS; i++)
        buf_format(&wanted, "[\"p\",\"%0200d\"],", i);
    for (size_t i = 1; i + 1 < page_count; i++) {
        struct str members = text_of(pages[i].properties, "Members");

        ck_assert_uint_le(members.len, LIMIT_MEMBERS_UNITS);
        buf_format(&got, "%.*s,", (int)members.len - 2, members.data + 1);
    }
    ck_assert_uint_ge(page_count, 5);
    ck_assert(str_equal(buf_str(&got), buf_str(&wanted)));
}
END_TEST

START_TEST(what_has_no_members_is_not_there)
{
    struct str last = text_of(pages[page_count - 3].properties, "NextRowKey");

    ck_assert_ptr_nonnull(read_address("red", last));
    ck_assert_ptr_null(read_address("green", STR_LITERAL("high")));
    ck_assert_ptr_null(read_address("red", STR_LITERAL("middle")));
    ck_assert_ptr_null(read_address("red", STR_LITERAL("hig")));
    ck_assert_ptr_null(read_address("red", STR_LITERAL("high  !p")));
    ck_assert_ptr_null(read_address("red", STR_LITERAL("high  !q  !r"))); /* after the last member */
}
END_TEST

START_TEST(an_address_outlives_its_member)
{
    struct str address = text_of(pages[1].properties, "NextRowKey");
    const struct entity *page;

    test_sql(scene.sql,
        "delete from entities where table_id = %d and partition_key = 'red' and row_key = '%.*s'", INDEX_ID,
        STR_ARG(address));
    page = read_address("red", address);

    ck_assert_ptr_nonnull(page);
    ck_assert(str_equal(text_of(page->properties, "Members"), text_of(pages[2].properties, "Members")));
}
END_TEST

START_TEST(the_etag_of_a_page_stands_for_its_members)
{
    test_sql(scene.sql,
        "update entities set version = version + 1 where table_id = %d and row_key like 'low%%000'",
        INDEX_ID);

    ck_assert(!etag_equal(read_address("red", STR_LITERAL("low"))->etag, pages[page_count - 1].etag));
    ck_assert(etag_equal(read_address("red", STR_LITERAL("high"))->etag, pages[1].etag));
}
END_TEST

/* ---- queries ---- */

static bool same_page(const struct entity *a, const struct entity *b)
{
    return entity_key_compare(&a->key, &b->key) == 0 && etag_equal(a->etag, b->etag) &&
           a->timestamp == b->timestamp && str_equal(a->properties.bytes, b->properties.bytes);
}

static struct operation *query(const char *filter, int32_t limit, const struct entity_key *after)
{
    struct operation *page = a_page(&scene.arena, "ByTag", limit);

    set_filter(page, filter);
    page->in.page.descending = descending;
    page->in.page.has_after = after != NULL;
    if (after)
        page->in.page.after = *after;
    run(scene.store, page);
    ck_assert_reason(page, "OK");
    return page;
}

/* The n-th page in the direction of the query. */
static const struct entity *page_at(size_t n)
{
    return &pages[descending ? page_count - 1 - n : n];
}

/* A query returns, page by page, those of all pages that its filter matches. */
static void check_query(const char *filter_text, int32_t limit)
{
    struct entity_key after;
    const struct filter *filter;
    struct error err = { 0 };
    size_t next = 0;
    bool more = true, first = true;

    ck_assert_int_eq(filter_compile(str_of(filter_text), &scene.arena, &filter, &err), STATUS_OK);
    while (more) {
        struct operation *page = query(filter_text, limit, first ? NULL : &after);

        ck_assert_uint_le(page->out.page.count, (size_t)limit);
        for (size_t i = 0; i < page->out.page.count; i++, next++) {
            while (next < page_count && !filter_matches(filter, page_at(next)))
                next++;
            ck_assert_msg(next < page_count && same_page(&page->out.page.entities[i], page_at(next)),
                "'%s' by %d: page %zu is another one", filter_text, limit, next);
        }
        more = page->out.page.more;
        after = page->out.page.position;
        first = false;
    }
    for (; next < page_count; next++)
        ck_assert_msg(
            !filter_matches(filter, page_at(next)), "'%s' by %d: pages are missing", filter_text, limit);
}

static const char *const filters[] = {
    "",
    "PartitionKey eq 'red'",
    "PartitionKey eq 'blue'",
    "PartitionKey eq 'green'",
    "PartitionKey eq 'red' and RowKey eq 'high'",
    "PartitionKey eq 'red' and RowKey eq 'low'",
    "PartitionKey eq 'red' and RowKey gt 'high'",
    "PartitionKey eq 'red' and RowKey ge 'i'",
    "PartitionKey eq 'red' and RowKey lt 'low'",
    "PartitionKey gt 'blue'",
    "RowKey eq 'high'",
    "RowKey lt 'high  !q'",
    "PartitionKey eq 'red' and RowKey le 'high  !p  !'",
    "PartitionKey eq 'red' and (RowKey eq 'high' or RowKey eq 'low')",
    "PartitionKey eq 'red' and RowKey lt '!i'",
};

START_TEST(a_query_gives_the_pages_of_a_walk)
{
    static const int32_t limits[] = { 1, 2, 3, 7, 1000 };

    descending = _i;
    for (size_t f = 0; f < ARRAY_LEN(filters); f++)
        for (size_t i = 0; i < ARRAY_LEN(limits); i++)
            check_query(filters[f], limits[i]);
}
END_TEST

START_TEST(a_query_finds_a_page_by_its_address)
{
    descending = _i;
    for (size_t i = 0; i < page_count; i++)
        check_query(arena_format(&scene.arena, "PartitionKey eq '%.*s' and RowKey eq '%.*s'",
                        STR_ARG(pages[i].key.partition), STR_ARG(pages[i].key.row))
                        .data,
            2);
}
END_TEST

/* After a position whose entry was deleted come the members before it, none twice and none left out. */
START_TEST(a_descending_query_goes_on_where_its_page_began)
{
    struct operation *page;
    const struct entity *next;
    struct str members;

    descending = true;
    page = query("PartitionKey eq 'red' and RowKey lt 'low'", 1, NULL);
    ck_assert(same_page(&page->out.page.entities[0], &pages[page_count - 2]));
    test_sql(scene.sql,
        "delete from entities where table_id = %d and partition_key = 'red' and row_key in ('%.*s', "
        "(select min(row_key) from entities where table_id = %d and partition_key = 'red'))",
        INDEX_ID, STR_ARG(pages[page_count - 2].key.row), INDEX_ID);

    page = query("PartitionKey eq 'red' and RowKey lt 'low'", 1, &page->out.page.position);

    ck_assert_uint_eq(page->out.page.count, 1);
    next = read_address("red", text_of(page->out.page.entities[0].properties, "NextRowKey"));
    ck_assert(str_equal(
        text_of(next->properties, "Members"), text_of(pages[page_count - 2].properties, "Members")));
    members = text_of(page->out.page.entities[0].properties, "Members");
    ck_assert(!memmem(members.data, members.len, "0498", 4) && members.len > 2);
}
END_TEST

START_TEST(a_value_of_too_many_members_is_not_read_in_descending_order)
{
    struct operation *page = a_page(&scene.arena, "ByTag", 1);

    test_sql(scene.sql,
        "insert into entities select %d, table_id, 'hot', 'high  !p  !' || lpad(n::text, 900, '0'), 1, 1, "
        "false, null, properties from entities, generate_series(1, %d) n "
        "where table_id = %d and partition_key = 'blue'",
        (int)entity_key_bucket(INDEX_ID, STR_LITERAL("hot")), LIMIT_LIST_DESCENT_BYTES / 900, INDEX_ID);
    set_filter(page, "PartitionKey eq 'hot'");
    page->in.page.descending = true;
    run(scene.store, page);
    ck_assert_reason(page, "PLAN_TOO_EXPENSIVE");

    descending = false;
    ck_assert_uint_eq(query("PartitionKey eq 'hot'", 1, NULL)->out.page.count, 1);
}
END_TEST

START_TEST(a_query_that_looks_at_too_much_ends_early)
{
    struct operation *page;
    int asked = 1;
    const char *text = _i ? "PartitionKey ge 'many' and RowKey eq '000001'"
                          : "PartitionKey ge 'many' and RowKey eq '020001'";

    descending = _i;
    /* This many values of one member each, then one value that is looked up. */
    test_sql(scene.sql,
        "insert into entities select bucket, table_id, 'many', lpad(n::text, 6, '0') || '  !p  !r', 1, 1, "
        "false, null, properties "
        "from entities, generate_series(1, %d) n where table_id = %d and partition_key = 'blue'",
        2 * LIMIT_PAGE_EXAMINED + 1, INDEX_ID);
    page = query(text, 10, NULL);
    ck_assert_uint_eq(page->out.page.count, 0);
    ck_assert_int_lt(page->out.page.stats.rows_examined, LIMIT_PAGE_EXAMINED + 2 * LIMIT_PAGE_ROWS);
    for (; page->out.page.count == 0 && page->out.page.more; asked++)
        page = query(text, 10, &page->out.page.position);

    ck_assert_uint_eq(page->out.page.count, 1);
    ck_assert_int_ge(asked, 3);
}
END_TEST

START_TEST(only_the_index_writes_entries)
{
    struct operation *write = a_write_operation(
        &scene.arena, "ByTag", a_write(WRITE_INSERT_OR_REPLACE, "red", "x", some_texts(&scene.arena, NULL)));
    struct operation *delete = an_operation(&scene.arena, OPERATION_TABLE_DELETE, "ByTag");

    run(scene.store, write);
    run(scene.store, delete);

    ck_assert_reason(write, "INDEX_OWNED");
    ck_assert_reason(delete, "INDEX_OWNED");
}
END_TEST

START_TEST(a_table_that_took_the_name_of_an_index_can_be_written)
{
    struct write insert = a_write(WRITE_INSERT, "p", "r", some_texts(&scene.arena, NULL));
    struct operation *before = a_write_operation(&scene.arena, "ByTag", insert);
    struct operation *after = a_write_operation(&scene.arena, "ByTag", insert);
    struct commit_observer observer = { 0 };
    struct session session;

    session_init(&session, scene.conninfo, "test writer");
    write_batch_run(&session, before, &observer);
    ck_assert_reason(before, "INDEX_OWNED"); /* the session knows the index from now on */
    scene_change(&scene, "update indexes set state = 4; update tables set live = false where name = 'ByTag';"
                         "insert into tables values (901, 'acme', 'ByTag', 'bytag', 1, true, null)");
    write_batch_run(&session, after, &observer);
    session_cleanup(&session);

    ck_assert_reason(after, "OK");
}
END_TEST

Suite *test_list_read_suite(void)
{
    Suite *suite = suite_create("list");
    TCase *tc = tcase_create("list");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, members_stand_in_order_on_several_pages);
    tcase_add_test(tc, what_has_no_members_is_not_there);
    tcase_add_test(tc, an_address_outlives_its_member);
    tcase_add_test(tc, the_etag_of_a_page_stands_for_its_members);
    tcase_add_loop_test(tc, a_query_gives_the_pages_of_a_walk, 0, 2);
    tcase_add_loop_test(tc, a_query_finds_a_page_by_its_address, 0, 2);
    tcase_add_test(tc, a_descending_query_goes_on_where_its_page_began);
    tcase_add_test(tc, a_value_of_too_many_members_is_not_read_in_descending_order);
    tcase_add_loop_test(tc, a_query_that_looks_at_too_much_ends_early, 0, 2);
    tcase_add_test(tc, only_the_index_writes_entries);
    tcase_add_test(tc, a_table_that_took_the_name_of_an_index_can_be_written);
    suite_add_tcase(suite, tc);
    return suite;
}
