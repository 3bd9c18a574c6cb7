/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that hold a blob. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/macros.h"
#include "domain/blobs/blob_reference.h"
#include "domain/limits.h"

#define ZEROS "00000000000000000000000000000000"
#define ONES "11111111111111111111111111111111"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* Properties: names in ascending order, each with its text; NULL ends them. */
__attribute__((sentinel)) static struct property_list some_texts(const char *name, ...)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };
    va_list rest;

    buf_init(&out, &arena);
    va_start(rest, name);
    for (; name; name = va_arg(rest, const char *)) {
        const struct value value = { .type = PROPERTY_STRING, .bytes = str_of(va_arg(rest, const char *)) };

        property_build(&builder, str_of(name), &value);
    }
    va_end(rest);
    return (struct property_list){ buf_str(&out) };
}

START_TEST(a_reference_is_read_as_it_was_written)
{
    const struct blob_id id = { { 0xab, 1, 2, 3 } };
    struct blob_id back;
    struct str text = blob_reference_format(&id, &arena);

    ck_assert(str_equal(text, STR_LITERAL("tavola-blob:ab010203000000000000000000000000")));
    ck_assert(blob_reference_parse(text, &back));
    ck_assert_mem_eq(&back, &id, sizeof(id));
}
END_TEST

START_TEST(other_texts_are_no_references)
{
    static const char *const texts[] = { "", "tavola-blob:", "tavola-blob:" ONES "1", "tavola-blob:1",
        "Tavola-blob:" ONES, "tavola-blob:ABCDEF11111111111111111111111111",
        "tavola-blob:g1111111111111111111111111111111" };
    struct blob_id id;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ck_assert_msg(!blob_reference_parse(str_of(texts[i]), &id), "%s", texts[i]);
}
END_TEST

static const struct property_rest no_rest = { 0 };

START_TEST(each_content_is_listed_once_and_in_order)
{
    struct property_list list = some_texts("A", "tavola-blob:" ONES, "B", "text", "C", "tavola-blob:" ZEROS,
        "D", "tavola-blob:" ONES, "E", "tavola-blob:wrong", NULL);
    struct blob_id_list found = blob_reference_list(list, no_rest, &arena);
    struct blob_id id;

    ck_assert_uint_eq(found.count, 2);
    ck_assert_int_eq(found.items[0].bytes[0], 0);
    ck_assert_int_eq(found.items[1].bytes[0], 0x11);
    ck_assert(blob_reference_parse(STR_LITERAL("tavola-blob:" ONES), &id) && blob_id_list_has(&found, &id));
    ck_assert(!blob_id_list_has(&(struct blob_id_list){ 0 }, &id));
}
END_TEST

START_TEST(what_begins_like_a_reference_must_be_one)
{
    struct error err = { 0 };

    ck_assert_int_eq(
        blob_reference_check(some_texts("A", "tavola-blobs", "B", " tavola-blob:x", NULL), no_rest, &err),
        STATUS_OK);
    ck_assert_int_eq(blob_reference_check(some_texts("A", "text", "B", "tavola-blob:x", NULL), no_rest, &err),
        STATUS_INVALID);
    ck_assert_str_eq(err.meta[0].value, "B");
}
END_TEST

/* An entity with this many references. */
static struct property_list entity_with(int count)
{
    struct property_list list = { STR_EMPTY };

    for (int i = 0; i < count; i++) {
        char name[16];

        snprintf(name, sizeof(name), "P%02d", i);
        list = property_list_merge(list, some_texts(name, "tavola-blob:" ONES, NULL), &arena);
    }
    return list;
}

START_TEST(an_entity_holds_a_bounded_number)
{
    struct error err = { 0 };

    ck_assert_int_eq(blob_reference_check(entity_with(LIMIT_ENTITY_BLOBS), no_rest, &err), STATUS_OK);
    ck_assert_int_eq(
        blob_reference_check(entity_with(LIMIT_ENTITY_BLOBS + 1), no_rest, &err), STATUS_INVALID);
    ck_assert_uint_eq(blob_reference_list(entity_with(LIMIT_ENTITY_BLOBS + 5), no_rest, &arena).count, 1);
}
END_TEST

/* The parts of a wide entity that were not read. */
START_TEST(the_references_of_unread_parts_count)
{
    struct error err = { 0 };
    struct property_rest rest = { .contents =
                                      blob_reference_ids(entity_with(LIMIT_ENTITY_BLOBS - 1), &arena) };
    struct property_list one = some_texts("A", "text", "Z", "tavola-blob:" ZEROS, NULL);

    ck_assert_uint_eq(rest.contents.len, (LIMIT_ENTITY_BLOBS - 1) * BLOB_ID_BYTES);
    ck_assert_int_eq(blob_reference_check(one, rest, &err), STATUS_OK);
    ck_assert_int_eq(blob_reference_check(entity_with(2), rest, &err), STATUS_INVALID);
    ck_assert_uint_eq(blob_reference_list(one, rest, &arena).count, 2);
}
END_TEST

Suite *test_blob_reference_suite(void)
{
    Suite *suite = suite_create("blob_reference");
    TCase *tc = tcase_create("blob_reference");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_reference_is_read_as_it_was_written);
    tcase_add_test(tc, other_texts_are_no_references);
    tcase_add_test(tc, each_content_is_listed_once_and_in_order);
    tcase_add_test(tc, what_begins_like_a_reference_must_be_one);
    tcase_add_test(tc, an_entity_holds_a_bounded_number);
    tcase_add_test(tc, the_references_of_unread_parts_count);
    suite_add_tcase(suite, tc);
    return suite;
}
