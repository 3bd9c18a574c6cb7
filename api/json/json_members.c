/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_members.c - see the header.
 */
#include "api/json/json_members.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/digits.h"
#include "domain/reason.h"
#include "domain/text.h"

enum {
    /* A larger object is left to Jansson: finding a repeated name here compares all names. */
    PLAIN_MEMBERS = 64,
    PLAIN_DIGITS = 18, /* such a number fits 64 bits */
    PLAIN_REAL_BYTES = 40,
};

/* ---- the plain form ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void skip_spaces(struct str *text)
{
    while (text->len > 0 && is_space(text->data[0]))
        *text = str_from(*text, 1);
}

/* Take this character and the white space around it. */
static bool take_sign(struct str *text, char sign)
{
    skip_spaces(text);
    if (text->len == 0 || text->data[0] != sign)
        return false;
    *text = str_from(*text, 1);
    skip_spaces(text);
    return true;
}

/* Whether the text between quotes stands for itself: no escapes, no control characters, and UTF-8. */
static bool is_literal(struct str text)
{
    uint8_t high = 0;

    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = (uint8_t)text.data[i];

        if (byte < ' ' || byte == '\\')
            return false;
        high |= byte;
    }
    return high < 0x80 || text_check(text, NULL, NULL);
}

static bool take_text(struct str *text, struct str *out)
{
    const char *end =
        text->len > 1 && text->data[0] == '"' ? memchr(text->data + 1, '"', text->len - 1) : NULL;

    if (!end)
        return false;
    *out = str_of_bytes(text->data + 1, (size_t)(end - text->data) - 1);
    *text = str_from(*text, out->len + 2);
    return is_literal(*out);
}

static size_t count_digits(struct str text, size_t at)
{
    size_t end = at;

    while (end < text.len && digits_is_decimal(text.data[end]))
        end++;
    return end - at;
}

/* The length of the fraction and exponent that follow a whole number; SIZE_MAX: they are not complete. */
static size_t count_fraction(struct str text)
{
    size_t at = 0;

    if (at < text.len && text.data[at] == '.') {
        if (count_digits(text, 1) == 0)
            return SIZE_MAX;
        at = 1 + count_digits(text, 1);
    }
    if (at < text.len && (text.data[at] | 0x20) == 'e') {
        at += at + 1 < text.len && (text.data[at + 1] == '-' || text.data[at + 1] == '+') ? 2 : 1;
        if (count_digits(text, at) == 0)
            return SIZE_MAX;
        at += count_digits(text, at);
    }
    return at;
}

static bool read_real(struct str text, struct json_scalar *out)
{
    char copy[PLAIN_REAL_BYTES + 1];

    if (text.len > PLAIN_REAL_BYTES)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    out->kind = JSON_KIND_REAL;
    out->real = strtod(copy, NULL);
    return isfinite(out->real);
}

static bool take_number(struct str *text, struct json_scalar *out)
{
    size_t sign = text->data[0] == '-', digits = count_digits(*text, sign);
    size_t fraction = count_fraction(str_from(*text, sign + digits));
    struct str number = str_of_bytes(text->data, sign + digits);

    if (digits == 0 || digits > PLAIN_DIGITS || fraction == SIZE_MAX ||
        (digits > 1 && text->data[sign] == '0'))
        return false;
    *text = str_from(*text, number.len + fraction);
    out->kind = JSON_KIND_INTEGER;
    if (fraction > 0)
        return read_real(str_of_bytes(number.data, number.len + fraction), out);
    return digits_parse_signed(number, INT64_MIN, INT64_MAX, &out->integer);
}

static bool take_word(struct str *text, struct json_scalar *out)
{
    static const struct {
        struct str word;
        enum json_kind kind;
        int64_t integer;
    } words[] = {
        { STR_LITERAL("true"), JSON_KIND_BOOLEAN, 1 },
        { STR_LITERAL("false"), JSON_KIND_BOOLEAN, 0 },
        { STR_LITERAL("null"), JSON_KIND_NULL, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts_with(*text, words[i].word)) {
            out->kind = words[i].kind;
            out->integer = words[i].integer;
            *text = str_from(*text, words[i].word.len);
            return true;
        }
    return false;
}

static bool take_value(struct str *text, struct json_scalar *out)
{
    *out = (struct json_scalar){ .kind = JSON_KIND_TEXT, .text = STR_EMPTY };
    if (text->len == 0)
        return false;
    if (text->data[0] == '"')
        return take_text(text, &out->text);
    if (text->data[0] == '-' || digits_is_decimal(text->data[0]))
        return take_number(text, out);
    return take_word(text, out);
}

static bool is_new(struct str name, const struct json_member *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, list[i].name))
            return false;
    return true;
}

/* Take members up to the closing brace. Returns their number; SIZE_MAX: another form. */
static size_t take_members(struct str *text, struct json_member list[static PLAIN_MEMBERS])
{
    size_t count = 0;

    if (take_sign(text, '}'))
        return 0;
    do {
        if (count == PLAIN_MEMBERS || !take_text(text, &list[count].name) ||
            !is_new(list[count].name, list, count) || !take_sign(text, ':') ||
            !take_value(text, &list[count].value))
            return SIZE_MAX;
        count++;
    } while (take_sign(text, ','));
    return take_sign(text, '}') ? count : SIZE_MAX;
}

