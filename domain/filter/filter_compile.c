/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_compile.c - makes clauses and tests of the parsed tree. Unsupported expressions are
 * refused here with their text and position: INVALID_INPUT if they make no sense, NOT_IMPLEMENTED
 * if OData defines them.
 */
#include <assert.h>
#include <stdlib.h>

#include "domain/filter/filter_tree.h"
#include "domain/limits.h"
#include "domain/properties/property_name.h"
#include "domain/reason.h"
#include "domain/text.h"

#define FUNCTIONS "startswith, contains, endswith, exists"
#define BOOLEANS "a comparison, a Boolean property, or one of " FUNCTIONS
#define NOT_BOOLEAN "is not Boolean, but a Boolean is required here"

enum { MIN_TEST_BYTES = 5 }; /* "A or A or A" */

struct compiler {
    struct arena *arena;
    struct test *tests;
    size_t room; /* the maximum number of tests in the text, within the limit */
    size_t test_count;
    size_t searches;
};

/* ---- refusals ---- */

static enum status refuse_at(enum reason reason, struct str text, size_t position, const char *what,
    const char *allowed, struct error *err)
{
    enum status status = reason_set(err, reason, "filter: '%.*s' at position %zu %s; allowed is %s",
        STR_ARG(text), position, what, allowed);

    error_add_meta_int(err, "position", (int64_t)position);
    error_add_meta(err, "allowed", str_of(allowed));
    return status;
}

static enum status refuse_node(
    enum reason reason, const struct node *node, const char *what, const char *allowed, struct error *err)
{
    return refuse_at(reason, node->lexeme.text, node->lexeme.position, what, allowed, err);
}

static enum status refuse_type(const struct node *node, struct error *err)
{
    return refuse_node(REASON_INVALID_INPUT, node, NOT_BOOLEAN, BOOLEANS, err);
}

static enum status refuse_operands(const struct node *node, const char *what, struct error *err)
{
    return refuse_node(
        REASON_NOT_IMPLEMENTED, node, what, "a comparison of one property with one literal", err);
}

static enum status refuse_character(struct str name, size_t position, uint32_t character, struct error *err)
{
    char subject[PROPERTY_SUBJECT_BYTES];

    reason_set(err, REASON_PROPERTY_NAME_INVALID,
        "filter: %s: no property's name has U+%04X, which is at position %zu; allowed "
        "is " PROPERTY_NAME_ALLOWED,
        property_name_subject(name, subject), (unsigned)character, position);
    error_add_meta_int(err, "position", (int64_t)position);
    error_add_meta(err, "allowed", STR_LITERAL(PROPERTY_NAME_ALLOWED));
    return STATUS_INVALID;
}

static enum status refuse_length(size_t units, size_t position, struct error *err)
{
    reason_set(err, REASON_PROPERTY_NAME_TOO_LONG,
        "filter: the name at position %zu has %zu UTF-16 code units, a property's has at most %d", position,
        units, LIMIT_PROPERTY_NAME_UNITS);
    error_add_meta_int(err, "position", (int64_t)position);
    error_add_meta_int(err, "limit", LIMIT_PROPERTY_NAME_UNITS);
    error_add_meta_int(err, "actual", (int64_t)units);
    return STATUS_INVALID;
}

/* ---- tests ---- */

static const struct subject_name {
    const char *name;
    enum test_subject subject;
} subject_names[] = {
    { "PartitionKey", SUBJECT_PARTITION_KEY },
    { "RowKey", SUBJECT_ROW_KEY },
    { "Timestamp", SUBJECT_TIMESTAMP },
};

static enum test_subject subject_of(const struct node *property)
{
    for (size_t i = 0; i < ARRAY_LEN(subject_names); i++)
        if (str_equal(property->lexeme.text, str_of(subject_names[i].name)))
            return subject_names[i].subject;
    return SUBJECT_PROPERTY;
}

/*
 * Refuse a name that no property can have. It is a mistake, often an invisible one, such as a
 * copied zero-width
 * space: the property would be missing everywhere, and `not` would match every entity.
 */
static enum status check_name(const struct node *property, struct error *err)
{
    struct str name = property->lexeme.text;
    size_t begin = (size_t)property->lexeme.position, units, misfit;
    uint32_t character;

    if (property->lexeme.kind == LEXEME_NAME)
        begin++; /* the bracket */
    if (property_name_misfit(name, &misfit, &character) && !property_name_is_source(name))
        return refuse_character(name, begin + misfit, character, err);
    if (name.len > LIMIT_PROPERTY_NAME_UNITS && text_check(name, &units, NULL) &&
        units > LIMIT_PROPERTY_NAME_UNITS)
        return refuse_length(units, begin, err);
    return STATUS_OK;
}

static struct clause *new_clause(
    const struct compiler *compiler, enum clause_kind kind, const struct node *node)
{
    struct clause *clause = ARENA_NEW(compiler->arena, struct clause);

    clause->kind = kind;
    clause->source = node->source;
    return clause;
}

