/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/wire_form.c: one struct with a member of each type.
 */
#include "base/wire_form.h"

#include <check.h>

struct part {
    struct str text;
    bool flag;
};

struct whole {
    int64_t untouched; /* no field of the form */
    struct str text;
    struct str rare_text;
    int32_t near_zero;
    int64_t far_from_zero;
    int64_t bits;
    uint32_t limited;
    struct part *part;
    struct part *parts;
    size_t part_count;
    struct str *texts;
    size_t text_count;
};

static const struct wire_form_field part_fields[] = {
    WIRE_FORM_FIELD(1, TEXT, struct part, text),
    WIRE_FORM_FIELD(2, BOOL, struct part, flag, .optional = true),
};
static const struct wire_form part_form = WIRE_FORM(part_fields, struct part, .skips_unknown = true);

static const struct wire_form_field whole_fields[] = {
    WIRE_FORM_FIELD(1, TEXT, struct whole, text, .required = true),
    WIRE_FORM_FIELD(2, TEXT, struct whole, rare_text, .optional = true),
    WIRE_FORM_FIELD(3, ZIGZAG32, struct whole, near_zero, .optional = true),
    WIRE_FORM_FIELD(4, ZIGZAG64, struct whole, far_from_zero, .optional = true),
    WIRE_FORM_FIELD(5, INT64, struct whole, bits),
    WIRE_FORM_FIELD(6, UINT32, struct whole, limited, .min = 2, .max = 4),
    WIRE_FORM_FIELD(7, MESSAGE, struct whole, part, .form = &part_form),
    WIRE_FORM_ARRAY(8, MESSAGES, struct whole, parts, part_count, .form = &part_form, .max = 3),
    WIRE_FORM_ARRAY(9, TEXTS, struct whole, texts, text_count),
};
static const struct wire_form whole_form = WIRE_FORM(whole_fields, struct whole);

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct str bytes_of(const struct whole *whole)
{
    struct buf out;

    buf_init(&out, &arena);
    wire_form_write(&out, &whole_form, whole);
    return buf_str(&out);
}

static struct part some_parts[] = { { STR_LITERAL("a"), true }, { STR_LITERAL("b"), false },
    { STR_LITERAL("c"), true } };
static struct str some_texts[] = { STR_LITERAL("x"), STR_LITERAL(""), STR_LITERAL("z") };

static struct whole a_whole(void)
{
    return (struct whole){ .text = STR_LITERAL("text"),
        .rare_text = STR_LITERAL("rare"),
        .near_zero = INT32_MIN,
        .far_from_zero = INT64_MIN,
        .bits = -1,
        .limited = 4,
        .part = &some_parts[0],
        .parts = some_parts,
        .part_count = 3,
        .texts = some_texts,
        .text_count = 3 };
}

START_TEST(each_type_comes_back)
{
    struct whole whole = a_whole(), back = { .untouched = 7, .text_count = 99 };

    ck_assert(wire_form_read(bytes_of(&whole), &whole_form, &arena, &back));
    ck_assert_int_eq(back.untouched, 7);
    ck_assert(str_equal(back.text, whole.text));
    ck_assert(str_equal(back.rare_text, whole.rare_text));
    ck_assert_int_eq(back.near_zero, INT32_MIN);
    ck_assert_int_eq(back.far_from_zero, INT64_MIN);
    ck_assert_int_eq(back.bits, -1);
    ck_assert_uint_eq(back.limited, 4);
    ck_assert(str_equal(back.part->text, some_parts[0].text));
    ck_assert_uint_eq(back.part_count, 3);
    ck_assert_uint_eq(back.text_count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert(str_equal(back.parts[i].text, some_parts[i].text));
        ck_assert(back.parts[i].flag == some_parts[i].flag);
        ck_assert(str_equal(back.texts[i], some_texts[i]));
    }
    ck_assert(str_equal(bytes_of(&back), bytes_of(&whole)));
}
END_TEST

START_TEST(what_is_optional_takes_no_bytes)
{
    struct whole whole = { .text = STR_LITERAL("t"), .limited = 2 };

    ck_assert(str_equal(bytes_of(&whole), STR_LITERAL("\x0A\x01t(\x00"
                                                      "0\x02")));
}
END_TEST

