/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_part.c - text and numbers as parts of keys; the encodings stand in the header.
 *
 * Why the order holds. Take two texts of which one is smaller, and the first place where they
 * differ: x in one, y in the other, x < y, either being a character, x perhaps the end. Everything
 * before it is written alike but, perhaps, the character just before, whose form can depend on what
 * follows it.
 *
 *   That character is a space. Before the end, a space or a control it is "  Z", before anything else a
 *   plain space followed by a byte above ' '. If x and y are on the same side the forms are equal; else x is
 *   on the lower one and "  " is below ' ' and a byte above ' '.
 *
 *   It is a lead p. Before what is below '~' (the end included) it is plain, else "p~A". On different sides:
 *   p and a byte below '~', or p and the key's end, is below "p~A".
 *
 *   Else, or with equal forms before it, x and y themselves decide. The end is "  !" or nothing, a control
 *   "  0".."  O", a space "  Z" or ' ' and a byte above ' ': ascending. Whatever is above the space starts
 *   with a byte above it: with itself or, if forbidden, with its lead. Only p and the forbidden characters
 *   behind it share that byte: p goes on with a byte below '~', with "~A" or with nothing, they with "~B"
 *   and above, ascending.
 *
 * Why it can be read back. A plain space is never followed by a space, a plain lead never by '~', so two
 * spaces and "p~" always begin an escape of three bytes; and "  !" stands nowhere but at an end.
 *
 * A leading '!' is written "!!": texts that begin with '!' stay together, above the space and below
 * '"'.
 */
#include "domain/properties/key_part.h"

#include <assert.h>
#include <math.h>

#include "base/digits.h"
#include "domain/properties/case_fold.h"
#include "domain/text.h"
#include "domain/ticks.h"

enum { FIRST_CONTROL = '0', ESCAPED_SPACE = 'Z', LEAD_ITSELF = 'A', FIRST_BEHIND = 'B' };

const struct str key_part_end = { .data = "  !", .len = 3 };

static const char type_letters[] = {
    [PROPERTY_NULL] = 0,
    [PROPERTY_STRING] = '!',
    [PROPERTY_BOOLEAN] = 'b',
    [PROPERTY_INT32] = 'i',
    [PROPERTY_INT64] = 'l',
    [PROPERTY_DOUBLE] = 'd',
    [PROPERTY_DATETIME] = 't',
    [PROPERTY_GUID] = 'g',
    [PROPERTY_BINARY] = 'x',
};

/* ---- text ---- */

static bool is_lead(char c)
{
    return c == '"' || c == '.' || c == '>' || c == '[' || c == '~';
}

/*
 * Whether a byte is written unescaped whatever follows it. 0xC2 begins U+0080..U+009F, among
 * others.
 */
static bool is_plain(uint8_t c)
{
    switch (c) {
    case '"':
    case '#':
    case '.':
    case '/':
    case '>':
    case '?':
    case '[':
    case '\\':
    case '~':
    case 0x7F:
    case 0xC2:
        return false;
    default:
        return c > ' ';
    }
}

/* The letter of U+007F (0) and U+0080..U+009F (1..32): B..Z, then a..h. */
static char letter_behind_tilde(unsigned number)
{
    return (char)(number < 25 ? 'B' + number : 'a' + (number - 25));
}

static void write_escape(struct buf *out, char first, char second, char third)
{
    char *bytes = buf_extend(out, 3);

    bytes[0] = first;
    bytes[1] = second;
    bytes[2] = third;
}

