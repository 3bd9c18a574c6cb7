/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - whether an entity matches: all tests are answered in one walk along its properties,
 * then the clauses are decided from the answers. Nothing is allocated, and only the needed values
 * are decoded.
 */
#include "domain/filter/filter.h"

#include "domain/filter/filter_tree.h"
#include "domain/limits.h"

/* The tests that hold. A test that was not answered does not hold. */
struct answers {
    bool holds[LIMIT_FILTER_COMPARISONS];
};

/* ---- one test ---- */

static enum ordering ordering_of(int order)
{
    return order < 0 ? ORDER_LESS : order > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

static enum ordering compare_integers(int64_t a, int64_t b)
{
    return ordering_of((a > b) - (a < b));
}

static enum ordering compare_numbers(double a, double b)
{
    if (a < b)
        return ORDER_LESS;
    if (a > b)
        return ORDER_GREATER;
    return a == b ? ORDER_EQUAL : ORDER_NONE;
}

/*
 * How a stored value compares with a literal. The literal may widen to the stored type, never the
 * reverse; a stored value of any other type counts as less.
 */
static enum ordering compare_values(const struct value *stored, const struct value *literal)
{
    bool same = stored->type == literal->type;
    bool is_integer = literal->type == PROPERTY_INT32 || literal->type == PROPERTY_INT64;

    switch (stored->type) {
    case PROPERTY_STRING:
    case PROPERTY_GUID:
    case PROPERTY_BINARY:
        return same ? ordering_of(str_compare(stored->bytes, literal->bytes)) : ORDER_LESS;
    case PROPERTY_BOOLEAN:
    case PROPERTY_INT32:
    case PROPERTY_DATETIME:
        return same ? compare_integers(stored->integer, literal->integer) : ORDER_LESS;
    case PROPERTY_INT64:
        return is_integer ? compare_integers(stored->integer, literal->integer) : ORDER_LESS;
    case PROPERTY_DOUBLE:
        return same || is_integer ? compare_numbers(stored->number, literal->number) : ORDER_LESS;
    case PROPERTY_NULL: /* nulls are never stored */
        break;
    }
    return ORDER_NONE;
}

static bool contains_text(struct str text, struct str part)
{
    return part.len == 0 || (text.len >= part.len && memmem(text.data, text.len, part.data, part.len));
}

static bool ends_with(struct str text, struct str end)
{
    return text.len >= end.len && str_equal(str_from(text, text.len - end.len), end);
}

static bool test_holds(const struct test *test, const struct value *stored)
{
    bool is_string = stored->type == PROPERTY_STRING;

    if (stored->type == PROPERTY_NULL) /* the property is missing: no test holds */
        return false;
    switch (test->kind) {
    case TEST_COMPARE:
        return (test->accepts & compare_values(stored, &test->literal)) != 0;
    case TEST_IS_TRUE:
        return stored->type == PROPERTY_BOOLEAN && stored->integer != 0;
    case TEST_EXISTS:
        return true;
    case TEST_STARTS_WITH:
        return is_string && str_starts_with(stored->bytes, test->literal.bytes);
    case TEST_CONTAINS:
        return is_string && contains_text(stored->bytes, test->literal.bytes);
    case TEST_ENDS_WITH:
        return is_string && ends_with(stored->bytes, test->literal.bytes);
    }
    return false;
}

/* ---- all tests ---- */

static struct value field_of(const struct entity *entity, enum test_subject subject)
{
    switch (subject) {
    case SUBJECT_PARTITION_KEY:
        return (struct value){ .type = PROPERTY_STRING, .bytes = entity->key.partition };
    case SUBJECT_ROW_KEY:
        return (struct value){ .type = PROPERTY_STRING, .bytes = entity->key.row };
    case SUBJECT_TIMESTAMP:
        return (struct value){ .type = PROPERTY_DATETIME, .bytes = STR_EMPTY, .integer = entity->timestamp };
    case SUBJECT_PROPERTY:
        break;
    }
    return (struct value){ .type = PROPERTY_NULL, .bytes = STR_EMPTY };
}

/*
 * The value that a test is about; PROPERTY_NULL if it is missing. rest moves forward along the
 * properties of the entity.
 */
static struct value find_subject(const struct entity *entity, const struct test *test, struct str *rest)
{
    struct property property;