bool json_members_scan(struct str text, struct arena *arena, struct json_members *out)
{
    struct json_member list[PLAIN_MEMBERS];
    size_t count;

    if (!take_sign(&text, '{'))
        return false;
    count = take_members(&text, list);
    if (count == SIZE_MAX || text.len > 0)
        return false;
    out->list = arena_alloc(arena, (count + 1) * sizeof(*list));
    out->count = count;
    memcpy(out->list, list, count * sizeof(*list));
    return true;
}

/* ---- any form ---- */

/* The length of the number or string that begins at `at`; 1 for anything else. */
static size_t token_bytes(struct str text, size_t at)
{
    size_t end = at + 1;

    if (text.data[at] == '"') {
        while (end < text.len && text.data[end] != '"')
            end += text.data[end] == '\\' ? 2 : 1;
        return (end < text.len ? end + 1 : text.len) - at;
    }
    if (text.data[at] == '-' || digits_is_decimal(text.data[at]))
        while (end < text.len && (digits_is_decimal(text.data[end]) || memchr("+-.eE", text.data[end], 5)))
            end++;
    return end - at;
}

/*
 * Append an exponent to each whole number that exceeds 64 bits, since Jansson refuses such numbers. With the
 * exponent they are doubles.
 */
static struct str mark_large_numbers(struct str text, struct arena *arena)
{
    struct buf out;
    int64_t ignored;

    buf_init(&out, arena);
    for (size_t at = 0; at < text.len;) {
        struct str token = str_of_bytes(text.data + at, token_bytes(text, at));

        buf_append(&out, token);
        if ((token.data[0] == '-' || digits_is_decimal(token.data[0])) && token.len > 18 &&
            !memchr(token.data, '.', token.len) && !memchr(token.data, 'e', token.len) &&
            !memchr(token.data, 'E', token.len) &&
            !digits_parse_signed(token, INT64_MIN, INT64_MAX, &ignored))
            buf_append(&out, STR_LITERAL("e0"));
        at += token.len;
    }
    return buf_str(&out);
}

static json_t *load(struct str text, json_error_t *wrong)
{
    return json_loadb(
        text.len > 0 ? text.data : "", text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, wrong);
}

/* Parse a JSON object. The caller releases *out with json_decref. */
static enum status load_object(struct str text, struct arena *arena, json_t **out, struct error *err)
{
    json_error_t wrong;
    json_t *json = load(text, &wrong);

    if (!json && json_error_code(&wrong) == json_error_numeric_overflow)
        json = load(mark_large_numbers(text, arena), &wrong);
    if (!json)
        return reason_set(err,
            json_error_code(&wrong) == json_error_duplicate_key ? REASON_DUPLICATE_PROPERTIES_SPECIFIED
                                                                : REASON_INVALID_INPUT,
            "line %d, column %d of the JSON: %s", wrong.line, wrong.column, wrong.text);
    if (!json_is_object(json)) {
        json_decref(json);
        return reason_set(err, REASON_INVALID_INPUT, "a JSON object is required");
    }
    *out = json;
    return STATUS_OK;
}

static struct json_scalar scalar_of(const json_t *json, struct arena *arena)
{
    struct json_scalar out = { .kind = JSON_KIND_NESTED, .text = STR_EMPTY };

    if (json_is_string(json)) {
        out.kind = JSON_KIND_TEXT;
        out.text = arena_copy(arena, str_of_bytes(json_string_value(json), json_string_length(json)));
    } else if (json_is_integer(json)) {
        out.kind = JSON_KIND_INTEGER;
        out.integer = json_integer_value(json);
    } else if (json_is_real(json)) {
        out.kind = JSON_KIND_REAL;
        out.real = json_real_value(json);
    } else if (json_is_boolean(json)) {
        out.kind = JSON_KIND_BOOLEAN;
        out.integer = json_is_true(json);
    } else if (json_is_null(json)) {
        out.kind = JSON_KIND_NULL;
    }
    return out;
}

enum status json_members_parse(
    struct str text, struct arena *arena, struct json_members *out, struct error *err)
{
    const char *name;
    size_t name_len;
    json_t *json, *value;

    TRY(load_object(text, arena, &json, err));
    out->list = ARENA_ARRAY(arena, struct json_member, json_object_size(json) + 1);
    out->count = 0;
    json_object_keylen_foreach(json, name, name_len, value)
    {
        out->list[out->count++] =
            (struct json_member){ arena_copy(arena, str_of_bytes(name, name_len)), scalar_of(value, arena) };
    }
    json_decref(json);
    return STATUS_OK;
}

/* ---- both ---- */

enum status json_members_read(
    struct str text, struct arena *arena, struct json_members *out, struct error *err)
{
    return json_members_scan(text, arena, out) ? STATUS_OK : json_members_parse(text, arena, out, err);
}

const struct json_member *json_members_find(const struct json_members *members, struct str name)
{
    for (size_t i = 0; i < members->count; i++)
        if (str_equal(members->list[i].name, name))
            return &members->list[i];
    return NULL;
}