/* Write the character at the front of rest, which is not plain; returns its length in bytes. */
static size_t write_special(struct str rest, struct buf *out)
{
    uint8_t c = (uint8_t)rest.data[0];
    uint8_t next = rest.len > 1 ? (uint8_t)rest.data[1] : 0;

    if (c < ' ') {
        write_escape(out, ' ', ' ', (char)(FIRST_CONTROL + c));
    } else if (c == ' ' && next <= ' ') {
        write_escape(out, ' ', ' ', ESCAPED_SPACE);
    } else if (c == '#' || c == '/' || c == '?' || c == '\\') {
        write_escape(out, (char)(c - 1), '~', FIRST_BEHIND);
    } else if (c == 0x7F) {
        write_escape(out, '~', '~', letter_behind_tilde(0));
    } else if (c == 0xC2 && next < 0xA0) {
        write_escape(out, '~', '~', letter_behind_tilde(next - 0x80u + 1));
        return 2;
    } else if (is_lead((char)c) && next >= '~') {
        write_escape(out, (char)c, '~', LEAD_ITSELF);
    } else {
        buf_append_byte(out, c);
    }
    return 1;
}

static void text_encode(struct str text, struct buf *out)
{
    if (text.len > 0 && text.data[0] == '!')
        buf_append_byte(out, '!');
    for (size_t at = 0; at < text.len;) {
        size_t run = at;

        while (run < text.len && is_plain((uint8_t)text.data[run]))
            run++;
        buf_append(out, str_of_bytes(text.data + at, run - at));
        at = run;
        if (at < text.len)
            at += write_special(str_from(text, at), out);
    }
}

/* The character that "p~" and letter stand for. */
static bool read_behind_lead(char lead, char letter, struct buf *out)
{
    unsigned number;

    if (letter == LEAD_ITSELF) {
        buf_append_byte(out, (uint8_t)lead);
        return true;
    }
    if (lead != '~') {
        buf_append_byte(out, (uint8_t)(lead + 1));
        return letter == FIRST_BEHIND;
    }
    if (letter >= 'B' && letter <= 'Z')
        number = (unsigned)(letter - 'B');
    else if (letter >= 'a' && letter <= 'h')
        number = (unsigned)(letter - 'a') + 25;
    else
        return false;
    if (number > 0)
        buf_append_byte(out, 0xC2);
    buf_append_byte(out, (uint8_t)(0x7F + number));
    return true;
}

static bool read_escaped_space(char letter, struct buf *out)
{
    if (letter == ESCAPED_SPACE)
        buf_append_byte(out, ' ');
    else if (letter >= FIRST_CONTROL && letter < FIRST_CONTROL + ' ')
        buf_append_byte(out, (uint8_t)(letter - FIRST_CONTROL));
    else
        return false;
    return true;
}

/* Accepts more texts than text_encode writes; key_part_decode then compares. */
static bool text_decode(struct str text, struct buf *out)
{
    if (text.len > 1 && text.data[0] == '!' && text.data[1] == '!')
        text = str_from(text, 1);
    for (size_t at = 0; at < text.len;) {
        char c = text.data[at];
        char next = at + 1 < text.len ? text.data[at + 1] : 0;
        bool escape = (c == ' ' && next == ' ') || (is_lead(c) && next == '~');

        if (!escape) {
            buf_append_byte(out, (uint8_t)c);
            at++;
            continue;
        }
        if (at + 2 >= text.len)
            return false;
        if (!(c == ' ' ? read_escaped_space(text.data[at + 2], out)
                       : read_behind_lead(c, text.data[at + 2], out)))
            return false;
        at += 3;
    }
    return true;
}

/* ---- numbers ---- */

static void write_digits(struct buf *out, uint64_t number, int digits)
{
    char *bytes = buf_extend(out, (size_t)digits);

    for (int i = digits; i-- > 0; number /= 10)
        bytes[i] = (char)('0' + number % 10);
    assert(number == 0 && "the digits hold the number");
}