/* The length of a message of 128 bytes and more takes two bytes. */
START_TEST(a_long_message_comes_back)
{
    char letters[300] = "";
    struct part part = { str_of_bytes(letters, sizeof(letters)), false };
    struct whole whole = { .text = STR_LITERAL("t"), .limited = 2, .part = &part }, back;

    memset(letters, 'l', sizeof(letters));
    ck_assert(wire_form_read(bytes_of(&whole), &whole_form, &arena, &back));
    ck_assert(str_equal(back.part->text, part.text));
}
END_TEST

START_TEST(what_is_missing_is_empty)
{
    struct whole back = a_whole();

    ck_assert(wire_form_read(STR_LITERAL("\x0A\x01t"), &whole_form, &arena, &back));
    ck_assert_uint_eq(back.rare_text.len, 0);
    ck_assert_int_eq(back.near_zero, 0);
    ck_assert_uint_eq(back.limited, 0);
    ck_assert_ptr_null(back.part);
    ck_assert_uint_eq(back.part_count, 0);
    ck_assert_uint_eq(back.text_count, 0);
}
END_TEST

static const struct refused_case {
    const char *name;
    struct str bytes;
} refused_cases[] = {
    { "a required field is missing", STR_LITERAL("(\x00") },
    { "a required field is empty", STR_LITERAL("\x0A\x00") },
    { "a number below its range", STR_LITERAL("\x0A\x01t0\x01") },
    { "a number above its range", STR_LITERAL("\x0A\x01t0\x05") },
    { "a number above 32 bits", STR_LITERAL("\x0A\x01t\x18\xFE\xFF\xFF\xFF\x1F") },
    { "a text that is a number", STR_LITERAL("\x0A\x01t\x10\x01") },
    { "a number that is a text", STR_LITERAL("\x0A\x01t*\x01x") },
    { "a number of fixed size", STR_LITERAL("\x0A\x01t-\x00\x00\x00\x00") },
    { "a message that is cut off", STR_LITERAL("\x0A\x01t:\x02\x0A\x05") },
    { "more messages than allowed", STR_LITERAL("\x0A\x01t\x42\x00\x42\x00\x42\x00\x42\x00") },
    { "a field that is not in the table", STR_LITERAL("\x0A\x01tP\x01") },
    { "bytes that end too early", STR_LITERAL("\x0A\x02t") },
};

START_TEST(other_bytes_are_refused)
{
    struct whole back;

    ck_assert_msg(
        !wire_form_read(refused_cases[_i].bytes, &whole_form, &arena, &back), "%s", refused_cases[_i].name);
}
END_TEST

START_TEST(a_form_may_skip_what_it_does_not_know)
{
    struct part back;

    ck_assert(wire_form_read(STR_LITERAL("P\x01\x0A\x01t"), &part_form, &arena, &back));
    ck_assert(str_equal(back.text, STR_LITERAL("t")));
}
END_TEST

START_TEST(packed_structs_follow_each_other)
{
    struct part back;
    struct str rest;
    struct buf out;

    buf_init(&out, &arena);
    for (size_t i = 0; i < 3; i++)
        wire_form_write_packed(&out, &part_form, &some_parts[i]);
    rest = buf_str(&out);
    ck_assert(str_equal(rest, STR_LITERAL("\x01"
                                          "a\x01\x01"
                                          "b\x00\x01"
                                          "c\x01")));
    for (size_t i = 0; i < 3; i++) {
        ck_assert(wire_form_read_packed(&rest, &part_form, &back));
        ck_assert(str_equal(back.text, some_parts[i].text));
        ck_assert(back.flag == some_parts[i].flag);
    }
    ck_assert_uint_eq(rest.len, 0);
    ck_assert(!wire_form_read_packed(&rest, &part_form, &back));
}
END_TEST

Suite *test_wire_form_suite(void)
{
    Suite *suite = suite_create("wire_form");
    TCase *tc = tcase_create("wire_form");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, each_type_comes_back);
    tcase_add_test(tc, what_is_optional_takes_no_bytes);
    tcase_add_test(tc, a_long_message_comes_back);
    tcase_add_test(tc, what_is_missing_is_empty);
    tcase_add_loop_test(tc, other_bytes_are_refused, 0, ARRAY_LEN(refused_cases));
    tcase_add_test(tc, a_form_may_skip_what_it_does_not_know);
    tcase_add_test(tc, packed_structs_follow_each_other);
    suite_add_tcase(suite, tc);
    return suite;
}
