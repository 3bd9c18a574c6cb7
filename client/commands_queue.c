/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_queue.c - queues: their state and their control.
 */
#include "client/command.h"

#include <string.h>

#include "base/digits.h"
#include "client/calls.h"
#include "client/queue_rows.h"

#define LIST_ARGUMENTS ROWS_FORM
#define TARGET "QUEUE|all [reconcile|transaction|copy|visit] " ROWS_FORM
#define SHARDS_ARGUMENTS "NUMBER (1 to 64) " ROWS_FORM
#define RATE_ARGUMENTS "INTENTS_PER_SECOND|0 " TARGET

enum { MAX_SHARDS = 64 };

/* Send the request and print the queues of the reply. */
static int show_queues(const struct client_config *config, const struct arguments *arguments,
    const char *method, struct request *request)
{
    bool shows_version =
        strcmp(arguments->command, "queue list") == 0 || strcmp(arguments->command, "queue reshard") == 0;
    struct tavola_reply *reply;
    struct tavola_record record;
    struct tavola *client;
    struct rows rows;

    if (!rows_open(&rows, arguments, queue_rows_columns)) {
        request_end(request);
        return COMMAND_MISUSED;
    }
    client = calls_open(config);
    reply = calls_ask(client, method, request);
    if (reply) {
        record = tavola_reply_record(reply);
        queue_rows_print(&rows, &record);
        if (shows_version && rows.form == OUTPUT_TABLE)
            printf("map version %lld\n", (long long)tavola_record_integer(&record, "mapVersion"));
    }
    tavola_reply_free(reply);
    return calls_close(client, reply ? COMMAND_OK : COMMAND_FAILED);
}

static int run_queue_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "queue list" };
    struct request request;

    if (!arguments_read(LIST_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("queue list", LIST_ARGUMENTS);
    request_begin(&request);
    return show_queues(config, &arguments, "ListQueues", &request);
}

/* ---- control ---- */

static bool read_kind(const char *text, struct request *request)
{
    static const char *const kinds[][2] = { { "reconcile", "WORK_KIND_RECONCILE" },
        { "transaction", "WORK_KIND_TRANSACTION" }, { "copy", "WORK_KIND_COPY" },
        { "visit", "WORK_KIND_VISIT" } };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(text, kinds[i][0]) != 0)
            continue;
        request_text(request, "kind", kinds[i][1]);
        return true;
    }
    return false;
}

/* From word `first` on: "all" or the name of a queue, then perhaps a kind of work. */
static bool read_target(const struct arguments *arguments, int first, struct request *request)
{
    int count = arguments->count - first;

    if (count < 1 || count > 2)
        return false;
    if (strcmp(arguments->words[first], "all") != 0)
        request_text(request, "queue", arguments->words[first]);
    return count == 1 || read_kind(arguments->words[first + 1], request);
}

struct control {
    const char *words, *usage, *control;
    bool (*read)(const struct arguments *arguments, struct request *request);
};

static int run_control(
    const struct client_config *config, int argc, char **argv, const struct control *control)
{
    struct arguments arguments = { .command = control->words };
    struct request request;

    if (!arguments_read(control->usage, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "control", control->control);
    if (!control->read(&arguments, &request)) {
        request_end(&request);
        return command_misused(control->words, control->usage);
    }
    return show_queues(config, &arguments, "ControlQueue", &request);
}

static bool read_queue(const struct arguments *arguments, struct request *request)
{
    return read_target(arguments, 0, request);
}

static bool read_rate(const struct arguments *arguments, struct request *request)
{
    int64_t rate;

    if (arguments->count == 0 || !digits_parse_signed(str_of(arguments->words[0]), 0, INT64_MAX, &rate))
        return false;
    request_number(request, "rate", rate);
    return read_target(arguments, 1, request);
}

static bool read_shards(const struct arguments *arguments, struct request *request)
{
    uint64_t shards;

    if (arguments->count != 1 || !digits_parse_unsigned(str_of(arguments->words[0]), MAX_SHARDS, &shards))
        return false;
    request_number(request, "shards", (int64_t)shards);
    return shards > 0;
}

static int run_queue_pause(const struct client_config *config, int argc, char **argv)
{
    return run_control(
        config, argc, argv, &(struct control){ "queue pause", TARGET, "QUEUE_CONTROL_PAUSE", read_queue });
}

static int run_queue_resume(const struct client_config *config, int argc, char **argv)
{
    return run_control(
        config, argc, argv, &(struct control){ "queue resume", TARGET, "QUEUE_CONTROL_RESUME", read_queue });
}

static int run_queue_drain(const struct client_config *config, int argc, char **argv)
{
    return run_control(
        config, argc, argv, &(struct control){ "queue drain", TARGET, "QUEUE_CONTROL_DRAIN", read_queue });
}

static int run_queue_rate(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv,
        &(struct control){ "queue limit-rate", RATE_ARGUMENTS, "QUEUE_CONTROL_LIMIT_RATE", read_rate });
}

static int run_queue_shards(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv,
        &(struct control){ "queue reshard", SHARDS_ARGUMENTS, "QUEUE_CONTROL_RESHARD", read_shards });
}

static const struct command commands[] = {
    {
        .words = "queue list",
        .arguments = LIST_ARGUMENTS,
        .help = "list the queues: state, rate limit, open work, its age, its rate",
        .run = run_queue_list,
    },
    {
        .words = "queue pause",
        .arguments = TARGET,
        .help = "start no more work of a queue; new work is still accepted and waits",
        .run = run_queue_pause,
    },
    {
        .words = "queue resume",
        .arguments = TARGET,
        .help = "start the work of a paused queue again",
        .run = run_queue_resume,
    },
    {
        .words = "queue drain",
        .arguments = TARGET,
        .help = "finish the work of a queue that is open now, then pause the queue",
        .run = run_queue_drain,
    },
    {
        .words = "queue limit-rate",
        .arguments = RATE_ARGUMENTS,
        .help = "limit a queue to this number of intents per second; 0: no limit",
        .run = run_queue_rate,
    },
    {
        .words = "queue reshard",
        .arguments = SHARDS_ARGUMENTS,
        .help = "change the number of queues, while servers and workers run",
        .run = run_queue_shards,
    },
};

const struct command_group commands_queue = { "Queues", commands, ARRAY_LEN(commands) };
