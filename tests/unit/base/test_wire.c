/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/wire.c.
 */
#include "base/macros.h"
#include "base/wire.h"

#include <check.h>

static const uint64_t varints[] = { 0, 1, 127, 128, 300, UINT32_MAX, INT64_MAX, UINT64_MAX };

START_TEST(a_varint_is_read_back)
{
    struct buf buf;
    struct str rest;
    uint64_t value = 0;

    buf_init(&buf, NULL);
    wire_write_varint(&buf, varints[_i]);
    ck_assert_uint_eq(buf.len, wire_varint_bytes(varints[_i]));
    rest = buf_str(&buf);

    ck_assert(wire_read_varint(&rest, &value));

    ck_assert_uint_eq(value, varints[_i]);
    ck_assert_uint_eq(rest.len, 0);
    buf_cleanup(&buf);
}
END_TEST

static const struct malformed_case {
    const char *name;
    struct str bytes;
} malformed_cases[] = {
    { "field number 0", STR_LITERAL("\x02\x01\x01") },
    { "length past the end", STR_LITERAL("\x0a\x05"
                                         "ab") },
    { "unfinished varint", STR_LITERAL("\x08\xff") },
    { "varint over 64 bits", STR_LITERAL("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02") },
    { "a group", STR_LITERAL("\x0b\x0c") },
    { "short fixed64", STR_LITERAL("\x09\x01\x02") },
};

START_TEST(malformed_fields_are_refused)
{
    const struct malformed_case *c = &malformed_cases[_i];
    struct str rest = c->bytes;
    struct wire_field field;

    ck_assert_msg(wire_read_field(&rest, &field) == WIRE_MALFORMED, "%s", c->name);
    ck_assert_uint_eq(rest.len, c->bytes.len);
}
END_TEST

Suite *test_wire_suite(void)
{
    Suite *suite = suite_create("wire");
    TCase *tc = tcase_create("wire");

    tcase_add_loop_test(tc, a_varint_is_read_back, 0, ARRAY_LEN(varints));
    tcase_add_loop_test(tc, malformed_fields_are_refused, 0, ARRAY_LEN(malformed_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
