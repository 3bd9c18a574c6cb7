/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/properties/key_part.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "domain/ticks.h"

static const struct key_part plain = { .text = { "P", 1 } };
static const struct key_part inverted = { .text = { "P", 1 }, .inverted = true };
static const struct key_part without_case = { .text = { "P", 1 }, .fold_case = true };
static const struct key_part width_3 = { .text = { "P", 1 }, .width = 3 };
static const struct key_part width_19 = { .text = { "P", 1 }, .width = 19 };
static const struct key_part width_19_inverted = { .text = { "P", 1 }, .width = 19, .inverted = true };
static const struct key_part width_3_inverted = { .text = { "P", 1 }, .width = 3, .inverted = true };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct value a_string(const char *text)
{
    return (struct value){ .type = PROPERTY_STRING, .bytes = str_of(text) };
}

static struct value a_number(enum property_type type, int64_t number)
{
    return (struct value){ .type = type, .integer = number };
}

static struct value a_double(double number)
{
    return (struct value){ .type = PROPERTY_DOUBLE, .number = number };
}

static bool encode(const struct key_part *part, struct value value, bool last, struct str *out)
{
    struct buf buf;
    bool ok;

    buf_init(&buf, &arena);
    ok = key_part_encode(part, &value, last, &buf);
    *out = buf_str(&buf);
    return ok;
}

static struct str encoded(const struct key_part *part, struct value value, bool last)
{
    struct str out;

    if (!encode(part, value, last, &out))
        ck_abort_msg("a value is not encoded");
    return out;
}

static bool same_value(const struct value *a, const struct value *b)
{
    return a->type == b->type && a->integer == b->integer && str_equal(a->bytes, b->bytes) &&
           memcmp(&a->number, &b->number, sizeof(a->number)) == 0;
}

/* The checks below run a hundred thousand times: a ck_assert that holds writes to a pipe, a condition does not. */
static void check_round_trip(const struct key_part *part, struct value value)
{
    struct str last = encoded(part, value, true), inner = encoded(part, value, false);
    struct str rest = arena_format(&arena, "%.*s!rest", STR_ARG(inner));
    struct value back;

    if (!key_part_decode(part, &last, true, &arena, &back) || last.len != 0 || !same_value(&value, &back))
        ck_abort_msg("'%.*s' does not come back", STR_ARG(inner));
    if (!key_part_decode(part, &rest, false, &arena, &back) || !same_value(&value, &back))
        ck_abort_msg("'%.*s' does not come back from the front of a key", STR_ARG(inner));
    if (!str_equal(rest, STR_LITERAL("!rest")))
        ck_abort_msg("decoding '%.*s' leaves '%.*s' of the key", STR_ARG(inner), STR_ARG(rest));
}

/* a < b: so are the encodings, also with an end mark and any text behind it. */
static void check_ascending(const struct key_part *part, struct value a, struct value b)
{
    struct str low = encoded(part, a, true), high = encoded(part, b, true);
    struct str inner_low = encoded(part, a, false), inner_high = encoded(part, b, false);

    if (str_compare(low, high) >= 0)
        ck_abort_msg("'%.*s' is not below '%.*s'", STR_ARG(low), STR_ARG(high));
    if (str_compare(inner_low, inner_high) >= 0 || str_starts_with(inner_high, inner_low))
        ck_abort_msg("the rest of the key after '%.*s' decides against '%.*s'", STR_ARG(inner_low),
            STR_ARG(inner_high));
}

static void check_allowed(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.data[i], next = i + 1 < text.len ? (uint8_t)text.data[i + 1] : 0;

        if (c < ' ' || c == 0x7F || strchr("/\\#?", c) || (c == 0xC2 && next < 0xA0))
            ck_abort_msg("'%.*s' holds a character forbidden in keys", STR_ARG(text));
    }
}

/* ---- the written forms ---- */

