/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_table.c - tables.
 */
#include "client/command.h"

#include <stdio.h>

#include "client/calls.h"
#include "client/request.h"
#include "client/rows.h"

static int run_changing(const struct client_config *config, int argc, char **argv, const char *words,
    enum tavola_code (*change)(struct tavola *client, const char *table, struct tavola_error *error))
{
    struct arguments arguments = { .command = words };
    struct tavola_error error;
    struct tavola *client;

    if (!command_arguments("NAME", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(
        client, change(client, arguments.words[0], &error) == TAVOLA_OK ? COMMAND_OK : calls_failed(&error));
}

static const char create_usage[] = "NAME [--wide-entities] [--blob-properties]";

static enum tavola_code create(
    struct tavola *client, const struct arguments *arguments, struct tavola_error *error)
{
    struct request request;
    char *reply = NULL;
    enum tavola_code code;

    request_begin(&request);
    request_text(&request, "name", arguments->words[0]);
    request_flag(&request, "wideEntities", arguments_value(arguments, "--wide-entities") != NULL);
    request_flag(&request, "blobProperties", arguments_value(arguments, "--blob-properties") != NULL);
    code = tavola_call_json(client, "CreateTable", request_json(&request), &reply, error);
    request_end(&request);
    tavola_free(reply);
    return code;
}

static int run_create(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "table create" };
    struct tavola_error error;
    struct tavola *client;

    if (!arguments_read(create_usage, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 1)
        return command_misused("table create", create_usage);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(
        client, create(client, &arguments, &error) == TAVOLA_OK ? COMMAND_OK : calls_failed(&error));
}

static int run_drop(const struct client_config *config, int argc, char **argv)
{
    return run_changing(config, argc, argv, "table delete", tavola_delete_table);
}

/* ---- list ---- */

static const struct rows_column columns[] = {
    { "table", "name", CELL_TEXT, false, "table", NULL },
    { "created", "created", CELL_TIME, false, NULL, NULL },
    { "index", "index", CELL_DASH, false, NULL, NULL },
    { "change feed", "change_feed", CELL_TEXT, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

static void print_name(void *ignored, const struct tavola_record *table)
{
    char *name = tavola_record_text(table, "name");

    (void)ignored;
    printf("%s\n", name);
    tavola_free(name);
}

/* Names alone, unless a form was asked for. */
static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "table list" };
    struct calls_list list = { "ListTables", "tables", print_name, NULL };
    struct tavola *client;
    struct rows rows;
    bool has_form;

    if (!arguments_read(ROWS_FORM, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("table list", ROWS_FORM);
    if (!rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    has_form = arguments_value(&arguments, "-o") != NULL;
    if (has_form)
        list = (struct calls_list){ list.method, list.field, rows_element, &rows };
    client = calls_open(config);
    if (!client || !calls_each(client, &list, NULL))
        return calls_close(client, COMMAND_FAILED);
    if (has_form)
        rows_close(&rows);
    return calls_close(client, COMMAND_OK);
}

static const struct command commands[] = {
    { .words = "table create",
        .arguments = create_usage,
        .help = "create a table; --wide-entities: an entity may have 100,000 properties; --blob-properties: "
                "properties may hold blobs, which programs put (PutBlob with `write`), and export and import "
                "carry with --blobs",
        .run = run_create },
    { .words = "table list",
        .arguments = ROWS_FORM,
        .help = "the names of the tables; in a form: when each was created, and the index that it holds",
        .run = run_list },
    { .words = "table delete",
        .arguments = "NAME",
        .help = "delete a table with its entities and its indexes",
        .run = run_drop },
};

const struct command_group commands_table = { "Tables", commands, ARRAY_LEN(commands) };
