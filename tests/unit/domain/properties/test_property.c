/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of domain/properties/property.c and of values: walk, find, merge and select, against a naive model. */
#include "domain/properties/property.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/wire.h"
#include "domain/keys/entity_key.h"
#include "domain/limits.h"
#include "domain/ticks.h"

enum { NAMES = 12 };

static struct arena arena;
static const struct entity_key key = { { "p", 1 }, { "r", 1 } };
static char names[NAMES][8];

static void setup(void)
{
    arena_init(&arena);
    for (size_t i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof(names[i]), "n%02zu", i % 100);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* The model: the value of each name, or absent. */
struct model {
    bool has[NAMES];
    int32_t values[NAMES];
};

static struct property_list a_list(const struct model *model)
{
    struct buf out;
    struct property_builder builder = { .out = &out };

    buf_init(&out, &arena);
    for (size_t i = 0; i < NAMES; i++)
        if (model->has[i])
            property_build(&builder, str_of(names[i]),
                &(struct value){ .type = PROPERTY_INT32, .integer = model->values[i] });
    return (struct property_list){ .bytes = buf_str(&out) };
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static struct model a_random_model(uint64_t *state)
{
    struct model model = { .has = { false } };

    for (size_t i = 0; i < NAMES; i++) {
        model.has[i] = next_random(state) % 2;
        model.values[i] = (int32_t)(next_random(state) % 1000);
    }
    return model;
}

static bool same(struct property_list list, const struct model *model)
{
    return str_equal(list.bytes, a_list(model).bytes);
}

START_TEST(a_merge_is_what_the_model_says)
{
    uint64_t state = 20240117;

    for (int round = 0; round < 500; round++) {
        struct model base = a_random_model(&state), changes = a_random_model(&state), want = base;

        for (size_t i = 0; i < NAMES; i++)
            if (changes.has[i]) {
                want.has[i] = true;
                want.values[i] = changes.values[i];
            }

        ck_assert(same(property_list_merge(a_list(&base), a_list(&changes), &arena), &want));
    }
}
END_TEST

START_TEST(a_selection_is_what_the_model_says)
{
    uint64_t state = 4711;

    for (int round = 0; round < 500; round++) {
        struct model base = a_random_model(&state), want = { .has = { false } };
        struct str wanted[NAMES];
        size_t count = next_random(&state) % NAMES;

        for (size_t i = 0; i < count; i++) { /* in any order, also twice */
            size_t pick = next_random(&state) % NAMES;

            wanted[i] = str_of(names[pick]);
            want.has[pick] = base.has[pick];
            want.values[pick] = base.values[pick];
        }

        ck_assert(same(property_list_select(a_list(&base), wanted, count, &arena), &want));
    }
}
END_TEST

/* Heads of any size, taken one after the other, are the list. */
START_TEST(a_head_has_as_many_properties_as_fit_but_one_at_least)
{
    uint64_t state = 17;

    for (int round = 0; round < 100; round++) {
        struct model base = a_random_model(&state);
        struct property_list rest = a_list(&base);
        size_t max_bytes = next_random(&state) % 100;

        while (rest.bytes.len > 0) {
            struct property_list head = property_list_head(rest, max_bytes);
            struct str first = rest.bytes, next = str_from(rest.bytes, head.bytes.len);
            struct property property;

            ck_assert(property_next(&first, &property));
            ck_assert(head.bytes.len <= max_bytes || head.bytes.len == property.record.len);
            if (property_next(&next, &property)) /* the next one does not fit */
                ck_assert_uint_gt(head.bytes.len + property.record.len, max_bytes);
            rest.bytes = str_from(rest.bytes, head.bytes.len);
        }
        ck_assert_uint_eq(property_list_head(rest, max_bytes).bytes.len, 0);
    }
}
END_TEST

START_TEST(finding_is_what_the_model_says)
{
    uint64_t state = 99;

    for (int round = 0; round < 100; round++) {
        struct model base = a_random_model(&state);
        struct property property;

        for (size_t i = 0; i < NAMES; i++) {
            ck_assert(property_find(a_list(&base), str_of(names[i]), &property) == base.has[i]);
            if (base.has[i])
                ck_assert_int_eq(property.value.integer, base.values[i]);
        }
        ck_assert(!property_find(a_list(&base), STR_LITERAL("n"), &property));
        ck_assert(!property_find(a_list(&base), STR_LITERAL("n99"), &property));
    }
}
END_TEST

static const struct value value_cases[] = {
    { .type = PROPERTY_STRING, .bytes = { "", 0 } },
    { .type = PROPERTY_STRING, .bytes = { "text", 4 } },
    { .type = PROPERTY_BOOLEAN, .integer = 0 },
    { .type = PROPERTY_BOOLEAN, .integer = 1 },
    { .type = PROPERTY_INT32, .integer = INT32_MIN },
    { .type = PROPERTY_INT32, .integer = INT32_MAX },
    { .type = PROPERTY_INT64, .integer = INT64_MIN },
    { .type = PROPERTY_INT64, .integer = INT64_MAX },
    { .type = PROPERTY_DOUBLE, .number = -0.0 },
    { .type = PROPERTY_DOUBLE, .number = 1.5e300 },
    { .type = PROPERTY_DOUBLE, .number = -INFINITY },
    { .type = PROPERTY_DATETIME, .integer = 0 },
    { .type = PROPERTY_DATETIME, .integer = INT64_C(116444736000000000) },
    { .type = PROPERTY_DATETIME, .integer = TICKS_MAX },
    { .type = PROPERTY_GUID, .bytes = { "c9da6455-213d-42c9-9a79-3e9149a57833", 36 } },
    { .type = PROPERTY_BINARY, .bytes = { "\xff\x00", 2 } },
};

static void check_value(const struct value *got, const struct value *want)
{
    ck_assert_int_eq(got->type, want->type);
    ck_assert(str_equal(got->bytes, want->bytes));
    ck_assert_int_eq(got->integer, want->integer);
    ck_assert(got->number == want->number && signbit(got->number) == signbit(want->number));
}

/* A walk for ascending names, some of them not there, finds what a search for each one finds. */
START_TEST(seeking_passes_the_list_once)
{
    uint64_t state = 7;

    for (int round = 0; round < 100; round++) {
        struct model base = a_random_model(&state);
        struct str rest = a_list(&base).bytes;
        struct property property;

        for (size_t i = 0; i < NAMES; i += 1 + next_random(&state) % 3) {
            struct str before = rest;
            bool found = property_seek(&rest, str_of(names[i]), &property);

            ck_assert(found == base.has[i]);
            ck_assert(rest.len <= before.len);
            if (found)
                ck_assert_int_eq(property.value.integer, base.values[i]);
        }
        ck_assert(!property_seek(&rest, STR_LITERAL("zz"), &property));
        ck_assert_uint_eq(rest.len, 0);
    }
}
END_TEST

static struct str next_bytes(struct str *message)
{
    struct wire_field field;

    ck_assert_int_eq(wire_read_field(message, &field), WIRE_FIELD);
    ck_assert_int_eq(field.type, WIRE_BYTES);
    return field.bytes;
}

/* The Value message in a record: behind the name. */
static struct str message_in(struct str record)
{
    struct str content = next_bytes(&record);

    (void)next_bytes(&content);
    return next_bytes(&content);
}

START_TEST(a_value_is_read_back_from_a_list_and_from_a_message)
{
    struct buf list;
    struct property_builder builder = { .out = &list };
    struct property property;
    struct value value;
    struct str rest;

    buf_init(&list, &arena);
    property_build(&builder, STR_LITERAL("$Any name"), &value_cases[_i]);
    rest = buf_str(&list);

    ck_assert(property_next(&rest, &property));
    ck_assert(str_equal(property.name, STR_LITERAL("$Any name")));
    ck_assert(str_equal(property.record, buf_str(&list)));
    check_value(&property.value, &value_cases[_i]);
    ck_assert_int_eq(value_parse(message_in(property.record), &value, &arena, NULL), STATUS_OK);
    check_value(&value, &value_cases[_i]);
}
END_TEST

START_TEST(a_null_is_not_built)
{
    struct buf out;
    struct property_builder builder = { .out = &out };
    struct value value = { .type = PROPERTY_NULL };

    buf_init(&out, &arena);
    property_build(&builder, STR_LITERAL("a"), &value);

    ck_assert_uint_eq(out.len, 0);
    ck_assert_int_eq(value_parse(STR_EMPTY, &value, &arena, NULL), STATUS_OK);
    ck_assert_int_eq(value.type, PROPERTY_NULL);
}
END_TEST

START_TEST(names_out_of_order_are_a_broken_promise)
{
    struct buf out;
    struct property_builder builder = { .out = &out };
    struct value value = { .type = PROPERTY_BOOLEAN };

    buf_init(&out, &arena);
    property_build(&builder, STR_LITERAL("b"), &value);
    property_build(&builder, STR_LITERAL("a"), &value);
}
END_TEST

/* Every cut of a good list, and every byte of it changed: the walk ends, it does not overrun. */
START_TEST(broken_bytes_end_the_walk)
{
    struct buf list;
    struct property_builder builder = { .out = &list };

    buf_init(&list, &arena);
    for (size_t i = 0; i < NAMES; i++)
        property_build(&builder, str_of(names[i]), &value_cases[i]);

    for (size_t len = 0; len < list.len; len++)
        for (int flip = 0; flip < 256; flip += 5) {
            char *copy = xmalloc(list.len);
            struct str rest = str_of_bytes(copy, len);
            struct property property;
            int seen = 0;

            memcpy(copy, list.data, list.len);
            copy[len / 2] = (char)(copy[len / 2] ^ flip);
            while (property_next(&rest, &property))
                seen++;
            ck_assert_msg(seen < NAMES, "a cut list has fewer");
            free(copy);
        }
}
END_TEST

START_TEST(a_merged_list_is_checked_against_the_limits)
{
    struct buf list;
    struct property_builder builder = { .out = &list };
    struct error err = { 0 };
    char many[LIMIT_PROPERTIES + 1][24];

    buf_init(&list, &arena);
    for (size_t i = 0; i <= LIMIT_PROPERTIES; i++) {
        snprintf(many[i], sizeof(many[i]), "n%04zu", i);
        if (i == LIMIT_PROPERTIES)
            ck_assert_int_eq(
                property_list_check((struct property_list){ buf_str(&list) }, &key, &err), STATUS_OK);
        property_build(&builder, str_of(many[i]), &value_cases[3]);
    }
    ck_assert_int_eq(
        property_list_check((struct property_list){ buf_str(&list) }, &key, &err), STATUS_INVALID);
    ck_assert_str_eq(err.reason, "TOO_MANY_PROPERTIES");
}
END_TEST

/* 8 for the keys; 8 + 2 for each name, 4 + 1 per byte of the binary, 4 + 2 per unit of the string. */
START_TEST(a_merged_entity_is_limited_in_size)
{
    const size_t units = (LIMIT_ENTITY_BYTES - 36) / 2;
    char *text = arena_alloc(&arena, 2 * units);
    struct error err = { 0 };

    for (size_t i = 0; i < units; i++)
        memcpy(text + 2 * i, "\xC3\xA4", 2);
    for (size_t extra = 0; extra < 2; extra++) {
        struct buf list;
        struct property_builder builder = { .out = &list };

        buf_init(&list, &arena);
        property_build(
            &builder, STR_LITERAL("b"), &(struct value){ .type = PROPERTY_BINARY, .bytes = { "x", extra } });
        property_build(&builder, STR_LITERAL("s"),
            &(struct value){ .type = PROPERTY_STRING, .bytes = { text, 2 * units } });
        ck_assert_int_eq(property_list_check((struct property_list){ buf_str(&list) }, &key, &err),
            extra ? STATUS_INVALID : STATUS_OK);
    }
    ck_assert_str_eq(err.reason, "ENTITY_TOO_LARGE");
}
END_TEST

START_TEST(types_have_their_names)
{
    ck_assert_str_eq(property_type_name(PROPERTY_NULL), "null");
    ck_assert_str_eq(property_type_name(PROPERTY_INT32), "Edm.Int32");
    ck_assert_str_eq(property_type_name(PROPERTY_BINARY), "Edm.Binary");
}
END_TEST

Suite *test_property_suite(void)
{
    Suite *suite = suite_create("property");
    TCase *tc = tcase_create("property");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_merge_is_what_the_model_says);
    tcase_add_test(tc, a_selection_is_what_the_model_says);
    tcase_add_test(tc, a_head_has_as_many_properties_as_fit_but_one_at_least);
    tcase_add_test(tc, finding_is_what_the_model_says);
    tcase_add_test(tc, seeking_passes_the_list_once);
    tcase_add_loop_test(tc, a_value_is_read_back_from_a_list_and_from_a_message, 0, ARRAY_LEN(value_cases));
    tcase_add_test(tc, a_null_is_not_built);
    if (!getenv(
            "CK_FORK")) /* a signal ends the process of the test, which is this process if check does not fork */
        tcase_add_test_raise_signal(tc, names_out_of_order_are_a_broken_promise, SIGABRT);
    tcase_add_test(tc, broken_bytes_end_the_walk);
    tcase_add_test(tc, a_merged_list_is_checked_against_the_limits);
    tcase_add_test(tc, a_merged_entity_is_limited_in_size);
    tcase_add_test(tc, types_have_their_names);
    suite_add_tcase(suite, tc);
    return suite;
}
