/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - see the header.
 */
#include "client/dispatch.h"

#include <errno.h>
#include <string.h>

#include "client/command_table.h"

#define HELP "--help"

enum { MAX_COMMANDS = 128 };

int command_misused(const char *words, const char *arguments)
{
    fprintf(stderr, "usage: tavola %s%s%s\n", words, *arguments ? " " : "", arguments);
    return COMMAND_MISUSED;
}

bool command_arguments(const char *usage, int word_count, int argc, char **argv, struct arguments *out)
{
    if (!arguments_read(usage, argc, argv, out))
        return false;
    if (out->count != word_count)
        (void)command_misused(out->command, usage);
    return out->count == word_count;
}

int command_failed(const char *words, const struct error *err)
{
    fprintf(stderr, "tavola %s: %s\n", words, err->message);
    return err->status == STATUS_INVALID ? COMMAND_MISUSED : COMMAND_FAILED;
}

void dispatch_print_command(const struct command *command, const char *before, FILE *out)
{
    fprintf(out, "  %s%s%s%s\n      %s\n", before, command->words, *command->arguments ? " " : "",
        command->arguments, command->help);
}

static int print_command_help(const struct command *command)
{
    printf("usage: tavola %s%s%s\n\n%s\n", command->words, *command->arguments ? " " : "", command->arguments,
        command->help);
    if (command->print_more)
        command->print_more(stdout);
    if (command->examples)
        printf("\nexamples:\n");
    for (const char *rest = command->examples; rest && *rest;) {
        size_t len = strcspn(rest, "\n");

        printf("  %.*s\n", (int)len, rest);
        rest += len + (rest[len] == '\n');
    }
    return COMMAND_OK;
}

/* The number of arguments that are the words of this command; 0: argv is another command. */
static int match_words(const struct command *command, int argc, char **argv)
{
    size_t first = strcspn(command->words, " ");
    const char *second = command->words[first] ? command->words + first + 1 : NULL;

    const char *given = argc > 0 ? command_table_first_word(argv[0]) : "";

    if (strlen(given) != first || strncmp(given, command->words, first) != 0)
        return 0;
    if (!second)
        return 1;
    return argc >= 2 && strcmp(argv[1], second) == 0 ? 2 : 0;
}

static const struct command *find_command(int argc, char **argv, int *words)
{
    const struct command *command;

    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++) {
        *words = match_words(command, argc, argv);
        if (*words > 0)
            return command;
    }
    return NULL;
}

/* Print the commands of two words that begin with this word. Returns their number. */
static size_t print_unfinished(const char *word, FILE *out)
{
    const struct command *command;
    size_t len, count = 0;

    word = command_table_first_word(word);
    len = strlen(word);
    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++) {
        if (strncmp(command->words, word, len) != 0 || command->words[len] != ' ')
            continue;
        if (count++ == 0)
            fprintf(out, "\"%s\" needs a second word:\n\n", word);
        dispatch_print_command(command, "tavola ", out);
    }
    return count;
}

/* Whether help is asked for, in any place before "--". argv: behind the words of the command. */
static bool asks_help(const struct command *command, int argc, char **argv)
{
    if (arguments_declares(
            command->arguments, HELP)) /* api: alone; behind a method it is the help of the method */
        return argc == 1 && strcmp(argv[0], HELP) == 0;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], HELP) == 0)
            return true;
    return false;
}

static int complain_unknown(int argc, char **argv)
{
    const char *names[MAX_COMMANDS];
    char asked[96];
    const char *nearest;
    size_t count = 0;

    for (; count < MAX_COMMANDS && command_table_at(count); count++)
        names[count] = command_table_at(count)->words;
    if (argc == 1 && print_unfinished(argv[0], stderr) > 0)
        return COMMAND_MISUSED;
    if (argc == 2 && strcmp(argv[1], HELP) == 0 && print_unfinished(argv[0], stdout) > 0)
        return COMMAND_OK;
    snprintf(asked, sizeof(asked), "%s%s%s", argv[0], argc > 1 ? " " : "", argc > 1 ? argv[1] : "");
    nearest = config_nearest(asked, names, count);
    if (!nearest)
        nearest = config_nearest(argv[0], names, count);
    fprintf(stderr, "tavola: there is no command \"%s\"", asked);
    if (nearest)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest);
    else
        fprintf(stderr, "; tavola --help lists them all\n");
    return COMMAND_MISUSED;
}

static bool are_words(int argc, char **argv)
{
    int i = 0;

    while (i < argc && argv[i][0] != '-')
        i++;
    return i == argc;
}

/* "help table create" is "table create --help". */
static int print_help_of(int argc, char **argv)
{
    int words;
    const struct command *command = find_command(argc, argv, &words);

    if (command)
        return print_command_help(command);
    if (argc == 1 && print_unfinished(argv[0], stdout) > 0)
        return COMMAND_OK;
    return complain_unknown(argc, argv);
}

const struct command *dispatch_find(int argc, char **argv, int *words, int *exit_code)
{
    const struct command *command = find_command(argc, argv, words);

    if (!command)
        *exit_code = complain_unknown(argc, argv);
    else if (asks_help(command, argc - *words, argv + *words))
        *exit_code = print_command_help(command);
    else if (strcmp(command->words, "help") == 0 && argc > 1 && are_words(argc - 1, argv + 1))
        *exit_code = print_help_of(argc - 1, argv + 1);
    else
        return command;
    return NULL;
}

int dispatch_check_output(int code)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);

    if (written || code != COMMAND_OK)
        return code;
    fprintf(stderr, "tavola: standard output: %s\n", strerror(errno));
    return COMMAND_FAILED;
}

int dispatch_run(const struct command *command, const struct client_config *config, int argc, char **argv)
{
    return dispatch_check_output(command->run(config, argc, argv));
}
