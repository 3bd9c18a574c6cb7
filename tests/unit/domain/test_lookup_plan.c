#include "domain/lookup_plan.h"

#include <check.h>
#include <stdlib.h>

#include "domain/index_plan.h"

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

static struct lookup_range planned(
    const struct index *index, const struct value *equals, size_t count, const struct value_range *range)
{
    struct lookup_range out;
    struct error err = { 0 };

    ck_assert_msg(
        lookup_plan(index, equals, count, range, &arena, &out, &err) == STATUS_OK, "%s", err.message);
    return out;
}

static enum status refused(const struct index *index, const struct value *equals, size_t count,
    const struct value_range *range, struct error *err)
{
    struct lookup_range out;

    return lookup_plan(index, equals, count, range, &arena, &out, err);
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

    check_interval(&range.keys.partition, NULL, NULL);
    check_interval(&range.keys.row, NULL, NULL);
}
END_TEST

START_TEST(a_bound_partition_is_a_point)
{
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("a/b") };
    struct lookup_range range = planned(&index, values, 1, NULL);

    ck_assert(interval_is_point(&range.keys.partition));
    check_interval(&range.keys.partition, "in:a.~Bb", "in:a.~Bb");
    check_interval(&range.keys.row, NULL, NULL);
}
END_TEST

START_TEST(further_values_are_a_prefix_of_the_row_key)
{
    struct index index = an_index(value_parts, 2);
    struct value values[] = { a_text("x"), a_text("Bonn"), an_int(5), a_text("p"), a_text("r") };
    struct lookup_range range = planned(&index, values, 2, NULL);

    check_interval(&range.keys.row, "Bonn  !", "Bonn  \"");
    ck_assert(range.keys.row.high_open);
    range = planned(&index, values, 5, NULL);
    check_interval(&range.keys.row, "Bonn  !!i00000000005  !p  !r", "Bonn  !!i00000000005  !p  !r");
    ck_assert(interval_is_point(&range.keys.row));
}
END_TEST

START_TEST(a_partition_of_literals_needs_no_value)
{
    struct index index = an_index(value_parts, 2);
    struct lookup_range range;

    index.partition_key = (struct key_parts){ literal_part, 1 };
    range = planned(&index, NULL, 0, NULL);
    check_interval(&range.keys.partition, "all", "all");
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
    check_interval(&range.keys.partition, "!p ", "!p ");
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
    ck_assert_int_eq(index_project(index, &source, 1, (struct property_list){ buf_str(&properties) }, &arena,
                         &entry, &why),
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

static void check_law(const struct index *index, const char *name, const struct value *bound,
    size_t bound_count, const struct value *values, size_t count)
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
                "entry '%.*s', low '%.*s', high '%.*s'", STR_ARG(entries[v].row), STR_ARG(plan.keys.row.low),
                STR_ARG(plan.keys.row.high));
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

Suite *test_lookup_plan_suite(void)
{
    Suite *suite = suite_create("lookup_plan");
    TCase *tc = tcase_create("lookup_plan");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, nothing_bound_is_the_whole_index);
    tcase_add_test(tc, a_bound_partition_is_a_point);
    tcase_add_test(tc, further_values_are_a_prefix_of_the_row_key);
    tcase_add_test(tc, a_partition_of_literals_needs_no_value);
    tcase_add_test(tc, the_same_partition_is_taken_as_it_is);
    tcase_add_test(tc, what_cannot_be_planned_names_the_part);
    tcase_add_test(tc, ranges_hold_exactly_their_values);
    suite_add_tcase(suite, tc);
    return suite;
}
