/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of filter_key_plan, by cases; and of filters as a whole, by random ones against a naive evaluator that
 * knows nothing of trees, orders or plans: it computes the answer while it makes up the text.
 */
#include <check.h>
#include <math.h>

#include "base/buf.h"
#include "domain/filter/filter.h"
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

static const struct filter *compiled(struct str text)
{
    const struct filter *filter;
    struct error err = { 0 };

    ck_assert_msg(
        filter_compile(text, &arena, &filter, &err) == STATUS_OK, "'%.*s': %s", STR_ARG(text), err.message);
    return filter;
}

/* ---- cases ---- */

static void show_interval(struct buf *out, const struct interval *interval)
{
    buf_format(out, "%s%.*s,%.*s%s", interval->has_low && interval->low_open ? "(" : "[",
        STR_ARG(interval->has_low ? interval->low : str_of("*")),
        STR_ARG(interval->has_high ? interval->high : str_of("*")),
        interval->has_high && interval->high_open ? ")" : "]");
}

/* "[p,p][a,b)", "nothing" or "p/a p/b"; with a "+" where the filter has to be tested as well. */
static struct str shown(const struct key_plan *plan)
{
    struct buf out;

    buf_init(&out, &arena);
    if (plan->range.nothing) {
        buf_format(&out, "nothing");
    } else if (plan->points) {
        for (size_t i = 0; i < plan->point_count; i++)
            buf_format(&out, "%s%.*s/%.*s", i ? " " : "", STR_ARG(plan->points[i].partition),
                STR_ARG(plan->points[i].row));
    } else {
        show_interval(&out, &plan->range.partition);
        show_interval(&out, &plan->range.row);
    }
    if (!plan->exact)
        buf_format(&out, "+");
    return buf_str(&out);
}

#define P(value) "PartitionKey eq '" value "'"
#define R(value) "RowKey eq '" value "'"

