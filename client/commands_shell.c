/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_shell.c - `tavola shell`: commands one after the other over one connection.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/calls.h"
#include "client/command.h"
#include "client/command_table.h"
#include "client/dispatch.h"
#include "client/interrupt.h"
#include "client/shell/shell_line.h"
#include "client/shell/shell_words.h"

/* What a line has led to. */
struct shell {
    const struct client_config *config;
    int code; /* of the last command */
    bool has_ended;
};

static int print_commands(void)
{
    const struct command *command;

    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++)
        printf("  %s%s%s\n", command->words, *command->arguments ? " " : "", command->arguments);
    printf("  COMMAND --help\n  exit\n");
    return COMMAND_OK;
}

static int run_words(const struct client_config *config, int argc, char **argv)
{
    const struct command *command;
    int words, code;

    if (strcmp(argv[0], "tavola") == 0 && argc > 1) { /* as copied from a page */
        argc--;
        argv++;
    }
    if (strcmp(argv[0], "help") == 0 && argc == 1)
        return print_commands();
    if (strcmp(argv[0], "shell") == 0) {
        fprintf(stderr, "tavola shell: this is a shell\n");
        return COMMAND_MISUSED;
    }
    command = dispatch_find(argc, argv, &words, &code);
    return command ? dispatch_run(command, config, argc - words, argv + words) : code;
}

static bool is_exit(const char *word)
{
    return strcmp(word, "exit") == 0 || strcmp(word, "quit") == 0;
}

static void run_line(struct shell *shell, const char *line)
{
    char *words[SHELL_MAX_WORDS + 1];
    struct arena arena;
    int count;

    arena_init(&arena);
    count = shell_words_split(line, &arena, words);
    if (count < 0) {
        fprintf(stderr, "tavola shell: a quote or bracket is not closed, or there are more than %d words\n",
            SHELL_MAX_WORDS);
        shell->code = COMMAND_MISUSED;
    } else if (count > 0 && is_exit(words[0])) {
        shell->has_ended = true;
    } else if (count > 0) {
        interrupt_catch();
        shell->code = run_words(shell->config, count, words);
        (void)fflush(stdout);
        clearerr(stdout);
    }
    arena_cleanup(&arena);
}

/* A person sees what failed and goes on. */
static int converse(struct shell *shell)
{
    struct shell_line *line = shell_line_open();
    const char *text;

    if (!line) {
        fprintf(stderr, "tavola shell: the terminal cannot be used\n");
        return COMMAND_FAILED;
    }
    while (!shell->has_ended && (text = shell_line_read(line)) != NULL)
        run_line(shell, text);
    if (!shell->has_ended)
        printf("\n");
    shell_line_close(line);
    return COMMAND_OK;
}

/* A script ends with the first command that fails. */
static int run_script(struct shell *shell)
{
    size_t capacity = 0;
    char *line = NULL;

    while (!shell->has_ended && shell->code == COMMAND_OK && getline(&line, &capacity, stdin) > 0)
        run_line(shell, line);
    free(line);
    return shell->code;
}

static int run_shell(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "shell" };
    struct shell shell = { .config = config };
    int code;

    if (!command_arguments("", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    interrupt_catch();
    calls_keep();
    code = isatty(STDIN_FILENO) ? converse(&shell) : run_script(&shell);
    calls_forget();
    return code;
}

static void print_more(FILE *out)
{
    fputs(
        "\nCommands without the word tavola, over one connection, with history, editing and completion by "
        "the "
        "tabulator; help\nlists them. JSON needs no quotes. exit, or Ctrl-D, ends. From a file or pipe: one "
        "command on each line, until one\nfails, whose exit code is that of the shell.\n",
        out);
}

static const struct command commands[] = {
    {
        .words = "shell",
        .arguments = "",
        .help = "commands one after the other over one connection",
        .examples = "tavola shell\n"
                    "tavola --profile production shell < commands.txt\n",
        .print_more = print_more,
        .run = run_shell,
    },
};

const struct command_group commands_shell = { "Interactive", commands, ARRAY_LEN(commands) };
