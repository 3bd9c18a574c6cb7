/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_tree.h - the compiled filter, for the modules of the filter. Others use filter.h.
 */
#ifndef DOMAIN_FILTER_FILTER_TREE_H
#define DOMAIN_FILTER_FILTER_TREE_H

#include "domain/filter/filter.h"
#include "domain/filter/filter_parse.h"

/*
 * The ordering of a stored value to a literal. Single bits, so that an operator is the set of
 * orderings it accepts.
 */
enum ordering {
    ORDER_LESS = 1, /* also every value of a type that the literal does not widen to */
    ORDER_EQUAL = 2,
    ORDER_GREATER = 4,
    ORDER_NONE = 8, /* one of the two is a NaN */
};

enum {
    ACCEPT_EQ = ORDER_EQUAL,
    ACCEPT_NE = ORDER_LESS | ORDER_GREATER | ORDER_NONE,
    ACCEPT_GT = ORDER_GREATER,
    ACCEPT_GE = ORDER_GREATER | ORDER_EQUAL,
    ACCEPT_LT = ORDER_LESS,
    ACCEPT_LE = ORDER_LESS | ORDER_EQUAL,
};

enum test_kind {
    TEST_COMPARE,
    TEST_IS_TRUE, /* a property that stands alone */
    TEST_EXISTS,
    TEST_STARTS_WITH,
    TEST_CONTAINS,
    TEST_ENDS_WITH,
};

enum test_subject { /* every entity has the first three */
    SUBJECT_PARTITION_KEY,
    SUBJECT_ROW_KEY,
    SUBJECT_TIMESTAMP,
    SUBJECT_PROPERTY,
};

/*
 * One test of one field or property. It is false if the property is missing, for every kind of
 * test.
 */
struct test {
    enum test_kind kind;
    enum test_subject subject;
    struct str name;      /* of the property */
    unsigned accepts;     /* TEST_COMPARE: a set of orderings */
    struct value literal; /* the operand; `number` is set for integers too */
    bool required;        /* an operand of the outermost `and`: no entity matches without it */
    struct clause *clause;
};

enum clause_kind {
    CLAUSE_OR,
    CLAUSE_AND,
    CLAUSE_NOT,
    CLAUSE_TEST,
};

/* The filter as a tree. An `and` never has an `and` as its child, nor an `or` an `or`. */
struct clause {
    enum clause_kind kind;
    struct str source;
    struct clause *first, *last, *next;
    size_t test; /* CLAUSE_TEST: an index */
};

struct filter {
    struct str text;
    struct clause *root;
    /*
     * sorted by subject, then name, so that one walk along the properties of an entity answers all
     */
    struct test *tests;
    size_t test_count;
    size_t searches; /* how many of them are TEST_CONTAINS */
};

/*
 * The value of a literal; text is unescaped into the arena.
 * STATUS_INVALID       INVALID_INPUT with `position`: beyond a Double
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT with `position`: a time that is never stored
 */
MUST_USE enum status filter_literal_read(
    const struct lexeme *lexeme, struct arena *arena, struct value *out, struct error *err);

#endif
