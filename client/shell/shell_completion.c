/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_completion.c - see the header.
 */
#include "client/shell/shell_completion.h"

#include <stdio.h>
#include <string.h>

#include "client/arguments.h"
#include "client/command_table.h"

static void add_choice(struct shell_choices *out, struct str word, struct str typed)
{
    if (!str_starts_with(word, typed) || word.len >= SHELL_CHOICE_BYTES || out->count == SHELL_MAX_CHOICES)
        return;
    for (size_t i = 0; i < out->count; i++)
        if (str_equal(str_of(out->words[i]), word))
            return;
    snprintf(out->words[out->count++], SHELL_CHOICE_BYTES, "%.*s", STR_ARG(word));
}

static void add_first_words(struct str typed, struct shell_choices *out)
{
    const struct command *command;

    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++)
        add_choice(out, str_of_bytes(command->words, strcspn(command->words, " ")), typed);
    add_choice(out, STR_LITERAL("exit"), typed);
    add_choice(out, STR_LITERAL("help"), typed);
}

/* The first word of a line in full: "transaction" for "tx". */
static struct str first_word(struct str line)
{
    char word[SHELL_CHOICE_BYTES];
    struct str given = str_take(&line, ' ');

    snprintf(word, sizeof(word), "%.*s", STR_ARG(given));
    return command_table_first_word(word) == word ? given : str_of(command_table_first_word(word));
}

/*
 * What follows the first word of a line: second words of commands, and options of the command that the line
 * names.
 */
static void add_further_words(struct str line, struct str typed, struct shell_choices *out)
{
    const struct command *command;
    struct str first = first_word(line), rest = line, second;
    bool is_second;

    (void)str_take(&rest, ' ');
    rest = str_trim(rest, " ");
    is_second = rest.len == 0 || (rest.len == typed.len && rest.data == typed.data);
    second = str_take(&rest, ' ');
    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++) {
        struct str words = str_of(command->words), options = str_of(command->arguments), name;
        bool has_value;

        if (!str_equal(str_take(&words, ' '), first))
            continue;
        if (words.len > 0 && is_second)
            add_choice(out, words, typed);
        if (words.len > 0 && !str_equal(words, second))
            continue;
        while (typed.len > 0 && arguments_next_option(&options, &name, &has_value))
            add_choice(out, name, typed);
    }
}

void shell_completion_find(const char *line, struct shell_choices *out)
{
    struct str text = str_of(line), typed;

    while (text.len > 0 && text.data[0] == ' ')
        text = str_from(text, 1);
    typed = str_behind_last(text, ' ');
    *out = (struct shell_choices){ .typed = typed.len };
    if (typed.len == text.len)
        add_first_words(typed, out);
    else
        add_further_words(text, typed, out);
}

size_t shell_completion_common(const struct shell_choices *choices)
{
    size_t len = choices->count > 0 ? strlen(choices->words[0]) : choices->typed;

    for (size_t i = 1; i < choices->count; i++) {
        size_t same = 0;

        while (same < len && choices->words[i][same] == choices->words[0][same])
            same++;
        len = same;
    }
    return len > choices->typed ? len - choices->typed : 0;
}
