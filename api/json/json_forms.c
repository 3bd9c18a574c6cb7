/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_forms.c - see the header.
 */
#include "api/json/json_forms.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base64url.h"
#include "base/digits.h"
#include "base/macros.h"
#include "domain/properties/datetime.h"

#define MIN_TIMESTAMP_SECONDS INT64_C(-62135596800) /* 0001-01-01 */
#define MAX_TIMESTAMP_SECONDS INT64_C(253402300799) /* 9999-12-31T23:59:59 */
#define MAX_DURATION_SECONDS INT64_C(315576000000)

enum { NANOS_PER_SECOND = 1000000000, MAX_NUMBER_BYTES = 32, MAX_DOUBLE_DIGITS = 17, MAX_FLOAT_DIGITS = 9 };

/* ---- times ---- */

/* Write nothing, or a point and 3, 6 or 9 digits. */
static void write_fraction(struct buf *out, int32_t nanos)
{
    if (nanos % 1000000 == 0 && nanos != 0)
        buf_format(out, ".%03d", nanos / 1000000);
    else if (nanos % 1000 == 0 && nanos != 0)
        buf_format(out, ".%06d", nanos / 1000);
    else if (nanos != 0)
        buf_format(out, ".%09d", nanos);
}

bool json_forms_write_timestamp(struct buf *out, int64_t seconds, int32_t nanos)
{
    time_t moment = (time_t)seconds;
    struct tm parts;

    if (seconds < MIN_TIMESTAMP_SECONDS || seconds > MAX_TIMESTAMP_SECONDS || nanos < 0 ||
        nanos >= NANOS_PER_SECOND || !gmtime_r(&moment, &parts))
        return false;
    buf_format(out, "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
        parts.tm_hour, parts.tm_min, parts.tm_sec);
    write_fraction(out, nanos);
    buf_append_byte(out, 'Z');
    return true;
}

bool json_forms_read_timestamp(struct str text, int64_t *seconds, int32_t *nanos)
{
    return datetime_parse(text, seconds, nanos) && *seconds >= MIN_TIMESTAMP_SECONDS &&
           *seconds <= MAX_TIMESTAMP_SECONDS;
}

bool json_forms_write_duration(struct buf *out, int64_t seconds, int32_t nanos)
{
    bool negative = seconds < 0 || nanos < 0;

    if (llabs(seconds) > MAX_DURATION_SECONDS || abs(nanos) >= NANOS_PER_SECOND ||
        (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0))
        return false;
    buf_format(out, "%s%lld", negative ? "-" : "", llabs(seconds));
    write_fraction(out, abs(nanos));
    buf_append_byte(out, 's');
    return true;
}

static bool read_fraction(struct str text, int32_t *nanos)
{
    uint64_t number;
    size_t digits = text.len;

    if (digits == 0 || digits > 9 || !digits_parse_unsigned(text, NANOS_PER_SECOND, &number))
        return false;
    for (; digits < 9; digits++)
        number *= 10;
    *nanos = (int32_t)number;
    return true;
}

bool json_forms_read_duration(struct str text, int64_t *seconds, int32_t *nanos)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    struct str rest = str_from(text, negative);
    uint64_t number;

    *nanos = 0;
    if (rest.len < 2 || rest.data[rest.len - 1] != 's')
        return false;
    rest.len--;
    if (!digits_take_unsigned(&rest, (uint64_t)MAX_DURATION_SECONDS, &number) ||
        (rest.len > 0 && (rest.data[0] != '.' || !read_fraction(str_from(rest, 1), nanos))))
        return false;
    *seconds = negative ? -(int64_t)number : (int64_t)number;
    *nanos = negative ? -*nanos : *nanos;
    return true;
}

/* ---- paths of fields ---- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Whether the character may occur in a path: names of fields, with points between them. */
static bool is_of_path(char c)
{
    return is_lower(c) || is_upper(c) || digits_is_decimal(c) || c == '.';
}

bool json_forms_write_path(struct buf *out, struct str path)
{
    for (size_t i = 0; i < path.len; i++) {
        bool is_raised = path.data[i] == '_';

        if (is_raised)
            i++;
        if (i == path.len || is_upper(path.data[i]) || !is_of_path(path.data[i]) ||
            (is_raised && !is_lower(path.data[i])))
            return false;
        buf_append_byte(out, (uint8_t)(is_raised ? path.data[i] - 'a' + 'A' : path.data[i]));
    }
    return true;
}

bool json_forms_read_path(struct buf *out, struct str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];

        if (!is_of_path(c))
            return false;
        if (is_upper(c))
            buf_append_byte(out, '_');
        buf_append_byte(out, (uint8_t)(is_upper(c) ? c - 'A' + 'a' : c));
    }
    return true;
}

/* ---- numbers ---- */

/* Write a number that is not finite. false: the number is finite, and nothing is written. */
static bool write_not_finite(struct buf *out, double number)
{
    if (isfinite(number))
        return false;
    buf_append(out, str_of(isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\""));
    return true;
}

/* Write a number. "-0" is written as a double, since many readers would lose the sign of a whole number. */
static void write_number_text(struct buf *out, const char *text)
{
    struct str number = str_of(text);

    buf_append(out, str_equal(number, STR_LITERAL("-0")) ? STR_LITERAL("-0.0") : number);
}

