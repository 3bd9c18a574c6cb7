/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_parse.c - recursive descent, one function per line of the grammar in the header.
 */
#include "domain/filter/filter_parse.h"

#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"

struct parser {
    struct lexer lexer;
    struct lexeme ahead;
    struct arena *arena;
    size_t end; /* the end of the last lexeme that was read */
    int depth;
    int comparisons;
};

/* ---- parsing ---- */

enum status filter_parse_refuse_limit(
    const char *what, int limit, int64_t actual, size_t position, struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT, "filter: too many %s, at most %d are allowed", what, limit);
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", actual);
    error_add_meta_int(err, "position", (int64_t)position);
    return STATUS_INVALID;
}

static struct node *new_node(struct parser *parser, enum node_kind kind, struct lexeme lexeme)
{
    struct node *node = ARENA_NEW(parser->arena, struct node);

    node->kind = kind;
    node->lexeme = lexeme;
    return node;
}

static void add_child(struct node *node, struct node *child)
{
    if (node->last)
        node->last->next = child;
    else
        node->first = child;
    node->last = child;
}

static bool is_one_of(const struct lexeme *lexeme, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (filter_parse_is_word(lexeme, words[i]))
            return true;
    }
    return false;
}

static bool is_comparison(const struct lexeme *lexeme)
{
    static const char *const words[] = { "eq", "ne", "gt", "ge", "lt", "le" };

    return is_one_of(lexeme, words, ARRAY_LEN(words));
}

static bool is_arithmetic(const struct lexeme *lexeme)
{
    static const char *const words[] = { "add", "sub", "mul", "div", "mod" };

    return is_one_of(lexeme, words, ARRAY_LEN(words));
}

static enum status read_ahead(struct parser *parser, struct error *err)
{
    parser->end = parser->lexer.at;
    return lexer_next(&parser->lexer, &parser->ahead, err);
}

/* The text from that position to the end of the last lexeme that was read. */
static struct str source_from(const struct parser *parser, size_t begin)
{
    return str_of_bytes(parser->lexer.text.data + begin, parser->end - begin);
}

static enum status expect_lexeme(
    struct parser *parser, enum lexeme_kind kind, const char *what, struct error *err)
{
    if (parser->ahead.kind != kind)
        return filter_lexer_error(parser->ahead.position, what, err);
    return read_ahead(parser, err);
}

static enum status enter_nesting(struct parser *parser, struct error *err)
{
    if (++parser->depth > LIMIT_FILTER_DEPTH)
        return filter_parse_refuse_limit(
            "nested parentheses and nots", LIMIT_FILTER_DEPTH, parser->depth, parser->ahead.position, err);
    return STATUS_OK;
}

static enum status parse_or(struct parser *parser, struct node **out, struct error *err);

static enum status parse_arguments(struct parser *parser, struct node *function, struct error *err)
{
    struct node *argument;

    TRY(enter_nesting(parser, err));
    TRY(read_ahead(parser, err));
    while (parser->ahead.kind != LEXEME_CLOSE) {
        TRY(parse_or(parser, &argument, err));
        add_child(function, argument);
        if (parser->ahead.kind != LEXEME_COMMA)
            break;
        TRY(read_ahead(parser, err));
        if (parser->ahead.kind == LEXEME_CLOSE)
            return filter_lexer_error(parser->ahead.position, "an argument is missing", err);
    }
    parser->depth--;
    return expect_lexeme(parser, LEXEME_CLOSE, "')' is missing", err);
}

static enum status parse_name(struct parser *parser, struct node **out, struct error *err)
{
    struct lexeme word = parser->ahead;
    struct node *node;

    if (is_comparison(&word) || filter_parse_is_word(&word, "and") || filter_parse_is_word(&word, "or") ||
        filter_parse_is_word(&word, "not"))
        return filter_lexer_error(word.position, "a property or a literal is required here", err);
    TRY(read_ahead(parser, err));
    node = new_node(parser, word.text.data[0] == '$' ? NODE_PATH : NODE_PROPERTY, word);
    *out = node;
    if (parser->ahead.kind == LEXEME_OPEN) {
        node->kind = NODE_FUNCTION;
        return parse_arguments(parser, node, err);
    }
    while (parser->ahead.kind == LEXEME_SLASH) {
        node->kind = NODE_PATH;
        TRY(read_ahead(parser, err));
        TRY(expect_lexeme(parser, LEXEME_WORD, "a name must follow '/'", err));
    }
    return STATUS_OK;
}

static enum status parse_primary(struct parser *parser, struct node **out, struct error *err)
{
    switch (parser->ahead.kind) {
    case LEXEME_OPEN:
        TRY(enter_nesting(parser, err));
        TRY(read_ahead(parser, err));
        TRY(parse_or(parser, out, err));
        parser->depth--;
        return expect_lexeme(parser, LEXEME_CLOSE, "')' is missing", err);
    case LEXEME_LITERAL:
        *out = new_node(parser, NODE_LITERAL, parser->ahead);
        return read_ahead(parser, err);
    case LEXEME_WORD:
        return parse_name(parser, out, err);
    case LEXEME_NAME:
        *out = new_node(parser, NODE_PROPERTY, parser->ahead);
        return read_ahead(parser, err);
    case LEXEME_END:
    case LEXEME_CLOSE:
    case LEXEME_COMMA:
    case LEXEME_SLASH:
        break;
    }
    return filter_lexer_error(parser->ahead.position, "a property or a literal is required here", err);
}

