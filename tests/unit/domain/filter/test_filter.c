/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the filter's language: what compiles, what is refused and where, and which clause fails. What the
 * tests answer is in test_filter_truth.c, the ranges of keys in test_filter_plan.c.
 */
#include "domain/filter/filter.h"

#include <check.h>

#include "base/buf.h"
#include "domain/limits.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* ('p', 'r') at the tick 1000 with A = 1, B = true, N = "it's", Über = 7L. */
static struct entity an_entity(void)
{
    struct buf out;
    struct property_builder builder = { .out = &out };

    buf_init(&out, &arena);
    property_build(&builder, STR_LITERAL("A"), &(struct value){ .type = PROPERTY_INT32, .integer = 1 });
    property_build(&builder, STR_LITERAL("B"), &(struct value){ .type = PROPERTY_BOOLEAN, .integer = 1 });
    property_build(
        &builder, STR_LITERAL("N"), &(struct value){ .type = PROPERTY_STRING, .bytes = STR_LITERAL("it's") });
    property_build(&builder,
        STR_LITERAL("\xC3\x9C"
                    "ber"),
        &(struct value){ .type = PROPERTY_INT64, .integer = 7 });
    return (struct entity){
        .key = { STR_LITERAL("p"), STR_LITERAL("r") },
        .timestamp = 1000,
        .properties = { .bytes = buf_str(&out) },
    };
}

static const struct filter *compiled(struct str text)
{
    const struct filter *filter;
    struct error err = { 0 };

    ck_assert_msg(
        filter_compile(text, &arena, &filter, &err) == STATUS_OK, "'%.*s': %s", STR_ARG(text), err.message);
    return filter;
}

/* ---- what matches ---- */

static const struct match_case {
    const char *text;
    bool want;
} match_cases[] = {
    { "", true },
    { " \t\r\n", true },
    { "A eq 1", true },
    { "A eq 2", false },
    { "a eq 1", false }, /* names are case-sensitive */
    { "1 eq A", true },
    { "2 gt A", true },
    { "A eq(1)", true },
    { "(A)eq 1", true },
    { "(A eq 1)and(B)", true },
    { "not(B)", false },
    { "not B", false },
    { "not not B", true },
    { "not A eq 2", true },
    { "not A eq 1 or B", true },
    { "A eq 2 and A eq 2 or B", true },
    { "B or A eq 2 and A eq 2", true },
    { "(B or A eq 2) and A eq 2", false },
    { "B eq true", true },
    { "B eq True", true },
    { "B ne False", true },
    { "N eq 'it''s'", true },
    { "N eq 'it'", false },
    { "contains(N,'''')", true },
    { "startswith( N , 'it' )", true },
    { "endswith(N,'s') and not endswith(N,'t')", true },
    { "startswith(PartitionKey,'p') and endswith(RowKey,'r')", true },
    { "startswith(A,'1')", false },
    { "exists(A) and exists(Timestamp) and exists(RowKey) and not exists(C)", true },
    { "\xC3\x9C"
      "ber eq 7",
        true },
    { "A eq -0", false },
    { "A lt 9223372036854775807", true },
    { "A gt -9223372036854775808", false }, /* an Int64 does not narrow */
    { "\xC3\x9C"
      "ber gt -9223372036854775808",
        true },
    { "\xC3\x9C"
      "ber eq 7l",
        true },
    { "Timestamp eq datetime'1601-01-01T00:00:00.0001Z'", true },
    { "Timestamp lt datetime'2026-01-01'", true },
    { "Timestamp eq datetime'1601-01-01T01:00:00.00010009+01:00'", true },
    { "PartitionKey eq 'p' and RowKey eq 'r'", true },
    { "PartitionKey eq 5", false },
    { "PartitionKey lt 5", true }, /* of another type: less */
    { "contains eq 1", false },    /* a property with the name of a function */
    { "[A] eq 1", true },
    { "([A]eq 1)and[B]", true },
    { "exists([N]) and startswith([N],'it')", true },
    { "[PartitionKey] eq 'p'", true },
    { "[eq] eq 1 or [not] or [null] ne 1", false }, /* none of these is there */
    { "A eq 1 and B and N ne 'x' and exists(N) and A le 1 and A ge 1 and not (A gt 1)", true },
};