void json_forms_write_double(struct buf *out, double number)
{
    char text[MAX_NUMBER_BYTES];

    if (write_not_finite(out, number))
        return;
    /* A number of 15 digits is read and written unchanged, unless it is subnormal: those have fewer. */
    for (int digits = fabs(number) < DBL_MIN ? 1 : DBL_DIG; digits <= MAX_DOUBLE_DIGITS; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    write_number_text(out, text);
}

void json_forms_write_float(struct buf *out, float number)
{
    char text[MAX_NUMBER_BYTES];

    if (write_not_finite(out, (double)number))
        return;
    for (int digits = 6; digits <= MAX_FLOAT_DIGITS; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number)
            break;
    }
    write_number_text(out, text);
}

bool json_forms_read_double(struct str text, double *out)
{
    static const struct {
        const char *text;
        double number;
    } names[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };
    json_error_t ignored;
    json_t *number;
    bool is_number;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(text, str_of(names[i].text))) {
            *out = names[i].number;
            return true;
        }
    number = json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &ignored);
    is_number = json_is_number(number);
    *out = json_number_value(number);
    json_decref(number);
    return is_number;
}

/* ---- bytes and text ---- */

bool json_forms_read_bytes(struct str text, struct arena *arena, struct str *out)
{
    char *url = arena_alloc(arena, text.len + 1);

    while (text.len > 0 && text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        url[i] = text.data[i] == '+' ? '-' : text.data[i] == '/' ? '_' : text.data[i];
    return base64url_decode(str_of_bytes(url, text.len), arena, out);
}

void json_forms_write_bytes(struct buf *out, struct str bytes)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t bits = (uint32_t)(uint8_t)bytes.data[i] << 16;
        char *four = buf_extend(out, 4);

        bits |= left > 1 ? (uint32_t)(uint8_t)bytes.data[i + 1] << 8 : 0;
        bits |= left > 2 ? (uint32_t)(uint8_t)bytes.data[i + 2] : 0;
        four[0] = alphabet[bits >> 18];
        four[1] = alphabet[bits >> 12 & 63];
        four[2] = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        four[3] = left > 2 ? alphabet[bits & 63] : '=';
    }
}

static const char *escape_of(char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

static bool is_plain(char c)
{
    return (uint8_t)c >= 0x20 && c != '"' && c != '\\';
}

static void write_escaped(struct buf *out, char c)
{
    const char *escape = escape_of(c);

    if (escape)
        buf_append(out, str_of(escape));
    else
        buf_format(out, "\\u%04x", (unsigned)c);
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether one of the eight bytes is less than `bound`, which is at most 0x80. */
static inline bool has_less(uint64_t word, uint8_t bound)
{
    return ((word - EACH_BYTE(bound)) & ~word & EACH_BYTE(0x80)) != 0;
}

static inline bool is_plain_word(uint64_t word)
{
    return !has_less(word, ' ') && !has_less(word ^ EACH_BYTE('"'), 1) &&
           !has_less(word ^ EACH_BYTE('\\'), 1);
}

static inline uint64_t word_at(const char *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof(word));
    return word;
}

/* As word_at, from the first and the last half of at least four and at most eight bytes. */
static inline uint64_t halves_of(struct str text)
{
    uint32_t first, last;

    memcpy(&first, text.data, sizeof(first));
    memcpy(&last, text.data + text.len - sizeof(last), sizeof(last));
    return (uint64_t)first << 32 | last;
}

/*
 * Whether all of the text is plain. Eight characters are tested at a time, since most of a page is such text; the
 * last eight may overlap those before.
 */
static inline bool is_all_plain(struct str text)
{
    if (text.len > sizeof(uint64_t)) {
        for (size_t at = 0; at < text.len - sizeof(uint64_t); at += sizeof(uint64_t))
            if (!is_plain_word(word_at(text.data + at)))
                return false;
        return is_plain_word(word_at(text.data + text.len - sizeof(uint64_t)));
    }
    if (text.len >= sizeof(uint32_t))
        return is_plain_word(halves_of(text));
    for (size_t at = 0; at < text.len; at++)
        if (!is_plain(text.data[at]))
            return false;
    return true;
}

/* The number of plain characters from `at` on. */
static size_t count_plain(struct str text, size_t at)
{
    size_t end = at;

    while (text.len - end >= sizeof(uint64_t) && is_plain_word(word_at(text.data + end)))
        end += sizeof(uint64_t);
    while (end < text.len && is_plain(text.data[end]))
        end++;
    return end - at;
}

/* Write text that is not plain: runs of plain characters are copied as a whole. */
static void write_mixed(struct buf *out, struct str text)
{
    size_t at = 0;

    buf_append_byte(out, '"');
    while (at < text.len) {
        size_t plain = count_plain(text, at);

        buf_append(out, str_of_bytes(text.data + at, plain));
        at += plain;
        if (at < text.len)
            write_escaped(out, text.data[at++]);
    }
    buf_append_byte(out, '"');
}

/* Write plain text, for which there is room; returns its end. */
static inline char *put_plain(char *to, struct str text)
{
    *to++ = '"';
    if (text.len > 0)
        memcpy(to, text.data, text.len);
    to[text.len] = '"';
    return to + text.len + 1;
}

void json_forms_write_text(struct buf *out, struct str text)
{
    if (is_all_plain(text))
        (void)put_plain(buf_extend(out, text.len + 2), text);
    else
        write_mixed(out, text);
}

void json_forms_write_pair(struct buf *out, struct str name, struct str text)
{
    char *to;

    if (!is_all_plain(name) || !is_all_plain(text)) {
        json_forms_write_text(out, name);
        buf_append_byte(out, ':');
        json_forms_write_text(out, text);
        return;
    }
    to = put_plain(buf_extend(out, name.len + text.len + 5), name);
    *to++ = ':';
    (void)put_plain(to, text);
}