static enum status add_test(struct compiler *compiler, const struct node *node, const struct node *property,
    struct test test, struct clause **out, struct error *err)
{
    if (compiler->test_count == LIMIT_FILTER_COMPARISONS)
        return filter_parse_refuse_limit("comparisons", LIMIT_FILTER_COMPARISONS,
            (int64_t)compiler->test_count + 1, node->lexeme.position, err);
    if (test.kind == TEST_CONTAINS && ++compiler->searches > LIMIT_FILTER_SEARCHES)
        return filter_parse_refuse_limit(
            "contains", LIMIT_FILTER_SEARCHES, (int64_t)compiler->searches, node->lexeme.position, err);
    test.subject = subject_of(property);
    if (test.subject == SUBJECT_PROPERTY)
        TRY(check_name(property, err));
    assert(compiler->test_count < compiler->room);
    test.name = property->lexeme.text;
    test.clause = *out = new_clause(compiler, CLAUSE_TEST, node);
    compiler->tests[compiler->test_count++] = test;
    return STATUS_OK;
}

static const struct operator
{
    const char *name;
    unsigned accepts,
        /* the accepted orderings if the literal is on the right, and if it is on the left */
        swapped;
}
operators[] = {
    { "eq", ACCEPT_EQ, ACCEPT_EQ },
    { "ne", ACCEPT_NE, ACCEPT_NE },
    { "gt", ACCEPT_GT, ACCEPT_LT },
    { "ge", ACCEPT_GE, ACCEPT_LE },
    { "lt", ACCEPT_LT, ACCEPT_GT },
    { "le", ACCEPT_LE, ACCEPT_GE },
};

static unsigned accepted_by(const struct lexeme *operator, bool swapped)
{
    size_t i = 0;

    while (!filter_parse_is_word(operator, operators[i].name))
        i++;
    return swapped ? operators[i].swapped : operators[i].accepts;
}

static bool is_null(const struct node *node)
{
    return node->kind == NODE_LITERAL && node->lexeme.type == PROPERTY_NULL;
}

/* Whether one side is a property and the other one a literal that is not null. */
static enum status check_operands(
    const struct node *comparison, const struct node *left, const struct node *right, struct error *err)
{
    const struct node *odd = left->kind == NODE_PROPERTY || left->kind == NODE_LITERAL ? right : left;

    if (is_null(left) || is_null(right))
        return refuse_node(REASON_INVALID_INPUT, is_null(left) ? left : right,
            "cannot be compared with: a null is not stored at all", "exists(Name), or not exists(Name)", err);
    if (odd->kind != NODE_PROPERTY && odd->kind != NODE_LITERAL)
        return refuse_operands(odd, "is an expression in a comparison", err);
    if (left->kind == right->kind)
        return refuse_operands(comparison,
            left->kind == NODE_PROPERTY ? "compares two properties (text stands in single quotes: 'open')"
                                        : "compares two literals",
            err);
    return STATUS_OK;
}

static enum status compile_comparison(
    struct compiler *compiler, const struct node *node, struct clause **out, struct error *err)
{
    const struct node *left = node->first, *right = left->next;
    bool swapped = left->kind == NODE_LITERAL;
    struct test test = { .kind = TEST_COMPARE, .accepts = accepted_by(&node->lexeme, swapped) };

    TRY(check_operands(node, left, right, err));
    TRY(filter_literal_read(&(swapped ? left : right)->lexeme, compiler->arena, &test.literal, err));
    return add_test(compiler, node, swapped ? right : left, test, out, err);
}

/* ---- functions ---- */

static const struct function {
    const char *name;
    enum test_kind kind;
    bool takes_text;
    const char *form;
} functions[] = {
    { "startswith", TEST_STARTS_WITH, true, "startswith(Name,'text')" },
    { "contains", TEST_CONTAINS, true, "contains(Name,'text')" },
    { "endswith", TEST_ENDS_WITH, true, "endswith(Name,'text')" },
    { "exists", TEST_EXISTS, false, "exists(Name)" },
};

static const struct function *find_function(const struct node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (filter_parse_is_word(&node->lexeme, functions[i].name))
            return &functions[i];
    return NULL;
}

static bool has_arguments(const struct node *node, const struct function *function)
{
    const struct node *property = node->first, *text = property ? property->next : NULL;

    if (!property || property->kind != NODE_PROPERTY)
        return false;
    if (!function->takes_text)
        return !text;
    return text && text->kind == NODE_LITERAL && text->lexeme.type == PROPERTY_STRING && !text->next &&
           subject_of(property) != SUBJECT_TIMESTAMP;
}

static enum status compile_function(
    struct compiler *compiler, const struct node *node, struct clause **out, struct error *err)
{
    const struct function *function = find_function(node);
    struct test test = { 0 };

    if (!function)
        return refuse_node(
            REASON_NOT_IMPLEMENTED, node, "is a function that is not supported", FUNCTIONS, err);
    if (!has_arguments(node, function))
        return refuse_node(REASON_INVALID_INPUT, node, "has arguments of other kinds", function->form, err);
    test.kind = function->kind;
    if (function->takes_text)
        TRY(filter_literal_read(&node->first->next->lexeme, compiler->arena, &test.literal, err));
    return add_test(compiler, node, node->first, test, out, err);
}