static uint64_t power_of_ten(int32_t exponent)
{
    uint64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* How the whole numbers of a type are written. */
struct number_form {
    int64_t min;
    uint64_t max; /* with a width perhaps beyond every value of the type */
    int digits, inverted_digits;
};

static bool number_form_of(enum property_type type, struct number_form *out)
{
    switch (type) {
    case PROPERTY_INT32:
        *out = (struct number_form){ INT32_MIN, INT32_MAX, 10, 10 };
        return true;
    case PROPERTY_INT64:
        *out = (struct number_form){ INT64_MIN, INT64_MAX, 19, 20 };
        return true;
    case PROPERTY_DATETIME:
        *out = (struct number_form){ 0, TICKS_MAX, 19, 19 };
        return true;
    default:
        return false;
    }
}

/* Limit the form to the width of the part. false: a width does not apply to the type. */
static bool apply_width(const struct key_part *part, enum property_type type, struct number_form *form)
{
    if (part->width == 0)
        return true;
    if (type == PROPERTY_DATETIME || part->width < 0 || part->width > KEY_PART_WIDTH_MAX)
        return false;
    form->min = 0;
    form->max = power_of_ten(part->width) - 1;
    form->digits = form->inverted_digits = part->width;
    return true;
}

/*
 * How a whole number compares with the values that the part can hold; *form is set unless no value
 * of the type fits.
 */
static enum key_part_fit number_fit(
    const struct key_part *part, const struct value *value, struct number_form *form)
{
    uint64_t max;

    if (!number_form_of(value->type, form))
        return KEY_PART_NEVER;
    max = form->max;
    if (!apply_width(part, value->type, form))
        return KEY_PART_NEVER;
    if (value->integer < form->min)
        return KEY_PART_BELOW;
    if (value->integer < 0)
        return KEY_PART_FITS;
    return (uint64_t)value->integer > form->max || (uint64_t)value->integer > max ? KEY_PART_ABOVE
                                                                                  : KEY_PART_FITS;
}

static bool number_encode(const struct key_part *part, const struct value *value, struct buf *out)
{
    struct number_form form;
    int64_t number = value->integer;
    bool has_sign;

    if (number_fit(part, value, &form) != KEY_PART_FITS)
        return false;
    has_sign = form.min < 0;
    if (part->inverted) {
        write_digits(out, form.max - (uint64_t)number, form.inverted_digits);
        return true;
    }
    if (has_sign)
        buf_append_byte(out, number < 0 ? '-' : '0');
    write_digits(out, number < 0 ? (uint64_t)number - (uint64_t)form.min : (uint64_t)number, form.digits);
    return true;
}

static bool number_decode(const struct key_part *part, struct str text, struct value *out)
{
    struct number_form form;
    uint64_t number, base = 0;

    if (!number_form_of(out->type, &form) || !apply_width(part, out->type, &form))
        return false;
    if (!part->inverted && form.min < 0) {
        base = text.len > 0 && text.data[0] == '-' ? (uint64_t)form.min : 0;
        text = str_from(text, 1);
    }
    if (!digits_parse_unsigned(text, UINT64_MAX, &number))
        return false;
    out->integer = (int64_t)(part->inverted ? form.max - number : base + number);
    return true;
}

/* The bits of a double as a number that grows with it. */
static uint64_t ordered_bits(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits >> 63 ? ~bits : bits | (UINT64_C(1) << 63);
}

static double double_of_ordered_bits(uint64_t ordered)
{
    uint64_t bits = ordered >> 63 ? ordered & ~(UINT64_C(1) << 63) : ~ordered;
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* ---- bytes in hexadecimal ---- */

static void write_hex(struct buf *out, struct str bytes)
{
    digits_encode_hex(bytes, buf_extend(out, 2 * bytes.len));
}

/* Upper case is refused: it sorts differently, so no key contains it. */
static bool read_hex(struct str text, struct buf *out)
{
    return digits_are_lower_hex(text) && digits_decode_hex(text, buf_extend(out, text.len / 2));
}

/* Inverted: the complement, which falls as the number grows. */
static void double_encode(const struct key_part *part, double number, struct buf *out)
{
    uint64_t ordered = part->inverted ? ~ordered_bits(number) : ordered_bits(number);
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(uint8_t)(ordered >> (8 * (7 - i)));
    write_hex(out, str_of_bytes(bytes, sizeof(bytes)));
}

static bool double_decode(
    const struct key_part *part, struct str text, struct arena *arena, struct value *out)
{
    struct buf bytes;
    uint64_t ordered = 0;

    buf_init(&bytes, arena);
    if (text.len != 16 || !read_hex(text, &bytes))
        return false;
    for (size_t i = 0; i < 8; i++)
        ordered = ordered << 8 | (uint8_t)bytes.data[i];
    out->number = double_of_ordered_bits(part->inverted ? ~ordered : ordered);
    return true;
}

/* ---- values ---- */

struct value key_part_compared(const struct key_part *part, const struct value *value, struct arena *arena)
{
    struct value out = *value;
    struct buf folded;

    if (!part->fold_case || value->type != PROPERTY_STRING)
        return out;
    buf_init(&folded, arena);
    case_fold_append(value->bytes, &folded);
    out.bytes = buf_str(&folded);
    return out;
}

/* number_encode decides for which whole numbers the width applies. */
static bool options_apply(const struct key_part *part, enum property_type type)
{
    struct number_form form;
    bool is_whole = number_form_of(type, &form);

    return (part->width == 0 || is_whole) && (!part->inverted || is_whole || type == PROPERTY_DOUBLE);
}

enum key_part_fit key_part_fit(const struct key_part *part, const struct value *value)
{
    struct number_form form;

    if (!options_apply(part, value->type) || value->type == PROPERTY_NULL)
        return KEY_PART_NEVER;
    if (value->type == PROPERTY_DOUBLE)
        return isnan(value->number) ? KEY_PART_NEVER : KEY_PART_FITS;
    return number_form_of(value->type, &form) ? number_fit(part, value, &form) : KEY_PART_FITS;
}

static struct str wanted_text(const struct key_part *part, struct arena *arena)
{
    if (part->width > 0 && part->width <= KEY_PART_WIDTH_MAX)
        return arena_format(arena, "an Int32 or Int64 from 0 to %llu",
            part->width == KEY_PART_WIDTH_MAX ? (unsigned long long)INT64_MAX
                                              : (unsigned long long)power_of_ten(part->width) - 1);
    if (part->inverted)
        return STR_LITERAL("an Int32, Int64, Double or DateTime");
    return STR_LITERAL("a value that has an order");
}

const char *key_part_objection(const struct key_part *part, const struct value *value, struct arena *arena)
{
    const char *kind = property_type_short_name(value->type), *more = "";

    switch (key_part_fit(part, value)) {
    case KEY_PART_BELOW:
        more = " and too small";
        break;
    case KEY_PART_ABOVE:
        more = " and too large";
        break;
    case KEY_PART_NEVER:
        more = value->type == PROPERTY_DOUBLE && isnan(value->number) ? " and NaN" : "";
        break;
    case KEY_PART_FITS:
        break;
    }
    return arena_format(
        arena, "is of type %s%s, allowed: %.*s", kind, more, STR_ARG(wanted_text(part, arena)))
        .data;
}

static bool value_encode(const struct key_part *part, const struct value *value, struct buf *out)
{
    if (!options_apply(part, value->type))
        return false;
    buf_append(out, key_part_prefix(value->type));
    switch (value->type) {
    case PROPERTY_NULL:
        return false;
    case PROPERTY_STRING:
        text_encode(part->fold_case ? key_part_compared(part, value, out->arena).bytes : value->bytes, out);
        return true;
    case PROPERTY_BOOLEAN:
        buf_append_byte(out, value->integer ? '1' : '0');
        return true;
    case PROPERTY_INT32:
    case PROPERTY_INT64:
    case PROPERTY_DATETIME:
        return number_encode(part, value, out);
    case PROPERTY_DOUBLE:
        double_encode(part, value->number, out);
        return !isnan(value->number);
    case PROPERTY_GUID:
        buf_append(out, value->bytes);
        return true;
    case PROPERTY_BINARY:
        write_hex(out, value->bytes);
        return true;
    }
    return false;
}

static enum property_type type_of(struct str text)
{
    if (text.len < 2 || text.data[0] != '!')
        return PROPERTY_STRING;
    for (size_t type = PROPERTY_BOOLEAN; type < ARRAY_LEN(type_letters); type++) {
        if (text.data[1] == type_letters[type])
            return (enum property_type)type;
    }
    return PROPERTY_STRING;
}

/* Accepts more texts than value_encode writes; key_part_decode then compares. */
static bool value_decode(const struct key_part *part, struct str text, struct arena *arena, struct value *out)
{
    struct buf bytes;
    bool ok = true;

    buf_init(&bytes, arena);
    *out = (struct value){ .type = type_of(text), .bytes = STR_EMPTY };
    if (out->type == PROPERTY_STRING)
        ok = text_decode(text, &bytes) && (!part->fold_case || text_check(buf_str(&bytes), NULL, NULL));
    else
        text = str_from(text, 2);
    switch (out->type) {
    case PROPERTY_BOOLEAN:
        out->integer = text.len == 1 && text.data[0] == '1';
        break;
    case PROPERTY_DOUBLE:
        return double_decode(part, text, arena, out);
    case PROPERTY_GUID:
        ok = text.len == 36;
        buf_append(&bytes, text);
        break;
    case PROPERTY_BINARY:
        ok = read_hex(text, &bytes);
        break;
    case PROPERTY_INT32:
    case PROPERTY_INT64:
    case PROPERTY_DATETIME:
        return number_decode(part, text, out);
    case PROPERTY_NULL:
    case PROPERTY_STRING:
        break;
    }
    out->bytes = buf_str(&bytes);
    return ok;
}

bool key_part_encode(const struct key_part *part, const struct value *value, bool last, struct buf *out)
{
    size_t begin = out->len;

    if (part->is_literal) {
        buf_append(out, part->text);
        return true;
    }
    if (!value_encode(part, value, out)) {
        out->len = begin;
        return false;
    }
    if (!last)
        buf_append(out, key_part_end);
    return true;
}

static bool literal_decode(const struct key_part *part, struct str *key, struct value *out)
{
    if (!str_starts_with(*key, part->text))
        return false;
    *key = str_from(*key, part->text.len);
    *out = (struct value){ .type = PROPERTY_STRING, .bytes = part->text };
    return true;
}

bool key_part_decode(
    const struct key_part *part, struct str *key, bool last, struct arena *arena, struct value *out)
{
    struct str text = *key, rest = STR_EMPTY;
    struct value value;
    struct buf again;

    if (part->is_literal)
        return literal_decode(part, key, out);
    if (!last) {
        const char *end = key->len ? memmem(key->data, key->len, key_part_end.data, key_part_end.len) : NULL;

        if (!end)
            return false;
        text.len = (size_t)(end - key->data);
        rest = str_from(*key, text.len + key_part_end.len);
    }
    if (!value_decode(part, text, arena, &value))
        return false;
    buf_init(&again, arena);
    if (!key_part_encode(part, &value, true, &again) || !str_equal(buf_str(&again), text))
        return false;
    *key = rest;
    *out = value;
    return true;
}

struct str key_part_prefix(enum property_type type)
{
    static const char *const prefixes[] = { "", "", "!b", "!i", "!l", "!d", "!t", "!g", "!x" };

    _Static_assert(ARRAY_LEN(prefixes) == ARRAY_LEN(type_letters), "one prefix per type");
    return str_of(prefixes[type]);
}

/* ---- prefixes ---- */

/* Increase the last character by one, not the last byte: the result must be UTF-8. */
struct str key_part_prefix_end(struct str prefix, struct arena *arena)
{
    while (prefix.len > 0) {
        size_t begin = prefix.len - 1;
        struct str last;
        struct buf out;
        uint32_t c;

        while (begin > 0 && ((uint8_t)prefix.data[begin] & 0xC0) == 0x80)
            begin--;
        last = str_from(prefix, begin);
        c = text_take(&last);
        prefix.len = begin;
        if (c == 0x10FFFF)
            continue;
        buf_init(&out, arena);
        buf_append(&out, prefix);
        text_append(&out, c + 1 == 0xD800 ? 0xE000 : c + 1);
        return buf_str(&out);
    }
    return STR_EMPTY;
}