static const struct plan_case {
    const char *text, *plan;
} plan_cases[] = {
    { "", "[*,*][*,*]" },
    { P("p"), "[p,p][*,*]" },
    { "'p' eq PartitionKey", "[p,p][*,*]" },
    { "RowKey gt 'r'", "[*,*](r,*]" },
    { "RowKey ge 'r'", "[*,*][r,*]" },
    { "RowKey lt 'r'", "[*,*][*,r)" },
    { "RowKey le 'r'", "[*,*][*,r]" },
    { "'r' gt RowKey", "[*,*][*,r)" },
    { "RowKey ne 'r'", "[*,*][*,*]+" },
    { P("p") " and RowKey ge 'a' and RowKey lt 'b'", "[p,p][a,b)" },
    { P("p") " and RowKey ge 'a' and RowKey lt 'b' and A eq 1", "[p,p][a,b)+" },
    { P("p") " and " R("r"), "p/r" },
    { P("p") " and " R("r") " and A eq 1", "p/r+" },
    { P("") " and " R(""), "/" },
    { P("p") " and RowKey ge 'r' and RowKey le 'r'", "p/r" },
    { "RowKey ge ''", "[*,*][*,*]" },
    { P("p") " and RowKey le ''", "p/" },
    { "RowKey lt ''", "nothing" },
    { P("p") " and " P("q"), "nothing" },
    { "RowKey gt 'a' and RowKey lt 'a'", "nothing" },
    { "RowKey gt 'b' and RowKey lt 'a' and A eq 1", "nothing" },
    { P("it''s"), "[it's,it's][*,*]" },

    /* prefixes */
    { P("p") " and startswith(RowKey,'ab')", "[p,p][ab,ac)" },
    { P("p") " and startswith(RowKey,'ab') and RowKey gt 'abc'", "[p,p](abc,ac)" },
    { "startswith(PartitionKey,'\xC3\xBF')", "[\xC3\xBF,\xC4\x80)[*,*]" },
    { "startswith(RowKey,'\xF4\x8F\xBF\xBF')", "[*,*][\xF4\x8F\xBF\xBF,*]" },
    { "startswith(RowKey,'')", "[*,*][*,*]" },
    { "not startswith(RowKey,'a')", "[*,*][*,*]+" },
    { P("p") " and contains(RowKey,'a') and endswith(RowKey,'b')", "[p,p][*,*]+" },

    /* several values */
    { "(" P("p") " and " R("b") ") or (" P("o") " and " R("c") ") or (" P("p") " and " R("a") ")",
        "o/c p/a p/b" },
    { "(" P("p") " and " R("b") ") or (" P("p") " and " R("b") ")", "p/b" },
    { P("p") " and (" R("b") " or " R("a") " or " R("c") ")", "p/a p/b p/c" },
    { "(" P("q") " or " P("p") ") and (" R("b") " or " R("a") ")", "p/a p/b q/a q/b" },
    { "(" P("q") " or " P("p") ") and " R("r"), "p/r q/r" },
    { P("p") " and (" R("b") " or " R("a") ") and RowKey gt 'a'", "p/b" },
    { P("p") " and (" R("b") " or (" R("a") " and A eq 1))", "p/a p/b+" },
    { "(" P("p") " and " R("a") " or " P("q") " and " R("b") ") and (" P("q") " and " R("b") " or " P(
          "z") " and " R("z") ")",
        "q/b" },
    { "(" P("p") " and " R("a") " or " P("q") " and " R("b") ") and RowKey ne 'a'", "p/a q/b+" },
    { P("p") " or " P("q"), "[p,q][*,*]+" },
    { P("p") " and (RowKey lt 'b' or RowKey gt 'x' and RowKey lt 'y')", "[p,p][*,y)+" },
    { P("p") " and (" R("a") " or RowKey ge 'x')", "[p,p][a,*]+" },
    { P("p") " or A eq 1", "[*,*][*,*]+" },
    { P("p") " and " R("a") " or RowKey lt ''", "p/a" },
    { P("p") " or exists(RowKey)", "[*,*][*,*]" },

    /* not */
    { "not RowKey lt 'r'", "[*,*][r,*]" },
    { "not (RowKey lt 'a' or RowKey ge 'c') and not PartitionKey ne 'p'", "[p,p][a,c)" },
    { "not (PartitionKey ne 'p' or RowKey ne 'r')", "p/r" },
    { "not (" P("p") ")", "[*,*][*,*]+" },
    { "not (A eq 1 or PartitionKey lt 'p')", "[p,*][*,*]+" },

    /* other types are less, and keys always exist */
    { "PartitionKey eq 5", "nothing" },
    { "PartitionKey ne 5 and RowKey lt X'00' and exists(Timestamp)", "[*,*][*,*]" },
    { "not exists(RowKey)", "nothing" },
    { "not RowKey gt true", "[*,*][*,*]" },
    { "Timestamp ge datetime'2020-01-01'", "[*,*][*,*]+" },
};

START_TEST(keys_become_ranges_and_points)
{
    const struct plan_case *c = &plan_cases[_i];
    struct key_plan plan;

    filter_key_plan(compiled(str_of(c->text)), &arena, &plan);

    ck_assert_msg(
        str_equal(shown(&plan), str_of(c->plan)), "'%s' is planned as %.*s", c->text, STR_ARG(shown(&plan)));
}
END_TEST

/* No key holds U+0000, and the database refuses it: no bound holds it either. */
START_TEST(a_bound_ends_before_a_nul)
{
    static const struct nul_case {
        struct str text;
        const char *plan;
    } cases[] = {
        { STR_LITERAL("RowKey ge 'a\0b'"), "[*,*](a,*]" },
        { STR_LITERAL("RowKey gt 'a\0b'"), "[*,*](a,*]" },
        { STR_LITERAL("RowKey lt 'a\0b'"), "[*,*][*,a]" },
        { STR_LITERAL("RowKey le 'a\0b'"), "[*,*][*,a]" },
        { STR_LITERAL("RowKey eq 'a\0b'"), "nothing" },
        { STR_LITERAL("RowKey ne 'a\0b'"), "[*,*][*,*]" },
        { STR_LITERAL("not RowKey le 'a\0b'"), "[*,*](a,*]" },
        { STR_LITERAL("startswith(RowKey,'a\0')"), "nothing" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct key_plan plan;

        filter_key_plan(compiled(cases[i].text), &arena, &plan);
        ck_assert_msg(
            str_equal(shown(&plan), str_of(cases[i].plan)), "case %zu: %.*s", i, STR_ARG(shown(&plan)));
    }
}
END_TEST

START_TEST(too_many_points_become_a_range)
{
    struct buf text;
    struct key_plan plan;

    buf_init(&text, &arena);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 32; i++)
            buf_format(&text, "%s%s eq '%02d'",
                i      ? " or "
                : side ? ") and ("
                       : "(",
                side ? "RowKey" : "PartitionKey", i);
    }
    buf_format(&text, ")");
    filter_key_plan(compiled(buf_str(&text)), &arena, &plan); /* 1,024 */
    ck_assert(str_equal(shown(&plan), str_of("[00,31][00,31]+")));

    buf_format(&text, " and RowKey lt '31'");
    filter_key_plan(compiled(buf_str(&text)), &arena, &plan); /* 992 */
    ck_assert_uint_eq(plan.point_count, 32 * 31);
    ck_assert(plan.exact);
}
END_TEST

