/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/indexes/index_codec.c.
 */
#include "domain/indexes/index_codec.h"

#include <check.h>

#include "base/buf.h"
#include "base/wire.h"
#include "domain/limits.h"
#include "domain/properties/case_fold.h"
#include "tests/support/golden.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct key_part partition_parts[] = {
    { .is_literal = true, .text = { "people", 6 } },
    { .text = { "Age", 3 }, .width = 19, .inverted = true },
};
static struct key_part row_parts[] = { { .text = { "Name", 4 }, .fold_case = true } };
static struct str names[] = { { "A", 1 }, { "Note", 4 } };

static struct index an_index(void)
{
    return (struct index){ .name = STR_LITERAL("ByAge"),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { partition_parts, 2 },
        .row_key = { row_parts, 1 },
        .projection = PROJECT_SOME,
        .names = names,
        .name_count = 2 };
}

static struct index a_list(void)
{
    return (struct index){ .name = STR_LITERAL("Ages"),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_LIST,
        .place = PLACE_SAME_PARTITION,
        .partition_key = { partition_parts + 1, 1 } };
}

START_TEST(a_copy_rule_keeps_its_bytes)
{
    struct copy_pair pairs[] = { { STR_LITERAL("ManagerName"), STR_LITERAL("Name") } };
    struct copy_rule rule = { .source_table_id = 1001,
        .source_name = STR_LITERAL("Managers"),
        .partition_key = { .is_literal = true, .text = STR_LITERAL("p") },
        .row_key = { .text = STR_LITERAL("Manager") },
        .pairs = pairs,
        .pair_count = 1,
        .keep = true,
        .version_property = STR_LITERAL("V") };
    struct index index = a_list(), back = { 0 };

    index.copies = &rule;
    require_bytes(index_codec_encode(&index, &arena),
        "0a0441676573120650656f706c65180220012a0d080012034167651813200128003800723508e90712084d616e6167657273"
        "18"
        "0122017032074d616e616765723a130a0b4d616e616765724e616d6512044e616d6540014a0156");
    ck_assert(index_codec_decode(index_codec_encode(&index, &arena), &arena, &back));
    ck_assert_int_eq(back.copies->source_table_id, 1001);
    ck_assert(back.copies->partition_key.is_literal && !back.copies->row_key.is_literal && back.copies->keep);
    ck_assert(str_equal(back.copies->row_key.text, rule.row_key.text));
    ck_assert(str_equal(back.copies->version_property, rule.version_property));
    ck_assert(back.copies->pair_count == 1 && str_equal(back.copies->pairs[0].from, pairs[0].from));
}
END_TEST

START_TEST(stored_bytes_stay_as_they_are)
{
    struct index copy = an_index(), list = a_list(), strong = a_list();

    require_bytes(index_codec_encode(&copy, &arena),
        "0a054279416765120650656f706c65180120022a100801120670656f706c651800200028002a0d0800120341"
        "6765181320012800320e080012044e616d65180020002801380242014142044e6f7465");
    require_bytes(index_codec_encode(&list, &arena),
        "0a0441676573120650656f706c65180220012a0d080012034167651813200128003800");
    strong.consistency = INDEX_STRONG;
    strong.on_violation = VIOLATION_REJECT;
    require_bytes(index_codec_encode(&strong, &arena),
        "0a0441676573120650656f706c65180220012a0d08001203416765181320012800380048015001");
    ck_assert(index_codec_decode(index_codec_encode(&strong, &arena), &arena, &list));
    ck_assert(index_is_strong(&list) && list.on_violation == VIOLATION_REJECT);
    ck_assert_ptr_null(list.filter);
    strong.filter_text = STR_LITERAL("Age gt 5");
    require_bytes(index_codec_encode(&strong, &arena),
        "0a0441676573120650656f706c65180220012a0d08001203416765181320012800380048015001620841676520677420"
        "35");
    ck_assert(index_codec_decode(index_codec_encode(&strong, &arena), &arena, &list));
    ck_assert(str_equal(list.filter_text, strong.filter_text) && list.filter);
    row_parts[0].fold_table = CASE_FOLD_TABLE;
    require_bytes(index_codec_encode(&copy, &arena),
        "0a054279416765120650656f706c65180120022a100801120670656f706c651800200028002a0d0800120341"
        "676518132001280032100800"
        "12044e616d651800200028013001380242014142044e6f7465");
    ck_assert(index_codec_decode(index_codec_encode(&copy, &arena), &arena, &list));
    ck_assert(list.row_key.parts[0].fold_case);
    ck_assert_uint_eq(list.row_key.parts[0].fold_table, CASE_FOLD_TABLE);
    row_parts[0].fold_table = 0;
    strong.filter_text = STR_EMPTY;
    strong.keeps_versions = true;
    require_bytes(index_codec_encode(&strong, &arena),
        "0a0441676573120650656f706c65180220012a0d080012034167651813200128003800480150016801");
    ck_assert(index_codec_decode(index_codec_encode(&strong, &arena), &arena, &list));
    ck_assert(list.keeps_versions);
}
END_TEST