static const struct form_case {
    const char *name;
    const struct key_part *part;
    struct value value;
    const char *want;
} form_cases[] = {
    { "text is itself", &plain, { PROPERTY_STRING, { "Qt and KDE", 10 }, 0, 0 }, "Qt and KDE" },
    { "a slash", &plain, { PROPERTY_STRING, { "Qt/KDE", 6 }, 0, 0 }, "Qt.~BKDE" },
    { "the other forbidden ones", &plain, { PROPERTY_STRING, { "#?\\", 3 }, 0, 0 }, "\"~B>~B[~B" },
    { "a lead before a low character", &plain, { PROPERTY_STRING, { "a.b", 3 }, 0, 0 }, "a.b" },
    { "a lead before a tilde", &plain, { PROPERTY_STRING, { ".~", 2 }, 0, 0 }, ".~A~" },
    { "a lead before a letter with accent", &plain, { PROPERTY_STRING, { ".\xC3\xA9", 3 }, 0, 0 },
        ".~A\xC3\xA9" },
    { "delete", &plain, { PROPERTY_STRING, { "\x7F", 1 }, 0, 0 }, "~~B" },
    { "U+009F", &plain, { PROPERTY_STRING, { "\xC2\x9F", 2 }, 0, 0 }, "~~h" },
    { "controls", &plain, { PROPERTY_STRING, { "\0\x1F", 2 }, 0, 0 }, "  0  O" },
    { "a space at the end", &plain, { PROPERTY_STRING, { "a ", 2 }, 0, 0 }, "a  Z" },
    { "two spaces", &plain, { PROPERTY_STRING, { "  a", 3 }, 0, 0 }, "  Z a" },
    { "a leading exclamation mark", &plain, { PROPERTY_STRING, { "!i5", 3 }, 0, 0 }, "!!i5" },
    { "false", &plain, { PROPERTY_BOOLEAN, { "", 0 }, 0, 0 }, "!b0" },
    { "an Int32", &plain, { PROPERTY_INT32, { "", 0 }, 5, 0 }, "!i00000000005" },
    { "a negative Int32", &plain, { PROPERTY_INT32, { "", 0 }, -1, 0 }, "!i-2147483647" },
    { "the least Int64", &plain, { PROPERTY_INT64, { "", 0 }, INT64_MIN, 0 }, "!l-0000000000000000000" },
    { "a DateTime", &plain, { PROPERTY_DATETIME, { "", 0 }, 7, 0 }, "!t0000000000000000007" },
    { "a Double", &plain, { PROPERTY_DOUBLE, { "", 0 }, 0, 1.0 }, "!dbff0000000000000" },
    { "a Binary", &plain, { PROPERTY_BINARY, { "\x00\xFF", 2 }, 0, 0 }, "!x00ff" },
    { "a width", &width_3, { PROPERTY_INT64, { "", 0 }, 42, 0 }, "!l042" },
    { "a width, inverted", &width_3_inverted, { PROPERTY_INT32, { "", 0 }, 42, 0 }, "!i957" },
    { "the greatest width", &width_19, { PROPERTY_INT64, { "", 0 }, INT64_MAX, 0 }, "!l9223372036854775807" },
    { "the greatest width, inverted", &width_19_inverted, { PROPERTY_INT64, { "", 0 }, INT64_MAX, 0 },
        "!l0776627963145224192" },
    { "the greatest width of an Int32", &width_19, { PROPERTY_INT32, { "", 0 }, 42, 0 },
        "!i0000000000000000042" },
    { "the largest comes first", &inverted, { PROPERTY_INT32, { "", 0 }, INT32_MAX, 0 }, "!i0000000000" },
    { "a Double, inverted", &inverted, { PROPERTY_DOUBLE, { "", 0 }, 0, 1.0 }, "!d400fffffffffffff" },
};

START_TEST(values_have_their_written_form)
{
    const struct form_case *c = &form_cases[_i];
    struct str got = encoded(c->part, c->value, true);

    ck_assert_msg(str_equal(got, str_of(c->want)), "%s: got '%.*s'", c->name, STR_ARG(got));
    check_round_trip(c->part, c->value);
}
END_TEST

