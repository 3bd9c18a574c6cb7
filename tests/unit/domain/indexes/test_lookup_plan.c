/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/lookup_plan.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/filter/filter.h"
#include "domain/indexes/index_plan.h"

static struct arena arena;

static struct key_part country_part[] = { { .is_literal = true, .text = { "in:", 3 } },
    { .text = { "Country", 7 } } };
static struct key_part literal_part[] = { { .is_literal = true, .text = { "all", 3 } } };
static struct key_part value_parts[] = { { .text = { "City", 4 } }, { .text = { "Age", 3 } } };
static struct key_part inverted_parts[] = { { .text = { "Age", 3 }, .inverted = true } };
static struct key_part partition_part[] = { { .text = { "PartitionKey", 12 } } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct index an_index(struct key_part *row_parts, size_t row_count)
{
    return (struct index){ .index_id = 9,
        .source_table_id = 5,
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { country_part, 2 },
        .row_key = { row_parts, row_count },
        .projection = PROJECT_KEYS_ONLY };
}

static struct value a_text(const char *text)
{
    return (struct value){ .type = PROPERTY_STRING, .bytes = str_of(text) };
}

static struct value an_int(int64_t number)
{
    return (struct value){ .type = PROPERTY_INT32, .integer = number };
}

/* range: NULL for none. */
static struct operation_lookup a_lookup(struct value *equals, size_t count, const struct value_range *range)
{
    struct operation_lookup in = { .equals = equals, .equal_count = count };

    if (range)
        in.range = *range;
    return in;
}

static struct lookup_range planned(
    const struct index *index, struct value *equals, size_t count, const struct value_range *range)
{
    struct operation_lookup in = a_lookup(equals, count, range);
    struct lookup_range out;
    struct error err = { 0 };

    ck_assert_msg(lookup_plan(index, &in, &arena, &out, &err) == STATUS_OK, "%s", err.message);
    return out;
}

static enum status refused(const struct index *index, struct value *equals, size_t count,
    const struct value_range *range, struct error *err)
{
    struct operation_lookup in = a_lookup(equals, count, range);
    struct lookup_range out;

    return lookup_plan(index, &in, &arena, &out, err);
}

static void check_interval(const struct interval *got, const char *low, const char *high)
{
    ck_assert_msg(got->has_low == (low != NULL) && (!low || str_equal(got->low, str_of(low))), "low: %.*s",
        STR_ARG(got->low));
    ck_assert_msg(got->has_high == (high != NULL) && (!high || str_equal(got->high, str_of(high))),
        "high: %.*s", STR_ARG(got->high));
}

START_TEST(nothing_bound_is_the_whole_index)
{
    struct index index = an_index(value_parts, 2);
    struct lookup_range range = planned(&index, NULL, 0, NULL);

    check_interval(&range.keys[0].partition, NULL, NULL);
    check_interval(&range.keys[0].row, NULL, NULL);
}
END_TEST

START_TEST(a_bound_partition_is_a_point)
{
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("a/b") };
    struct lookup_range range = planned(&index, values, 1, NULL);

    ck_assert(interval_is_point(&range.keys[0].partition));
    check_interval(&range.keys[0].partition, "in:a.~Bb", "in:a.~Bb");
    check_interval(&range.keys[0].row, NULL, NULL);
}
END_TEST

START_TEST(further_values_are_a_prefix_of_the_row_key)
{
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("x"), a_text("Bonn"), an_int(5), a_text("p"), a_text("r") };
    struct lookup_range range = planned(&index, values, 2, NULL);

    check_interval(&range.keys[0].row, "Bonn  !", "Bonn  \"");
    ck_assert(range.keys[0].row.high_open);
    values[2] = a_text("5");
    range = planned(&index, values, 5, NULL);
    check_interval(&range.keys[0].row, "Bonn  !5  !p  !r", "Bonn  !5  !p  !r");
    ck_assert(interval_is_point(&range.keys[0].row));
}
END_TEST

static struct key_part folded_parts[] = { { .text = { "City", 4 }, .fold_case = true } };

