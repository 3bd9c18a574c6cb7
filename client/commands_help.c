/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_help.c - shell completion and the man page, made from the table of commands.
 */
#include <string.h>

#include "client/arguments.h"
#include "client/command_table.h"

#define COMPLETION_ARGUMENTS "bash | zsh | fish"
#define HELP_ARGUMENTS "[COMMAND... | --man]"

/* ---- words ---- */

/* Whether an earlier command begins with the same word. */
static bool is_repeated(size_t position, size_t len)
{
    const char *words = command_table_at(position)->words;

    for (size_t i = 0; i < position; i++) {
        const char *other = command_table_at(i)->words;

        if (strncmp(other, words, len) == 0 && (other[len] == ' ' || other[len] == '\0'))
            return true;
    }
    return false;
}

static void print_options(const struct command *command, const char *between)
{
    struct str rest = str_of(command->arguments), name;
    bool has_value;

    while (arguments_next_option(&rest, &name, &has_value))
        printf("%.*s%s", STR_ARG(name), between);
    printf("--help");
}

/* ---- bash and zsh ---- */

/* Print the second words that can follow a first word. */
static void print_second_words(size_t position, size_t len)
{
    const char *first = command_table_at(position)->words;
    const struct command *command;

    printf("    \"%.*s\") words=\"", (int)len, first);
    for (size_t i = position; (command = command_table_at(i)) != NULL; i++)
        if (strncmp(command->words, first, len) == 0 && command->words[len] == ' ')
            printf("%s ", command->words + len + 1);
    printf("\" ;;\n");
}

/* Print the lines that put the first word of a command in place of an alias. */
static void print_bash_aliases(void)
{
    const char *alias, *stands_for;

    printf("    case \"$line\" in\n");
    for (size_t i = 0; (alias = command_table_alias(i, &stands_for)) != NULL; i++)
        printf("    %s | \"%s \"*) line=\"%s${line#%s}\" ;;\n", alias, alias, stands_for, alias);
    printf("    esac\n");
}

static void print_bash_first_words(void)
{
    const struct command *command;

    printf("    case \"$line\" in\n    \"\") words=\"");
    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++) {
        size_t len = strcspn(command->words, " ");

        if (!is_repeated(i, len))
            printf("%.*s ", (int)len, command->words);
    }
    printf("--help --version --profile --target\" ;;\n");
}

/* An alias is offered only if nothing else begins with the word: the list of all commands stays short. */
static void print_bash_last_resort(void)
{
    const char *alias, *stands_for;

    printf("    [ -n \"$line\" ] || [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; (alias = command_table_alias(i, &stands_for)) != NULL; i++)
        printf("%s ", alias);
    printf("\" -- \"$cur\"))\n");
}

static void print_bash(void)
{
    const struct command *command;

    printf("_tavola() {\n    local words=\"\" cur=\"${COMP_WORDS[COMP_CWORD]}\" "
           "line=\"${COMP_WORDS[*]:1:$((COMP_CWORD-1))}\"\n");
    print_bash_aliases();
    print_bash_first_words();
    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++) {
        size_t len = strcspn(command->words, " ");

        if (command->words[len] == ' ' && !is_repeated(i, len))
            print_second_words(i, len);
    }
    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++) {
        printf("    \"%s\" | \"%s \"*) words=\"", command->words, command->words);
        print_options(command, " ");
        printf("\" ;;\n");
    }
    printf("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n");
    print_bash_last_resort();
    printf("}\ncomplete -o default -F _tavola tavola\n");
}

static void print_zsh(void)
{
    printf("autoload -Uz bashcompinit && bashcompinit\n");
    print_bash();
}

/* ---- fish ---- */

/* Print the text in single quotes. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    putchar('\'');
}

/* Print the condition that the line has this first word, or an alias of it. */
static void print_fish_condition(const char *words, size_t len)
{
    const char *alias, *stands_for;

    printf("complete -c tavola -n '__fish_seen_subcommand_from %.*s", (int)len, words);
    for (size_t i = 0; (alias = command_table_alias(i, &stands_for)) != NULL; i++)
        if (strlen(stands_for) == len && strncmp(stands_for, words, len) == 0)
            printf(" %s", alias);
    printf("'");
}

