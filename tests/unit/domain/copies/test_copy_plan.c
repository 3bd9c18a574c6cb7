/* SPDX-License-Identifier: Apache-2.0 */
/* test_copy_plan.c - which copies an entity should have, and which writes make work. */
#include "domain/copies/copy_plan.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "base/macros.h"
#include "domain/limits.h"
#include "tests/support/builders.h"

enum { MANAGERS = 7 };

#define TEXT(s)                                                                                              \
    {                                                                                                        \
        (s), sizeof(s) - 1                                                                                   \
    }

static struct arena arena;
static struct copy_pair pairs[] = { { TEXT("ManagerCity"), TEXT("City") },
    { TEXT("ManagerName"), TEXT("Name") } };
static struct copy_rule rule;

/* Of the company "acme", the manager that the property Manager names. */
static void setup(void)
{
    arena_init(&arena);
    rule = (struct copy_rule){ .source_table_id = MANAGERS,
        .partition_key = { .is_literal = true, .text = STR_LITERAL("acme") },
        .row_key = { .text = STR_LITERAL("Manager") },
        .pairs = pairs,
        .pair_count = 2 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct row_state a_state(int64_t version, struct property_list properties)
{
    return (struct row_state){ .live = true, .version = version, .ts = version, .properties = properties };
}

#define a_row(version, ...) a_state(version, some_texts(&arena, __VA_ARGS__, (char *)NULL))

static struct row_state a_row_with(const char *name, struct value value)
{
    struct property_builder builder;
    struct buf out;

    buf_init(&out, &arena);
    builder = (struct property_builder){ .out = &out };
    property_build(&builder, str_of(name), &value);
    return a_state(1, (struct property_list){ buf_str(&out) });
}

static const struct row_state dead = { .version = 3 }, absent = { .version = 0 };

/* ---- which source ---- */

static const struct naming_case {
    const char *name;
    struct copy_name partition, row;
    struct entity_key dependent;
    const char *manager; /* of the dependent; NULL: it has no such property */
    enum copy_naming want;
    const char *source[2];
} naming_cases[] = {
    { "a text and a property", { true, TEXT("acme") }, { false, TEXT("Manager") }, { TEXT("d"), TEXT("1") },
        "m1", COPY_NAMES_KEY, { "acme", "m1" } },
    { "its own partition", { false, TEXT("PartitionKey") }, { false, TEXT("Manager") },
        { TEXT("d"), TEXT("1") }, "m1", COPY_NAMES_KEY, { "d", "m1" } },
    { "its row key, and a text", { false, TEXT("RowKey") }, { true, TEXT("head") }, { TEXT("d"), TEXT("1") },
        NULL, COPY_NAMES_KEY, { "1", "head" } },
    { "one property twice", { false, TEXT("Manager") }, { false, TEXT("Manager") }, { TEXT("d"), TEXT("1") },
        "m1", COPY_NAMES_KEY, { "m1", "m1" } },
    { "an empty text is a key", { true, TEXT("acme") }, { false, TEXT("Manager") }, { TEXT("d"), TEXT("1") },
        "", COPY_NAMES_KEY, { "acme", "" } },
    { "without the property", { true, TEXT("acme") }, { false, TEXT("Manager") }, { TEXT("d"), TEXT("1") },
        NULL, COPY_NAMES_NOTHING, { "", "" } },
    { "the time is no text", { true, TEXT("acme") }, { false, TEXT("Timestamp") }, { TEXT("d"), TEXT("1") },
        "m1", COPY_NAMES_NOTHING, { "", "" } },
    { "a text that is no key", { true, TEXT("acme") }, { false, TEXT("Manager") }, { TEXT("d"), TEXT("1") },
        "a/b", COPY_NAMES_NO_ENTITY, { "", "" } },
};

START_TEST(a_dependent_names_its_source)
{
    const struct naming_case *c = &naming_cases[_i];
    const struct row_state state = c->manager ? a_row(1, "Manager", c->manager) : a_row(1, "Other", "x");
    struct entity_key source;

    rule.partition_key = c->partition;
    rule.row_key = c->row;
    ck_assert_msg(copy_plan_source(&rule, &c->dependent, &state, &source) == c->want, "%s", c->name);
    if (c->want != COPY_NAMES_KEY)
        return;
    ck_assert_msg(str_equal(source.partition, str_of(c->source[0])), "%s", c->name);
    ck_assert_msg(str_equal(source.row, str_of(c->source[1])), "%s", c->name);
}
END_TEST

START_TEST(what_is_no_text_names_nothing)
{
    static const struct value values[] = { { .type = PROPERTY_INT32, .integer = 5 },
        { .type = PROPERTY_BOOLEAN, .integer = 1 }, { .type = PROPERTY_DOUBLE, .number = 1.5 },
        { .type = PROPERTY_BINARY, .bytes = TEXT("m1") } };
    const struct entity_key key = a_key("d", "1");
    struct entity_key source;

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const struct row_state state = a_row_with("Manager", values[i]);

        ck_assert_int_eq(copy_plan_source(&rule, &key, &state, &source), COPY_NAMES_NOTHING);
    }
}
END_TEST

START_TEST(the_dependents_of_a_source_are_found_by_the_texts_of_the_naming_properties)
{
    const struct entity_key source = a_key("acme", "m1"), same = a_key("m1", "m1");
    struct copy_naming_properties naming;
    struct str texts[2];

    naming = copy_plan_naming(&rule);
    ck_assert_uint_eq(naming.count, 1);
    ck_assert(str_equal(naming.names[0], str_of("Manager")));
    ck_assert(copy_plan_texts(&rule, &source, texts));
    ck_assert(str_equal(texts[0], str_of("m1")));
    ck_assert_msg(!copy_plan_texts(&rule, &same, texts), "it has another partition key than the text");

    rule.partition_key = (struct copy_name){ .text = STR_LITERAL("Company") };
    naming = copy_plan_naming(&rule);
    ck_assert_uint_eq(naming.count, 2);
    ck_assert(str_equal(naming.names[0], str_of("Company")));
    ck_assert(copy_plan_texts(&rule, &source, texts));
    ck_assert(str_equal(texts[0], str_of("acme")) && str_equal(texts[1], str_of("m1")));

    rule.partition_key = rule.row_key;
    ck_assert_uint_eq(copy_plan_naming(&rule).count, 1);
    ck_assert(copy_plan_texts(&rule, &same, texts));
    ck_assert(!copy_plan_texts(&rule, &source, texts));
}
END_TEST

/* ---- which copies ---- */

static struct copy_plan plan_of(const struct row_state *dependent, const struct row_state *source)
{
    static const struct entity_key key = { TEXT("d"), TEXT("1") };
    static struct entity_key named;
    struct copy_case facts = { .key = &key, .dependent = dependent, .source = &named };
    struct copy_plan plan;

    facts.naming = copy_plan_source(&rule, &key, dependent, &named);
    facts.state = facts.naming == COPY_NAMES_KEY ? source : NULL;
    copy_plan(&rule, &facts, &arena, &plan);
    return plan;
}

static const struct plan_case {
    const char *name;
    const char *manager;       /* that the dependent names; NULL: none */
    const char *city, *person; /* the copies that it has; NULL: it has not */
    bool has_source;
    const char *source_city, *source_name;
    bool keep;
    const char *faults; /* of ManagerCity, ManagerName: - none, m missing, w wrong, s superfluous */
    const char *want_city, *want_name;
} plan_cases[] = {
    { "all is right", "m1", "Bonn", "Lee", true, "Bonn", "Lee", false, "--", "Bonn", "Lee" },
    { "all is missing", "m1", NULL, NULL, true, "Bonn", "Lee", false, "mm", "Bonn", "Lee" },
    { "one is wrong", "m1", "Bonn", "Ray", true, "Bonn", "Lee", false, "-w", "Bonn", "Lee" },
    { "the source has one only", "m1", "Bonn", "Lee", true, "Bonn", NULL, false, "-s", "Bonn", NULL },
    { "neither has it", "m1", NULL, "Lee", true, NULL, "Lee", false, "--", NULL, "Lee" },
    { "there is no such source", "m1", "Bonn", "Lee", false, NULL, NULL, false, "ss", NULL, NULL },
    { "there is no such source, and copies stay", "m1", "Bonn", "Lee", false, NULL, NULL, true, "--", "Bonn",
        "Lee" },
    { "it names no source", NULL, "Bonn", NULL, false, NULL, NULL, false, "s-", NULL, NULL },
    { "it names no source, although copies stay", NULL, "Bonn", "Lee", false, NULL, NULL, true, "ss", NULL,
        NULL },
    { "no entity can be named so", "a/b", "Bonn", "Lee", false, NULL, NULL, false, "ss", NULL, NULL },
    { "no entity can be named so, and copies stay", "a/b", "Bonn", "Lee", false, NULL, NULL, true, "--",
        "Bonn", "Lee" },
    { "copies that stay follow a source that exists", "m1", "Bonn", "Lee", true, NULL, "Ray", true, "sw",
        NULL, "Ray" },
};

static struct property_list some_of(const char *const pairs_of[][2], size_t count)
{
    struct property_builder builder;
    struct buf out;

    buf_init(&out, &arena);
    builder = (struct property_builder){ .out = &out };
    for (size_t i = 0; i < count; i++)
        if (pairs_of[i][1])
            property_build(&builder, str_of(pairs_of[i][0]),
                &(struct value){ .type = PROPERTY_STRING, .bytes = str_of(pairs_of[i][1]) });
    return (struct property_list){ buf_str(&out) };
}

static char fault_of(const struct copy_plan *plan, const char *name)
{
    static const char letters[] = { [COPY_MISSING] = 'm', [COPY_WRONG] = 'w', [COPY_SUPERFLUOUS] = 's' };

    for (size_t i = 0; i < plan->count; i++)
        if (str_equal(plan->differences[i].name, str_of(name)))
            return letters[plan->differences[i].fault];
    return '-';
}

START_TEST(the_plan_sets_and_removes_what_differs_and_nothing_else)
{
    const struct plan_case *c = &plan_cases[_i];
    const char *const has[][2] = { { "Head", "5" }, { "Manager", c->manager }, { "ManagerCity", c->city },
        { "ManagerName", c->person }, { "Zip", "z" } };
    const char *const wants[][2] = { { "Head", "5" }, { "Manager", c->manager },
        { "ManagerCity", c->want_city }, { "ManagerName", c->want_name }, { "Zip", "z" } };
    const char *const of_source[][2] = { { "City", c->source_city }, { "Name", c->source_name },
        { "Secret", "x" } };
    const struct row_state dependent = a_state(4, some_of(has, ARRAY_LEN(has)));
    const struct row_state source = a_state(9, some_of(of_source, ARRAY_LEN(of_source)));
    struct copy_plan plan;

    rule.keep = c->keep;
    plan = plan_of(&dependent, c->has_source ? &source : NULL);

    ck_assert_msg(fault_of(&plan, "ManagerCity") == c->faults[0], "%s: city", c->name);
    ck_assert_msg(fault_of(&plan, "ManagerName") == c->faults[1], "%s: name", c->name);
    ck_assert_msg(str_equal(plan.properties.bytes, some_of(wants, ARRAY_LEN(wants)).bytes), "%s", c->name);
}
END_TEST

START_TEST(a_value_of_another_type_is_another_value)
{
    static const struct value values[] = { { .type = PROPERTY_INT32, .integer = 1 },
        { .type = PROPERTY_INT64, .integer = 1 }, { .type = PROPERTY_BOOLEAN, .integer = 1 },
        { .type = PROPERTY_DOUBLE, .number = 1 }, { .type = PROPERTY_DOUBLE, .number = NAN },
        { .type = PROPERTY_STRING, .bytes = TEXT("1") }, { .type = PROPERTY_BINARY, .bytes = TEXT("1") },
        { .type = PROPERTY_DATETIME, .integer = 1 } };
    const struct entity_key key = a_key("d", "1"), named = a_key("acme", "m1");

    rule.pair_count = 1;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            const struct row_state source = a_row_with("City", values[i]);
            const struct row_state dependent = a_row_with("ManagerCity", values[k]);
            struct copy_plan plan;

            copy_plan(&rule, &(struct copy_case){ &key, &dependent, COPY_NAMES_KEY, &named, &source }, &arena,
                &plan);
            ck_assert_msg(plan.count == (i == k ? 0 : 1), "source %zu, dependent %zu", i, k);
            if (i != k)
                ck_assert(
                    str_equal(plan.properties.bytes, a_row_with("ManagerCity", values[i]).properties.bytes));
        }
}
END_TEST

