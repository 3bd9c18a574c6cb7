/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/list_page.h"

#include <check.h>

#include "domain/limits.h"
#include "domain/text.h"

static struct arena arena;

static struct key_part tag_part[] = { { .text = { "Tag", 3 } } };
static struct key_part tag_then_literal[] = { { .text = { "Tag", 3 } },
    { .is_literal = true, .text = { "=", 1 } } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct index a_list(struct key_part *parts, size_t count)
{
    return (struct index){ .index_id = 3,
        .shape = INDEX_LIST,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { tag_part, 1 },
        .row_key = { parts, count } };
}

/* ---- addresses ---- */

static const struct address_case {
    const char *name;
    struct key_part *parts;
    size_t count;
    const char *row_key;
    bool legal;
    const char *value, *prefix, *member; /* member NULL: the first page */
} address_cases[] = {
    { "the first page", tag_part, 1, "red", true, "red", "red  !", NULL },
    { "a further page", tag_part, 1, "red  !p  !r", true, "red", "red  !", "p  !r" },
    { "the empty value", tag_part, 1, "", true, "", "  !", NULL },
    { "empty value, empty member", tag_part, 1, "  !  !", true, "", "  !", "  !" },
    { "half a member", tag_part, 1, "red  !p", false, NULL, NULL, NULL },
    { "more than a member", tag_part, 1, "red  !p  !r  !s", false, NULL, NULL, NULL },
    { "no encoding", tag_part, 1, "red  Zx", false, NULL, NULL, NULL },
    { "no declared row key: the first page", NULL, 0, "", true, "", "", NULL },
    { "no declared row key: a member", NULL, 0, "p  !r", true, "", "", "p  !r" },
    { "no declared row key: no member", NULL, 0, "p", false, NULL, NULL, NULL },
    { "a literal at the end", tag_then_literal, 2, "red  !=", true, "red  !=", "red  !=", NULL },
    { "a literal, then a member", tag_then_literal, 2, "red  !=p  !r", true, "red  !=", "red  !=", "p  !r" },
    { "the literal is missing", tag_then_literal, 2, "red  !", false, NULL, NULL, NULL },
};

START_TEST(a_row_key_is_value_and_member)
{
    const struct address_case *c = &address_cases[_i];
    struct index index = a_list(c->parts, c->count);
    struct list_address got;

    ck_assert_msg(
        list_page_split_row_key(&index, str_of(c->row_key), &arena, &got) == c->legal, "%s", c->name);
    if (!c->legal)
        return;
    ck_assert_msg(str_equal(got.value, str_of(c->value)), "%s: value %.*s", c->name, STR_ARG(got.value));
    ck_assert_msg(str_equal(got.prefix, str_of(c->prefix)), "%s: prefix %.*s", c->name, STR_ARG(got.prefix));
    ck_assert_msg(got.has_member == (c->member != NULL), "%s", c->name);
    ck_assert(!c->member || str_equal(got.member, str_of(c->member)));
}
END_TEST

/* ---- pages ---- */

static const struct entity_key address = { { "red", 3 }, { "", 0 } };

static struct str text_of(const struct entity *page, const char *name)
{
    struct property property;

    if (!property_find(page->properties, str_of(name), &property))
        return STR_EMPTY;
    ck_assert_int_eq(property.value.type, PROPERTY_STRING);
    return property.value.bytes;
}

static struct entity page_of(const struct entity_key *members, const int64_t *versions, size_t count)
{
    struct list_page page;
    struct entity out;

