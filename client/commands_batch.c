/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_batch.c - writes of one partition that take effect together.
 */
#include <stdlib.h>
#include <string.h>

#include "client/arguments.h"
#include "client/calls.h"
#include "client/command.h"
#include "client/operation_line.h"

#define BATCH_ARGUMENTS "TABLE [FILE | -]"

enum { MAX_WRITES = 100, ETAG_BYTES = 72 };

struct batch_lines {
    struct tavola_batch *batch;
    const char *table;
    int numbers[MAX_WRITES]; /* of the lines, by write */
    size_t count;
};

static enum status add_write(void *context, const struct operation_line *line, int number, struct error *err)
{
    struct batch_lines *lines = context;

    if (operation_line_is_outside(line))
        return error_set(err, STATUS_INVALID, "a batch writes to a table; tavola tx submit has such steps");
    if (line->is_move || (line->table && strcmp(line->table, lines->table) != 0))
        return error_set(
            err, STATUS_INVALID, "a batch writes to one table; tavola tx submit writes to several");
    if (lines->count == MAX_WRITES)
        return error_set(err, STATUS_INVALID, "a batch has at most %d writes", MAX_WRITES);
    lines->numbers[lines->count++] = number;
    tavola_batch_add(lines->batch, line->action, line->entity,
        line->action == TAVOLA_DELETE && !line->if_match ? "*" : line->if_match);
    return STATUS_OK;
}

/* Say which line the service has refused. */
static int report_refusal(const struct batch_lines *lines, const struct tavola_error *error)
{
    const char *position = tavola_error_metadata(error, "operation_index");
    unsigned long write = position ? strtoul(position, NULL, 10) : lines->count;

    (void)calls_failed(error);
    if (sscanf(error->field, "operations[%lu]", &write) != 1 && !position)
        return COMMAND_FAILED;
    if (write < lines->count)
        fprintf(stderr, "tavola batch: line %d was refused; nothing was written\n", lines->numbers[write]);
    return COMMAND_FAILED;
}

/* Prints an ETag for each line; that of a delete is empty. */
static int execute(struct tavola *client, const struct batch_lines *lines)
{
    char etags[MAX_WRITES][ETAG_BYTES];
    struct tavola_error error;

    if (tavola_batch_execute(client, lines->batch, NULL, etags, &error) != TAVOLA_OK)
        return report_refusal(lines, &error);
    for (size_t i = 0; i < lines->count; i++)
        printf("%s\n", etags[i]);
    return COMMAND_OK;
}

static int run_lines(const struct client_config *config, const struct arguments *arguments)
{
    struct batch_lines lines = { .table = arguments->words[0] };
    struct error err = { 0 };
    struct tavola *client;
    int code = COMMAND_FAILED;

    lines.batch = tavola_batch_new(lines.table);
    if (operation_line_read_file(
            arguments->count > 1 ? arguments->words[1] : NULL, add_write, &lines, &err) != STATUS_OK) {
        code = command_failed("batch", &err);
    } else if (lines.count == 0) {
        fprintf(stderr, "tavola batch: there is no line; nothing was sent\n");
        code = COMMAND_MISUSED;
    } else {
        client = calls_open(config);
        if (client)
            code = calls_close(client, execute(client, &lines));
    }
    tavola_batch_free(lines.batch);
    return code;
}

static int run_batch(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "batch" };

    if (!arguments_read(BATCH_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count < 1 || arguments.count > 2)
        return command_misused("batch", BATCH_ARGUMENTS);
    return run_lines(config, &arguments);
}

static void print_forms(FILE *out)
{
    fprintf(out,
        "\n"
        "Each line of FILE, or of standard input, is a write: {\"insert\": ENTITY}, and so replace, merge, "
        "insertOrReplace,\n"
        "insertOrMerge, delete; with \"ifMatch\": ETAG if the stored entity must have that version. 1 to %d "
        "writes in one\n"
        "partition take effect together or not at all. The new ETags are printed, a line for each write.\n",
        MAX_WRITES);
}

static const struct command commands[] = {
    {
        .words = "batch",
        .arguments = BATCH_ARGUMENTS,
        .help = "carry out writes in one partition together, or none of them",
        .examples =
            "printf '%s\\n' '{\"insert\": {\"PartitionKey\": \"sales\", \"RowKey\": \"7\"}}' "
            "'{\"delete\": {\"PartitionKey\": \"sales\", \"RowKey\": \"6\"}}' | tavola batch people\n",
        .print_more = print_forms,
        .run = run_batch,
    },
};

const struct command_group commands_batch = { "Writes together", commands, ARRAY_LEN(commands) };