START_TEST(the_version_of_the_source_is_its_etag)
{
    static const char *const places[] = { "A", "ManagerD", "Z" };
    const struct entity_key named = a_key("acme", "m1");
    const struct row_state source = a_row(9, "City", "Bonn", "Name", "Lee");
    const struct row_state dependent = a_row(4, "Manager", "m1", "ManagerCity", "Bonn", "ManagerName", "Lee");
    char etag[ETAG_BYTES];
    size_t len = etag_format((struct etag){ MANAGERS, 9, etag_key(&named) }, etag);

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct copy_plan plan;
        struct row_state after = dependent;

        rule.version_property = str_of(places[i]);
        plan = plan_of(&dependent, &source);
        ck_assert_uint_eq(plan.count, 1);
        ck_assert_int_eq(fault_of(&plan, places[i]), 'm');
        ck_assert(str_equal(text_of(plan.properties, places[i]), str_of_bytes(etag, len)));
        after.properties = plan.properties;
        ck_assert_uint_eq(plan_of(&after, &source).count, 0);
        plan = plan_of(
            &after, &(struct row_state){ .live = true, .version = 10, .properties = source.properties });
        ck_assert_uint_eq(plan.count, 1);
        ck_assert_int_eq(fault_of(&plan, places[i]), 'w');
        plan = plan_of(&after, NULL);
        ck_assert_uint_eq(plan.count, 3);
        ck_assert_int_eq(fault_of(&plan, places[i]), 's');
        ck_assert(copy_plan_writes(&rule, str_of(places[i])));
    }
    ck_assert(copy_plan_writes(&rule, str_of("ManagerName")));
    ck_assert(!copy_plan_writes(&rule, str_of("Name")));
}
END_TEST