START_TEST(filters_match)
{
    const struct match_case *c = &match_cases[_i];
    struct entity entity = an_entity();

    ck_assert_msg(filter_matches(compiled(str_of(c->text)), &entity) == c->want, "'%s'", c->text);
}
END_TEST

static const char *const words_of_the_language[] = { "and", "or", "not", "eq", "ne", "gt", "ge", "lt", "le",
    "true", "false", "null", "NaN", "INF", "add", "exists" };

START_TEST(brackets_reach_properties_that_are_called_like_words_of_the_language)
{
    const char *name = words_of_the_language[_i];
    struct value one = { .type = PROPERTY_INT32, .integer = 1 };
    struct buf out;
    struct property_builder builder = { .out = &out };
    struct entity entity = { 0 };

    buf_init(&out, &arena);
    property_build(&builder, str_of(name), &one);
    entity.properties.bytes = buf_str(&out);

    ck_assert(filter_matches(compiled(arena_format(&arena, "[%s] eq 1", name)), &entity));
    ck_assert(
        filter_matches(compiled(arena_format(&arena, "2 gt [%s] and exists([%s])", name, name)), &entity));
    ck_assert(!filter_matches(compiled(arena_format(&arena, "not ([%s] eq 1)", name)), &entity));
}
END_TEST

START_TEST(a_filter_borrows_nothing_but_the_arena)
{
    char text[] = "N eq 'it''s' and A eq 1";
    const struct filter *filter = compiled(str_of(text));
    struct entity entity = an_entity();

    memset(text, 'x', sizeof(text));

    ck_assert(filter_matches(filter, &entity));
}
END_TEST

START_TEST(texts_with_nul_are_compared_in_full)
{
    struct entity entity = an_entity();

    entity.key.row = STR_LITERAL("a");
    ck_assert(filter_matches(compiled(STR_LITERAL("RowKey lt 'a\0b'")), &entity));
    ck_assert(!filter_matches(compiled(STR_LITERAL("RowKey eq 'a\0b'")), &entity));
    ck_assert(!filter_matches(compiled(STR_LITERAL("startswith(RowKey,'a\0')")), &entity));
}
END_TEST

START_TEST(order_is_that_of_utf8_bytes)
{
    struct entity entity = an_entity();

    entity.key.row = STR_LITERAL("\xF0\x9F\x98\x80"); /* above U+FFFF: first in UTF-16, last here */

    ck_assert(filter_matches(compiled(STR_LITERAL("RowKey gt '\xEE\x80\x80'")), &entity));
}
END_TEST

