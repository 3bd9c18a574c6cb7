/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_operation.c - long-running operations, such as builds of indexes: list, show, wait, and their control.
 */
#include "client/command.h"

#include <string.h>

#include "base/digits.h"
#include "client/calls.h"
#include "client/field_lines.h"
#include "client/operation_wait.h"
#include "client/rows.h"

#define LIST_ARGUMENTS ROWS_FORM
#define ID_ARGUMENTS "ID"
#define WAIT_ARGUMENTS "ID [--timeout SECONDS]"
#define THROTTLE_ARGUMENTS "ID ROWS_PER_SECOND"

enum { MAX_WAIT_S = 86400 };

/* ---- list ---- */

/* The number of rows to do; 0: it is not known. */
static void write_total(const struct tavola_record *operation, bool human, struct buf *out)
{
    int64_t total = tavola_record_integer(operation, "total");

    if (human && total == 0)
        buf_append_byte(out, '-');
    else
        buf_format(out, "%lld", (long long)total);
}

static const struct rows_column columns[] = {
    { "operation", "operation_id", CELL_TEXT, false, NULL, NULL },
    { "kind", "kind", CELL_TEXT, false, NULL, NULL },
    { "target", "target", CELL_TEXT, false, NULL, NULL },
    { "state", "state", CELL_TEXT, false, NULL, NULL },
    { "done", "done", CELL_NUMBER, false, NULL, NULL },
    { "total", NULL, CELL_NUMBER, false, "total", write_total },
    { "started", "started", CELL_TIME, false, NULL, NULL },
    { "ended", "ended", CELL_TIME, false, NULL, NULL },
    { "reason", "error.reason", CELL_DASH, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

static void add_operation(void *context, const struct tavola_record *operation)
{
    struct rows *rows = context;

    rows_add(rows, operation);
    rows_note(rows, "", "error.message", operation);
}

static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "operation list" };
    struct rows rows;
    const struct calls_list list = { "ListOperations", "operations", add_operation, &rows };
    struct tavola *client;

    if (!command_arguments(LIST_ARGUMENTS, 0, argc, argv, &arguments) ||
        !rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client || !calls_each(client, &list, NULL))
        return calls_close(client, COMMAND_FAILED);
    rows_close(&rows);
    return calls_close(client, COMMAND_OK);
}

/* ---- show ---- */

static void print_operation(const struct tavola_record *reply)
{
    static const struct field_line first[] = { { "operation", "operation.operationId" },
        { "kind", "operation.kind" }, { "target", "operation.target" }, { "state", "operation.state" },
        { "done", "operation.done" } };
    static const struct field_line last[] = { { "started", "operation.started" },
        { "ended", "operation.ended" }, { "reason", "operation.error.reason" },
        { "message", "operation.error.message" } };

    field_lines_print(reply, first, ARRAY_LEN(first));
    if (tavola_record_integer(reply, "operation.total") > 0)
        field_lines_print_one(reply, "total", "operation.total");
    field_lines_print(reply, last, ARRAY_LEN(last));
}

static void begin_request(struct request *request, const char *operation_id)
{
    request_begin(request);
    request_text(request, "operationId", operation_id);
}

static int run_show(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "operation show" };
    struct request request;

    if (!command_arguments(ID_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    begin_request(&request, arguments.words[0]);
    return calls_show(config, "GetOperation", &request, print_operation);
}

/* ---- wait ---- */

/* COMMAND_FAILED unless the operation is done. seconds 0: no bound. */
static int wait_and_print(struct tavola *client, const char *id, int64_t seconds)
{
    struct tavola_record record;
    struct tavola_reply *reply;
    struct request request;
    bool is_done;
    char *state;

    begin_request(&request, id);
    reply = operation_wait(client, calls_ask(client, "GetOperation", &request), seconds);
    if (!reply)
        return COMMAND_FAILED;
    record = tavola_reply_record(reply);
    print_operation(&record);
    state = tavola_record_text(&record, "operation.state");
    if (!operation_wait_has_ended(&record))
        fprintf(stderr, "tavola operation wait: %s has not ended in time: it is %s\n", id, state);
    is_done = strcmp(state, "DONE") == 0;
    tavola_free(state);
    tavola_reply_free(reply);
    return is_done ? COMMAND_OK : COMMAND_FAILED;
}

static int run_wait(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "operation wait" };
    struct tavola *client;
    int64_t seconds = 0;

    if (!command_arguments(WAIT_ARGUMENTS, 1, argc, argv, &arguments) ||
        !arguments_number(&arguments, "--timeout", MAX_WAIT_S, &seconds))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, wait_and_print(client, arguments.words[0], seconds));
}

