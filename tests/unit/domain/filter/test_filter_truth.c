/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The truth tables of filter_truth.h: every stored value against every literal, by every operator, with the
 * literal on either side, and under `not`; as a property, as a key and as the timestamp. And docs/filters.md,
 * whose tables are made from the same data.
 */
#include "filter_truth.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "domain/filter/filter.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* The value as property P, between two other properties. */
static struct entity with_property(const struct value *value)
{
    const struct value other = { .type = PROPERTY_INT32, .integer = 5 };
    struct buf out;
    struct property_builder builder = { .out = &out };

    buf_init(&out, &arena);
    property_build(&builder, STR_LITERAL("O"), &other);
    property_build(&builder, STR_LITERAL("P"), value);
    property_build(&builder, STR_LITERAL("PP"), &other);
    return (struct entity){ .key = { STR_LITERAL("p"), STR_LITERAL("r") },
        .properties = { .bytes = buf_str(&out) } };
}

static bool matches(struct str text, const struct entity *entity)
{
    const struct filter *filter;
    struct error err = { 0 };

    ck_assert_msg(
        filter_compile(text, &arena, &filter, &err) == STATUS_OK, "%.*s: %s", STR_ARG(text), err.message);
    return filter_matches(filter, entity);
}

static void check(struct str text, const struct entity *entity, bool want, const char *stored)
{
    struct str negated = arena_format(&arena, "not (%.*s)", STR_ARG(text));

    ck_assert_msg(matches(text, entity) == want, "%.*s is %d for %s", STR_ARG(text), !want, stored);
    ck_assert_msg(matches(negated, entity) != want, "%.*s is %d for %s", STR_ARG(negated), want, stored);
}

static const char *answers_of(char sign)
{
    for (size_t i = 0; i < ARRAY_LEN(truth_orders); i++)
        if (truth_orders[i].sign == sign)
            return truth_orders[i].answers;
    ck_abort_msg("no such sign: %c", sign);
    return NULL;
}

/* The operator that means the same with its operands exchanged. */
static size_t mirrored(size_t operator)
{
    static const size_t other[] = { 0, 1, 4, 5, 2, 3 };

    return other[operator];
}

static void check_comparisons(const struct truth_value *stored, const char *name, const struct entity *entity)
{
    for (size_t i = 0; i < ARRAY_LEN(truth_literals); i++) {
        const char *answers = answers_of(stored->orders[i]), *literal = truth_literals[i];

        for (size_t k = 0; k < ARRAY_LEN(truth_operators); k++) {
            check(arena_format(&arena, "%s %s %s", name, truth_operators[k], literal), entity,
                answers[k] == 'T', stored->shown);
            check(arena_format(&arena, "%s %s %s", literal, truth_operators[mirrored(k)], name), entity,
                answers[k] == 'T', stored->shown);
        }
    }
}

START_TEST(comparisons_answer_as_the_table_says)
{
    const struct truth_value *stored = &truth_values[_i];
    struct entity entity = with_property(&stored->value);

    ck_assert_uint_eq(strlen(stored->orders), ARRAY_LEN(truth_literals));
    check_comparisons(stored, "P", &entity);
    if (stored->value.type == PROPERTY_STRING) {
        entity.key = (struct entity_key){ stored->value.bytes, STR_LITERAL("r") };
        check_comparisons(stored, "PartitionKey", &entity);
        entity.key = (struct entity_key){ STR_LITERAL("p"), stored->value.bytes };
        check_comparisons(stored, "RowKey", &entity);
    }
    if (stored->value.type == PROPERTY_DATETIME) {
        entity.timestamp = stored->value.integer;
        check_comparisons(stored, "Timestamp", &entity);
    }
}
END_TEST

START_TEST(questions_answer_as_the_table_says)
{
    const struct truth_value *stored = &truth_values[_i];
    struct entity entity = with_property(&stored->value);

    ck_assert_uint_eq(strlen(stored->answers), ARRAY_LEN(truth_questions));
    for (size_t i = 0; i < ARRAY_LEN(truth_questions); i++)
        check(str_of(truth_questions[i]), &entity, stored->answers[i] == 'T', stored->shown);
}
END_TEST

START_TEST(every_type_meets_every_type)
{
    bool seen[PROPERTY_BINARY + 1] = { false };

    for (size_t i = 0; i < ARRAY_LEN(truth_values); i++)
        seen[truth_values[i].value.type] = true;

    for (size_t type = 0; type < ARRAY_LEN(seen); type++)
        ck_assert_msg(seen[type], "%s is not in the table", property_type_name((enum property_type)type));
}
END_TEST