    list_page_start(&page, &address, &arena);
    for (size_t i = 0; i < count; i++) {
        struct str row_key =
            arena_format(&arena, "%.*s  !%.*s", STR_ARG(members[i].partition), STR_ARG(members[i].row));

        ck_assert(list_page_add(&page, row_key, &members[i], versions[i], 100 * versions[i]));
    }
    ck_assert(list_page_finish(&page, 3, &out));
    return out;
}

START_TEST(a_page_lists_its_members)
{
    struct entity_key members[] = { { STR_LITERAL("p"), STR_LITERAL("a \"b\"") },
        { STR_LITERAL("p\xC3\xA9"), STR_EMPTY } };
    int64_t versions[] = { 7, 3 };
    struct entity page = page_of(members, versions, 2);

    ck_assert(
        str_equal(text_of(&page, "Members"), STR_LITERAL("[[\"p\",\"a \\\"b\\\"\"],[\"p\xC3\xA9\",\"\"]]")));
    ck_assert_uint_eq(text_of(&page, "NextRowKey").len, 0);
    ck_assert_int_eq(page.timestamp, 700);
    ck_assert_int_eq(page.etag.table_id, 3);
    ck_assert_int_gt(page.etag.version, 0);
    ck_assert_int_eq(entity_key_compare(&page.key, &address), 0);
}
END_TEST

START_TEST(the_etag_stands_for_members_and_versions)
{
    struct entity_key members[] = { { STR_LITERAL("p"), STR_LITERAL("a") },
        { STR_LITERAL("p"), STR_LITERAL("b") } };
    struct entity_key shifted[] = { { STR_LITERAL("p"), STR_LITERAL("a") },
        { STR_LITERAL("pb"), STR_EMPTY } };
    int64_t versions[] = { 1, 2 }, later[] = { 1, 3 };
    int64_t version = page_of(members, versions, 2).etag.version;

    ck_assert_int_eq(version, page_of(members, versions, 2).etag.version);
    ck_assert_int_ne(version, page_of(members, later, 2).etag.version);
    ck_assert_int_ne(version, page_of(members, versions, 1).etag.version);
    ck_assert_int_ne(version, page_of(shifted, versions, 2).etag.version);
}
END_TEST

START_TEST(a_page_without_members_does_not_exist)
{
    struct list_page page;
    struct entity out;

    list_page_start(&page, &address, &arena);
    ck_assert(!list_page_finish(&page, 3, &out));
}
END_TEST

/* Row keys r000000...: as many on a page as fit, each once, in order. */
START_TEST(a_full_page_says_where_the_next_one_begins)
{
    enum { MEMBERS = 5000, MEMBER_UNITS = 19 }; /* ["p","r000000"], and brackets */
    size_t added = 0, pages = 0;
    struct entity_key key = address;

    while (added < MEMBERS) {
        struct list_page page;
        struct entity out;
        size_t begin = added, units = 0;

        list_page_start(&page, &key, &arena);
        for (; added < MEMBERS; added++) {
            struct entity_key member = { STR_LITERAL("p"), arena_format(&arena, "r%06zu-", added) };

            if (!list_page_add(&page, arena_format(&arena, "p  !%.*s", STR_ARG(member.row)), &member, 1, 1))
                break;
        }
        ck_assert_uint_gt(added, begin);
        ck_assert(list_page_finish(&page, 3, &out));
        ck_assert(text_check(text_of(&out, "Members"), &units, NULL));
        ck_assert_uint_eq(units, page.units);
        ck_assert_uint_le(units, LIMIT_MEMBERS_UNITS);
        pages++;
        if (added == MEMBERS)
            break;
        ck_assert_uint_gt(units, LIMIT_MEMBERS_UNITS - MEMBER_UNITS);
        key.row = text_of(&out, "NextRowKey");
        ck_assert(str_equal(key.row, arena_format(&arena, "p  !r%06zu-", added - 1)));
    }
    ck_assert_uint_eq(pages, 3);
}
END_TEST

START_TEST(the_longest_member_fits_on_a_page)
{
    struct buf quotes;
    struct entity_key member;
    struct list_page page;

    buf_init(&quotes, &arena);
    memset(buf_extend(&quotes, LIMIT_KEY_UNITS), '"', LIMIT_KEY_UNITS);
    member = (struct entity_key){ buf_str(&quotes), buf_str(&quotes) };
    list_page_start(&page, &address, &arena);
    ck_assert(list_page_add(&page, STR_LITERAL("x"), &member, 1, 1));
}
END_TEST

/* The counted bytes are the written bytes. */
START_TEST(a_page_has_room_for_what_its_json_takes)
{
    static const struct entity_key members[] = { { { "p", 1 }, { "", 0 } },
        { { "\xC3\xA9\"", 3 }, { "a\\b", 3 } }, { { "\x01", 1 }, { "\xF0\x9F\x98\x80", 4 } },
        { { "", 0 }, { " ~", 2 } } };
    size_t units = LIST_PAGE_UNITS, written;
    struct list_page page;
    struct entity out;

    list_page_start(&page, &address, &arena);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        ck_assert(list_page_room(&units, &members[i]));
        ck_assert(list_page_add(&page, arena_format(&arena, "%zu", i), &members[i], 1, 1));
        ck_assert_uint_eq(units, page.units);
    }
    ck_assert(list_page_finish(&page, 3, &out));
    ck_assert(text_check(text_of(&out, "Members"), &written, NULL));
    ck_assert_uint_eq(written, units);
    units = LIMIT_MEMBERS_UNITS;
    ck_assert(!list_page_room(&units, &members[0]));
    ck_assert_uint_eq(units, LIMIT_MEMBERS_UNITS);
}
END_TEST

Suite *test_list_page_suite(void)
{
    Suite *suite = suite_create("list_page");
    TCase *tc = tcase_create("list_page");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_row_key_is_value_and_member, 0, ARRAY_LEN(address_cases));
    tcase_add_test(tc, a_page_lists_its_members);
    tcase_add_test(tc, the_etag_stands_for_members_and_versions);
    tcase_add_test(tc, a_page_without_members_does_not_exist);
    tcase_add_test(tc, a_full_page_says_where_the_next_one_begins);
    tcase_add_test(tc, the_longest_member_fits_on_a_page);
    tcase_add_test(tc, a_page_has_room_for_what_its_json_takes);
    suite_add_tcase(suite, tc);
    return suite;
}
