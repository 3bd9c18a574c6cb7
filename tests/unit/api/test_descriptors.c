/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the derived protos: protoc-c must see the public messages, strings and maps aside.
 *
 * The two descriptor sets are walked as wire fields and compared message by message, field by field.
 */
#include <check.h>

#include "base/wire.h"
#include "proto/derived_descriptors.h"
#include "proto/public_descriptors.h"

enum { MOST = 256 };
enum { SET_FILE = 1, FILE_MESSAGE = 4, FILE_ENUM = 5, FILE_SERVICE = 6 };
enum { MESSAGE_FIELD = 2, MESSAGE_NESTED = 3, MESSAGE_ENUM = 4, MESSAGE_OPTIONS = 7, MESSAGE_ONEOF = 8 };
enum { OPTIONS_MAP_ENTRY = 7 };
enum { NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5, FIELD_TYPE_NAME = 6, FIELD_ONEOF = 9 };
enum { TYPE_STRING = 9, TYPE_MESSAGE = 11, TYPE_BYTES = 12, LABEL_REPEATED = 3 };

struct list {
    struct str items[MOST];
    size_t count;
};

static struct list children(struct str message, uint32_t number)
{
    struct list out = { .count = 0 };
    struct wire_field field;

    while (wire_read_field(&message, &field) == WIRE_FIELD) {
        if (field.number == number && field.type == WIRE_BYTES) {
            ck_assert_uint_lt(out.count, MOST);
            out.items[out.count++] = field.bytes;
        }
    }
    return out;
}

static uint64_t number_of(struct str message, uint32_t number)
{
    struct wire_field field;

    while (wire_read_field(&message, &field) == WIRE_FIELD) {
        if (field.number == number && field.type == WIRE_VARINT)
            return field.scalar + 1;
    }
    return 0;
}

static struct str text_of(struct str message, uint32_t number)
{
    struct list found = children(message, number);

    return found.count > 0 ? found.items[0] : STR_EMPTY;
}

static bool is_map_entry(struct str message)
{
    return number_of(text_of(message, MESSAGE_OPTIONS), OPTIONS_MAP_ENTRY) == 2;
}

/* Is this field's type one of the map entries nested in its message? */
static bool is_map(struct str message, struct str field)
{
    struct list nested = children(message, MESSAGE_NESTED);
    struct str type = text_of(field, FIELD_TYPE_NAME);

    for (size_t i = 0; i < nested.count; i++) {
        struct str name = text_of(nested.items[i], NAME);

        if (is_map_entry(nested.items[i]) && type.len > name.len &&
            str_equal(str_from(type, type.len - name.len), name))
            return true;
    }
    return false;
}

static uint64_t derived_type(struct str message, struct str field)
{
    uint64_t type = number_of(field, FIELD_TYPE) - 1;

    if (type == TYPE_STRING || (type == TYPE_MESSAGE && is_map(message, field)))
        return TYPE_BYTES;
    return type;
}

static void compare_field(struct str message, struct str public, struct str derived)
{
    struct str name = text_of(public, NAME);

    ck_assert_msg(str_equal(name, text_of(derived, NAME)), "%.*s has another name", STR_ARG(name));
    ck_assert_uint_eq(number_of(public, FIELD_NUMBER), number_of(derived, FIELD_NUMBER));
    ck_assert_uint_eq(number_of(public, FIELD_LABEL), number_of(derived, FIELD_LABEL));
    ck_assert_uint_eq(number_of(public, FIELD_ONEOF), number_of(derived, FIELD_ONEOF));
    ck_assert_msg(derived_type(message, public) == number_of(derived, FIELD_TYPE) - 1,
        "%.*s has another type", STR_ARG(name));
    if (derived_type(message, public) != TYPE_BYTES)
        ck_assert(str_equal(text_of(public, FIELD_TYPE_NAME), text_of(derived, FIELD_TYPE_NAME)));
}

static void compare_equal(struct str public, struct str derived, uint32_t number)
{
    struct list wanted = children(public, number);
    struct list got = children(derived, number);

    ck_assert_uint_eq(wanted.count, got.count);
    for (size_t i = 0; i < wanted.count; i++)
        ck_assert(str_equal(wanted.items[i], got.items[i]));
}

static void compare_messages(struct str public, struct str derived, uint32_t number, int *fields);

static void compare_message(struct str public, struct str derived, int *fields)
{
    struct list wanted = children(public, MESSAGE_FIELD);
    struct list got = children(derived, MESSAGE_FIELD);

    ck_assert(str_equal(text_of(public, NAME), text_of(derived, NAME)));
    ck_assert_uint_eq(wanted.count, got.count);
    for (size_t i = 0; i < wanted.count; i++)
        compare_field(public, wanted.items[i], got.items[i]);
    *fields += (int)wanted.count;
    compare_equal(public, derived, MESSAGE_ENUM);
    compare_equal(public, derived, MESSAGE_ONEOF);
    compare_messages(public, derived, MESSAGE_NESTED, fields);
}

static void compare_messages(struct str public, struct str derived, uint32_t number, int *fields)
{
    struct list wanted = children(public, number);
    struct list got = children(derived, number);
    size_t next = 0;

    for (size_t i = 0; i < wanted.count; i++) {
        if (is_map_entry(wanted.items[i]))
            continue;
        ck_assert_uint_lt(next, got.count);
        compare_message(wanted.items[i], got.items[next++], fields);
    }
    ck_assert_uint_eq(next, got.count);
}

START_TEST(derived_messages_are_the_public_ones)
{
    struct list public = children(str_of_bytes(public_descriptors, public_descriptors_bytes), SET_FILE);
    struct list derived = children(str_of_bytes(derived_descriptors, derived_descriptors_bytes), SET_FILE);
    int fields = 0;

    ck_assert_uint_eq(public.count, derived.count);
    for (size_t i = 0; i < public.count; i++) {
        struct str name = text_of(public.items[i], NAME);
        size_t j = 0;

        while (j < derived.count && !str_equal(text_of(derived.items[j], NAME), name))
            j++;
        ck_assert_msg(j < derived.count, "%.*s is not derived", STR_ARG(name));
        compare_equal(public.items[i], derived.items[j], FILE_ENUM);
        compare_messages(public.items[i], derived.items[j], FILE_MESSAGE, &fields);
    }

    ck_assert_int_gt(fields, 150);
}
END_TEST

START_TEST(derived_protos_have_no_services)
{
    struct list derived = children(str_of_bytes(derived_descriptors, derived_descriptors_bytes), SET_FILE);

    for (size_t i = 0; i < derived.count; i++)
        ck_assert_uint_eq(children(derived.items[i], FILE_SERVICE).count, 0);
}
END_TEST

Suite *test_descriptors_suite(void)
{
    Suite *suite = suite_create("descriptors");
    TCase *tc = tcase_create("descriptors");

    tcase_add_test(tc, derived_messages_are_the_public_ones);
    tcase_add_test(tc, derived_protos_have_no_services);
    suite_add_tcase(suite, tc);
    return suite;
}
