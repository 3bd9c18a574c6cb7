/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/properties/property_parse.c: property lists as callers send them, and the canonical bytes that they
 * become.
 */
#include <check.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/wire.h"
#include "domain/keys/entity_key.h"
#include "domain/limits.h"
#include "domain/properties/property.h"

static struct arena arena;
static const struct entity_key key = { { "p", 1 }, { "r", 1 } }; /* 8 bytes of the entity's size */

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* Record bytes as they stand in slices: name and a Value message given literally. */
#define NAMED_A                                                                                              \
    "\x0a\x01"                                                                                               \
    "a"

static const struct canonical_case {
    const char *name;
    struct str slice;
    struct str want;
} canonical_cases[] = {
    { "an empty string is written", STR_LITERAL(NAMED_A "\x12\x02\x0a\x00"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x0a\x00") },
    { "a string may hold a NUL", STR_LITERAL(NAMED_A "\x12\x05\x0a\x03x\0y"),
        STR_LITERAL("\x7a\x0a" NAMED_A "\x12\x05\x0a\x03x\0y") },
    { "false is written", STR_LITERAL(NAMED_A "\x12\x02\x10\x00"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x10\x00") },
    { "any non-zero varint is true", STR_LITERAL(NAMED_A "\x12\x03\x10\xac\x02"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x10\x01") },
    { "Int32 0", STR_LITERAL(NAMED_A "\x12\x02\x18\x00"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x18\x00") },
    { "Int32 -2147483648", STR_LITERAL(NAMED_A "\x12\x06\x18\xff\xff\xff\xff\x0f"),
        STR_LITERAL("\x7a\x0b" NAMED_A "\x12\x06\x18\xff\xff\xff\xff\x0f") },
    { "Int64 -1 in an overlong varint", STR_LITERAL(NAMED_A "\x12\x03\x20\x81\x00"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x20\x01") },
    { "Int64, the least", STR_LITERAL(NAMED_A "\x12\x0b\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        STR_LITERAL("\x7a\x10" NAMED_A "\x12\x0b\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") },
    { "Double 0 is written", STR_LITERAL(NAMED_A "\x12\x09\x29\0\0\0\0\0\0\0\0"),
        STR_LITERAL("\x7a\x0e" NAMED_A "\x12\x09\x29\0\0\0\0\0\0\0\0") },
    { "Double -0 keeps its sign", STR_LITERAL(NAMED_A "\x12\x09\x29\0\0\0\0\0\0\0\x80"),
        STR_LITERAL("\x7a\x0e" NAMED_A "\x12\x09\x29\0\0\0\0\0\0\0\x80") },
    { "every NaN is one", STR_LITERAL(NAMED_A "\x12\x09\x29\1\2\3\0\0\0\xf0\xff"),
        STR_LITERAL("\x7a\x0e" NAMED_A "\x12\x09\x29\0\0\0\0\0\0\xf8\x7f") },
    { "1970 is an empty Timestamp", STR_LITERAL(NAMED_A "\x12\x06\x32\x04\x08\x00\x10\x00"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x32\x00") },
    { "a second", STR_LITERAL(NAMED_A "\x12\x04\x32\x02\x08\x01"),
        STR_LITERAL("\x7a\x09" NAMED_A "\x12\x04\x32\x02\x08\x01") },
    { "199 ns become one tick", STR_LITERAL(NAMED_A "\x12\x05\x32\x03\x10\xc7\x01"),
        STR_LITERAL("\x7a\x09" NAMED_A "\x12\x04\x32\x02\x10\x64") },
    { "two pieces of a Timestamp merge", STR_LITERAL(NAMED_A "\x12\x08\x32\x02\x08\x01\x32\x02\x10\x64"),
        STR_LITERAL("\x7a\x0b" NAMED_A "\x12\x06\x32\x04\x08\x01\x10\x64") },
    { "not across another kind", STR_LITERAL(NAMED_A "\x12\x0a\x32\x02\x08\x01\x10\x01\x32\x02\x10\x64"),
        STR_LITERAL("\x7a\x09" NAMED_A "\x12\x04\x32\x02\x10\x64") },
    { "two pieces of a Value merge", STR_LITERAL(NAMED_A "\x12\x04\x32\x02\x08\x01\x12\x04\x32\x02\x10\x64"),
        STR_LITERAL("\x7a\x0b" NAMED_A "\x12\x06\x32\x04\x08\x01\x10\x64") },
    { "a Guid is lowered",
        STR_LITERAL(NAMED_A "\x12\x26\x3a\x24"
                            "C9DA6455-213D-42C9-9A79-3E9149A57833"),
        STR_LITERAL("\x7a\x2b" NAMED_A "\x12\x26\x3a\x24"
                    "c9da6455-213d-42c9-9a79-3e9149a57833") },
    { "a binary is no text", STR_LITERAL(NAMED_A "\x12\x04\x42\x02\xff\x00"),
        STR_LITERAL("\x7a\x09" NAMED_A "\x12\x04\x42\x02\xff\x00") },
    { "the last kind wins", STR_LITERAL(NAMED_A "\x12\x05\x0a\x01x\x18\x02"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x18\x02") },
    { "the last name wins, order is free",
        STR_LITERAL("\x12\x02\x18\x02\x0a\x01"
                    "b" NAMED_A),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x18\x02") },
    { "unknown fields go",
        STR_LITERAL("\x18\x05" NAMED_A "\x12\x06\x48\x01\x18\x02\x50"
                    "\x01\x1a\x01z"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x18\x02") },
    { "a known number with another wire type is unknown", STR_LITERAL(NAMED_A "\x12\x04\x08\x05\x18\x02"),
        STR_LITERAL("\x7a\x07" NAMED_A "\x12\x02\x18\x02") },
    { "no value is null, and goes", STR_LITERAL(NAMED_A), STR_LITERAL("") },
    { "an empty value is null, and goes", STR_LITERAL(NAMED_A "\x12\x00"), STR_LITERAL("") },
};

START_TEST(a_record_becomes_its_canonical_bytes)
{
    const struct canonical_case *c = &canonical_cases[_i];
    struct property_list list = { .bytes = STR_EMPTY };
    struct error err = { 0 };

    enum status got = property_list_parse(&c->slice, 1, &key, &arena, &list, &err);

    ck_assert_msg(got == STATUS_OK, "%s: %s", c->name, err.message);
    ck_assert_msg(str_equal(list.bytes, c->want), "%s: other bytes", c->name);
}
END_TEST

static const struct refused_case {
    const char *name;
    struct str slices[2];
    size_t count;
    enum status want;
    const char *reason, *property;
} refused_cases[] = {
    { "a cut record",
        { STR_LITERAL("\x0a\x05"
                      "a") },
        1, STATUS_INVALID, "INVALID_INPUT", "" },
    { "a cut value", { STR_LITERAL(NAMED_A "\x12\x02\x0a\x05") }, 1, STATUS_INVALID, "INVALID_INPUT", "a" },
    { "a cut Timestamp", { STR_LITERAL(NAMED_A "\x12\x03\x32\x01\x08") }, 1, STATUS_INVALID, "INVALID_INPUT",
        "a" },
    { "a string that is not UTF-8", { STR_LITERAL(NAMED_A "\x12\x03\x0a\x01\xff") }, 1, STATUS_INVALID,
        "INVALID_INPUT", "a" },
    { "a name that is not UTF-8", { STR_LITERAL("\x0a\x01\xff\x12\x02\x18\x02") }, 1, STATUS_INVALID,
        "INVALID_INPUT", "" },
    { "an Int32 of 33 bits", { STR_LITERAL(NAMED_A "\x12\x06\x18\x80\x80\x80\x80\x10") }, 1, STATUS_INVALID,
        "INVALID_INPUT", "a" },
    { "a short Guid",
        { STR_LITERAL(NAMED_A "\x12\x03\x3a\x01"
                              "a") },
        1, STATUS_INVALID, "INVALID_INPUT", "a" },
    { "a Guid with a wrong digit",
        { STR_LITERAL(NAMED_A "\x12\x26\x3a\x24"
                              "g9da6455-213d-42c9-9a79-3e9149a57833") },
        1, STATUS_INVALID, "INVALID_INPUT", "a" },
    { "a Guid with a hyphen elsewhere",
        { STR_LITERAL(NAMED_A "\x12\x26\x3a\x24"
                              "c9da645-5213d-42c9-9a79-3e9149a57833") },
        1, STATUS_INVALID, "INVALID_INPUT", "a" },
    { "a DateTime before 1601", /* seconds -11644473601 */
        { STR_LITERAL(NAMED_A "\x12\x0d\x32\x0b\x08\xff\xdd\xbd\xcf\xd4\xff\xff\xff\xff\x01") }, 1,
        STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "a" },
    { "a DateTime behind 9999", /* seconds 253402300800 */
        { STR_LITERAL(NAMED_A "\x12\x09\x32\x07\x08\x80\x83\xd1\xff\xaf\x07") }, 1, STATUS_OUT_OF_RANGE,
        "OUT_OF_RANGE_INPUT", "a" },
    { "negative nanos",
        { STR_LITERAL(NAMED_A "\x12\x0d\x32\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") }, 1,
        STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "a" },
    { "no name", { STR_LITERAL("\x12\x02\x18\x02") }, 1, STATUS_INVALID, "PROPERTY_NAME_INVALID", "" },
    { "a bad name, though null", { STR_LITERAL("\x0a\x01-") }, 1, STATUS_INVALID, "PROPERTY_NAME_INVALID",
        "-" },
    { "a field's name", { STR_LITERAL("\x0a\x06RowKey\x12\x02\x18\x02") }, 1, STATUS_INVALID,
        "PROPERTY_NAME_INVALID", "RowKey" },
    { "twice", { STR_LITERAL(NAMED_A "\x12\x02\x18\x02"), STR_LITERAL(NAMED_A "\x12\x02\x18\x02") }, 2,
        STATUS_INVALID, "DUPLICATE_PROPERTIES_SPECIFIED", "a" },
    { "twice, once null", { STR_LITERAL(NAMED_A), STR_LITERAL(NAMED_A "\x12\x02\x18\x02") }, 2,
        STATUS_INVALID, "DUPLICATE_PROPERTIES_SPECIFIED", "a" },
};

static const char *meta_of(const struct error *err, const char *name)
{
    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, name) == 0)
            return err->meta[i].value;
    return "";
}

START_TEST(a_refusal_names_its_reason_and_the_property)
{
    const struct refused_case *c = &refused_cases[_i];
    struct property_list list = { .bytes = STR_LITERAL("before") };
    struct error err = { 0 };

    enum status got = property_list_parse(c->slices, c->count, &key, &arena, &list, &err);

    ck_assert_msg(got == c->want, "%s: got %s (%s)", c->name, status_name(got), err.message);
    ck_assert_msg(strcmp(err.reason, c->reason) == 0, "%s: %s", c->name, err.reason);
    ck_assert_msg(strcmp(meta_of(&err, "property"), c->property) == 0, "%s: %s", c->name, err.message);
    ck_assert(str_equal(list.bytes, STR_LITERAL("before")));
}
END_TEST

/* The slice of a property: its canonical record without tag and length; of a null, which has none, its name. */
static struct str a_slice(const char *name, const struct value *value)
{
    struct buf list, slice;
    struct property_builder builder = { .out = &list };
    struct wire_field record;
    struct str rest;

    buf_init(&list, &arena);
    property_build(&builder, str_of(name), value);
    rest = buf_str(&list);
    if (wire_read_field(&rest, &record) == WIRE_FIELD)
        return record.bytes;
    buf_init(&slice, &arena);
    wire_write_bytes(&slice, 1, str_of(name));
    wire_write_bytes(&slice, 2, STR_EMPTY);
    return buf_str(&slice);
}

static struct str filled(size_t len)
{
    char *text = arena_alloc(&arena, len);

    memset(text, 'x', len);
    return str_of_bytes(text, len);
}

static struct str a_string(const char *name, size_t units)
{
    return a_slice(name, &(struct value){ .type = PROPERTY_STRING, .bytes = filled(units) });
}

static struct str a_binary(const char *name, size_t bytes)
{
    return a_slice(name, &(struct value){ .type = PROPERTY_BINARY, .bytes = filled(bytes) });
}

static void expect(const struct str *slices, size_t count, const char *reason)
{
    struct property_list list = { .bytes = STR_EMPTY };
    struct error err = { 0 };

    enum status got = property_list_parse(slices, count, &key, &arena, &list, &err);

    if (!reason) {
        ck_assert_msg(got == STATUS_OK, "%s", err.message);
        ck_assert_int_eq(property_list_check(list, &key, &err), STATUS_OK);
        return;
    }
    ck_assert_int_eq(got, STATUS_INVALID);
    ck_assert_str_eq(err.reason, reason);
}

START_TEST(single_values_are_limited)
{
    struct str slice = a_string("s", LIMIT_STRING_UNITS);
    expect(&slice, 1, NULL);
    slice = a_string("s", LIMIT_STRING_UNITS + 1);
    expect(&slice, 1, "PROPERTY_VALUE_TOO_LARGE");
    slice = a_binary("b", LIMIT_BINARY_BYTES);
    expect(&slice, 1, NULL);
    slice = a_binary("b", LIMIT_BINARY_BYTES + 1);
    expect(&slice, 1, "PROPERTY_VALUE_TOO_LARGE");
}
END_TEST

START_TEST(an_entity_too_large_is_reported_before_a_value_too_large)
{
    struct str slice = a_binary("b", LIMIT_ENTITY_BYTES);

    expect(&slice, 1, "ENTITY_TOO_LARGE");
}
END_TEST

/* Fifteen binaries of 64 KiB, and one that fills the entity but for `spare` bytes. */
START_TEST(an_entity_may_have_exactly_one_mebibyte)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
        "o", "p" };
    const size_t each = 8 + 2 + 4;
    struct str slices[16];
    size_t left = LIMIT_ENTITY_BYTES - 8 - 15 * (each + LIMIT_BINARY_BYTES) - each;

    for (size_t i = 0; i < 15; i++)
        slices[i] = a_binary(names[i], LIMIT_BINARY_BYTES);

    slices[15] = a_binary(names[15], left);
    expect(slices, 16, NULL);
    slices[15] = a_binary(names[15], left + 1);
    expect(slices, 16, "ENTITY_TOO_LARGE");
}
END_TEST

/* count properties in descending order of their names, then nulls. */
static struct str *many(size_t count, size_t nulls)
{
    struct str *slices = ARENA_ARRAY(&arena, struct str, count + nulls);

    for (size_t i = 0; i < count + nulls; i++) {
        char name[32];

        snprintf(name, sizeof(name), "p%06zu", 999999 - i);
        slices[i] = a_slice(name,
            &(struct value){ .type = i < count ? PROPERTY_INT32 : PROPERTY_NULL, .integer = (int64_t)i });
    }
    return slices;
}

START_TEST(an_entity_has_at_most_252_properties_that_are_not_null)
{
    expect(many(LIMIT_PROPERTIES, 0), LIMIT_PROPERTIES, NULL);
    expect(many(LIMIT_PROPERTIES, 9748), 10000, NULL);
    expect(many(LIMIT_PROPERTIES + 1, 0), LIMIT_PROPERTIES + 1, "TOO_MANY_PROPERTIES");
    expect(many(0, 10001), 10001, "TOO_MANY_PROPERTIES");
}
END_TEST

START_TEST(records_are_sorted_by_the_bytes_of_their_names)
{
    struct str slices[] = { a_string("b", 1), a_string("aa", 1), a_string("\xC3\xA4", 1), a_string("B", 1),
        a_string("a", 1) };
    static const char *const want[] = { "B", "a", "aa", "b", "\xC3\xA4" };
    struct property_list list;
    struct property property;
    struct str rest;

    ck_assert_int_eq(property_list_parse(slices, 5, &key, &arena, &list, NULL), STATUS_OK);

    rest = list.bytes;
    for (size_t i = 0; i < 5; i++) {
        ck_assert(property_next(&rest, &property));
        ck_assert_msg(str_equal(property.name, str_of(want[i])), "%zu", i);
    }
    ck_assert(!property_next(&rest, &property));
    ck_assert_uint_eq(rest.len, 0);
}
END_TEST

START_TEST(no_properties_are_an_empty_list)
{
    struct property_list list;

    ck_assert_int_eq(property_list_parse(NULL, 0, &key, &arena, &list, NULL), STATUS_OK);
    ck_assert_uint_eq(list.bytes.len, 0);
}
END_TEST

Suite *test_property_parse_suite(void)
{
    Suite *suite = suite_create("property_parse");
    TCase *tc = tcase_create("property_parse");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_record_becomes_its_canonical_bytes, 0, ARRAY_LEN(canonical_cases));
    tcase_add_loop_test(tc, a_refusal_names_its_reason_and_the_property, 0, ARRAY_LEN(refused_cases));
    tcase_add_test(tc, single_values_are_limited);
    tcase_add_test(tc, an_entity_too_large_is_reported_before_a_value_too_large);
    tcase_add_test(tc, an_entity_may_have_exactly_one_mebibyte);
    tcase_add_test(tc, an_entity_has_at_most_252_properties_that_are_not_null);
    tcase_add_test(tc, records_are_sorted_by_the_bytes_of_their_names);
    tcase_add_test(tc, no_properties_are_an_empty_list);
    suite_add_tcase(suite, tc);
    return suite;
}