START_TEST(numbers_are_read_exactly)
{
    static const struct number_case {
        const char *literal;
        double number;
    } cases[] = { { "1e3", 1000 }, { "1.5e-3", 0.0015 }, { "3D", 3 }, { "3f", 3 }, { "2.5m", 2.5 },
        { "-0.0", 0 }, { "1.7976931348623157e308", 1.7976931348623157e308 }, { "4.9e-324", 4.9e-324 },
        { "1e-400", 0 }, { "9007199254740993L", 9007199254740992.0 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value value = { .type = PROPERTY_DOUBLE, .number = cases[i].number };
        struct buf out;
        struct property_builder builder = { .out = &out };
        struct entity entity = { 0 };

        buf_init(&out, &arena);
        property_build(&builder, STR_LITERAL("D"), &value);
        entity.properties.bytes = buf_str(&out);
        ck_assert_msg(filter_matches(compiled(arena_format(&arena, "D eq %s", cases[i].literal)), &entity),
            "%s", cases[i].literal);
    }
}
END_TEST

/* ---- which clause fails ---- */

static const struct clause_case {
    const char *text, *clause;
} clause_cases[] = {
    { "", "" },
    { "A eq 1", "" },
    { "A eq 2", "A eq 2" },
    { "  ( A eq 2 )  ", "( A eq 2 )" },
    { "A eq 1 and B", "" },
    { "A eq 1 and  B eq false  and N eq 'x'", "B eq false" },
    { "A eq 1 and (A eq 2 or not (B)) and B", "(A eq 2 or not (B))" },
    { "A eq 1 and not B", "not B" },
    { "A eq 1 and not ((B))", "not ((B))" },
    { "(A eq 1 and (B and A gt 1))", "A gt 1" }, /* an `and` in an `and` is one */
    { "A eq 2 or B eq false", "A eq 2 or B eq false" },
    { "  (A eq 2) or B eq false  ", "(A eq 2) or B eq false" },
    { "not (A eq 1 and B)", "not (A eq 1 and B)" },
    { "exists( C ) and A eq 1", "exists( C )" },
    { "Z eq 1 and A eq 2", "Z eq 1" }, /* the first in the text, not in the order of names */
    { "A eq 1 and RowKey eq 'x'", "RowKey eq 'x'" },
};

START_TEST(the_first_clause_that_fails_is_named)
{
    const struct clause_case *c = &clause_cases[_i];
    struct entity entity = an_entity();
    struct str clause = filter_failing_clause(compiled(str_of(c->text)), &entity);

    ck_assert_msg(str_equal(clause, str_of(c->clause)), "'%s' fails with '%.*s'", c->text, STR_ARG(clause));
}
END_TEST

/* ---- refusals ---- */

static const struct refusal_case {
    const char *text, *reason, *position;
} refusal_cases[] = {
    { "PartitionKey", "INVALID_INPUT", "0" },
    { "PartitionKey eq", "INVALID_INPUT", "15" },
    { "PartitionKey eq 'p", "INVALID_INPUT", "16" },
    { "PartitionKey eq 'p' and", "INVALID_INPUT", "23" },
    { "PartitionKey eq 'p' and and RowKey eq 'r'", "INVALID_INPUT", "24" },
    { "PartitionKey eq 'p' RowKey eq 'r'", "INVALID_INPUT", "20" },
    { "(PartitionKey eq 'p'", "INVALID_INPUT", "20" },
    { "PartitionKey eq 'p')", "INVALID_INPUT", "19" },
    { "()", "INVALID_INPUT", "1" },
    { "PartitionKey EQ 'p'", "INVALID_INPUT", "13" },
    { "PartitionKey eq 'p'and RowKey eq 'r'", "INVALID_INPUT", "19" },
    { "PartitionKey eq p'p'", "INVALID_INPUT", "16" },
    { "eq 'p'", "INVALID_INPUT", "0" },
    { "[A", "INVALID_INPUT", "2" },
    { "[A eq 1]", "INVALID_INPUT", "2" },
    { "[] eq 1", "INVALID_INPUT", "1" },
    { "['A'] eq 1", "INVALID_INPUT", "1" },
    { "A [eq] 1", "INVALID_INPUT", "2" },
    { "[startswith](A,'a')", "INVALID_INPUT", "12" },
    { "1", "INVALID_INPUT", "0" },
    { "'a'", "INVALID_INPUT", "0" },
    { "null", "INVALID_INPUT", "0" },
    { "A add 1", "INVALID_INPUT", "2" },
    { "PartitionKey and A eq 1", "INVALID_INPUT", "0" },
    { "A eq 1 or RowKey", "INVALID_INPUT", "10" },
    { "not Timestamp", "INVALID_INPUT", "4" },
    { "not 5", "INVALID_INPUT", "4" },
    { "A eq null", "INVALID_INPUT", "5" },
    { "A ne null", "INVALID_INPUT", "5" },
    { "null lt A", "INVALID_INPUT", "0" },
    { "A eq 1 or (B eq 2 and C eq null)", "INVALID_INPUT", "27" },
    { "A eq 12x", "INVALID_INPUT", "7" },
    { "A eq 1e", "INVALID_INPUT", "7" },
    { "A eq 1e400", "INVALID_INPUT", "5" },
    { "A eq -x", "INVALID_INPUT", "5" },
    { "A eq 9223372036854775808", "INVALID_INPUT", "5" },
    { "A eq datetime'yesterday'", "INVALID_INPUT", "5" },
    { "A eq datetime'2008-02-30T00:00:00Z'", "INVALID_INPUT", "5" },
    { "A eq datetime'1600-12-31T23:59:59Z'", "OUT_OF_RANGE_INPUT", "5" },
    { "A eq datetime'1601-01-01T00:00:00+00:01'", "OUT_OF_RANGE_INPUT", "5" },
    { "A eq datetime'9999-12-31T23:59:59-00:01'", "OUT_OF_RANGE_INPUT", "5" },
    { "A eq guid'c9da6455'", "INVALID_INPUT", "5" },
    { "A eq X'abc'", "INVALID_INPUT", "5" },
    { "A eq binary'zz'", "INVALID_INPUT", "5" },
    { "A eq 1 and B ? 2", "INVALID_INPUT", "13" },
    { "f(A,) eq 1", "INVALID_INPUT", "4" },
    { "f(A eq 1", "INVALID_INPUT", "8" },
    { "a/ eq 1", "INVALID_INPUT", "6" }, /* "eq" is taken for the name */
    { "a/", "INVALID_INPUT", "2" },
    { "PartitionKey eq '\xC3'", "INVALID_INPUT", "17" },
    { "true", "NOT_IMPLEMENTED", "0" },
    { "A eq 1 or false", "NOT_IMPLEMENTED", "10" },
    { "PartitionKey eq RowKey", "NOT_IMPLEMENTED", "13" },
    { "'a' eq 'a'", "NOT_IMPLEMENTED", "4" },
    { "A add 1 eq 2", "NOT_IMPLEMENTED", "2" },
    { "$it/Name eq 'x'", "NOT_IMPLEMENTED", "0" },
    { "Address/City", "NOT_IMPLEMENTED", "0" },
    { "(A eq 1) eq true", "NOT_IMPLEMENTED", "3" },
    { "substringof('x',A)", "NOT_IMPLEMENTED", "0" },
    { "StartsWith(A,'x')", "NOT_IMPLEMENTED", "0" },
    { "tolower(A) eq 'x'", "NOT_IMPLEMENTED", "0" },
    { "now() gt Timestamp", "NOT_IMPLEMENTED", "0" },
    { "startswith(A,'x') eq true", "NOT_IMPLEMENTED", "0" },
    { "startswith(A)", "INVALID_INPUT", "0" },
    { "startswith('x',A)", "INVALID_INPUT", "0" },
    { "startswith(A,5)", "INVALID_INPUT", "0" },
    { "contains(A,B)", "INVALID_INPUT", "0" },
    { "endswith(A,'x','y')", "INVALID_INPUT", "0" },
    { "startswith(Timestamp,'2')", "INVALID_INPUT", "0" },
    { "exists()", "INVALID_INPUT", "0" },
    { "exists('A')", "INVALID_INPUT", "0" },
    { "exists(A,B)", "INVALID_INPUT", "0" },
    /* Names that no property can have: inside `not` they would match every entity. */
    { "A\xE2\x80\x8B eq 1", "PROPERTY_NAME_INVALID", "1" }, /* zero-width space */
    { "not (A\xE2\x80\x8B eq 1)", "PROPERTY_NAME_INVALID", "6" },
    { "\xEF\xBB\xBF"
      "A eq 1",
        "PROPERTY_NAME_INVALID", "0" },                                   /* byte order mark */
    { "A eq 1 and not \xF0\x9F\x98\x80", "PROPERTY_NAME_INVALID", "15" }, /* pictograph, alone */
    { "not exists(A\xF0\x9F\x98\x80)", "PROPERTY_NAME_INVALID", "12" },
    { "not startswith(\xE2\x80\x8D,'a')", "PROPERTY_NAME_INVALID", "15" },
    { "1 eq [A\xC2\xA0]", "PROPERTY_NAME_INVALID", "7" }, /* no-break space, in brackets */
    { "A$B eq 1", "PROPERTY_NAME_INVALID", "1" },
    { "[$A] eq 1", "PROPERTY_NAME_INVALID", "1" },
};

static const char *meta_of(const struct error *err, const char *key)
{
    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, key) == 0)
            return err->meta[i].value;
    return "";
}