/* ---- clauses ---- */

static enum status compile_node(
    struct compiler *compiler, const struct node *node, struct clause **out, struct error *err);

static void append_clauses(struct clause *parent, struct clause *first, struct clause *last)
{
    if (parent->last)
        parent->last->next = first;
    else
        parent->first = first;
    parent->last = last;
}

static enum status compile_joined(struct compiler *compiler, enum clause_kind kind, const struct node *node,
    struct clause **out, struct error *err)
{
    struct clause *clause = new_clause(compiler, kind, node), *operand;

    for (const struct node *child = node->first; child; child = child->next) {
        TRY(compile_node(compiler, child, &operand, err));
        if (operand->kind == kind && kind != CLAUSE_NOT)
            append_clauses(clause, operand->first, operand->last);
        else
            append_clauses(clause, operand, operand);
    }
    *out = clause;
    return STATUS_OK;
}

static enum status compile_node(
    struct compiler *compiler, const struct node *node, struct clause **out, struct error *err)
{
    switch (node->kind) {
    case NODE_OR:
        return compile_joined(compiler, CLAUSE_OR, node, out, err);
    case NODE_AND:
        return compile_joined(compiler, CLAUSE_AND, node, out, err);
    case NODE_NOT:
        return compile_joined(compiler, CLAUSE_NOT, node, out, err);
    case NODE_COMPARISON:
        return compile_comparison(compiler, node, out, err);
    case NODE_FUNCTION:
        return compile_function(compiler, node, out, err);
    case NODE_PROPERTY:
        if (subject_of(node) != SUBJECT_PROPERTY)
            return refuse_type(node, err);
        return add_test(compiler, node, node, (struct test){ .kind = TEST_IS_TRUE }, out, err);
    case NODE_PATH:
        return refuse_operands(node, "is a path", err);
    case NODE_LITERAL:
        if (node->lexeme.type == PROPERTY_BOOLEAN)
            return refuse_operands(node, "is a constant", err);
        break;
    case NODE_ARITHMETIC:
        break;
    }
    return refuse_type(node, err);
}

/* ---- the filter ---- */

static int compare_tests(const void *a, const void *b)
{
    const struct test *x = a, *y = b;

    if (x->subject != y->subject)
        return x->subject < y->subject ? -1 : 1;
    return str_compare(x->name, y->name);
}

static struct filter *finish_filter(const struct compiler *compiler, struct str text, struct clause *root)
{
    struct filter *filter = ARENA_NEW(compiler->arena, struct filter);
    struct clause *first = root->kind == CLAUSE_AND ? root->first : root;

    *filter = (struct filter){ text, root, compiler->tests, compiler->test_count, compiler->searches };
    qsort(filter->tests, filter->test_count, sizeof(*filter->tests), compare_tests);
    for (size_t i = 0; i < filter->test_count; i++)
        filter->tests[i].clause->test = i;
    for (struct clause *clause = first; clause; clause = clause->next)
        if (clause->kind == CLAUSE_TEST)
            filter->tests[clause->test].required = true;
    return filter;
}

enum status filter_compile(struct str text, struct arena *arena, const struct filter **out, struct error *err)
{
    struct compiler compiler = { .arena = arena, .room = text.len / MIN_TEST_BYTES + 1 };
    struct node *node;
    struct clause *root;

    TRY(filter_parse_check_size(text, err));
    text = arena_copy(arena, text);
    TRY(filter_parse(text, arena, &node, err));
    if (!node) {
        *out = NULL;
        return STATUS_OK;
    }
    if (compiler.room > LIMIT_FILTER_COMPARISONS)
        compiler.room = LIMIT_FILTER_COMPARISONS;
    compiler.tests = ARENA_ARRAY(arena, struct test, compiler.room);
    TRY(compile_node(&compiler, node, &root, err));
    *out = finish_filter(&compiler, text, root);
    return STATUS_OK;
}

enum status filter_check_only(const struct filter *filter, const char *property, struct error *err)
{
    /* the first foreign name; names lie in the text of the filter */
    const struct str *stranger = NULL;

    for (size_t i = 0; filter && i < filter->test_count; i++) {
        const struct str *name = &filter->tests[i].name;

        if (!str_equal(*name, str_of(property)) && (!stranger || name->data < stranger->data))
            stranger = name;
    }
    if (stranger)
        return refuse_at(REASON_INVALID_INPUT, *stranger, (size_t)(stranger->data - filter->text.data),
            "is not a property here", property, err);
    for (size_t i = 0; filter && i < filter->test_count; i++)
        if (filter->tests[i].kind == TEST_IS_TRUE)
            return refuse_at(REASON_INVALID_INPUT, filter->tests[i].name,
                (size_t)(filter->tests[i].name.data - filter->text.data), NOT_BOOLEAN, BOOLEANS, err);
    return STATUS_OK;
}