START_TEST(a_declaration_comes_back)
{
    struct index index = an_index(), back = { .index_id = 7 };
    struct str bytes = index_codec_encode(&index, &arena);

    ck_assert(index_codec_decode(bytes, &arena, &back));
    ck_assert_int_eq(back.index_id, 7);
    ck_assert(str_equal(back.name, index.name));
    ck_assert(str_equal(back.source_name, index.source_name));
    ck_assert_int_eq(back.shape, INDEX_COPY);
    ck_assert_int_eq(back.place, PLACE_OTHER_PARTITION);
    ck_assert_int_eq(back.projection, PROJECT_SOME);
    ck_assert_uint_eq(back.partition_key.count, 2);
    ck_assert(back.partition_key.parts[0].is_literal);
    ck_assert_int_eq(back.partition_key.parts[1].width, 19);
    ck_assert(back.partition_key.parts[1].inverted);
    ck_assert(back.row_key.parts[0].fold_case);
    ck_assert_uint_eq(back.name_count, 2);
    ck_assert(str_equal(back.names[1], names[1]));
    ck_assert(str_equal(index_codec_encode(&back, &arena), bytes));
}
END_TEST

/* A field is missing, out of its range, of another type or of another version. */
static const struct str damaged[] = {
    { "", 0 }, STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02"), /* no key */
    STR_LITERAL("\x0A\x00\x12\x01S\x18\x01 \x02*\x00"),        /* no name */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01*\x00"),            /* no place */
    STR_LITERAL("\x0A\x01N\x12\x01S \x02*\x00"),               /* no shape */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x7F \x02*\x00"),       /* a shape of a later version */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x03*\x00"),       /* a place */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x00"
                "8\x03"),                                     /* a projection */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x00x\x01"), /* a field of a later version */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x00H\x03"), /* a consistency */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x00P\x02"), /* a rule of violations */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x00"
                "b\x02(A"),                                      /* a filter that does not compile */
    STR_LITERAL("\x0A\x01N\x12\x01S\x1A\x01x \x02*\x00"),        /* a shape that is a text */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x02\x10\x01"), /* a part's text that is a number */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x06\x18\xFF\xFF\xFF\xFF\x0F"), /* a width */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x02\x30\x02"), /* a table of foldings of a later version */
    STR_LITERAL("\x0A\x01N\x12\x01S\x18\x01 \x02*\x02(\x01"
                "0"), /* cut off */
};

START_TEST(foreign_bytes_are_refused)
{
    struct index back = { 0 };

    ck_assert(!index_codec_decode(damaged[_i], &arena, &back));
}
END_TEST

START_TEST(the_numbers_of_parts_and_names_are_bounded)
{
    struct index index = an_index(), back = { 0 };
    struct key_part many_parts[LIMIT_KEY_PARTS + 1];
    struct str many_names[LIMIT_PROPERTIES + 1];

    for (size_t i = 0; i < ARRAY_LEN(many_parts); i++)
        many_parts[i] = partition_parts[0];
    for (size_t i = 0; i < ARRAY_LEN(many_names); i++)
        many_names[i] = names[0];

    index.partition_key = index.row_key = (struct key_parts){ many_parts, LIMIT_KEY_PARTS };
    index.names = many_names;
    index.name_count = LIMIT_PROPERTIES;
    ck_assert(index_codec_decode(index_codec_encode(&index, &arena), &arena, &back));
    ck_assert_uint_eq(back.row_key.count, LIMIT_KEY_PARTS);
    ck_assert_uint_eq(back.name_count, LIMIT_PROPERTIES);

    index.row_key.count++;
    ck_assert(!index_codec_decode(index_codec_encode(&index, &arena), &arena, &back));
    index.row_key.count--;
    index.name_count++;
    ck_assert(!index_codec_decode(index_codec_encode(&index, &arena), &arena, &back));
    index.name_count--;
    index.filter_text = arena_format(&arena, "A eq 1%*s", LIMIT_INDEX_FILTER_BYTES - 6, "");
    ck_assert(index_codec_decode(index_codec_encode(&index, &arena), &arena, &back));
    index.filter_text = arena_format(&arena, "A eq 1%*s", LIMIT_INDEX_FILTER_BYTES - 5, "");
    ck_assert(!index_codec_decode(index_codec_encode(&index, &arena), &arena, &back));
}
END_TEST

Suite *test_index_codec_suite(void)
{
    Suite *suite = suite_create("index_codec");
    TCase *tc = tcase_create("index_codec");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, stored_bytes_stay_as_they_are);
    tcase_add_test(tc, a_copy_rule_keeps_its_bytes);
    tcase_add_test(tc, a_declaration_comes_back);
    tcase_add_loop_test(tc, foreign_bytes_are_refused, 0, ARRAY_LEN(damaged));
    tcase_add_test(tc, the_numbers_of_parts_and_names_are_bounded);
    suite_add_tcase(suite, tc);
    return suite;
}
