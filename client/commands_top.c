/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_top.c - `tavola top`, which shows everything that is behind.
 */
#include "client/command.h"

#include <unistd.h>

#include "base/clock.h"
#include "client/arguments.h"
#include "client/calls.h"
#include "client/interrupt.h"
#include "client/top/top_page.h"
#include "client/top/top_screen.h"

#define TOP_ARGUMENTS "[--once]"

enum { TOP_EVERY_US = 2000000 };

/* The pages follow each other until a call fails or the output is closed. */
static bool print_pages(struct tavola *client)
{
    while (top_page_print(client) && fflush(stdout) == 0) {
        printf("\n");
        clock_sleep(TOP_EVERY_US);
    }
    return false;
}

static int run_top(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "top" };
    struct tavola *client;
    bool shown, on_screen;

    if (!arguments_read(TOP_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("top", TOP_ARGUMENTS);
    on_screen = !arguments_value(&arguments, "--once") && top_screen_is_possible();
    if (on_screen)
        interrupt_catch();
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    if (arguments_value(&arguments, "--once"))
        shown = top_page_print(client);
    else
        shown = (on_screen && top_screen_run(client, config->target)) || print_pages(client);
    return calls_close(client, shown ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "top",
        .arguments = TOP_ARGUMENTS,
        .help = "watch the service: rates and durations of methods, the slowest calls, queues, indexes, hot "
                "partitions, workers, operations, dead "
                "letters; h lists the keys; --once, or without a terminal: plain pages",
        .run = run_top,
    },
};

const struct command_group commands_top = { "Watching the service", commands, ARRAY_LEN(commands) };