/* ---- random filters ---- */

enum { ROUNDS = 4000, ENTITIES = 24, NAMES = 4, MAX_DEPTH = 4, KEY_COUNT = 6 };

static const char *const names[NAMES] = { "A", "B", "C", "D" };
static const char *const key_texts[KEY_COUNT] = { "", "a", "ab", "b", "ba", "c" };

struct model {
    const char *partition, *row;
    struct value values[NAMES]; /* PROPERTY_NULL: missing */
};

static struct model models[ENTITIES];
static struct entity entities[ENTITIES];
static uint64_t state;

static size_t pick(size_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(state >> 33) % limit;
}

static const struct sample {
    const char *text;
    struct value value;
} samples[] = {
    { "-1", { .type = PROPERTY_INT32, .integer = -1 } },
    { "2", { .type = PROPERTY_INT32, .integer = 2 } },
    { "2L", { .type = PROPERTY_INT64, .integer = 2 } },
    { "9007199254740993", { .type = PROPERTY_INT64, .integer = 9007199254740993 } },
    { "2.0", { .type = PROPERTY_DOUBLE, .number = 2 } },
    { "9007199254740992.0", { .type = PROPERTY_DOUBLE, .number = 9007199254740992.0 } },
    { "NaN", { .type = PROPERTY_DOUBLE, .number = NAN } },
    { "INF", { .type = PROPERTY_DOUBLE, .number = INFINITY } },
    { "true", { .type = PROPERTY_BOOLEAN, .integer = 1 } },
    { "false", { .type = PROPERTY_BOOLEAN, .integer = 0 } },
    { "datetime'1601-01-01T00:00:01Z'", { .type = PROPERTY_DATETIME, .integer = 10000000 } },
    { "guid'00000000-0000-0000-0000-00000000000A'",
        { .type = PROPERTY_GUID, .bytes = { "00000000-0000-0000-0000-00000000000a", 36 } } },
    { "X'00'", { .type = PROPERTY_BINARY, .bytes = { "\0", 1 } } },
    { "X'0001'", { .type = PROPERTY_BINARY, .bytes = { "\0\1", 2 } } },
    { "''", { .type = PROPERTY_STRING, .bytes = { "", 0 } } },
    { "'a'", { .type = PROPERTY_STRING, .bytes = { "a", 1 } } },
    { "'ab'", { .type = PROPERTY_STRING, .bytes = { "ab", 2 } } },
    { "'b'", { .type = PROPERTY_STRING, .bytes = { "b", 1 } } },
};

static void make_entities(void)
{
    for (size_t i = 0; i < ENTITIES; i++) {
        struct model *model = &models[i];
        struct buf out;
        struct property_builder builder = { .out = &out };

        model->partition = key_texts[pick(KEY_COUNT)];
        model->row = key_texts[pick(KEY_COUNT)];
        buf_init(&out, &arena);
        for (size_t n = 0; n < NAMES; n++) {
            model->values[n] = pick(4) ? samples[pick(ARRAY_LEN(samples))].value : (struct value){ 0 };
            property_build(&builder, str_of(names[n]), &model->values[n]);
        }
        entities[i] = (struct entity){ .key = { str_of(model->partition), str_of(model->row) },
            .properties = { buf_str(&out) } };
    }
}

