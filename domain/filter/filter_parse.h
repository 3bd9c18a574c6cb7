/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_parse.h - parses filter text into a tree. Used by filter_compile.c only.
 *
 *   or         = and { "or" and }
 *   and        = not { "and" not }
 *   not        = "not" not | comparison          "not A eq 1" is read as "not (A eq 1)"
 *   comparison = sum { ("eq" | "ne" | "gt" | "ge" | "lt" | "le") sum }
 *   sum        = primary { ("add" | "sub" | "mul" | "div" | "mod") primary }
 *   primary    = "(" or ")" | literal | word { "/" word } | word "(" [ or { "," or } ] ")"
 *
 * Nodes have any number of children, so the depth of the tree is that of parentheses and nots.
 */
#ifndef DOMAIN_FILTER_FILTER_PARSE_H
#define DOMAIN_FILTER_FILTER_PARSE_H

#include "base/arena.h"
#include "domain/filter/filter_lexer.h"

enum node_kind {
    NODE_OR,
    NODE_AND,
    NODE_NOT,
    NODE_COMPARISON,
    NODE_ARITHMETIC,
    NODE_PROPERTY,
    NODE_PATH,
    NODE_FUNCTION,
    NODE_LITERAL,
};

struct node {
    enum node_kind kind;
    struct lexeme lexeme; /* the operator, name or literal */
    struct str source;    /* of a Boolean node: its text with the parentheses around it */
    struct node *first, *last, *next;
};

/*
 * Parse text; *out is NULL when it is empty.
 * STATUS_INVALID  INVALID_INPUT with `position`: a syntax error; too long, too deep, too many comparisons
 */
MUST_USE enum status filter_parse(struct str text, struct arena *arena, struct node **out, struct error *err);

/* STATUS_INVALID  INVALID_INPUT: over LIMIT_FILTER_BYTES */
MUST_USE enum status filter_parse_check_size(struct str text, struct error *err);

/* Fill err: "too many <what>"; position: where the limit is exceeded. */
enum status filter_parse_refuse_limit(
    const char *what, int limit, int64_t actual, size_t position, struct error *err);

static inline bool filter_parse_is_word(const struct lexeme *lexeme, const char *word)
{
    return lexeme->kind == LEXEME_WORD && str_equal(lexeme->text, str_of(word));
}

#endif