/* ---- which writes make work ---- */

/* With the manager m1 and this many properties in all. */
static struct row_state a_row_with_many(int count)
{
    struct property_list list = some_texts(&arena, "Manager", "m1", NULL);

    for (int i = 1; i < count; i++)
        list = property_list_merge(
            list, some_texts(&arena, arena_format(&arena, "N%03d", i).data, "x", NULL), &arena);
    return a_state(1, list);
}

/* With the manager m1 and nine texts of 30,000 bytes, which count as 60,000 each. */
static struct row_state a_large_row(void)
{
    struct property_list list = some_texts(&arena, "Manager", "m1", NULL);
    char *text = arena_calloc(&arena, 30001, 1);

    memset(text, 'x', 30000);
    for (int i = 0; i < 9; i++)
        list = property_list_merge(
            list, some_texts(&arena, arena_format(&arena, "Part%d", i).data, text, NULL), &arena);
    return a_state(1, list);
}

START_TEST(a_write_of_a_dependent_asks_if_it_names_another_source_or_changes_a_copy)
{
    const struct row_state large = a_large_row(), many = a_row_with_many(LIMIT_PROPERTIES - 1),
                           fewer = a_row_with_many(LIMIT_PROPERTIES - 2);
    const struct entity_key key = a_key("d", "1");
    const struct row_state plain = a_row(1, "Other", "x"), named = a_row(1, "Manager", "m1"),
                           other = a_row(2, "Manager", "m2"), noted = a_row(2, "Manager", "m1", "Note", "x"),
                           copied = a_row(2, "Manager", "m1", "ManagerName", "Lee"),
                           wrong = a_row(3, "Manager", "m1", "ManagerName", "Ray"),
                           left = a_row(2, "ManagerName", "Lee");
    const struct {
        const char *name;
        const struct row_state *before, *after;
        bool want;
    } cases[] = {
        { "new, with a source", &absent, &named, true },
        { "again, with a source", &dead, &named, true },
        { "new, without a source", &absent, &plain, false },
        { "new, with a copy and no source", &absent, &left, true },
        { "another source", &named, &other, true },
        { "no source any more", &named, &plain, true },
        { "now a source", &plain, &named, true },
        { "another property", &named, &noted, false },
        { "a copy is added", &named, &copied, true },
        { "a copy is changed", &copied, &wrong, true },
        { "a copy is removed", &copied, &named, true },
        { "nothing", &copied, &copied, false },
        { "deleted", &copied, &dead, true },
        { "deleted, without a source", &plain, &dead, false },
        { "deleted again", &dead, &dead, false },
        { "so large that a copy may have been refused", &large, &named, true },
        { "so many properties that a copy may have been refused", &many, &named, true },
        { "fewer properties", &fewer, &named, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_msg(copy_plan_asks(&rule, &key, cases[i].before, cases[i].after) == cases[i].want, "%s",
            cases[i].name);
    rule.version_property = STR_LITERAL("Note");
    ck_assert_msg(copy_plan_asks(&rule, &key, &named, &noted), "the copy of the ETag was changed");
}
END_TEST

START_TEST(a_write_of_a_source_asks_for_a_visit_if_what_is_copied_changes)
{
    const struct row_state lee = a_row(1, "Name", "Lee"), same = a_row(2, "Name", "Lee", "Secret", "x"),
                           ray = a_row(2, "Name", "Ray"), bonn = a_row(2, "City", "Bonn", "Name", "Lee");
    const struct {
        const char *name;
        const struct row_state *before, *after;
        bool want, want_with_version;
    } cases[] = {
        { "new", &absent, &lee, true, true },
        { "deleted", &lee, &dead, true, true },
        { "still absent", &absent, &dead, false, false },
        { "a property that is copied", &lee, &ray, true, true },
        { "one more that is copied", &lee, &bonn, true, true },
        { "a property that is not copied", &lee, &same, false, true },
        { "nothing", &lee, &lee, false, false },
    };

    const struct entity_key key = a_key("acme", "m1"), unnamed = a_key("other", "m1");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_msg(copy_plan_visits(&rule, &key, cases[i].before, cases[i].after) == cases[i].want, "%s",
            cases[i].name);
        ck_assert_msg(!copy_plan_visits(&rule, &unnamed, cases[i].before, cases[i].after),
            "%s: no dependent can name it", cases[i].name);
    }
    rule.version_property = STR_LITERAL("ManagerVersion");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_msg(
            copy_plan_visits(&rule, &key, cases[i].before, cases[i].after) == cases[i].want_with_version,
            "%s", cases[i].name);
}
END_TEST

Suite *test_copy_plan_suite(void)
{
    Suite *suite = suite_create("copy_plan");
    TCase *tc = tcase_create("copy_plan");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_dependent_names_its_source, 0, ARRAY_LEN(naming_cases));
    tcase_add_test(tc, what_is_no_text_names_nothing);
    tcase_add_test(tc, the_dependents_of_a_source_are_found_by_the_texts_of_the_naming_properties);
    tcase_add_loop_test(
        tc, the_plan_sets_and_removes_what_differs_and_nothing_else, 0, ARRAY_LEN(plan_cases));
    tcase_add_test(tc, a_value_of_another_type_is_another_value);
    tcase_add_test(tc, the_version_of_the_source_is_its_etag);
    tcase_add_test(tc, a_write_of_a_dependent_asks_if_it_names_another_source_or_changes_a_copy);
    tcase_add_test(tc, a_write_of_a_source_asks_for_a_visit_if_what_is_copied_changes);
    suite_add_tcase(suite, tc);
    return suite;
}
