/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - `tavola`: finds the command in the table of commands and runs it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/command_table.h"
#include "client/profile.h"

enum { MAX_COMMANDS = 128 };

int command_misused(const char *words, const char *arguments)
{
    fprintf(stderr, "usage: tavola %s%s%s\n", words, *arguments ? " " : "", arguments);
    return COMMAND_MISUSED;
}

int command_failed(const char *words, const struct error *err)
{
    fprintf(stderr, "tavola %s: %s\n", words, err->message);
    return err->status == STATUS_INVALID ? COMMAND_MISUSED : COMMAND_FAILED;
}

/* Options in front of the command. Each is another name of a setting. */
static const struct option {
    const char *name;
    const char *setting;
    const char *value;
} options[] = {
    { "--target", "TAVOLA_TARGET", "ADDRESS" },
    { "--ca", "TAVOLA_CA", "FILE" },
    { "--cert", "TAVOLA_CLIENT_CERT", "FILE" },
    { "--key", "TAVOLA_CLIENT_KEY", "FILE" },
    { "--token-file", "TAVOLA_TOKEN_FILE", "FILE" },
    { "--profile", PROFILE_OPTION, "NAME" },
};

static void print_command(const struct command *command, const char *before, FILE *out)
{
    fprintf(out, "  %s%s%s%s\n      %s\n", before, command->words, *command->arguments ? " " : "",
        command->arguments, command->help);
}

static void print_help(void)
{
    const struct command_group *const *groups;
    size_t count;

    printf(
        "tavola - %s\n\nusage: tavola [OPTION VALUE]... COMMAND [ARGUMENT...]\n       tavola COMMAND --help\n"
        "       tavola --help | --version | --print-config | --print-settings\n",
        client_program.summary);
    groups = command_table_groups(&count);
    for (size_t i = 0; i < count; i++) {
        printf("\n%s:\n\n", groups[i]->title);
        for (size_t j = 0; j < groups[i]->count; j++)
            print_command(&groups[i]->commands[j], "", stdout);
    }
    printf("\nOptions, in place of settings:\n\n");
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        printf("  %s %s\n      %s\n", options[i].name, options[i].value, options[i].setting);
    printf("\n");
    config_print_settings_help(&client_program);
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
        print_command(command, "tavola ", out);
    }
    return count;
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
    if (argc == 2 && strcmp(argv[1], "--help") == 0 && print_unfinished(argv[0], stdout) > 0)
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

/* Find the option of "--name" or "--name=...". *value: the text behind the =, or NULL. */
static const struct option *find_option(const char *argument, const char **value)
{
    size_t len = strcspn(argument, "=");

    *value = argument[len] ? argument + len + 1 : NULL;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (strlen(options[i].name) == len && strncmp(options[i].name, argument, len) == 0)
            return &options[i];
    return NULL;
}

static void complain_option(const char *argument)
{
    const char *names[ARRAY_LEN(options)];
    const char *nearest;

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        names[i] = options[i].name;
    nearest = config_nearest(argument, names, ARRAY_LEN(options));
    fprintf(stderr, "tavola: there is no option \"%s\"; ", argument);
    fprintf(stderr, nearest ? "did you mean \"%s\"?\n" : "tavola --help lists them all\n", nearest);
}

/* Whether the option stands alone, without a command. */
static bool stands_alone(const char *argument)
{
    static const char *const alone[] = { "--help", "--version", "--print-config", "--print-settings" };

    for (size_t i = 0; i < ARRAY_LEN(alone); i++)
        if (strcmp(argument, alone[i]) == 0)
            return true;
    return false;
}

/*
 * Read the options in front of the command; they override the environment. Returns the number of arguments
 * that were read; -1: an option is wrong.
 */
static int take_options(int argc, char **argv)
{
    const char *profile = NULL;
    int taken = 0;

    while (taken < argc && argv[taken][0] == '-' && !stands_alone(argv[taken])) {
        const char *value;
        const struct option *option = find_option(argv[taken], &value);

        if (!option) {
            complain_option(argv[taken]);
            return -1;
        }
        taken++;
        if (!value)
            value = argv[taken++];
        if (!value) {
            fprintf(stderr, "tavola: %s needs a value: %s\n", option->name, option->value);
            return -1;
        }
        if (strcmp(option->setting, PROFILE_OPTION) == 0)
            profile = value;
        else
            setenv(option->setting, value, 1);
    }
    return profile_apply(profile) ? taken : -1;
}

/* If standard output could not be written, such as on a full disk, the command has failed. */
static int check_output(int code)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);

    if (written || code != COMMAND_OK)
        return code;
    fprintf(stderr, "tavola: standard output: %s\n", strerror(errno));
    return COMMAND_FAILED;
}

int main(int argc, char **argv)
{
    struct client_config config;
    const struct command *command;
    int exit_code;
    int words;
    int taken = take_options(argc - 1, argv + 1);

    if (taken < 0)
        return COMMAND_MISUSED;
    argv += taken;
    argc -= taken;
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help();
        return argc < 2 ? COMMAND_MISUSED : COMMAND_OK;
    }
    if (argv[1][0] == '-')
        return config_start(&client_program, argc, argv, &config, &exit_code) ? COMMAND_OK : exit_code;
    command = find_command(argc - 1, argv + 1, &words);
    if (!command)
        return complain_unknown(argc - 1, argv + 1);
    if (argc == 2 + words && strcmp(argv[1 + words], "--help") == 0)
        return print_command_help(command);
    if (!config_start(&client_program, 1, argv, &config, &exit_code))
        return exit_code;
    return check_output(command->run(&config, argc - 1 - words, argv + 1 + words));
}