START_TEST(values_and_ends_are_folded_as_entries_are)
{
    struct index index = an_index(folded_parts, 1), partitions = an_index(value_parts, 1);
    struct value values[] = { a_text("X"), a_text("BONN") };
    struct value_range names = { true, true, a_text("Bonn"), a_text("C\xC3\x89") };
    struct value_range backwards = { true, true, a_text("a"), a_text("B") };
    struct lookup_range range = planned(&index, values, 2, NULL);

    check_interval(&range.keys[0].partition, "in:X", "in:X");
    check_interval(&range.keys[0].row, "bonn  !", "bonn  \"");
    range = planned(&index, values, 1, &names);
    check_interval(&range.keys[0].row, "bonn", "c\xC3\xA9");
    range = planned(&index, values, 1, &backwards);
    check_interval(&range.keys[0].row, "a", "b");
    partitions.partition_key = (struct key_parts){ folded_parts, 1 };
    range = planned(&partitions, values, 1, NULL);
    check_interval(&range.keys[0].partition, "x", "x");
    ck_assert(lookup_range_holds(&range, &(struct entity_key){ STR_LITERAL("x"), STR_LITERAL("r") }));
    ck_assert(!lookup_range_holds(&range, &(struct entity_key){ STR_LITERAL("X"), STR_LITERAL("r") }));
}
END_TEST

START_TEST(a_number_is_looked_up_as_all_that_it_widens_to)
{
    static const char *const rows[] = { "Bonn  !!dc014000000000000  !p  !r", "Bonn  !!i00000000005  !p  !r",
        "Bonn  !!l00000000000000000005  !p  !r" };
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("x"), a_text("Bonn"), an_int(5), a_text("p"), a_text("r") };
    struct lookup_range range = planned(&index, values, 5, NULL);

    ck_assert_uint_eq(range.count, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_interval(&range.keys[i].partition, "in:x", "in:x");
        check_interval(&range.keys[i].row, rows[i], rows[i]);
    }
}
END_TEST

START_TEST(a_look_up_has_so_many_ranges_and_no_more)
{
    struct key_part parts[7];
    struct value values[7];
    struct index index = an_index(parts, 6);
    struct lookup_range range;
    struct error err = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        parts[i] = (struct key_part){ .text = STR_LITERAL("Age") };
        values[i] = an_int(1);
    }
    index.partition_key = (struct key_parts){ literal_part, 1 };

    range = planned(&index, values, 6, NULL);
    ck_assert_uint_eq(range.count, 729);
    index.row_key.count = 7;
    ck_assert_int_eq(refused(&index, values, 7, NULL, &err), STATUS_INVALID);
    ck_assert_str_eq(err.meta[0].key, "limit");
}
END_TEST

START_TEST(a_partition_of_literals_needs_no_value)
{
    struct index index = an_index(value_parts, 2);
    struct lookup_range range;

    index.partition_key = (struct key_parts){ literal_part, 1 };
    range = planned(&index, NULL, 0, NULL);
    check_interval(&range.keys[0].partition, "all", "all");
}
END_TEST

START_TEST(the_same_partition_is_taken_as_it_is)
{
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("!p ") };
    struct lookup_range range;

    index.place = PLACE_SAME_PARTITION;
    index.partition_key = (struct key_parts){ partition_part, 1 };
    range = planned(&index, values, 1, NULL);
    check_interval(&range.keys[0].partition, "!p ", "!p ");
}
END_TEST

