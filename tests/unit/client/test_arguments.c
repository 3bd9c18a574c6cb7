/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/arguments.c.
 */
#include "client/arguments.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

enum { MAX_WORDS = 4 };

#define USAGE                                                                                                \
    "NAME [--mode fast|slow|as_it_is] [--dry-run] [--limit N] [-o FORM] [--names NAME,NAME...] [X | --all]"

/* The options of a usage text, those with a value with = behind them. */
static const char *options_of(const char *usage)
{
    static char text[256];
    struct str rest = str_of(usage), name;
    bool has_value;

    text[0] = '\0';
    while (arguments_next_option(&rest, &name, &has_value))
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s%s", *text ? " " : "",
            STR_ARG(name), has_value ? "=" : "");
    return text;
}

START_TEST(a_word_behind_an_option_is_its_value)
{
    ck_assert_str_eq(options_of(USAGE), "--mode= --dry-run --limit= -o= --names= --all");
    ck_assert_str_eq(options_of(""), "");
    ck_assert_str_eq(options_of("NAME-OF-IT a-b"), "");
}
END_TEST

static const struct choice_case {
    const char *name, *words[MAX_WORDS];
    bool read;
    size_t chosen;
} choices[] = {
    { "not given", { "x" }, true, 7 },
    { "the first one", { "x", "--mode", "fast" }, true, 0 },
    { "the last one", { "--mode=as_it_is", "x" }, true, 2 },
    { "another word", { "x", "--mode", "quick" }, false, 7 },
    { "a part of a word", { "x", "--mode", "fas" }, false, 7 },
    { "upper case", { "x", "--mode", "FAST" }, false, 7 },
    { "no word", { "x", "--mode=" }, false, 7 },
};

START_TEST(a_choice_is_one_of_the_words)
{
    static const char *const modes[] = { "fast", "slow", "as_it_is", NULL };
    const struct choice_case *c = &choices[_i];
    struct arguments arguments = { .command = "test" };
    char given[MAX_WORDS][32], *argv[MAX_WORDS];
    size_t chosen = 7;
    bool read;
    int argc = 0;

    for (; argc < MAX_WORDS && c->words[argc]; argc++) {
        snprintf(given[argc], sizeof(given[argc]), "%s", c->words[argc]);
        argv[argc] = given[argc];
    }
    ck_assert(arguments_read(USAGE, argc, argv, &arguments));

    read = arguments_choice(&arguments, "--mode", modes, &chosen);

    ck_assert_msg(read == c->read && chosen == c->chosen, "%s: %d, %zu", c->name, read, chosen);
}
END_TEST

Suite *test_arguments_suite(void)
{
    Suite *suite = suite_create("arguments");
    TCase *tcase = tcase_create("arguments");

    tcase_add_test(tcase, a_word_behind_an_option_is_its_value);
    tcase_add_loop_test(tcase, a_choice_is_one_of_the_words, 0, ARRAY_LEN(choices));
    suite_add_tcase(suite, tcase);
    return suite;
}
