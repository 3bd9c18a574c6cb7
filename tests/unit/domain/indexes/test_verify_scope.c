/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are stored, read again and planned as the look-up of them is; the scope begins and ends around its entries.
 */
#include "domain/indexes/verify_scope.h"

#include <check.h>

#include "base/macros.h"
#include "domain/indexes/index_plan.h"

static struct arena arena;
static struct key_part city_part[] = { { .text = { "City", 4 } } };
static struct key_part age_part[] = { { .text = { "Age", 3 } } };
static const struct index by_city = { .index_id = 9,
    .source_table_id = 5,
    .shape = INDEX_COPY,
    .place = PLACE_OTHER_PARTITION,
    .partition_key = { city_part, 1 },
    .row_key = { age_part, 1 },
    .projection = PROJECT_KEYS_ONLY };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct value a_text(const char *text)
{
    return (struct value){ .type = PROPERTY_STRING, .bytes = str_of(text) };
}

static struct value an_int(int64_t number)
{
    return (struct value){ .type = PROPERTY_INT32, .integer = number };
}

static struct verify_scope scope_of(struct value city, const struct value *from, const struct value *below)
{
    struct operation_lookup values = { .equals = &city, .equal_count = 1 };
    struct verify_scope scope;
    struct error err = { 0 };

    if (from)
        values.range = (struct value_range){ true, below != NULL, *from, below ? *below : *from };
    ck_assert_msg(
        verify_scope_plan(&by_city, verify_scope_encode(&values, &arena), &arena, &scope, &err) == STATUS_OK,
        "%s", err.message);
    return scope;
}

static struct entity_key entry_of(const char *city, int64_t age)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };
    const struct value age_value = an_int(age), city_value = a_text(city);
    struct entity entity = { .key = { STR_LITERAL("p"), STR_LITERAL("r") } };
    struct index_entry entry;

    buf_init(&out, &arena);
    property_build(&builder, STR_LITERAL("Age"), &age_value);
    property_build(&builder, STR_LITERAL("City"), &city_value);
    entity.properties = (struct property_list){ buf_str(&out) };
    ck_assert_int_eq(index_plan_project(&by_city, &entity, &arena, &entry, NULL), PROJECTED);
    return entry.key;
}

START_TEST(without_values_every_entry_is_meant)
{
    struct verify_scope scope;
    struct error err = { 0 };
    struct entity_key entry = entry_of("Rome", 5);

    ck_assert_uint_eq(verify_scope_encode(&(struct operation_lookup){ 0 }, &arena).len, 0);
    ck_assert_int_eq(verify_scope_plan(&by_city, STR_EMPTY, &arena, &scope, &err), STATUS_OK);
    ck_assert(
        !scope.is_limited && verify_scope_holds(&scope, &entry) && !verify_scope_has_passed(&scope, &entry));
    ck_assert_uint_eq(verify_scope_begin(&scope).partition.len, 0);
}
END_TEST

/* Rome from 10 to below 20. */
static const struct place {
    const char *city;
    int age;
    bool holds, has_passed;
} places[] = {
    { "Oslo", 15, false, false },
    { "Rome", 9, false, false },
    { "Rome", 10, true, false },
    { "Rome", 19, true, false },
    { "Rome", 20, false, true },
    { "Sofia", 15, false, true },
};

START_TEST(entries_are_within_before_or_behind)
{
    const struct place *place = &places[_i];
    struct value from = an_int(10), below = an_int(20);
    struct verify_scope scope = scope_of(a_text("Rome"), &from, &below);
    struct entity_key entry = entry_of(place->city, place->age), begin = verify_scope_begin(&scope);

    ck_assert_int_eq(verify_scope_holds(&scope, &entry), place->holds);
    if (place->holds)
        ck_assert_int_ge(entity_key_compare(&entry, &begin), 0);
    if (verify_scope_has_passed(&scope, &entry))
        ck_assert(place->has_passed);
}
END_TEST

START_TEST(what_a_look_up_refuses_is_refused)
{
    struct value two[] = { a_text("Rome"), an_int(1), an_int(2), an_int(3), an_int(4) };
    struct operation_lookup values = { .equals = two, .equal_count = ARRAY_LEN(two) };
    struct verify_scope scope;
    struct error err = { 0 };

    ck_assert_int_eq(verify_scope_plan(&by_city, verify_scope_encode(&values, &arena), &arena, &scope, &err),
        STATUS_INVALID);
}
END_TEST

Suite *test_verify_scope_suite(void)
{
    Suite *suite = suite_create("verify_scope");
    TCase *tc = tcase_create("verify_scope");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, without_values_every_entry_is_meant);
    tcase_add_loop_test(tc, entries_are_within_before_or_behind, 0, ARRAY_LEN(places));
    tcase_add_test(tc, what_a_look_up_refuses_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