START_TEST(what_cannot_be_planned_names_the_part)
{
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("x"), a_text("Bonn"), an_int(1), a_text("p"), a_text("r"), an_int(2) };
    struct value null_second[] = { a_text("x"), { .type = PROPERTY_NULL } };
    struct value_range ranged = { .has_at_least = true, .at_least = an_int(1) };
    struct value_range mixed = { true, true, an_int(1), a_text("x") };
    struct error err = { 0 };

    ck_assert_int_eq(refused(&index, NULL, 0, &ranged, &err), STATUS_INVALID);
    ck_assert_str_eq(err.meta[0].value, "Country");
    ck_assert_int_eq(refused(&index, values, 6, NULL, &err), STATUS_INVALID);
    ck_assert_str_eq(err.meta[0].value, "5");
    ck_assert_int_eq(refused(&index, values, 5, &ranged, &err), STATUS_INVALID);
    ck_assert_int_eq(refused(&index, null_second, 2, NULL, &err), STATUS_INVALID);
    ck_assert_str_eq(err.meta[0].value, "City");
    ck_assert_int_eq(refused(&index, values, 2, &mixed, &err), STATUS_INVALID);
    ck_assert_str_eq(err.meta[0].value, "Age");
}
END_TEST

/* ---- the law: an entry is in the range exactly when its value is ---- */

static struct entity_key entry_of(const struct index *index, const struct value *value, const char *name)
{
    static const struct entity_key source = { { "p", 1 }, { "~r", 2 } };
    struct value country = a_text("x"), other = a_text("Bonn");
    struct index_entry entry;
    struct buf properties;
    struct property_builder builder = { .out = &properties, .last_name = STR_EMPTY };
    const char *why;

    buf_init(&properties, &arena);
    if (strcmp(name, "Age") == 0)
        property_build(&builder, str_of(name), value);
    property_build(&builder, STR_LITERAL("City"), strcmp(name, "City") == 0 ? value : &other);
    property_build(&builder, STR_LITERAL("Country"), &country);
    ck_assert_int_eq(
        index_plan_project(index,
            &(struct entity){
                .key = source, .timestamp = 1, .properties = (struct property_list){ buf_str(&properties) } },
            &arena, &entry, &why),
        PROJECTED);
    return entry.key;
}

/* a < b of the same type; 2: of another type. */
static int order_of(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return 2;
    if (a->type == PROPERTY_STRING)
        return str_compare(a->bytes, b->bytes) < 0 ? -1 : !str_equal(a->bytes, b->bytes);
    return (a->integer > b->integer) - (a->integer < b->integer);
}

static bool is_within(const struct value *value, const struct value_range *range)
{
    if (range->has_at_least &&
        (order_of(value, &range->at_least) == 2 || order_of(value, &range->at_least) < 0))
        return false;
    return !range->has_below || order_of(value, &range->below) == -1;
}

static void check_law(const struct index *index, const char *name, struct value *bound, size_t bound_count,
    const struct value *values, size_t count)
{
    struct entity_key *entries = ARENA_ARRAY(&arena, struct entity_key, count);

    for (size_t v = 0; v < count; v++)
        entries[v] = entry_of(index, &values[v], name);
    for (size_t i = 0; i < count * count * 3; i++) {
        struct value_range range = { i % 3 != 0, i % 3 != 1, values[i / 3 % count], values[i / 3 / count] };
        struct lookup_range plan;

        if (range.has_at_least && range.has_below && range.at_least.type != range.below.type)
            continue;
        plan = planned(index, bound, bound_count, &range);
        for (size_t v = 0; v < count; v++)
            ck_assert_msg(lookup_range_holds(&plan, &entries[v]) == is_within(&values[v], &range),
                "entry '%.*s', low '%.*s', high '%.*s'", STR_ARG(entries[v].row),
                STR_ARG(plan.count ? plan.keys[0].row.low : STR_EMPTY),
                STR_ARG(plan.count ? plan.keys[0].row.high : STR_EMPTY));
    }
}

START_TEST(ranges_hold_exactly_their_values)
{
    struct index by_value = an_index(value_parts, 1), by_age = an_index(value_parts, 2),
                 inverted = an_index(inverted_parts, 1);
    struct value bound[] = { a_text("x"), a_text("Bonn") };
    struct value values[] = { a_text(""), a_text("\n"), a_text(" "), a_text("  "), a_text(" a"), a_text("!"),
        a_text("!i"), a_text("\""), a_text("."), a_text(".~"), a_text("./"), a_text("/"), a_text("a"),
        a_text("a "), a_text("a a"), a_text("aa"), a_text("~"), a_text("~~"), a_text("\x7F"),
        a_text("\xC3\xA9"), an_int(INT32_MIN), an_int(-1), an_int(0), an_int(7), an_int(INT32_MAX) };

    check_law(&by_value, "City", bound, 1, values, ARRAY_LEN(values));
    check_law(&by_age, "Age", bound, 2, values, ARRAY_LEN(values));
    check_law(&inverted, "Age", bound, 1, values + 20, 5);
}
END_TEST

