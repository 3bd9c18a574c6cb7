/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_lexer.c - see the header. Literals are checked for their form here, so that a malformed
 * one is told apart from one that merely is not honoured.
 */
#include "domain/filter/filter_lexer.h"

#include "base/digits.h"
#include "domain/properties/datetime.h"
#include "domain/reason.h"

enum status filter_lexer_error(size_t position, const char *what, struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT, "filter: syntax error at position %zu: %s", position, what);
    error_add_meta_int(err, "position", (int64_t)position);
    return STATUS_INVALID;
}

static char char_at(struct str text, size_t at)
{
    return at < text.len ? text.data[at] : '\0';
}

/* Names may have letters of other scripts, so each byte above ASCII counts as a letter here. */
static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (uint8_t)c >= 0x80;
}

static bool continues_word(char c)
{
    return begins_word(c) || digits_is_decimal(c);
}

static size_t skip_digits(struct str text, size_t at)
{
    while (digits_is_decimal(char_at(text, at)))
        at++;
    return at;
}

static struct str slice_text(struct str text, size_t begin, size_t end)
{
    return str_of_bytes(text.data + begin, end - begin);
}

static enum status literal_end(struct lexer *lexer, size_t end, struct error *err)
{
    if (continues_word(char_at(lexer->text, end)) || char_at(lexer->text, end) == '\'')
        return filter_lexer_error(end, "a space or a parenthesis must follow a literal", err);
    lexer->at = end;
    return STATUS_OK;
}

/* ---- what stands in quotes ---- */

static bool is_hex(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (digits_hex_value(text.data[i]) < 0)
            return false;
    }
    return true;
}

/*
 * Whether the text has this form: 'x' stands for a hexadecimal digit, 'd' for a decimal digit,
 * other characters for themselves.
 */
static bool has_form(struct str text, const char *form)
{
    if (text.len != strlen(form))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool fits = form[i] == 'x'   ? digits_hex_value(c) >= 0
                    : form[i] == 'd' ? digits_is_decimal(c)
                                     : c == form[i];

        if (!fits)
            return false;
    }
    return true;
}

static bool word_is(struct str word, const char *what)
{
    return str_equal(word, str_of(what));
}

static bool word_is_folded(struct str word, const char *what)
{
    return str_equal_any_case(word, str_of(what));
}

static enum status check_quoted(
    struct str prefix, struct str content, size_t position, enum property_type *type, struct error *err)
{
    int64_t seconds;
    int32_t nanos;

    if (prefix.len == 0) {
        *type = PROPERTY_STRING;
        return STATUS_OK;
    }
    if (word_is(prefix, "datetime")) {
        *type = PROPERTY_DATETIME;
        return datetime_parse(content, &seconds, &nanos)
                   ? STATUS_OK
                   : filter_lexer_error(position, "not an ISO 8601 time", err);
    }
    if (word_is(prefix, "guid")) {
        *type = PROPERTY_GUID;
        return has_form(content, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
                   ? STATUS_OK
                   : filter_lexer_error(position, "not a Guid in its 8-4-4-4-12 form", err);
    }
    if (word_is_folded(prefix, "X") || word_is_folded(prefix, "binary")) {
        *type = PROPERTY_BINARY;
        return content.len % 2 == 0 && is_hex(content)
                   ? STATUS_OK
                   : filter_lexer_error(position, "not an even number of hexadecimal digits", err);
    }
    return filter_lexer_error(position, "only datetime, guid, X or binary may precede a quote", err);
}

/* Read a quoted literal. The lexer is at the word before the quote, or at the quote. */
static enum status read_quoted(struct lexer *lexer, size_t quote, struct lexeme *out, struct error *err)
{
    struct str text = lexer->text;
    size_t end = quote + 1;