START_TEST(what_is_refused_has_a_reason_and_a_place)
{
    const struct refusal_case *c = &refusal_cases[_i];
    const struct filter *filter;
    struct error err = { 0 };

    ck_assert_msg(
        filter_compile(str_of(c->text), &arena, &filter, &err) != STATUS_OK, "'%s' compiles", c->text);

    ck_assert_msg(strcmp(err.reason, c->reason) == 0, "'%s': %s", c->text, err.message);
    ck_assert_msg(strcmp(meta_of(&err, "position"), c->position) == 0, "'%s': %s", c->text, err.message);
    if (strcmp(c->reason, "NOT_IMPLEMENTED") == 0)
        ck_assert_str_ne(meta_of(&err, "allowed"), "");
}
END_TEST

START_TEST(names_are_as_long_as_those_of_properties)
{
    struct str longest = arena_format(&arena, "%0255d", 0), longer = arena_format(&arena, "%0256d", 0);
    const struct filter *filter;
    struct error err = { 0 };

    memset((char *)longest.data, 'A', longest.len);
    memset((char *)longer.data, 'A', longer.len);
    compiled(arena_format(&arena, "not %.*s", STR_ARG(longest)));

    ck_assert_int_eq(filter_compile(arena_format(&arena, "not %.*s", STR_ARG(longer)), &arena, &filter, &err),
        STATUS_INVALID);

    ck_assert_str_eq(err.reason, "PROPERTY_NAME_TOO_LONG");
    ck_assert_str_eq(meta_of(&err, "position"), "4");
    ck_assert_str_eq(meta_of(&err, "limit"), "255");
}
END_TEST

