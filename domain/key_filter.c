/*
 * key_filter.c - filter text to key ranges in three passes: parse everything into a small tree, check that it
 * makes sense, reduce it. So a syntax error is reported as one even behind something that is not honoured.
 */
#include "domain/key_filter.h"

#include "base/buf.h"
#include "domain/filter_parse.h"
#include "domain/reason.h"

#define HONOURED                                                                                             \
    "honoured so far are comparisons of PartitionKey and RowKey with string literals by eq, ne, gt, ge, lt " \
    "and le, joined by 'and'"

/* ---- does it make sense? ---- */

static enum status refuse_meaning(const struct node *node, const char *what, struct error *err)
{
    error_reason(err, REASON_INVALID_INPUT, "filter: '%.*s' at position %zu %s", STR_ARG(node->lexeme.text),
        node->lexeme.position, what);
    error_add_meta_int(err, "position", (int64_t)node->lexeme.position);
    return STATUS_INVALID;
}

static bool is_key(const struct node *node)
{
    return node->kind == NODE_PROPERTY &&
           (lexeme_is_word(&node->lexeme, "PartitionKey") || lexeme_is_word(&node->lexeme, "RowKey"));
}

static bool is_never_boolean(const struct node *node)
{
    switch (node->kind) {
    case NODE_LITERAL:
        return node->lexeme.type != PROPERTY_BOOLEAN;
    case NODE_ARITHMETIC:
        return true;
    case NODE_PROPERTY:
        return is_key(node) || lexeme_is_word(&node->lexeme, "Timestamp");
    case NODE_OR:
    case NODE_AND:
    case NODE_NOT:
    case NODE_COMPARISON:
    case NODE_PATH:
    case NODE_FUNCTION:
        return false;
    }
    return false;
}

/* Whether the children of a node have to be Boolean. */
static bool joins_booleans(const struct node *node)
{
    return node->kind == NODE_OR || node->kind == NODE_AND || node->kind == NODE_NOT;
}

static enum status check_meaning(const struct node *node, struct error *err)
{
    for (const struct node *child = node->first; child; child = child->next) {
        if (joins_booleans(node) && is_never_boolean(child))
            return refuse_meaning(child, "is not Boolean, but is joined like a Boolean", err);
        if (node->kind == NODE_COMPARISON && child->kind == NODE_LITERAL &&
            child->lexeme.type == PROPERTY_NULL)
            return refuse_meaning(
                child, "cannot be compared with: a property that is null is not stored at all", err);
        TRY(check_meaning(child, err));
    }
    return STATUS_OK;
}

static enum status check_filter(const struct node *node, struct error *err)
{
    if (is_never_boolean(node))
        return refuse_meaning(node, "is not Boolean, but a filter must be", err);
    return check_meaning(node, err);
}

/* ---- intervals ---- */

static void raise_low(struct interval *interval, struct str low, bool open)
{
    int order = interval->has_low ? str_compare(low, interval->low) : 1;

    if (order < 0 || (order == 0 && !open))
        return;
    interval->has_low = true;
    interval->low = low;
    interval->low_open = open;
}

static void lower_high(struct interval *interval, struct str high, bool open)
{
    int order = interval->has_high ? str_compare(high, interval->high) : -1;

    if (order > 0 || (order == 0 && !open))
        return;
    interval->has_high = true;
    interval->high = high;
    interval->high_open = open;
}

static bool interval_is_empty(const struct interval *interval)
{
    int order;

    if (!interval->has_low || !interval->has_high)
        return false;
    order = str_compare(interval->low, interval->high);
    return order > 0 || (order == 0 && (interval->low_open || interval->high_open));
}

bool interval_contains(const struct interval *interval, struct str text)
{
    if (interval->has_low) {
        int order = str_compare(text, interval->low);

        if (order < 0 || (order == 0 && interval->low_open))
            return false;
    }
    if (interval->has_high) {
        int order = str_compare(text, interval->high);

        if (order > 0 || (order == 0 && interval->high_open))
            return false;
    }
    return true;
}

bool interval_is_point(const struct interval *interval)
{
    return interval->has_low && interval->has_high && !interval->low_open && !interval->high_open &&
           str_equal(interval->low, interval->high);
}

static bool is_excluded(const struct key_filter *filter, const struct entity_key *key)
{
    for (const struct key_exclusion *excluded = filter->excluded; excluded; excluded = excluded->next)
        if (str_equal(excluded->of_row ? key->row : key->partition, excluded->text))
            return true;
    return false;
}

bool key_filter_matches(const struct key_filter *filter, const struct entity_key *key)
{
    return !filter->nothing && !is_excluded(filter, key) &&
           interval_contains(&filter->partition, key->partition) && interval_contains(&filter->row, key->row);
}

/* ---- reduction ---- */

struct reduction {
    struct arena *arena;
    struct key_filter *filter;
};