/* ---- the law of equality: a look-up finds what a filter finds ---- */

static const struct law_value {
    const char *literal; /* in a filter */
    struct value value;
} law_values[] = {
    { "-2147483648", { PROPERTY_INT32, { "", 0 }, INT32_MIN, 0 } },
    { "-1", { PROPERTY_INT32, { "", 0 }, -1, 0 } },
    { "0", { PROPERTY_INT32, { "", 0 }, 0, 0 } },
    { "5", { PROPERTY_INT32, { "", 0 }, 5, 0 } },
    { "2147483647", { PROPERTY_INT32, { "", 0 }, INT32_MAX, 0 } },
    { "-1L", { PROPERTY_INT64, { "", 0 }, -1, 0 } },
    { "0L", { PROPERTY_INT64, { "", 0 }, 0, 0 } },
    { "5L", { PROPERTY_INT64, { "", 0 }, 5, 0 } },
    { "9007199254740992L", { PROPERTY_INT64, { "", 0 }, INT64_C(9007199254740992), 0 } },
    { "9007199254740993L", { PROPERTY_INT64, { "", 0 }, INT64_C(9007199254740993), 0 } },
    { "9223372036854775807L", { PROPERTY_INT64, { "", 0 }, INT64_MAX, 0 } },
    { "-INF", { PROPERTY_DOUBLE, { "", 0 }, 0, -INFINITY } },
    { "-1.0", { PROPERTY_DOUBLE, { "", 0 }, 0, -1.0 } },
    { "-0.0", { PROPERTY_DOUBLE, { "", 0 }, 0, -0.0 } },
    { "0.0", { PROPERTY_DOUBLE, { "", 0 }, 0, 0.0 } },
    { "5.0", { PROPERTY_DOUBLE, { "", 0 }, 0, 5.0 } },
    { "5.5", { PROPERTY_DOUBLE, { "", 0 }, 0, 5.5 } },
    { "9007199254740992.0", { PROPERTY_DOUBLE, { "", 0 }, 0, 9007199254740992.0 } },
    { "INF", { PROPERTY_DOUBLE, { "", 0 }, 0, INFINITY } },
    { "'5'", { PROPERTY_STRING, { "5", 1 }, 0, 0 } },
    { "true", { PROPERTY_BOOLEAN, { "", 0 }, 1, 0 } },
    { "datetime'1601-01-01T00:00:00Z'", { PROPERTY_DATETIME, { "", 0 }, 0, 0 } },
};

/* Whether a filter finds an entity whose P is stored. */
static bool filter_finds(const char *text, const struct value *stored)
{
    const struct filter *filter;
    struct entity entity = { 0 };
    struct error err = { 0 };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, &arena);
    property_build(&builder, STR_LITERAL("P"), stored);
    entity.properties.bytes = buf_str(&out);
    ck_assert_msg(
        filter_compile(str_of(text), &arena, &filter, &err) == STATUS_OK, "%s: %s", text, err.message);
    return filter_matches(filter, &entity);
}

/* The entry of a source whose properties P and Q have this value. */
static bool has_entry(const struct index *index, const struct value *value, struct entity_key *out)
{
    static const struct entity_key source = { { "p", 1 }, { "r", 1 } };
    struct index_entry entry;
    struct buf properties;
    struct property_builder builder = { .out = &properties, .last_name = STR_EMPTY };
    const char *why;

    buf_init(&properties, &arena);
    property_build(&builder, STR_LITERAL("P"), value);
    property_build(&builder, STR_LITERAL("Q"), value);
    if (index_plan_project(index,
            &(struct entity){
                .key = source, .timestamp = 1, .properties = (struct property_list){ buf_str(&properties) } },
            &arena, &entry, &why) != PROJECTED)
        return false;
    *out = entry.key;
    return true;
}