/* The comparison by the rules of the page: -1, 0, 1, or 2 for NaN. */
static int naive_order(const struct value *stored, const struct value *literal)
{
    double a = stored->number, b = literal->number;
    int rank_stored = stored->type == PROPERTY_INT32   ? 1
                      : stored->type == PROPERTY_INT64 ? 2
                                                       : 3,
        rank_literal = literal->type == PROPERTY_INT32   ? 1
                       : literal->type == PROPERTY_INT64 ? 2
                                                         : 3;
    bool numbers = stored->type >= PROPERTY_INT32 && stored->type <= PROPERTY_DOUBLE &&
                   literal->type >= PROPERTY_INT32 && literal->type <= PROPERTY_DOUBLE;

    if (numbers && rank_literal > rank_stored)
        return -1;
    if (numbers && rank_stored == 3) {
        b = rank_literal == 3 ? b : (double)literal->integer;
        return isnan(a) || isnan(b) ? 2 : a < b ? -1 : a > b;
    }
    if (!numbers && stored->type != literal->type)
        return -1;
    if (stored->type == PROPERTY_STRING || stored->type == PROPERTY_GUID || stored->type == PROPERTY_BINARY) {
        int order = str_compare(stored->bytes, literal->bytes);

        return (order > 0) - (order < 0);
    }
    return stored->integer < literal->integer ? -1 : stored->integer > literal->integer;
}

static bool naive_compare(const struct value *stored, size_t operator, const struct value * literal)
{
    int order = naive_order(stored, literal);

    if (stored->type == PROPERTY_NULL)
        return false;
    if (order == 2)
        return operator== 1;
    switch (operator) {
    case 0:
        return order == 0;
    case 1:
        return order != 0;
    case 2:
        return order > 0;
    case 3:
        return order >= 0;
    case 4:
        return order < 0;
    default:
        return order <= 0;
    }
}

/* 0..NAMES-1 are properties, then come the two keys. */
static struct value value_of(const struct model *model, size_t subject)
{
    const char *key = subject == NAMES ? model->partition : model->row;

    if (subject < NAMES)
        return model->values[subject];
    return (struct value){ .type = PROPERTY_STRING, .bytes = str_of(key) };
}

static const char *name_of(size_t subject)
{
    return subject < NAMES ? names[subject] : subject == NAMES ? "PartitionKey" : "RowKey";
}

static void make_comparison(struct buf *text, bool *truths)
{
    static const char *const operators[] = { "eq", "ne", "gt", "ge", "lt", "le" };
    static const char *const mirrored[] = { "eq", "ne", "lt", "le", "gt", "ge" };
    size_t subject = pick(NAMES + 4), operator= pick(ARRAY_LEN(operators));
    const struct sample *sample;

    subject = subject < NAMES ? subject : NAMES + subject % 2; /* each key as often as two properties */
    sample = subject < NAMES || !pick(8) ? &samples[pick(ARRAY_LEN(samples))]
                                         : &samples[ARRAY_LEN(samples) - 1 - pick(4)];
    if (pick(3))
        buf_format(text, "%s %s %s", name_of(subject), operators[operator], sample->text);
    else
        buf_format(text, "%s %s %s", sample->text, mirrored[operator], name_of(subject));
    for (size_t i = 0; i < ENTITIES; i++) {
        struct value value = value_of(&models[i], subject);

        truths[i] = naive_compare(&value, operator, & sample->value);
    }
}

static bool naive_question(size_t question, struct str text, struct str part)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        bool here = str_equal(str_of_bytes(text.data + at, part.len), part);

        if (here &&
            (question == 1 || (question == 0 && at == 0) || (question == 2 && at + part.len == text.len)))
            return true;
    }
    return false;
}

static void make_question(struct buf *text, bool *truths)
{
    static const char *const functions[] = { "startswith", "contains", "endswith" };
    size_t subject = pick(NAMES + 2), question = pick(5);
    const char *part = key_texts[pick(KEY_COUNT)];

    if (question == 4)
        subject = subject % NAMES; /* a key is no Boolean */
    if (question < 3)
        buf_format(text, "%s(%s,'%s')", functions[question], name_of(subject), part);
    else
        buf_format(text, question == 3 ? "exists(%s)" : "%s", name_of(subject));
    for (size_t i = 0; i < ENTITIES; i++) {
        struct value value = value_of(&models[i], subject);

        if (question == 3)
            truths[i] = value.type != PROPERTY_NULL;
        else if (question == 4)
            truths[i] = value.type == PROPERTY_BOOLEAN && value.integer;
        else
            truths[i] = value.type == PROPERTY_STRING && naive_question(question, value.bytes, str_of(part));
    }
}

