/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - `tavola`: finds the command in the table of commands and runs it.
 */
#include <stdlib.h>
#include <string.h>

#include "client/command_table.h"
#include "client/dispatch.h"
#include "client/profile.h"

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
            dispatch_print_command(&groups[i]->commands[j], "", stdout);
    }
    printf("\nOptions, in place of settings:\n\n");
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        printf("  %s %s\n      %s\n", options[i].name, options[i].value, options[i].setting);
    printf("\n");
    config_print_settings_help(&client_program);
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
        return dispatch_check_output(argc < 2 ? COMMAND_MISUSED : COMMAND_OK);
    }
    if (argv[1][0] == '-')
        return config_start(&client_program, argc, argv, &config, &exit_code) ? COMMAND_OK : exit_code;
    command = dispatch_find(argc - 1, argv + 1, &words, &exit_code);
    if (!command)
        return dispatch_check_output(exit_code);
    if (!config_start(&client_program, 1, argv, &config, &exit_code))
        return exit_code;
    return dispatch_run(command, &config, argc - 1 - words, argv + 1 + words);
}