static const struct violation_case {
    const char *name;
    const struct key_part *part;
    struct value value;
} violation_cases[] = {
    { "null", &plain, { PROPERTY_NULL, { "", 0 }, 0, 0 } },
    { "not a number", &plain, { PROPERTY_DOUBLE, { "", 0 }, 0, NAN } },
    { "wider than its width", &width_3, { PROPERTY_INT32, { "", 0 }, 1000, 0 } },
    { "negative with a width", &width_3, { PROPERTY_INT64, { "", 0 }, -1, 0 } },
    { "wider than its width, inverted", &width_3_inverted, { PROPERTY_INT64, { "", 0 }, 1000, 0 } },
    { "negative with the greatest width", &width_19_inverted, { PROPERTY_INT64, { "", 0 }, -1, 0 } },
    { "text has no width", &width_3, { PROPERTY_STRING, { "a", 1 }, 0, 0 } },
    { "a DateTime has no width", &width_3, { PROPERTY_DATETIME, { "", 0 }, 1, 0 } },
    { "text cannot be inverted", &inverted, { PROPERTY_STRING, { "a", 1 }, 0, 0 } },
    { "not a number, inverted", &inverted, { PROPERTY_DOUBLE, { "", 0 }, 0, NAN } },
    { "a Double has no width", &width_3, { PROPERTY_DOUBLE, { "", 0 }, 0, 1 } },
    { "a Double has no width, inverted", &width_3_inverted, { PROPERTY_DOUBLE, { "", 0 }, 0, 1 } },
};

START_TEST(what_cannot_be_encoded_leaves_no_trace)
{
    const struct violation_case *c = &violation_cases[_i];
    struct buf out;

    buf_init(&out, &arena);
    buf_append(&out, STR_LITERAL("before"));

    ck_assert_msg(!key_part_encode(c->part, &c->value, false, &out), "%s: was encoded", c->name);
    ck_assert(str_equal(buf_str(&out), STR_LITERAL("before")));
}
END_TEST

/* What is read back is the folded text; other values are not affected. */
START_TEST(text_without_case_is_folded_before_it_is_written)
{
    struct str key = encoded(&without_case, a_string("\xE2\x84\xAA.\xC3\x89/A "), true);
    struct value back;

    ck_assert(str_equal(key, encoded(&plain, a_string("k.\xC3\xA9/a "), true)));
    ck_assert(str_equal(encoded(&without_case, a_string("!I5"), false), STR_LITERAL("!!i5  !")));
    ck_assert(key_part_decode(&without_case, &key, true, &arena, &back));
    ck_assert(str_equal(back.bytes, STR_LITERAL("k.\xC3\xA9/a ")));
    check_ascending(&without_case, a_string("aB"), a_string("AC"));
    ck_assert_int_eq(key_part_fit(&without_case, &back), KEY_PART_FITS);
    check_round_trip(&without_case, a_number(PROPERTY_INT32, 5));
    check_round_trip(&without_case, a_double(0.5));
}
END_TEST

START_TEST(literals_are_written_and_skipped)
{
    const struct key_part literal = { .is_literal = true, .text = STR_LITERAL("by-name:") };
    struct str key = STR_LITERAL("by-name:x"), other = STR_LITERAL("by-id:x");
    struct value value;

    ck_assert(str_equal(encoded(&literal, a_string("ignored"), false), STR_LITERAL("by-name:")));
    ck_assert(key_part_decode(&literal, &key, false, &arena, &value));
    ck_assert(str_equal(key, STR_LITERAL("x")));
    ck_assert(!key_part_decode(&literal, &other, false, &arena, &value));
}
END_TEST

/* ---- the laws: exhaustive over short texts, random over long ones ---- */