START_TEST(the_source_of_an_entry_can_be_asked_for)
{
    compiled(STR_LITERAL("[$SourcePartitionKey] eq 'p' and not exists([$SourceRowKey])"));
}
END_TEST

START_TEST(an_unknown_function_is_told_which_there_are)
{
    const struct filter *filter;
    struct error err = { 0 };

    ck_assert_int_eq(
        filter_compile(STR_LITERAL("trim(A) eq 'x'"), &arena, &filter, &err), STATUS_UNIMPLEMENTED);
    ck_assert_int_eq(
        filter_compile(STR_LITERAL("substringof('x',A)"), &arena, &filter, &err), STATUS_UNIMPLEMENTED);

    ck_assert_str_eq(meta_of(&err, "allowed"), "startswith, contains, endswith, exists");
}
END_TEST

/* ---- bounds ---- */

/* head, then body many times, then tail many times. */
static enum status status_of(
    const char *head, const char *body, size_t times, const char *middle, const char *tail)
{
    const struct filter *filter;
    struct error err = { 0 };
    struct buf out;

    buf_init(&out, &arena);
    buf_append(&out, str_of(head));
    for (size_t i = 0; i < times; i++)
        buf_append(&out, str_of(body));
    buf_append(&out, str_of(middle));
    for (size_t i = 0; i < times; i++)
        buf_append(&out, str_of(tail));
    return filter_compile(buf_str(&out), &arena, &filter, &err);
}

