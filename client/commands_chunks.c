/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_chunks.c - the stores of chunks of blobs, for operators: what each has, and moving all chunks into one.
 */
#include <stdio.h>
#include <string.h>

#include "client/arguments.h"
#include "client/calls.h"
#include "client/command.h"
#include "client/operation_wait.h"
#include "client/rows.h"

#define MOVE_ARGUMENTS "postgresql|directory|s3 [--wait]"

/* ---- stores ---- */

static void write_puts(const struct tavola_record *record, bool human, struct buf *out)
{
    (void)human;
    buf_append(out, str_of(tavola_record_integer(record, "takesPuts")      ? "yes"
                           : tavola_record_integer(record, "isConfigured") ? "no"
                                                                           : "not configured"));
}

static const struct rows_column columns[] = {
    { "store", "store", CELL_LOWER, false, NULL, NULL },
    { "puts", NULL, CELL_TEXT, false, "puts", write_puts },
    { "chunks", "chunks", CELL_NUMBER, false, NULL, NULL },
    { "bytes", "bytes", CELL_NUMBER, false, NULL, NULL },
    { "strays", "strays", CELL_NUMBER, false, NULL, NULL },
    { "bytes", "strayBytes", CELL_NUMBER, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

static int run_stores(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob stores" };
    struct rows rows;

    if (!arguments_read(ROWS_FORM, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("blob stores", ROWS_FORM);
    if (!rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    return calls_print_list(config, "ListChunkStores", "stores", &rows, NULL);
}

/* ---- move-chunks ---- */

/* Print the operation. COMMAND_FAILED if it has ended otherwise than DONE. */
static int show_operation(const struct tavola_record *reply)
{
    char *id = tavola_record_text(reply, "operation.operationId");
    char *state = tavola_record_text(reply, "operation.state");
    char *why = tavola_record_text(reply, "operation.error.message");
    bool is_well = strcmp(state, "DONE") == 0 || !operation_wait_has_ended(reply);

    printf("%s %s, %lld of %lld chunks\n", id, state,
        (long long)tavola_record_integer(reply, "operation.done"),
        (long long)tavola_record_integer(reply, "operation.total"));
    if (why[0])
        fprintf(stderr, "tavola blob move-chunks: %s\n", why);
    tavola_free(id);
    tavola_free(state);
    tavola_free(why);
    return is_well ? COMMAND_OK : COMMAND_FAILED;
}

static bool read_store(const char *text, struct request *request)
{
    static const struct {
        const char *text, *store;
    } stores[] = { { "postgresql", "CHUNK_STORE_POSTGRESQL" }, { "directory", "CHUNK_STORE_DIRECTORY" },
        { "s3", "CHUNK_STORE_S3" } };

    for (size_t i = 0; i < ARRAY_LEN(stores); i++)
        if (strcmp(text, stores[i].text) == 0) {
            request_text(request, "store", stores[i].store);
            return true;
        }
    return false;
}

static int run_move(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob move-chunks" };
    struct tavola_reply *reply;
    struct tavola_record record;
    struct request request;
    struct tavola *client;
    int code = COMMAND_FAILED;

    if (!arguments_read(MOVE_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    if (arguments.count != 1 || !read_store(arguments.words[0], &request)) {
        request_end(&request);
        return command_misused("blob move-chunks", MOVE_ARGUMENTS);
    }
    client = calls_open(config);
    reply = calls_ask(client, "MoveChunks", &request);
    if (arguments_value(&arguments, "--wait"))
        reply = operation_wait(client, reply, 0);
    if (reply) {
        record = tavola_reply_record(reply);
        code = show_operation(&record);
    }
    tavola_reply_free(reply);
    return calls_close(client, code);
}

static const struct command commands[] = {
    { .words = "blob stores",
        .arguments = ROWS_FORM,
        .help =
            "how many chunks and bytes of the blobs of all accounts each store has, and where new ones go",
        .run = run_stores },
    { .words = "blob move-chunks",
        .arguments = MOVE_ARGUMENTS,
        .help =
            "begin an operation that moves the chunks of all blobs into one store, beside servers that put "
            "and read, and print its id, which tavola operation show, wait, pause and others take; with "
            "--wait, wait for its end, and exit with 1 if chunks are left elsewhere. All servers and workers "
            "have the settings of both stores by then, and put into the new one: docs/blobs.md",
        .examples = "tavola blob move-chunks s3 --wait\n",
        .run = run_move },
};

const struct command_group commands_chunks = { "Stores of blobs", commands, ARRAY_LEN(commands) };