static const char *const alphabet[] = { "\0", "\n", " ", "!", "\"", "#", ".", "/", "a", "[", "~", "\x7F",
    "\xC2\x80", "\xC2\x9F", "\xC3\xA9" };
/*
 * The plain build checks all texts; the builds with sanitizers run the same code on fewer texts, in a tenth of the
 * time.
 */
#ifdef __SANITIZE_ADDRESS__
enum { SHORT_LENGTH = 3, SHORT_TEXTS = 1 + 15 + 225 + 3375, LONG_TEXTS = 2000 };
#else
enum { SHORT_LENGTH = 4, SHORT_TEXTS = 1 + 15 + 225 + 3375 + 50625, LONG_TEXTS = 20000 };
#endif
enum { ALPHABET = ARRAY_LEN(alphabet), LONG_LENGTH = 24 };

static void append_letter(struct buf *text, size_t letter)
{
    buf_append(text, letter == 0 ? str_of_bytes("\0", 1) : str_of(alphabet[letter]));
}

/* The texts of up to SHORT_LENGTH letters, counted in base ALPHABET + 1 with 0 for "no letter". */
static size_t all_short_texts(struct value *out)
{
    size_t count = 0, begin = 0;

    out[count++] = (struct value){ .type = PROPERTY_STRING, .bytes = STR_EMPTY };
    for (size_t length = 1; length <= SHORT_LENGTH; length++) {
        size_t end = count;

        for (size_t shorter = begin; shorter < end; shorter++) {
            for (size_t letter = 0; letter < ALPHABET; letter++) {
                struct buf text;

                buf_init(&text, &arena);
                buf_append(&text, out[shorter].bytes);
                append_letter(&text, letter);
                out[count++] = (struct value){ .type = PROPERTY_STRING, .bytes = buf_str(&text) };
            }
        }
        begin = end;
    }
    return count;
}

static int by_text(const void *a, const void *b)
{
    return str_compare(((const struct value *)a)->bytes, ((const struct value *)b)->bytes);
}

/* If all sorted neighbours are in order, all pairs are. */
static void check_laws_of_texts(struct value *texts, size_t count)
{
    qsort(texts, count, sizeof(*texts), by_text);
    for (size_t i = 0; i < count; i++) {
        check_round_trip(&plain, texts[i]);
        check_allowed(encoded(&plain, texts[i], false));
        if (i > 0 && str_compare(texts[i - 1].bytes, texts[i].bytes) != 0)
            check_ascending(&plain, texts[i - 1], texts[i]);
    }
}

START_TEST(every_short_text_keeps_order_and_comes_back)
{
    struct value *texts = ARENA_ARRAY(&arena, struct value, 100000);
    size_t count = all_short_texts(texts);

    ck_assert_uint_eq(count, SHORT_TEXTS);
    check_laws_of_texts(texts, count);
}
END_TEST

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

START_TEST(random_texts_keep_order_and_come_back)
{
    struct value *texts = ARENA_ARRAY(&arena, struct value, LONG_TEXTS);
    uint64_t state = 42;

    for (size_t i = 0; i < LONG_TEXTS; i++) {
        size_t length = random_next(&state) % LONG_LENGTH, shared = random_next(&state) % LONG_LENGTH;
        struct buf text;

        /* One half of each text equals its neighbour's, so that differences are not always at the front. */
        buf_init(&text, &arena);
        if (i > 0 && shared <= texts[i - 1].bytes.len) {
            struct str head = texts[i - 1].bytes;

            while (shared > 0 && shared < head.len && ((uint8_t)head.data[shared] & 0xC0) == 0x80)
                shared--;
            head.len = shared;
            buf_append(&text, head);
        }
        while (length-- > 0 && text.len < 4 * LONG_LENGTH)
            append_letter(&text, random_next(&state) % ALPHABET);
        texts[i] = (struct value){ .type = PROPERTY_STRING, .bytes = buf_str(&text) };
    }

    check_laws_of_texts(texts, LONG_TEXTS);
}
END_TEST