START_TEST(searches_cost_what_they_look_through)
{
    const struct entity entity = { .key = { STR_LITERAL("part"), STR_LITERAL("row") },
        .properties = { STR_LITERAL("0123456789") } };
    const struct filter *filter;
    struct error err;

    ck_assert_int_eq(filter_compile(STR_LITERAL("contains(A,'x') or A eq 'y' or contains(RowKey,'z')"),
                         &arena, &filter, &err),
        STATUS_OK);
    ck_assert_int_eq(filter_searched_bytes(filter, &entity), 2 * (4 + 3 + 10));
    ck_assert_int_eq(filter_searched_bytes(NULL, &entity), 0);
}
END_TEST

START_TEST(depth_size_and_number_are_bounded)
{
    const size_t depth = LIMIT_FILTER_DEPTH, max = LIMIT_FILTER_COMPARISONS, searches = LIMIT_FILTER_SEARCHES,
                 bytes = LIMIT_FILTER_BYTES - strlen("A eq ''");

    ck_assert_int_eq(status_of("", "(", depth, "A eq 1", ")"), STATUS_OK);
    ck_assert_int_eq(status_of("", "(", depth + 1, "A eq 1", ")"), STATUS_INVALID);
    ck_assert_int_eq(status_of("", "not ", depth, "A", ""), STATUS_OK);
    ck_assert_int_eq(status_of("", "not ", depth + 1, "A", ""), STATUS_INVALID);
    ck_assert_int_eq(status_of("", "f(", depth + 1, "A", ")"), STATUS_INVALID);
    ck_assert_int_eq(status_of("A eq 1", " and A eq 1", max - 1, "", ""), STATUS_OK);
    ck_assert_int_eq(status_of("A eq 1", " and A eq 1", max, "", ""), STATUS_INVALID);
    ck_assert_int_eq(status_of("A", " or A", max - 1, "", ""), STATUS_OK);
    ck_assert_int_eq(status_of("A", " or A", max, "", ""), STATUS_INVALID);
    ck_assert_int_eq(status_of("A", " or exists(A)", max, "", ""), STATUS_INVALID);
    ck_assert_int_eq(status_of("A eq 1", " or contains(A,'')", searches, "", ""), STATUS_OK);
    ck_assert_int_eq(status_of("A eq 1", " or contains(A,'')", searches + 1, "", ""), STATUS_INVALID);
    ck_assert_int_eq(status_of("A eq '", "a", bytes, "'", ""), STATUS_OK);
    ck_assert_int_eq(status_of("A eq '", "a", bytes + 1, "'", ""), STATUS_INVALID);
}
END_TEST

Suite *test_filter_suite(void)
{
    Suite *suite = suite_create("filter");
    TCase *tc = tcase_create("filter");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, filters_match, 0, ARRAY_LEN(match_cases));
    tcase_add_loop_test(tc, brackets_reach_properties_that_are_called_like_words_of_the_language, 0,
        ARRAY_LEN(words_of_the_language));
    tcase_add_test(tc, a_filter_borrows_nothing_but_the_arena);
    tcase_add_test(tc, texts_with_nul_are_compared_in_full);
    tcase_add_test(tc, order_is_that_of_utf8_bytes);
    tcase_add_test(tc, numbers_are_read_exactly);
    tcase_add_loop_test(tc, the_first_clause_that_fails_is_named, 0, ARRAY_LEN(clause_cases));
    tcase_add_loop_test(tc, what_is_refused_has_a_reason_and_a_place, 0, ARRAY_LEN(refusal_cases));
    tcase_add_test(tc, names_are_as_long_as_those_of_properties);
    tcase_add_test(tc, the_source_of_an_entry_can_be_asked_for);
    tcase_add_test(tc, an_unknown_function_is_told_which_there_are);
    tcase_add_test(tc, searches_cost_what_they_look_through);
    tcase_add_test(tc, depth_size_and_number_are_bounded);
    suite_add_tcase(suite, tc);
    return suite;
}