static enum status parse_sum(struct parser *parser, struct node **out, struct error *err)
{
    struct node *operand, *sum;

    TRY(parse_primary(parser, out, err));
    if (!is_arithmetic(&parser->ahead))
        return STATUS_OK;
    sum = new_node(parser, NODE_ARITHMETIC, parser->ahead);
    add_child(sum, *out);
    while (is_arithmetic(&parser->ahead)) {
        TRY(read_ahead(parser, err));
        TRY(parse_primary(parser, &operand, err));
        add_child(sum, operand);
    }
    *out = sum;
    return STATUS_OK;
}

static enum status parse_comparison(struct parser *parser, struct node **out, struct error *err)
{
    struct node *right;

    TRY(parse_sum(parser, out, err));
    while (is_comparison(&parser->ahead)) {
        struct node *comparison = new_node(parser, NODE_COMPARISON, parser->ahead);

        if (++parser->comparisons > LIMIT_FILTER_COMPARISONS)
            return filter_parse_refuse_limit(
                "comparisons", LIMIT_FILTER_COMPARISONS, parser->comparisons, parser->ahead.position, err);
        TRY(read_ahead(parser, err));
        TRY(parse_sum(parser, &right, err));
        add_child(comparison, *out);
        add_child(comparison, right);
        *out = comparison;
    }
    return STATUS_OK;
}

static enum status parse_negated(struct parser *parser, struct node **out, struct error *err);

/* Set the source text of a node with the parentheses around it: the outermost pair sets it last. */
static enum status parse_not(struct parser *parser, struct node **out, struct error *err)
{
    size_t begin = parser->ahead.position;

    if (filter_parse_is_word(&parser->ahead, "not"))
        TRY(parse_negated(parser, out, err));
    else
        TRY(parse_comparison(parser, out, err));
    (*out)->source = source_from(parser, begin);
    return STATUS_OK;
}

static enum status parse_negated(struct parser *parser, struct node **out, struct error *err)
{
    struct node *node = new_node(parser, NODE_NOT, parser->ahead), *operand;

    TRY(enter_nesting(parser, err));
    TRY(read_ahead(parser, err));
    TRY(parse_not(parser, &operand, err));
    add_child(node, operand);
    parser->depth--;
    *out = node;
    return STATUS_OK;
}

typedef enum status parse_fn(struct parser *parser, struct node **out, struct error *err);

static enum status parse_joined(struct parser *parser, const char *word, enum node_kind kind,
    parse_fn *parse_operand, struct node **out, struct error *err)
{
    size_t begin = parser->ahead.position;
    struct node *operand, *node;

    TRY(parse_operand(parser, out, err));
    if (!filter_parse_is_word(&parser->ahead, word))
        return STATUS_OK;
    node = new_node(parser, kind, parser->ahead);
    add_child(node, *out);
    while (filter_parse_is_word(&parser->ahead, word)) {
        TRY(read_ahead(parser, err));
        TRY(parse_operand(parser, &operand, err));
        add_child(node, operand);
    }
    node->source = source_from(parser, begin);
    *out = node;
    return STATUS_OK;
}

static enum status parse_and(struct parser *parser, struct node **out, struct error *err)
{
    return parse_joined(parser, "and", NODE_AND, parse_not, out, err);
}

static enum status parse_or(struct parser *parser, struct node **out, struct error *err)
{
    return parse_joined(parser, "or", NODE_OR, parse_and, out, err);
}

static enum status parse_all(struct parser *parser, struct node **out, struct error *err)
{
    TRY(read_ahead(parser, err));
    if (parser->ahead.kind == LEXEME_END) {
        *out = NULL;
        return STATUS_OK;
    }
    TRY(parse_or(parser, out, err));
    return expect_lexeme(parser, LEXEME_END,
        "the filter should end here, or go on with an operator, such as eq, and, or: they are in lower case",
        err);
}

enum status filter_parse_check_size(struct str text, struct error *err)
{
    if (text.len <= LIMIT_FILTER_BYTES)
        return STATUS_OK;
    return filter_parse_refuse_limit("bytes", LIMIT_FILTER_BYTES, (int64_t)text.len, LIMIT_FILTER_BYTES, err);
}

enum status filter_parse(struct str text, struct arena *arena, struct node **out, struct error *err)
{
    struct parser parser = { .lexer = { .text = text }, .arena = arena };
    size_t bad;

    TRY(filter_parse_check_size(text, err));
    if (!text_check(text, NULL, &bad))
        return filter_lexer_error(bad, "not UTF-8", err);
    return parse_all(&parser, out, err);
}