static void check_numbers(enum property_type type, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_round_trip(&plain, a_number(type, numbers[i]));
        check_round_trip(&inverted, a_number(type, numbers[i]));
        if (i == 0)
            continue;
        check_ascending(&plain, a_number(type, numbers[i - 1]), a_number(type, numbers[i]));
        check_ascending(&inverted, a_number(type, numbers[i]), a_number(type, numbers[i - 1]));
    }
}

START_TEST(numbers_keep_order_and_come_back)
{
    static const int64_t int32s[] = { INT32_MIN, INT32_MIN + 1, -1000, -2, -1, 0, 1, 2, 999, INT32_MAX - 1,
        INT32_MAX };
    static const int64_t int64s[] = { INT64_MIN, INT64_MIN + 1, INT32_MIN, -1, 0, 1, INT32_MAX,
        INT64_C(1) << 62, INT64_MAX - 1, INT64_MAX };
    static const int64_t times[] = { 0, 1, 9, 10, TICKS_PER_SECOND, TICKS_MAX - 1, TICKS_MAX };

    check_numbers(PROPERTY_INT32, int32s, ARRAY_LEN(int32s));
    check_numbers(PROPERTY_INT64, int64s, ARRAY_LEN(int64s));
    check_numbers(PROPERTY_DATETIME, times, ARRAY_LEN(times));
}
END_TEST

START_TEST(numbers_of_a_width_keep_order)
{
    for (int64_t number = 0; number < 1000; number++) {
        check_round_trip(&width_3, a_number(PROPERTY_INT64, number));
        check_round_trip(&width_3_inverted, a_number(PROPERTY_INT32, number));
        if (number == 0)
            continue;
        check_ascending(&width_3, a_number(PROPERTY_INT64, number - 1), a_number(PROPERTY_INT64, number));
        check_ascending(
            &width_3_inverted, a_number(PROPERTY_INT32, number), a_number(PROPERTY_INT32, number - 1));
    }
}
END_TEST

/* Bit patterns of every kind, NaN left out: exponents and mantissas at random, and the neighbours of each. */
static double random_double(uint64_t *state)
{
    double number;

    do {
        uint64_t bits = random_next(state) << 33 ^ random_next(state) << 11 ^ random_next(state);

        memcpy(&number, &bits, sizeof(number));
    } while (isnan(number));
    return number;
}

static void check_doubles(double a, double b)
{
    check_round_trip(&plain, a_double(a));
    check_round_trip(&inverted, a_double(a));
    if (a < b) {
        check_ascending(&plain, a_double(a), a_double(b));
        check_ascending(&inverted, a_double(b), a_double(a));
    }
}

START_TEST(doubles_keep_order_and_come_back)
{
    static const double doubles[] = { -INFINITY, -1e300, -1.5, -1.0, -1e-310, -0.0, 0.0, 1e-310, 1.0, 1.5,
        1e300, INFINITY };

    for (size_t i = 0; i < ARRAY_LEN(doubles); i++) {
        for (size_t j = 0; j < ARRAY_LEN(doubles); j++)
            check_doubles(doubles[i], doubles[j]);
    }
    check_ascending(&plain, a_double(-0.0), a_double(0.0));
    check_ascending(&inverted, a_double(0.0), a_double(-0.0));
}
END_TEST

START_TEST(random_doubles_keep_order_and_come_back)
{
    uint64_t state = 7;

    for (size_t i = 0; i < LONG_TEXTS; i++) {
        double a = random_double(&state), b = random_double(&state);

        check_doubles(a, b);
        check_doubles(b, a);
        check_doubles(a, nextafter(a, INFINITY));
    }
}
END_TEST