static enum status refuse_node(const struct node *node, const char *what, struct error *err)
{
    error_reason(err, REASON_NOT_IMPLEMENTED,
        "filter: %s ('%.*s' at position %zu) is not implemented yet; " HONOURED, what,
        STR_ARG(node->lexeme.text), node->lexeme.position);
    error_add_meta_int(err, "position", (int64_t)node->lexeme.position);
    error_add_meta(err, "allowed", STR_LITERAL("eq ne gt ge lt le and"));
    return STATUS_UNIMPLEMENTED;
}

/* The literal without its doubled quotes. */
static struct str unescape(struct str text, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    buf_reserve(&out, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        buf_append_byte(&out, (uint8_t)text.data[i]);
        if (text.data[i] == '\'')
            i++;
    }
    return buf_str(&out);
}

/*
 * Narrow the interval to what compares with bound so. Keys hold no U+0000 and a database refuses it, so a
 * bound ends before it: no key lies between "a" and "a\0...".
 */
static void narrow(struct interval *interval, const struct lexeme *operator, bool swapped, struct str bound)
{
    const char *nul = bound.len ? memchr(bound.data, 0, bound.len) : NULL;
    char first = operator->text.data[0];
    bool strict = operator->text.data[1] == 't';
    bool equal = first == 'e';
    bool is_low = equal || (first == 'g') != swapped;
    bool is_high = equal || (first == 'l') != swapped;

    if (nul)
        bound.len = (size_t)(nul - bound.data);
    if (is_low)
        raise_low(interval, bound, nul ? true : strict);
    if (is_high)
        lower_high(interval, bound, nul ? false : strict);
}

/* No key holds U+0000, so none is excluded by a text that does. */
static void exclude(const struct reduction *reduction, bool of_row, struct str text)
{
    struct key_exclusion *excluded = ARENA_NEW(reduction->arena, struct key_exclusion);

    *excluded = (struct key_exclusion){ reduction->filter->excluded, of_row, text };
    reduction->filter->excluded = excluded;
}

static enum status reduce_comparison(
    const struct reduction *reduction, const struct node *node, struct error *err)
{
    const struct node *left = node->first, *right = left->next;
    bool swapped = left->kind == NODE_LITERAL;
    const struct node *key = swapped ? right : left, *literal = swapped ? left : right;
    struct str text;
    bool of_row;

    if (left->kind == NODE_LITERAL && right->kind == NODE_LITERAL)
        return refuse_node(node, "a comparison of two literals", err);
    if (left->kind == NODE_PROPERTY && right->kind == NODE_PROPERTY)
        return refuse_node(node, "a comparison of two properties", err);
    if (key->kind != NODE_PROPERTY || literal->kind != NODE_LITERAL)
        return refuse_node(key->kind != NODE_PROPERTY ? key : literal, "an expression in a comparison", err);
    if (!is_key(key))
        return refuse_node(key, "a comparison of another property", err);
    if (literal->lexeme.type != PROPERTY_STRING)
        return refuse_node(literal, "a comparison of a key with another type", err);
    of_row = lexeme_is_word(&key->lexeme, "RowKey");
    text = unescape(literal->lexeme.text, reduction->arena);
    if (lexeme_is_word(&node->lexeme, "ne"))
        exclude(reduction, of_row, text);
    else
        narrow(
            of_row ? &reduction->filter->row : &reduction->filter->partition, &node->lexeme, swapped, text);
    return STATUS_OK;
}

static enum status reduce(const struct reduction *reduction, const struct node *node, struct error *err)
{
    switch (node->kind) {
    case NODE_AND:
        for (const struct node *child = node->first; child; child = child->next)
            TRY(reduce(reduction, child, err));
        return STATUS_OK;
    case NODE_COMPARISON:
        return reduce_comparison(reduction, node, err);
    case NODE_OR:
    case NODE_NOT:
        return refuse_node(node, "this operator", err);
    case NODE_PROPERTY:
        return refuse_node(node, "a property used as a Boolean", err);
    case NODE_PATH:
        return refuse_node(node, "a path", err);
    case NODE_FUNCTION:
        return refuse_node(node, "a function", err);
    case NODE_LITERAL:
    case NODE_ARITHMETIC:
        break;
    }
    return refuse_node(node, "an expression without a property", err);
}

enum status key_filter_parse(struct str text, struct arena *arena, struct key_filter *out, struct error *err)
{
    struct key_filter filter = { 0 };
    struct reduction reduction = { .arena = arena, .filter = &filter };
    struct node *root;

    TRY(filter_parse(text, arena, &root, err));
    if (root) {
        TRY(check_filter(root, err));
        TRY(reduce(&reduction, root, err));
    }
    filter.nothing = interval_is_empty(&filter.partition) || interval_is_empty(&filter.row);
    *out = filter;
    return STATUS_OK;
}
