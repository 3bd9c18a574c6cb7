/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_lexer.h - filter text as a sequence of words, literals and marks. Used by filter_parse.c only.
 */
#ifndef DOMAIN_FILTER_FILTER_LEXER_H
#define DOMAIN_FILTER_FILTER_LEXER_H

#include "base/error.h"
#include "base/str.h"
#include "domain/properties/property.h"

enum lexeme_kind {
    LEXEME_END,
    LEXEME_OPEN,
    LEXEME_CLOSE,
    LEXEME_COMMA,
    LEXEME_SLASH,
    LEXEME_WORD,    /* a name, a function or an operator: the parser knows by its place */
    LEXEME_NAME,    /* in square brackets: a property's name, whatever it reads */
    LEXEME_LITERAL, /* a value; null is one of type PROPERTY_NULL */
};

struct lexeme {
    enum lexeme_kind kind;
    size_t position;         /* bytes from the start of the text */
    struct str text;         /* as it is written; of what is quoted or in brackets: what is between */
    enum property_type type; /* LEXEME_LITERAL */
    int64_t integer;         /* of an Int32 or Int64 */
};

struct lexer {
    struct str text; /* UTF-8 */
    size_t at;
};

/* STATUS_INVALID  INVALID_INPUT with `position`: not a lexeme, or a literal that is not one of its type */
MUST_USE enum status lexer_next(struct lexer *lexer, struct lexeme *out, struct error *err);

/* Fill err: "syntax error at position ...: <what>". */
enum status filter_lexer_error(size_t position, const char *what, struct error *err);

#endif
