/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_literal.c - literals to values. The lexer has checked their form.
 */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/digits.h"
#include "domain/filter/filter_tree.h"
#include "domain/properties/datetime.h"
#include "domain/reason.h"
#include "domain/ticks.h"

/* The text with each doubled quote replaced by one. */
static struct str read_string(struct str text, struct arena *arena)
{
    struct buf out;

    if (text.len == 0 || !memchr(text.data, '\'', text.len))
        return text;
    buf_init(&out, arena);
    buf_reserve(&out, text.len);
    for (size_t i = 0; i < text.len; i++) {
        buf_append_byte(&out, (uint8_t)text.data[i]);
        if (text.data[i] == '\'')
            i++;
    }
    return buf_str(&out);
}

static enum status read_double(
    const struct lexeme *lexeme, struct arena *arena, double *out, struct error *err)
{
    struct str text = lexeme->text;
    double number;

    if (str_equal(text, STR_LITERAL("NaN")))
        number = NAN;
    else if (str_equal(text, STR_LITERAL("INF")))
        number = INFINITY;
    else if (str_equal(text, STR_LITERAL("-INF")))
        number = -INFINITY;
    else {
        number = strtod(arena_copy(arena, text).data, NULL); /* stops before the suffix */
        if (isinf(number))
            return filter_lexer_error(lexeme->position,
                "the number is too large for a Double; infinity is written INF or -INF", err);
    }
    *out = number;
    return STATUS_OK;
}

static enum status read_datetime(const struct lexeme *lexeme, int64_t *out, struct error *err)
{
    int64_t seconds;
    int32_t nanos;

    if (datetime_parse(lexeme->text, &seconds, &nanos) && ticks_from_timestamp(seconds, nanos, out))
        return STATUS_OK;
    reason_set(err, REASON_OUT_OF_RANGE_INPUT,
        "filter: the time at position %zu is out of range: a DateTime lies between 1601-01-01T00:00:00Z and "
        "9999-12-31T23:59:59.9999999Z",
        lexeme->position);
    error_add_meta_int(err, "position", (int64_t)lexeme->position);
    error_add_meta(err, "allowed", STR_LITERAL("1601-01-01T00:00:00Z..9999-12-31T23:59:59.9999999Z"));
    return STATUS_OUT_OF_RANGE;
}

static struct str read_guid(struct str text, struct arena *arena)
{
    char *lowered = arena_alloc(arena, text.len);

    for (size_t i = 0; i < text.len; i++)
        lowered[i] = (char)tolower((unsigned char)text.data[i]);
    return str_of_bytes(lowered, text.len);
}

static struct str read_binary(struct str text, struct arena *arena)
{
    char *bytes = arena_alloc(arena, text.len / 2 + 1);

    bool is_hex = digits_decode_hex(text, bytes);

    assert(is_hex && "the lexer has checked it");
    (void)is_hex;
    return str_of_bytes(bytes, text.len / 2);
}

enum status filter_literal_read(
    const struct lexeme *lexeme, struct arena *arena, struct value *out, struct error *err)
{
    struct value value = { .type = lexeme->type, .bytes = STR_EMPTY };

    switch (value.type) {
    case PROPERTY_NULL:
        break;
    case PROPERTY_STRING:
        value.bytes = read_string(lexeme->text, arena);
        break;
    case PROPERTY_BOOLEAN:
        value.integer = (lexeme->text.data[0] | 0x20) == 't';
        break;
    case PROPERTY_INT32:
    case PROPERTY_INT64:
        value.integer = lexeme->integer;
        value.number = (double)value.integer;
        break;
    case PROPERTY_DOUBLE:
        TRY(read_double(lexeme, arena, &value.number, err));
        break;
    case PROPERTY_DATETIME:
        TRY(read_datetime(lexeme, &value.integer, err));
        break;
    case PROPERTY_GUID:
        value.bytes = read_guid(lexeme->text, arena);
        break;
    case PROPERTY_BINARY:
        value.bytes = read_binary(lexeme->text, arena);
        break;
    }
    *out = value;
    return STATUS_OK;
}
