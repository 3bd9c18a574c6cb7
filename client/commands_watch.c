/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_watch.c - prints the changes of a table as they come.
 */
#include <errno.h>
#include <string.h>

#include "client/arguments.h"
#include "client/calls.h"
#include "client/command.h"
#include "client/interrupt.h"

#define WATCH_ARGUMENTS "TABLE [--filter TEXT] [--token TOKEN] [--tokens]"

enum { TOKEN_BYTES = 4096 };

static void stop_watch(void *watch)
{
    tavola_watch_stop(watch);
}

static void print_change(const struct tavola_change *change)
{
    struct tavola_key key = tavola_entity_key(change->entity);
    const char *what = change->inserted ? "inserted" : change->deleted ? "deleted" : "updated";

    printf("%-8s\t%s\t%s\t%s\n", what, key.partition, key.row, tavola_entity_etag(change->entity));
}

/* Print the token if it has changed: it stands behind all changes of a message. */
static void print_token(const char *token, char last[TOKEN_BYTES + 1], bool shows)
{
    if (strcmp(token, last) == 0 && *token)
        return;
    snprintf(last, TOKEN_BYTES + 1, "%s", token);
    if (shows && *token)
        printf("token\t%s\n", token);
}

/* Print changes until the watch ends. The end is a failure unless the user has interrupted the command. */
static int follow(struct tavola_watch *watch, bool shows_tokens)
{
    struct tavola_change change;
    struct tavola_error error;
    char last[TOKEN_BYTES + 1] = "";

    while (tavola_watch_next(watch, &change, &error)) {
        if (change.entity)
            print_change(&change);
        print_token(tavola_watch_token(watch), last, shows_tokens);
        if (fflush(stdout) != 0) {
            fprintf(stderr, "tavola: standard output: %s\n", strerror(errno));
            return COMMAND_FAILED;
        }
    }
    if (!interrupt_came())
        (void)calls_failed(&error);
    if (*last)
        fprintf(stderr, "tavola: to go on from here: --token %s\n", last);
    return interrupt_came() ? INTERRUPT_EXIT : COMMAND_FAILED;
}

static int run_watch(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "watch" };
    struct tavola_watch *watch;
    struct tavola *client;
    int code;

    if (!arguments_read(WATCH_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 1)
        return command_misused("watch", WATCH_ARGUMENTS);
    interrupt_catch();
    interrupt_on_closed_output();
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    watch = tavola_watch(client, &(struct tavola_watch_options){ .table = arguments.words[0],
                                     .filter = arguments_value(&arguments, "--filter"),
                                     .token = arguments_value(&arguments, "--token"),
                                     .bookmarks = true });
    interrupt_run(stop_watch, watch);
    code = follow(watch, arguments_value(&arguments, "--tokens") != NULL);
    interrupt_run(NULL, NULL);
    tavola_watch_free(watch);
    return calls_close(client, code);
}

static const struct command commands[] = {
    {
        .words = "watch",
        .arguments = WATCH_ARGUMENTS,
        .help = "print the changes of a table's entities, from now on or from a token, until Ctrl-C; a "
                "connection "
                "that breaks off is made again",
        .examples = "tavola watch people\n"
                    "tavola watch people --filter \"PartitionKey eq 'sales'\" --tokens\n",
        .run = run_watch,
    },
};

const struct command_group commands_watch = { "Changes", commands, ARRAY_LEN(commands) };
