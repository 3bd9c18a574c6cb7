/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_lexer.h - filter text as a sequence of words, literals and marks. Used by filter_parse.c
 * only.
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
    LEXEME_WORD,    /* a name, a function or an operator; the parser tells them apart */
    LEXEME_NAME,    /* in square brackets: always a property */
    LEXEME_LITERAL, /* a value; null is one of type PROPERTY_NULL */
};

struct lexeme {
    enum lexeme_kind kind;
    size_t position;         /* bytes from the start of the text */
    struct str text;         /* as written; of quoted text and brackets, the part inside */
    enum property_type type; /* LEXEME_LITERAL */
    int64_t integer;         /* the value of an Int32 or Int64 */
};

struct lexer {
    struct str text; /* UTF-8 */
    size_t at;
};

/*
 * STATUS_INVALID  INVALID_INPUT with `position`: not a lexeme, or not a valid literal of its type
 */
MUST_USE enum status lexer_next(struct lexer *lexer, struct lexeme *out, struct error *err);

/* Fill err: "syntax error at position ...: <what>". */
enum status filter_lexer_error(size_t position, const char *what, struct error *err);

#endif