static void print_fish_command(const struct command *command, size_t position)
{
    size_t len = strcspn(command->words, " ");
    struct str rest = str_of(command->arguments), name;
    bool has_value;

    if (!is_repeated(position, len)) {
        printf("complete -c tavola -n __fish_use_subcommand -a %.*s -d ", (int)len, command->words);
        print_quoted(command->help);
        putchar('\n');
    }
    if (command->words[len]) {
        print_fish_condition(command->words, len);
        printf(" -a %s -d ", command->words + len + 1);
        print_quoted(command->help);
        putchar('\n');
    }
    while (arguments_next_option(&rest, &name, &has_value))
        if (name.len > 2) {
            print_fish_condition(command->words, len);
            printf(" -l %.*s%s\n", STR_ARG(str_from(name, 2)), has_value ? " -r" : "");
        }
}

static void print_fish(void)
{
    const struct command *command;

    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++)
        print_fish_command(command, i);
}

static int run_completion(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "completion" };
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = { { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };

    (void)config;
    if (!command_arguments(COMPLETION_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(arguments.words[0], shells[i].shell) == 0) {
            shells[i].print();
            return COMMAND_OK;
        }
    return command_misused("completion", COMPLETION_ARGUMENTS);
}

/* ---- man ---- */

/* Print text for roff: a backslash is written before a backslash or dash, and no line begins with a dot. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text; text++)
        if (*text == '\\')
            printf("\\e");
        else if (*text == '-')
            printf("\\-");
        else
            putchar(*text);
}

static void print_man_command(const struct command *command)
{
    printf(".TP\n.B ");
    print_roff(command->words);
    if (*command->arguments) {
        putchar(' ');
        print_roff(command->arguments);
    }
    putchar('\n');
    print_roff(command->help);
    putchar('\n');
    for (const char *rest = command->examples; rest && *rest;) {
        char line[256];
        size_t len = strcspn(rest, "\n");

        snprintf(line, sizeof(line), "%.*s", (int)len, rest);
        printf(".br\n.I ");
        print_roff(line);
        putchar('\n');
        rest += len + (rest[len] == '\n');
    }
}

static int run_help(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "help" };
    const struct command_group *const *groups;
    size_t count;

    (void)config;
    if (!command_arguments(HELP_ARGUMENTS, 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (!arguments_value(&arguments, "--man"))
        return command_misused("help", HELP_ARGUMENTS);
    printf(".TH TAVOLA 1 \"\" \"tavola %s\"\n.SH NAME\ntavola \\- the command line of the table service\n.SH "
           "SYNOPSIS\n.B tavola\n[OPTION VALUE]... COMMAND [ARGUMENT...]\n",
        TAVOLA_VERSION);
    groups = command_table_groups(&count);
    for (size_t i = 0; i < count; i++) {
        printf(".SH \"%s\"\n", groups[i]->title);
        for (size_t k = 0; k < groups[i]->count; k++)
            print_man_command(&groups[i]->commands[k]);
    }
    printf(
        ".SH \"EXIT STATUS\"\n0: done; 1: failed; 2: used wrongly; 3: some of what was given was refused; "
        "130: "
        "interrupted.\n.SH FILES\n.I ~/.config/tavola/config\nhas profiles: see docs/command\\-line.md.\n");
    return COMMAND_OK;
}

static const struct command commands[] = {
    {
        .words = "completion",
        .arguments = COMPLETION_ARGUMENTS,
        .help = "print a script that completes commands and options in a shell",
        .examples = "source <(tavola completion bash)\n"
                    "tavola completion fish > ~/.config/fish/completions/tavola.fish\n",
        .run = run_completion,
    },
    {
        .words = "help",
        .arguments = HELP_ARGUMENTS,
        .help = "print the list of commands, the help of one, or the man page",
        .examples = "tavola help index create\n"
                    "tavola help --man | man -l -\n",
        .run = run_help,
    },
};

const struct command_group commands_help = { "Help", commands, ARRAY_LEN(commands) };