/* ---- control ---- */

static int run_control(
    const struct client_config *config, int argc, char **argv, const char *words, const char *control)
{
    struct arguments arguments = { .command = words };
    struct request request;

    if (!command_arguments(ID_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    begin_request(&request, arguments.words[0]);
    request_text(&request, "control", control);
    return calls_show(config, "ControlOperation", &request, print_operation);
}

static int run_pause(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv, "operation pause", "OPERATION_CONTROL_PAUSE");
}

static int run_resume(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv, "operation resume", "OPERATION_CONTROL_RESUME");
}

static int run_cancel(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv, "operation cancel", "OPERATION_CONTROL_CANCEL");
}

static int run_throttle(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "operation throttle" };
    struct request request;
    int64_t rate;

    if (!command_arguments(THROTTLE_ARGUMENTS, 2, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (!digits_parse_signed(str_of(arguments.words[1]), 0, INT64_MAX, &rate)) {
        fprintf(stderr,
            "tavola operation throttle: ROWS_PER_SECOND is a number, 0 for no limit, not \"%s\"\n",
            arguments.words[1]);
        return COMMAND_MISUSED;
    }
    begin_request(&request, arguments.words[0]);
    request_text(&request, "control", "OPERATION_CONTROL_THROTTLE");
    request_number(&request, "rowsPerSecond", rate);
    return calls_show(config, "ControlOperation", &request, print_operation);
}

static const struct command commands[] = {
    {
        .words = "operation list",
        .arguments = LIST_ARGUMENTS,
        .help = "list the long-running operations that are still kept: builds, drops, verifications and "
                "repairs of indexes, purges of tables, deletions of ranges, moves of chunks",
        .examples = "tavola operation list\n"
                    "tavola operation list -o csv\n",
        .run = run_list,
    },
    {
        .words = "operation show",
        .arguments = ID_ARGUMENTS,
        .help = "print an operation: its state, how far it is, and why it failed",
        .run = run_show,
    },
    {
        .words = "operation wait",
        .arguments = WAIT_ARGUMENTS,
        .help = "wait until an operation has ended, or for this time, and print it; exit code 1 unless it is "
                "DONE",
        .examples = "tavola operation wait build-17\n"
                    "tavola operation wait build-17 --timeout 60\n",
        .run = run_wait,
    },
    {
        .words = "operation pause",
        .arguments = ID_ARGUMENTS,
        .help = "stop the work of an operation until it is resumed",
        .run = run_pause,
    },
    {
        .words = "operation resume",
        .arguments = ID_ARGUMENTS,
        .help = "continue the work of a paused operation",
        .run = run_resume,
    },
    {
        .words = "operation cancel",
        .arguments = ID_ARGUMENTS,
        .help =
            "end an operation; what it has done stays done. A build ends with tavola index drop, and a purge "
            "cannot be cancelled",
        .run = run_cancel,
    },
    {
        .words = "operation throttle",
        .arguments = THROTTLE_ARGUMENTS,
        .help = "slow an operation down to this number of rows per second (of a move: chunks); 0: no limit",
        .examples = "tavola operation throttle build-17 500\n",
        .run = run_throttle,
    },
};

const struct command_group commands_operation = { "Long-running operations", commands, ARRAY_LEN(commands) };