static struct key_part number_parts[] = { { .text = { "P", 1 } }, { .text = { "Q", 1 } } };
static struct key_part inverted_number_parts[] = { { .text = { "P", 1 }, .inverted = true },
    { .text = { "Q", 1 }, .inverted = true } };
static struct key_part wide_parts[] = { { .text = { "P", 1 }, .width = 4 },
    { .text = { "Q", 1 }, .width = 4 } };
static struct key_part wide_inverted_parts[] = { { .text = { "P", 1 }, .width = 4, .inverted = true },
    { .text = { "Q", 1 }, .width = 4, .inverted = true } };
static struct key_part *const law_parts[] = { number_parts, inverted_number_parts, wide_parts,
    wide_inverted_parts };

/* P in the partition key, Q in the row key; or both in the row key. */
static struct index a_number_index(struct key_part *parts, bool apart)
{
    struct index index = an_index(apart ? parts + 1 : parts, apart ? 1 : 2);

    index.partition_key = apart ? (struct key_parts){ parts, 1 } : (struct key_parts){ literal_part, 1 };
    return index;
}

/* Ascending, and no key is in two of them. */
static void check_ranges(const struct lookup_range *range)
{
    for (size_t i = 0; i < range->count; i++) {
        const struct key_filter *keys = &range->keys[i], *before = keys - 1;

        ck_assert(interval_is_point(&keys->partition));
        if (i == 0 || !str_equal(before->partition.low, keys->partition.low))
            ck_assert(i == 0 || str_compare(before->partition.low, keys->partition.low) < 0);
        else
            ck_assert_int_le(str_compare(before->row.high, keys->row.low), 0);
    }
}

START_TEST(look_ups_equate_what_filters_equate)
{
    struct index index = a_number_index(law_parts[_i / 2], _i % 2);

    for (size_t i = 0; i < ARRAY_LEN(law_values) * ARRAY_LEN(law_values); i++) {
        const struct law_value *wanted = &law_values[i / ARRAY_LEN(law_values)];
        const struct value *stored = &law_values[i % ARRAY_LEN(law_values)].value;
        struct value equals[] = { wanted->value, wanted->value };
        char text[64];
        struct entity_key entry;
        struct lookup_range range;
        struct error err = { 0 };

        if (!has_entry(&index, stored, &entry) ||
            lookup_plan(&index, &(struct operation_lookup){ .equals = equals, .equal_count = 2 }, &arena,
                &range, &err) != STATUS_OK)
            continue;
        check_ranges(&range);
        snprintf(text, sizeof(text), "P eq %s", wanted->literal);
        ck_assert_msg(lookup_range_holds(&range, &entry) == filter_finds(text, stored),
            "%s, entry '%.*s|%.*s'", text, STR_ARG(entry.partition), STR_ARG(entry.row));
    }
}
END_TEST

/* A look-up finds only values that can be compared with its ends; a filter does so too if it has a lower end. */
START_TEST(ranges_hold_what_filters_find_between_their_ends)
{
    struct index index = a_number_index(law_parts[_i], false);
    size_t count = ARRAY_LEN(law_values);

    for (size_t i = 0; i < count * count * count; i++) {
        const struct law_value *low = &law_values[i % count], *high = &law_values[i / count % count];
        const struct value *stored = &law_values[i / count / count].value;
        struct value_range ends = { true, true, low->value, high->value };
        char text[128];
        struct entity_key entry;
        struct lookup_range range;
        struct error err = { 0 };

        if (low->value.type != high->value.type || !has_entry(&index, stored, &entry) ||
            lookup_plan(&index, &(struct operation_lookup){ .range = ends }, &arena, &range, &err) !=
                STATUS_OK)
            continue;
        check_ranges(&range);
        snprintf(text, sizeof(text), "P ge %s and P lt %s", low->literal, high->literal);
        ck_assert_msg(lookup_range_holds(&range, &entry) == filter_finds(text, stored), "%s, entry '%.*s'",
            text, STR_ARG(entry.row));
    }
}
END_TEST