/* ---- docs/filters.md ---- */

static const char *shown_order(char sign)
{
    for (size_t i = 0; i < ARRAY_LEN(truth_orders); i++)
        if (truth_orders[i].sign == sign)
            return truth_orders[i].shown;
    return "";
}

static void write_head(struct buf *out, const char *corner, const char *const *columns, size_t count)
{
    buf_format(out, "\n| %s |", corner);
    for (size_t i = 0; i < count; i++)
        buf_format(out, " `%s` |", columns[i]);
    buf_format(out, "\n| --- |");
    for (size_t i = 0; i < count; i++)
        buf_format(out, " --- |");
    buf_format(out, "\n");
}

static void write_answers(struct buf *out, const char *name, const char *answers)
{
    buf_format(out, "| %s |", name);
    for (; *answers; answers++)
        buf_format(out, " %s |", *answers == 'T' ? "true" : "false");
    buf_format(out, "\n");
}

static struct str tables(void)
{
    struct buf out;

    buf_init(&out, &arena);
    buf_format(&out, "How a stored value (row) compares with a literal (column):\n");
    write_head(&out, "stored", truth_literals, ARRAY_LEN(truth_literals));
    for (size_t i = 0; i < ARRAY_LEN(truth_values); i++) {
        buf_format(&out, "| %s |", truth_values[i].shown);
        for (const char *sign = truth_values[i].orders; *sign; sign++)
            buf_format(&out, " %s |", shown_order(*sign));
        buf_format(&out, "\n");
    }
    buf_format(&out, "\nWhat each operator returns then:\n");
    write_head(&out, "stored is", truth_operators, ARRAY_LEN(truth_operators));
    for (size_t i = 0; i < ARRAY_LEN(truth_orders); i++)
        write_answers(&out, truth_orders[i].shown, truth_orders[i].answers);
    buf_format(&out, "\nWhat the functions, and a property that stands alone, return:\n");
    write_head(&out, "stored", truth_questions, ARRAY_LEN(truth_questions));
    for (size_t i = 0; i < ARRAY_LEN(truth_values); i++)
        write_answers(&out, truth_values[i].shown, truth_values[i].answers);
    return buf_str(&out);
}

static struct str read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    struct buf out;
    size_t len;

    ck_assert_msg(file != NULL, "cannot open %s", path);
    buf_init(&out, &arena);
    do {
        len = fread(buf_reserve(&out, 4096), 1, 4096, file);
        out.len += len;
    } while (len > 0);
    fclose(file);
    return buf_str(&out);
}

/* The offset at which this text ends in the page. */
static size_t behind(struct str page, const char *mark)
{
    const char *at = memmem(page.data, page.len, mark, strlen(mark));

    ck_assert_msg(at != NULL, "docs/filters.md has lost its mark '%s'", mark);
    return (size_t)(at - page.data) + strlen(mark);
}

START_TEST(the_page_of_filters_is_up_to_date)
{
    static const char begin[] = "UPDATE_DOCS=1 and the test unit_domain write it. -->\n",
                      end[] = "<!-- end of the tables -->\n";
    struct str path = STR_LITERAL(DOCS_FOLDER "/filters.md");
    struct str page = read_all(path.data), made = tables();
    size_t first = behind(page, begin), last = behind(page, end) - strlen(end);
    FILE *file;

    if (getenv("UPDATE_DOCS")) {
        file = fopen(path.data, "w");
        ck_assert_msg(file != NULL, "cannot write %s", path.data);
        fprintf(file, "%.*s%.*s%.*s", (int)first, page.data, STR_ARG(made), STR_ARG(str_from(page, last)));
        fclose(file);
        return;
    }

    ck_assert_msg(str_equal(str_of_bytes(page.data + first, last - first), made),
        "docs/filters.md is stale: run the test unit_domain once with UPDATE_DOCS=1");
}
END_TEST

Suite *test_filter_truth_suite(void)
{
    Suite *suite = suite_create("filter_truth");
    TCase *tc = tcase_create("filter_truth");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, comparisons_answer_as_the_table_says, 0, ARRAY_LEN(truth_values));
    tcase_add_loop_test(tc, questions_answer_as_the_table_says, 0, ARRAY_LEN(truth_values));
    tcase_add_test(tc, every_type_meets_every_type);
    tcase_add_test(tc, the_page_of_filters_is_up_to_date);
    suite_add_tcase(suite, tc);
    return suite;
}
