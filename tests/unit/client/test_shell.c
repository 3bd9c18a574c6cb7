/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/shell/shell_words.c and client/shell/shell_completion.c.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "client/shell/shell_completion.h"
#include "client/shell/shell_words.h"

/* The words of a line with | between them; "-": it is not closed. */
static const char *split(const char *line)
{
    static char text[256];
    char *words[SHELL_MAX_WORDS + 1];
    struct arena arena;
    int count;

    arena_init(&arena);
    count = shell_words_split(line, &arena, words);
    snprintf(text, sizeof(text), "%s", count < 0 ? "-" : "");
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i > 0 ? "|" : "", words[i]);
    arena_cleanup(&arena);
    return text;
}

START_TEST(words)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        { "", "" },
        { "  # nothing\n", "" },
        { "table list\n", "table|list" },
        { "query t 'Age ge 36' -o table", "query|t|Age ge 36|-o|table" },
        { "a \"b \\\" c\" d\\ e 'f'g", "a|b \" c|d e|fg" },
        { "entity put t {\"A\": \"}\\\"\", \"B\": {\"C\": 1}} --merge",
            "entity|put|t|{\"A\": \"}\\\"\", \"B\": {\"C\": 1}}|--merge" },
        { "a '' b", "a||b" },
        { "a 'b", "-" },
        { "a {\"b\": 1", "-" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_str_eq(split(cases[i].line), cases[i].words);
}
END_TEST

START_TEST(too_many_words)
{
    char line[2 * SHELL_MAX_WORDS + 3];

    memset(line, 0, sizeof(line));
    for (size_t i = 0; i <= SHELL_MAX_WORDS; i++)
        memcpy(line + 2 * i, "a ", 2);
    ck_assert_str_eq(split(line), "-");
}
END_TEST

static const char *completed(const char *line)
{
    static char text[SHELL_CHOICE_BYTES];
    struct shell_choices choices;

    shell_completion_find(line, &choices);
    snprintf(text, sizeof(text), "%zu:%.*s", choices.count, (int)shell_completion_common(&choices),
        choices.count > 0 ? choices.words[0] + choices.typed : "");
    return text;
}

START_TEST(completion)
{
    ck_assert_str_eq(completed("trans"), "1:action");
    ck_assert_str_eq(completed("  entity p"), "1:ut");
    ck_assert_str_eq(completed("tx su"), "1:bmit");
    ck_assert_str_eq(completed("query t --sel"), "1:ect");
    ck_assert_str_eq(completed("index report x --"), "0:");
    ck_assert_str_eq(completed("index create x t --same"), "1:-partition");
    ck_assert_str_eq(completed("nothing x"), "0:");
    ck_assert_int_gt(completed("")[0], '1');
    ck_assert_str_eq(completed("dead-letters "), "3:");
}
END_TEST

Suite *test_shell_suite(void)
{
    Suite *suite = suite_create("shell");
    TCase *tc = tcase_create("shell");

    tcase_add_test(tc, words);
    tcase_add_test(tc, too_many_words);
    tcase_add_test(tc, completion);
    suite_add_tcase(suite, tc);
    return suite;
}