START_TEST(bytes_keep_order_and_come_back)
{
    static const struct str binaries[] = { { "", 0 }, { "\x00", 1 }, { "\x00\x00", 2 }, { "\x00\x01", 2 },
        { "\x09", 1 }, { "\x0A", 1 }, { "\x7F", 1 }, { "\x80", 1 }, { "\xFF", 1 }, { "\xFF\x00", 2 } };
    struct value guid = { .type = PROPERTY_GUID,
        .bytes = STR_LITERAL("c9da6455-213d-42c9-9a79-3e9149a57833") };
    struct value later = { .type = PROPERTY_GUID,
        .bytes = STR_LITERAL("c9da6455-213d-42c9-9a79-3e9149a57834") };

    for (size_t i = 0; i < ARRAY_LEN(binaries); i++) {
        struct value value = { .type = PROPERTY_BINARY, .bytes = binaries[i] };

        check_round_trip(&plain, value);
        if (i > 0)
            check_ascending(
                &plain, (struct value){ .type = PROPERTY_BINARY, .bytes = binaries[i - 1] }, value);
    }
    check_round_trip(&plain, guid);
    check_ascending(&plain, guid, later);
    check_round_trip(&plain, a_number(PROPERTY_BOOLEAN, 1));
    check_ascending(&plain, a_number(PROPERTY_BOOLEAN, 0), a_number(PROPERTY_BOOLEAN, 1));
}
END_TEST

/* ---- malformed encodings ---- */

static const struct refused_case {
    const char *name, *key;
    bool last;
    const struct key_part *part;
} refused_cases[] = {
    { "no end mark", "abc", false, &plain },
    { "an end mark where nothing follows", "abc  !", true, &plain },
    { "a cut escape", "a  ", true, &plain },
    { "an unknown escape of a space", "a  a", true, &plain },
    { "a space that needs no escape", "a  Zb", true, &plain },
    { "an unknown letter behind a lead", ".~C", true, &plain },
    { "an unfolded letter", "Ada", true, &without_case },
    { "an unfolded letter that is not ASCII", "\xC3\x89  !", false, &without_case },
    { "bytes that are no text", "a\xFF", true, &without_case },
    { "an unfolded letter behind an escape", "  ZA", true, &without_case },
    { "a lead that needs no escape", ".~Ab", true, &plain },
    { "a letter above the controls", "~~i", true, &plain },
    { "a bare forbidden character", "a/b", true, &plain },
    { "an unknown type", "!q1", true, &plain },
    { "a bare exclamation mark", "!", true, &plain },
    { "a Boolean that is neither", "!b2", true, &plain },
    { "too few digits", "!i000000005", true, &plain },
    { "an Int32 that is too large", "!i02147483648", true, &plain },
    { "an Int64 that is too large", "!l09223372036854775808", true, &plain },
    { "a number that is none", "!i0000000000x", true, &plain },
    { "a time after the last one", "!t2650467744000000000", true, &plain },
    { "upper-case digits", "!x0A", true, &plain },
    { "half a byte", "!x0", true, &plain },
    { "a NaN", "!dffffffffffffffff", true, &plain },
    { "a Guid that is too short", "!gc9da6455", true, &plain },
    { "an inverted number below its least", "!i4294967296", true, &inverted },
    { "other digits than the width", "!i0042", true, &width_3 },
};

START_TEST(decoding_accepts_what_encoding_writes_only)
{
    const struct refused_case *c = &refused_cases[_i];
    struct str key = str_of(c->key);
    struct value value;

    ck_assert_msg(!key_part_decode(c->part, &key, c->last, &arena, &value), "%s: accepted", c->name);
    ck_assert(str_equal(key, str_of(c->key)));
}
END_TEST

/* ---- prefixes ---- */

static const struct prefix_case {
    const char *prefix, *want;
} prefix_cases[] = {
    { "", "" },
    { "a", "b" },
    { "ab  !", "ab  \"" },
    { "\x7F", "\xC2\x80" },
    { "a\xC2\xBF", "a\xC3\x80" },
    { "\xDF\xBF", "\xE0\xA0\x80" },
    { "\xED\x9F\xBF", "\xEE\x80\x80" },
    { "\xEF\xBF\xBF", "\xF0\x90\x80\x80" },
    { "a\xF4\x8F\xBF\xBF", "b" },
    { "\xF4\x8F\xBF\xBF", "" },
};