    if (test->subject != SUBJECT_PROPERTY)
        return field_of(entity, test->subject);
    if (!property_seek(rest, test->name, &property))
        return (struct value){ .type = PROPERTY_NULL, .bytes = STR_EMPTY };
    return property.value;
}

static bool ask_the_same(const struct test *a, const struct test *b)
{
    return a->subject == b->subject && (a->subject != SUBJECT_PROPERTY || str_equal(a->name, b->name));
}

/*
 * Answer the tests. With hurry, false is returned as soon as a required test fails. Otherwise the
 * result is true, and the clauses decide.
 */
static bool answer_tests(
    const struct filter *filter, const struct entity *entity, bool hurry, struct answers *answers)
{
    const struct test *tests = filter->tests;
    struct str rest = entity->properties.bytes;
    size_t i = 0;

    while (i < filter->test_count) {
        size_t first = i;
        struct value value = find_subject(entity, &tests[first], &rest);

        for (; i < filter->test_count && ask_the_same(&tests[first], &tests[i]); i++) {
            answers->holds[i] = test_holds(&tests[i], &value);
            if (hurry && tests[i].required && !answers->holds[i])
                return false;
        }
    }
    return true;
}

/* ---- clauses ---- */

static bool clause_holds(const struct clause *clause, const struct answers *answers)
{
    const struct clause *operand = clause->first;

    switch (clause->kind) {
    case CLAUSE_TEST:
        return answers->holds[clause->test];
    case CLAUSE_NOT:
        return !clause_holds(operand, answers);
    case CLAUSE_AND:
        while (operand && clause_holds(operand, answers))
            operand = operand->next;
        return !operand;
    case CLAUSE_OR:
        while (operand && !clause_holds(operand, answers))
            operand = operand->next;
        return operand != NULL;
    }
    return false;
}

bool filter_asks_keys_only(const struct filter *filter)
{
    for (size_t i = 0; filter && i < filter->test_count; i++)
        if (filter->tests[i].subject != SUBJECT_PARTITION_KEY && filter->tests[i].subject != SUBJECT_ROW_KEY)
            return false;
    return true;
}

size_t filter_names(const struct filter *filter, struct arena *arena, const struct str **names)
{
    struct str *found = ARENA_ARRAY(arena, struct str, filter ? filter->test_count : 0);
    size_t count = 0;

    for (size_t i = 0; filter && i < filter->test_count; i++)
        if (filter->tests[i].subject == SUBJECT_PROPERTY)
            found[count++] = filter->tests[i].name;
    *names = found;
    return count;
}

bool filter_matches(const struct filter *filter, const struct entity *entity)
{
    struct answers answers;

    return !filter || (answer_tests(filter, entity, true, &answers) && clause_holds(filter->root, &answers));
}

int64_t filter_searched_bytes(const struct filter *filter, const struct entity *entity)
{
    const struct entity_key *key = &entity->key;

    if (!filter)
        return 0;
    return (int64_t)(filter->searches * (key->partition.len + key->row.len + entity->properties.bytes.len));
}

struct str filter_failing_clause(const struct filter *filter, const struct entity *entity)
{
    struct answers answers;
    const struct clause *clause;

    if (!filter)
        return STR_EMPTY;
    answer_tests(filter, entity, false, &answers);
    clause = filter->root->kind == CLAUSE_AND ? filter->root->first : filter->root;
    while (clause && clause_holds(clause, &answers))
        clause = clause->next;
    return clause ? clause->source : STR_EMPTY;
}