    for (; end < text.len; end++) {
        if (text.data[end] != '\'')
            continue;
        if (char_at(text, end + 1) != '\'')
            break;
        end++;
    }
    if (end >= text.len)
        return filter_lexer_error(quote, "this quote is never closed", err);
    out->kind = LEXEME_LITERAL;
    out->text = slice_text(text, quote + 1, end);
    TRY(check_quoted(slice_text(text, lexer->at, quote), out->text, lexer->at, &out->type, err));
    return literal_end(lexer, end + 1, err);
}

/* ---- numbers ---- */

/* The type of a whole number; PROPERTY_NULL, with *number unchanged, if it does not fit 64 bits. */
static enum property_type read_integer(struct str digits, int64_t *number)
{
    if (!digits_parse_signed(digits, INT64_MIN, INT64_MAX, number))
        return PROPERTY_NULL;
    return *number >= INT32_MIN && *number <= INT32_MAX ? PROPERTY_INT32 : PROPERTY_INT64;
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static enum status read_number(struct lexer *lexer, struct lexeme *out, struct error *err)
{
    struct str text = lexer->text;
    size_t begin = lexer->at;
    size_t end = skip_digits(text, begin + (char_at(text, begin) == '-'));

    out->kind = LEXEME_LITERAL;
    out->type = read_integer(slice_text(text, begin, end), &out->integer);
    if (char_at(text, end) == '.' && digits_is_decimal(char_at(text, end + 1))) {
        out->type = PROPERTY_DOUBLE;
        end = skip_digits(text, end + 1);
    }
    if (is_one_of(char_at(text, end), "eE")) {
        size_t digits = end + 1 + is_one_of(char_at(text, end + 1), "+-");

        if (!digits_is_decimal(char_at(text, digits)))
            return filter_lexer_error(digits, "an exponent needs digits", err);
        out->type = PROPERTY_DOUBLE;
        end = skip_digits(text, digits);
    }
    if (is_one_of(char_at(text, end), "dDfFmM")) {
        out->type = PROPERTY_DOUBLE;
        end++;
    } else if (is_one_of(char_at(text, end), "lL") && out->type == PROPERTY_INT32) {
        out->type = PROPERTY_INT64;
        end++;
    } else if (is_one_of(char_at(text, end), "lL") && out->type == PROPERTY_INT64) {
        end++;
    }
    if (out->type == PROPERTY_NULL)
        return filter_lexer_error(begin, "a whole number beyond 64 bits", err);
    out->text = slice_text(text, begin, end);
    return literal_end(lexer, end, err);
}

/* ---- words ---- */

static const struct named_literal {
    struct str name;
    enum property_type type;
} named_literals[] = {
    { STR_LITERAL("true"), PROPERTY_BOOLEAN },
    { STR_LITERAL("True"), PROPERTY_BOOLEAN },
    { STR_LITERAL("false"), PROPERTY_BOOLEAN },
    { STR_LITERAL("False"), PROPERTY_BOOLEAN },
    { STR_LITERAL("null"), PROPERTY_NULL },
    { STR_LITERAL("NaN"), PROPERTY_DOUBLE },
    { STR_LITERAL("INF"), PROPERTY_DOUBLE },
    { STR_LITERAL("-INF"), PROPERTY_DOUBLE },
};

static enum status read_word(struct lexer *lexer, struct lexeme *out, struct error *err)
{
    size_t end = lexer->at + 1;

    while (continues_word(char_at(lexer->text, end)))
        end++;
    if (char_at(lexer->text, end) == '\'')
        return read_quoted(lexer, end, out, err);
    out->kind = LEXEME_WORD;
    out->text = slice_text(lexer->text, lexer->at, end);
    for (size_t i = 0; i < ARRAY_LEN(named_literals); i++) {
        if (!str_equal(out->text, named_literals[i].name))
            continue;
        out->kind = LEXEME_LITERAL;
        out->type = named_literals[i].type;
    }
    if (out->text.data[0] == '-' && out->kind == LEXEME_WORD)
        return filter_lexer_error(lexer->at, "a minus sign may precede a number only", err);
    lexer->at = end;
    return STATUS_OK;
}

/* Read a name in square brackets, such as [not]: it is a property even if it equals a keyword. */
static enum status read_bracketed(struct lexer *lexer, struct lexeme *out, struct error *err)
{
    size_t begin = lexer->at + 1, end = begin;

    if (!begins_word(char_at(lexer->text, begin)))
        return filter_lexer_error(begin, "a property name is required between the square brackets", err);
    while (continues_word(char_at(lexer->text, end)))
        end++;
    if (char_at(lexer->text, end) != ']')
        return filter_lexer_error(end, "']' is missing", err);
    out->kind = LEXEME_NAME;
    out->text = slice_text(lexer->text, begin, end);
    lexer->at = end + 1;
    return STATUS_OK;
}

static enum status read_mark(struct lexer *lexer, struct lexeme *out, struct error *err)
{
    switch (lexer->text.data[lexer->at]) {
    case '(':
        out->kind = LEXEME_OPEN;
        break;
    case ')':
        out->kind = LEXEME_CLOSE;
        break;
    case ',':
        out->kind = LEXEME_COMMA;
        break;
    case '/':
        out->kind = LEXEME_SLASH;
        break;
    case '"':
        return filter_lexer_error(lexer->at, "text stands in single quotes: 'open'", err);
    default:
        return filter_lexer_error(lexer->at,
            "this character cannot begin an operand or an operator; comparisons are eq, ne, gt, ge, lt and "
            "le",
            err);
    }
    lexer->at++;
    return STATUS_OK;
}

enum status lexer_next(struct lexer *lexer, struct lexeme *out, struct error *err)
{
    char c, next;

    while (is_one_of(char_at(lexer->text, lexer->at), " \t\r\n"))
        lexer->at++;
    *out = (struct lexeme){ .kind = LEXEME_END, .position = lexer->at, .text = STR_EMPTY };
    if (lexer->at == lexer->text.len)
        return STATUS_OK;
    c = char_at(lexer->text, lexer->at);
    next = char_at(lexer->text, lexer->at + 1);
    if (c == '\'')
        return read_quoted(lexer, lexer->at, out, err);
    if (digits_is_decimal(c) || (c == '-' && digits_is_decimal(next)))
        return read_number(lexer, out, err);
    if (begins_word(c) || (c == '-' && begins_word(next)))
        return read_word(lexer, out, err);
    if (c == '[')
        return read_bracketed(lexer, out, err);
    return read_mark(lexer, out, err);
}