START_TEST(a_prefix_ends_at_the_next_character)
{
    const struct prefix_case *c = &prefix_cases[_i];
    struct str got = key_part_prefix_end(str_of(c->prefix), &arena);

    ck_assert_msg(str_equal(got, str_of(c->want)), "'%s': got '%.*s'", c->prefix, STR_ARG(got));
}
END_TEST

START_TEST(a_type_has_its_prefix)
{
    ck_assert(str_starts_with(
        encoded(&plain, a_number(PROPERTY_INT64, -3), true), key_part_prefix(PROPERTY_INT64)));
    ck_assert(str_starts_with(encoded(&plain, a_double(2), true), key_part_prefix(PROPERTY_DOUBLE)));
    ck_assert_uint_eq(key_part_prefix(PROPERTY_STRING).len, 0);
}
END_TEST

static const struct objection_case {
    struct key_part part;
    struct value value;
    const char *want;
} objection_cases[] = {
    { { .width = 4 }, { .type = PROPERTY_STRING },
        "is of type String, allowed: an Int32 or Int64 from 0 to 9999" },
    { { .width = 4 }, { .type = PROPERTY_INT32, .integer = -1 },
        "is of type Int32 and too small, allowed: an Int32 or Int64 from 0 to 9999" },
    { { .width = 4 }, { .type = PROPERTY_INT64, .integer = 10000 },
        "is of type Int64 and too large, allowed: an Int32 or Int64 from 0 to 9999" },
    { { .width = 19 }, { .type = PROPERTY_INT64, .integer = -1 },
        "is of type Int64 and too small, allowed: an Int32 or Int64 from 0 to 9223372036854775807" },
    { { .inverted = true }, { .type = PROPERTY_GUID },
        "is of type Guid, allowed: an Int32, Int64, Double or DateTime" },
    { { .width = 0 }, { .type = PROPERTY_DOUBLE, .number = NAN },
        "is of type Double and NaN, allowed: a value that has an order" },
};

START_TEST(an_objection_names_the_type_found_and_wanted)
{
    const struct objection_case *c = &objection_cases[_i];

    ck_assert_str_eq(key_part_objection(&c->part, &c->value, &arena), c->want);
}
END_TEST

Suite *test_key_part_suite(void)
{
    Suite *suite = suite_create("key_part");
    TCase *tc = tcase_create("key_part");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, values_have_their_written_form, 0, ARRAY_LEN(form_cases));
    tcase_add_loop_test(tc, what_cannot_be_encoded_leaves_no_trace, 0, ARRAY_LEN(violation_cases));
    tcase_add_test(tc, text_without_case_is_folded_before_it_is_written);
    tcase_add_test(tc, literals_are_written_and_skipped);
    tcase_add_test(tc, every_short_text_keeps_order_and_comes_back);
    tcase_add_test(tc, random_texts_keep_order_and_come_back);
    tcase_add_test(tc, numbers_keep_order_and_come_back);
    tcase_add_test(tc, numbers_of_a_width_keep_order);
    tcase_add_test(tc, doubles_keep_order_and_come_back);
    tcase_add_test(tc, random_doubles_keep_order_and_come_back);
    tcase_add_test(tc, bytes_keep_order_and_come_back);
    tcase_add_loop_test(tc, decoding_accepts_what_encoding_writes_only, 0, ARRAY_LEN(refused_cases));
    tcase_add_loop_test(tc, a_prefix_ends_at_the_next_character, 0, ARRAY_LEN(prefix_cases));
    tcase_add_test(tc, a_type_has_its_prefix);
    tcase_add_loop_test(tc, an_objection_names_the_type_found_and_wanted, 0, ARRAY_LEN(objection_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