static const struct bound_case {
    const char *name;
    struct value_range range;
    bool has_least, has_greatest; /* 0 and 9999 */
} bound_cases[] = {
    { "below 10000: all", { .has_below = true, .below = { PROPERTY_INT64, { "", 0 }, 10000, 0 } }, true,
        true },
    { "below the greatest Int64: all",
        { .has_below = true, .below = { PROPERTY_INT64, { "", 0 }, INT64_MAX, 0 } }, true, true },
    { "below 0: none", { .has_below = true, .below = { PROPERTY_INT64, { "", 0 }, 0, 0 } }, false, false },
    { "below -1: none", { .has_below = true, .below = { PROPERTY_INT64, { "", 0 }, -1, 0 } }, false, false },
    { "from -1 on: all", { .has_at_least = true, .at_least = { PROPERTY_INT64, { "", 0 }, -1, 0 } }, true,
        true },
    { "from 10000 on: none", { .has_at_least = true, .at_least = { PROPERTY_INT64, { "", 0 }, 10000, 0 } },
        false, false },
    { "from 9999 to 10000: the last one",
        { true, true, { PROPERTY_INT64, { "", 0 }, 9999, 0 }, { PROPERTY_INT64, { "", 0 }, 10000, 0 } },
        false, true },
    { "from -5 to 1: the first one",
        { true, true, { PROPERTY_INT64, { "", 0 }, -5, 0 }, { PROPERTY_INT64, { "", 0 }, 1, 0 } }, true,
        false },
    { "from -5 to 10000: all",
        { true, true, { PROPERTY_INT64, { "", 0 }, -5, 0 }, { PROPERTY_INT64, { "", 0 }, 10000, 0 } }, true,
        true },
};

START_TEST(an_end_beyond_the_width_is_an_end)
{
    const struct bound_case *c = &bound_cases[_i / 2];
    struct index index = a_number_index(_i % 2 ? wide_inverted_parts : wide_parts, false);
    struct value min = { PROPERTY_INT64, { "", 0 }, 0, 0 }, greatest = { PROPERTY_INT64, { "", 0 }, 9999, 0 };
    struct entity_key first, last;
    struct lookup_range range = planned(&index, NULL, 0, &c->range);

    ck_assert(has_entry(&index, &min, &first) && has_entry(&index, &greatest, &last));
    ck_assert_msg(lookup_range_holds(&range, &first) == c->has_least, "%s: 0", c->name);
    ck_assert_msg(lookup_range_holds(&range, &last) == c->has_greatest, "%s: 9999", c->name);
}
END_TEST

Suite *test_lookup_plan_suite(void)
{
    Suite *suite = suite_create("lookup_plan");
    TCase *tc = tcase_create("lookup_plan");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, nothing_bound_is_the_whole_index);
    tcase_add_test(tc, a_bound_partition_is_a_point);
    tcase_add_test(tc, further_values_are_a_prefix_of_the_row_key);
    tcase_add_test(tc, values_and_ends_are_folded_as_entries_are);
    tcase_add_test(tc, a_number_is_looked_up_as_all_that_it_widens_to);
    tcase_add_test(tc, a_look_up_has_so_many_ranges_and_no_more);
    tcase_add_test(tc, a_partition_of_literals_needs_no_value);
    tcase_add_test(tc, the_same_partition_is_taken_as_it_is);
    tcase_add_test(tc, what_cannot_be_planned_names_the_part);
    tcase_add_test(tc, ranges_hold_exactly_their_values);
    tcase_add_loop_test(tc, look_ups_equate_what_filters_equate, 0, 2 * ARRAY_LEN(law_parts));
    tcase_add_loop_test(tc, ranges_hold_what_filters_find_between_their_ends, 0, ARRAY_LEN(law_parts));
    tcase_add_loop_test(tc, an_end_beyond_the_width_is_an_end, 0, 2 * ARRAY_LEN(bound_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