static void make_point(struct buf *text, bool *truths)
{
    const char *partition = key_texts[pick(KEY_COUNT)], *row = key_texts[pick(KEY_COUNT)];

    buf_format(text, "PartitionKey eq '%s' and RowKey eq '%s'", partition, row);
    for (size_t i = 0; i < ENTITIES; i++)
        truths[i] = strcmp(models[i].partition, partition) == 0 && strcmp(models[i].row, row) == 0;
}

static void make_filter(struct buf *text, int depth, bool *truths)
{
    bool right[ENTITIES];
    size_t form = depth > 0 ? pick(8) : 7;

    if (form == 0) {
        buf_format(text, "not (");
        make_filter(text, depth - 1, truths);
        buf_format(text, ")");
        for (size_t i = 0; i < ENTITIES; i++)
            truths[i] = !truths[i];
    } else if (form < 7) {
        buf_format(text, "(");
        make_filter(text, depth - 1, truths);
        buf_format(text, form < 4 ? ") and (" : ") or (");
        make_filter(text, depth - 1, right);
        buf_format(text, ")");
        for (size_t i = 0; i < ENTITIES; i++)
            truths[i] = form < 4 ? truths[i] && right[i] : truths[i] || right[i];
    } else if (!pick(4)) {
        make_point(text, truths);
    } else if (pick(4)) {
        make_comparison(text, truths);
    } else {
        make_question(text, truths);
    }
}

static bool is_planned(const struct key_plan *plan, const struct entity_key *key)
{
    if (!key_filter_matches(&plan->range, key))
        return false;
    for (size_t i = 0; i < plan->point_count; i++)
        if (entity_key_compare(&plan->points[i], key) == 0)
            return true;
    return !plan->points;
}

START_TEST(random_filters_answer_as_a_naive_evaluator)
{
    size_t exact = 0, points = 0, matching = 0;

    state = 20;
    for (int round = 0; round < ROUNDS; round++) {
        bool truths[ENTITIES];
        const struct filter *filter;
        struct key_plan plan;
        struct buf text;

        make_entities();
        buf_init(&text, &arena);
        make_filter(&text, (int)pick(MAX_DEPTH + 1), truths);
        filter = compiled(buf_str(&text));
        filter_key_plan(filter, &arena, &plan);
        exact += plan.exact;
        points += plan.points != NULL;
        for (size_t i = 0; i < ENTITIES; i++) {
            bool planned = is_planned(&plan, &entities[i].key);

            matching += truths[i];
            /* A ck_assert that holds writes to a file: too slow for each entity. */
            if (filter_matches(filter, &entities[i]) != truths[i])
                ck_abort_msg("%.*s: entity %zu", STR_ARG(buf_str(&text)), i);
            if ((filter_failing_clause(filter, &entities[i]).len == 0) != truths[i])
                ck_abort_msg("%.*s", STR_ARG(buf_str(&text)));
            if (truths[i] && !planned)
                ck_abort_msg(
                    "%.*s misses (%s, %s)", STR_ARG(buf_str(&text)), models[i].partition, models[i].row);
            if (!truths[i] && planned && plan.exact)
                ck_abort_msg("%.*s is not exact for (%s, %s)", STR_ARG(buf_str(&text)), models[i].partition,
                    models[i].row);
        }
        arena_cleanup(&arena);
    }
    /* The random filters must have produced every kind of case. */
    ck_assert_uint_gt(exact, ROUNDS / 20);
    ck_assert_uint_gt(points, ROUNDS / 100);
    ck_assert_uint_gt(matching, ROUNDS * ENTITIES / 5);
}
END_TEST

Suite *test_filter_plan_suite(void)
{
    Suite *suite = suite_create("filter_plan");
    TCase *tc = tcase_create("filter_plan");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, keys_become_ranges_and_points, 0, ARRAY_LEN(plan_cases));
    tcase_add_test(tc, a_bound_ends_before_a_nul);
    tcase_add_test(tc, too_many_points_become_a_range);
    tcase_add_test(tc, random_filters_answer_as_a_naive_evaluator);
    suite_add_tcase(suite, tc);
    return suite;
}
