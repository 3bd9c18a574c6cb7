/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/properties/case_fold.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/macros.h"
#include "domain/text.h"

enum { CHARACTERS = 0x110000 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct str folded(struct str text)
{
    struct buf out;

    buf_init(&out, &arena);
    case_fold_append(text, &out);
    return buf_str(&out);
}

static struct str text_of(uint32_t character)
{
    struct buf out;

    buf_init(&out, &arena);
    text_append(&out, character);
    return buf_str(&out);
}

static const struct fold_case {
    const char *name, *text, *want;
} fold_cases[] = {
    { "nothing", "", "" },
    { "ASCII", "Ada LOVELACE-1815 @[`{", "ada lovelace-1815 @[`{" },
    { "an accent stays", "\xC3\x89tude", "\xC3\xA9tude" },
    { "an accent of its own is not composed", "E\xCC\x81", "e\xCC\x81" },
    { "sharp s",
        "Stra\xC3\x9F"
        "e",
        "stra\xC3\x9F"
        "e" },
    { "its capital is the same",
        "STRA\xE1\xBA\x9E"
        "E",
        "stra\xC3\x9F"
        "e" },
    { "two s are another word", "STRASSE", "strasse" },
    { "I is i", "I", "i" },
    { "dotless i stays", "\xC4\xB1", "\xC4\xB1" },
    { "I with a dot stays", "\xC4\xB0", "\xC4\xB0" },
    { "sigma, also at the end", "\xCE\xA3\xCF\x83\xCF\x82", "\xCF\x83\xCF\x83\xCF\x83" },
    { "Cyrillic", "\xD0\x96\xD0\x81", "\xD0\xB6\xD1\x91" },
    { "the Kelvin sign is k", "\xE2\x84\xAA", "k" },
    { "the Angstrom sign is a with a ring", "\xE2\x84\xAB", "\xC3\xA5" },
    { "long s is s", "\xC5\xBF", "s" },
    { "the micro sign is mu", "\xC2\xB5", "\xCE\xBC" },
    { "Cherokee is its capitals", "\xEA\xAD\xB0\xE1\x8E\xA0\xE1\x8F\xB8",
        "\xE1\x8E\xA0\xE1\x8E\xA0\xE1\x8F\xB0" },
    { "a longer form", "\xC8\xBA", "\xE2\xB1\xA5" },
    { "alpha with iota: S, where F gives two", "\xE1\xBE\x88", "\xE1\xBE\x80" },
    { "a ligature stays, which only F takes apart", "\xEF\xAC\x81", "\xEF\xAC\x81" },
    { "beyond the first plane", "\xF0\x90\x90\x80", "\xF0\x90\x90\xA8" },
    { "no letters", "\xE4\xB8\xAD\xF0\x9F\x98\x80", "\xE4\xB8\xAD\xF0\x9F\x98\x80" },
};

START_TEST(texts_are_folded)
{
    const struct fold_case *c = &fold_cases[_i];
    struct str got = folded(str_of(c->text));

    ck_assert_msg(str_equal(got, str_of(c->want)), "%s: '%.*s'", c->name, STR_ARG(got));
}
END_TEST

/* What the standard's file says of every character, read by itself. */
static uint32_t *read_standard(void)
{
    uint32_t *out = ARENA_ARRAY(&arena, uint32_t, CHARACTERS);
    FILE *file = fopen(CASE_FOLDING, "r");
    char line[512];

    ck_assert_ptr_nonnull(file);
    for (uint32_t i = 0; i < CHARACTERS; i++)
        out[i] = i;
    while (fgets(line, sizeof(line), file)) {
        unsigned from, to;
        char status;

        if (sscanf(line, "%x; %c; %x;", &from, &status, &to) == 3 && (status == 'C' || status == 'S'))
            out[from] = to;
    }
    fclose(file);
    return out;
}

START_TEST(every_character_is_folded_as_the_standard_says)
{
    const uint32_t *standard = read_standard();

    for (uint32_t c = 0; c < CHARACTERS; c++) {
        struct arena before = arena;
        struct str text, got;

        if (c >= 0xD800 && c < 0xE000)
            continue;
        text = text_of(c);
        got = folded(text);
        /* A ck_assert that holds writes to a pipe: too slow for a million. */
        if (!str_equal(got, text_of(standard[c])))
            ck_abort_msg("U+%04X", c);
        if (!str_equal(folded(got), got))
            ck_abort_msg("U+%04X folded twice", c);
        if (2 * got.len > 3 * text.len)
            ck_abort_msg("U+%04X grows from %zu to %zu bytes", c, text.len, got.len);
        arena_rewind(&arena, &before);
    }
}
END_TEST

START_TEST(the_table_is_ascending)
{
    for (size_t i = 1; i < case_fold_pair_count; i++)
        ck_assert_uint_lt(case_fold_pairs[i - 1].from, case_fold_pairs[i].from);
    ck_assert_uint_eq(case_fold_pair_count, 1454);
}
END_TEST

Suite *test_case_fold_suite(void)
{
    Suite *suite = suite_create("case_fold");
    TCase *tc = tcase_create("case_fold");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, texts_are_folded, 0, ARRAY_LEN(fold_cases));
    tcase_add_test(tc, every_character_is_folded_as_the_standard_says);
    tcase_add_test(tc, the_table_is_ascending);
    suite_add_tcase(suite, tc);
    return suite;
}
