/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_load.c - hot partitions, and advice on indexes, from the accesses that servers have sampled.
 */
#include "client/command.h"

#include "client/hot_rows.h"

#define HOT_ARGUMENTS "[--hour] " ROWS_FORM

/* ---- hot partitions ---- */

/* A table, and below each partition that looks like a pattern what helps and an example of a key. */
static void print_with_remedies(struct rows *rows, const struct tavola_record *page)
{
    struct tavola_record partition;
    size_t position = 0;

    while (tavola_record_next(page, "partitions", &position, &partition)) {
        rows_add(rows, &partition);
        rows_note(rows, "entity", "rowKey", &partition);
        rows_note(rows, "remedy", "remedy", &partition);
        rows_note(rows, "example", "example", &partition);
    }
    rows_close(rows);
}

static int run_hot(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "hot" };
    struct tavola_reply *reply;
    struct tavola_record page;
    struct tavola *client;
    struct rows rows;

    if (!arguments_read(HOT_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("hot", HOT_ARGUMENTS);
    if (!rows_open(&rows, &arguments, hot_rows_columns))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    reply = hot_rows_ask(client, arguments_value(&arguments, "--hour") != NULL, 0);
    if (reply) {
        page = tavola_reply_record(reply);
        print_with_remedies(&rows, &page);
    }
    tavola_reply_free(reply);
    return calls_close(client, reply ? COMMAND_OK : COMMAND_FAILED);
}

/* ---- advice ---- */

static void print_parts(const char *title, const struct tavola_record *advice, const char *path)
{
    struct tavola_record part;
    size_t position = 0;

    printf("  %-14s", title);
    for (size_t i = 0; tavola_record_next(advice, path, &position, &part); i++) {
        char *property = tavola_record_text(&part, "property");

        printf("%s%s", i > 0 ? ", " : "", property);
        tavola_free(property);
    }
    printf("\n");
}

/* The lines of a field, the first with a title. */
static void print_lines(const char *title, const struct tavola_record *record, const char *path)
{
    char *text = tavola_record_text(record, path);
    struct str rest = str_of(text);

    while (rest.len > 0) {
        struct str line = str_take(&rest, '\n');

        printf("  %-14s%.*s\n", title, STR_ARG(line));
        title = "";
    }
    tavola_free(text);
}

static void print_name(
    const char *before, const struct tavola_record *record, const char *path, const char *after)
{
    char *name = tavola_record_text(record, path);

    printf("%s%s%s\n", before, name, after);
    tavola_free(name);
}

static void print_advice(const struct tavola_record *advice)
{
    bool is_new = tavola_record_count(advice, "index") > 0;

    if (is_new)
        print_name("create ", advice, "index.name", "");
    else
        print_name("look up ", advice, "existingIndex", ", which is there");
    printf("  %-14s%lld rows of %lld, in %lld queries\n", "saves",
        (long long)tavola_record_integer(advice, "rowsSaved"),
        (long long)tavola_record_integer(advice, "rowsExamined"),
        (long long)tavola_record_integer(advice, "queries"));
    print_lines("of", advice, "shapes");
    if (!is_new)
        return;
    printf(
        "  %-14s%lld entries at most\n", "costs", (long long)tavola_record_integer(advice, "entriesWritten"));
    print_lines("place", advice, "index.place");
    print_parts("partition key", advice, "index.partitionKey");
    print_parts("row key", advice, "index.rowKey");
}

static void print_all_advice(const struct tavola_record *reply)
{
    struct tavola_record one;

    for (size_t position = 0; tavola_record_next(reply, "advice", &position, &one);)
        print_advice(&one);
    for (size_t position = 0; tavola_record_next(reply, "unread", &position, &one);) {
        print_name("not read: ", &one, "index", "");
        printf("  %-14s%lld entries at most\n", "cost",
            (long long)tavola_record_integer(&one, "entriesWritten"));
    }
    printf("%lld queries and %lld writes in %.1f hours\n", (long long)tavola_record_integer(reply, "queries"),
        (long long)tavola_record_integer(reply, "writes"), tavola_record_number(reply, "covered", 0) / 3600);
}

static int run_advise(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "advise" };
    struct request request;

    if (!command_arguments("TABLE", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "table", arguments.words[0]);
    return calls_show(config, "AdviseIndexes", &request, print_all_advice);
}

static const struct command commands[] = {
    {
        .words = "hot",
        .arguments = HOT_ARGUMENTS,
        .help = "the partitions with most reads and writes of the last minute or hour, and what helps",
        .run = run_hot,
    },
    {
        .words = "advise",
        .arguments = "TABLE",
        .help = "the indexes that would help the queries of a table, and the indexes that no call reads",
        .run = run_advise,
    },
};

const struct command_group commands_load = { "Load", commands, ARRAY_LEN(commands) };
