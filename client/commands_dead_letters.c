/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_dead_letters.c - dead letters: list, redrive, discard.
 */
#include "client/command.h"

#include <string.h>

#include "base/digits.h"
#include "client/calls.h"
#include "client/rows.h"

#define LIST_ARGUMENTS "[TABLE] " ROWS_FORM
#define REDRIVE_ARGUMENTS "NUMBER|all [--dry-run]"
#define DISCARD_ARGUMENTS "NUMBER REASON"

/* ---- list ---- */

/* "people (sales, 0001) in byCity", "transaction t1". */
static void write_work(const struct tavola_record *record, bool human, struct buf *out)
{
    static const char *const paths[] = { "transactionId", "table", "key.partitionKey", "key.rowKey",
        "index" };
    char *texts[ARRAY_LEN(paths)];

    (void)human;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        texts[i] = tavola_record_text(record, paths[i]);
    if (*texts[0])
        buf_format(out, "transaction %s", texts[0]);
    else
        buf_format(out, "%s (%s, %s)", texts[1], texts[2], texts[3]);
    if (*texts[4])
        buf_format(out, " in %s", texts[4]);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        tavola_free(texts[i]);
}

static const struct rows_column columns[] = {
    { "number", "dead_letter_id", CELL_NUMBER, false, NULL, NULL },
    { "account", "account", CELL_DASH, false, NULL, NULL },
    { "queue", "queue", CELL_TEXT, false, NULL, NULL },
    { "work", NULL, CELL_TEXT, false, "work", write_work },
    { "failures", "failures", CELL_NUMBER, false, NULL, NULL },
    { "cause", "cause", CELL_TEXT, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

/* A filter of a request, as JSON. */
static void add_filter(struct request *request, const char *table)
{
    struct request filter;

    request_begin(&filter);
    request_text(&filter, "table", table);
    request_json_member(request, "filter", request_json(&filter));
    request_end(&filter);
}

static int run_dead_letters_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "dead-letters list" };
    struct rows rows;
    struct request request;

    if (!arguments_read(LIST_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count > 1)
        return command_misused("dead-letters list", LIST_ARGUMENTS);
    if (!rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    rows.none = "no dead letters";
    request_begin(&request);
    add_filter(&request, arguments.count == 1 ? arguments.words[0] : NULL);
    return calls_print_list(config, "ListDeadLetters", "deadLetters", &rows, &request);
}

/* ---- redrive ---- */

static void print_differences(const struct tavola_record *reply)
{
    static const char *const counts[] = { "missing", "dangling", "mismatched", "violations", "steps",
        "copies", "dependents" };
    struct tavola_record one;

    for (size_t position = 0; tavola_record_next(reply, "differences", &position, &one);) {
        printf("%-8lld", (long long)tavola_record_integer(&one, "deadLetterId"));
        for (size_t i = 0; i < ARRAY_LEN(counts); i++)
            printf(" %s=%lld", counts[i], (long long)tavola_record_integer(&one, counts[i]));
        printf("\n");
    }
}

/* COMMAND_FAILED if the dead letter of a given number was not changed. */
static int print_changed(const char *which, size_t count, const char *what)
{
    if (count == 0 && strcmp(which, "all") != 0) {
        fprintf(stderr, "tavola: there is no dead letter %s that could be %s\n", which, what);
        return COMMAND_FAILED;
    }
    printf("%zu %s\n", count, what);
    return COMMAND_OK;
}

/* which: "all" or a number, which is one. */
static void choose(struct request *request, const char *which)
{
    char list[64];

    request_begin(request);
    snprintf(list, sizeof(list), "[%.40s]", which);
    if (strcmp(which, "all") == 0)
        add_filter(request, NULL);
    else
        request_json_member(request, "deadLetterIds", list);
}

static int report_dry_run(const struct tavola_record *reply)
{
    print_differences(reply);
    if (tavola_record_count(reply, "differences") == 0)
        printf("no dead letters\n");
    if (tavola_record_integer(reply, "more"))
        printf("and more\n");
    return COMMAND_OK;
}

/* One call redrives a bounded number of dead letters; calls follow each other while there are more. */
static int redrive(struct tavola *client, const char *which, bool is_dry)
{
    struct tavola_record record;
    struct tavola_reply *reply;
    struct request request;
    size_t done = 0;
    bool more = true;
    int code = COMMAND_OK;

    while (more) {
        choose(&request, which);
        request_flag(&request, "dryRun", is_dry);
        reply = calls_ask(client, "RedriveDeadLetters", &request);
        if (!reply)
            return COMMAND_FAILED;
        record = tavola_reply_record(reply);
        done += tavola_record_count(&record, "deadLetterIds");
        more = !is_dry && tavola_record_integer(&record, "more") &&
               tavola_record_count(&record, "deadLetterIds") > 0;
        if (is_dry)
            code = report_dry_run(&record);
        tavola_reply_free(reply);
    }
    return is_dry ? code : print_changed(which, done, "redriven");
}

static bool is_number(const char *text)
{
    int64_t number;

    return digits_parse_signed(str_of(text), 0, INT64_MAX, &number);
}

static int run_dead_letters_redrive(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "dead-letters redrive" };
    struct tavola *client;

    if (!arguments_read(REDRIVE_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 1 || (strcmp(arguments.words[0], "all") != 0 && !is_number(arguments.words[0])))
        return command_misused("dead-letters redrive", REDRIVE_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(
        client, redrive(client, arguments.words[0], arguments_value(&arguments, "--dry-run") != NULL));
}

/* ---- discard ---- */

static int discard(struct tavola *client, const char *which, const char *reason)
{
    struct tavola_record record;
    struct tavola_reply *reply;
    struct request request;
    int code;

    choose(&request, which);
    request_text(&request, "reason", reason);
    reply = calls_ask(client, "DiscardDeadLetters", &request);
    if (!reply)
        return COMMAND_FAILED;
    record = tavola_reply_record(reply);
    code = print_changed(which, tavola_record_count(&record, "deadLetterIds"), "discarded");
    tavola_reply_free(reply);
    return code;
}

static int run_dead_letters_discard(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "dead-letters discard" };
    struct tavola *client;

    if (!command_arguments(DISCARD_ARGUMENTS, 2, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (!is_number(arguments.words[0]))
        return command_misused(arguments.command, DISCARD_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, discard(client, arguments.words[0], arguments.words[1]));
}

static const struct command commands[] = {
    {
        .words = "dead-letters list",
        .arguments = LIST_ARGUMENTS,
        .help = "list the dead letters (work that was given up) of all tables or of one, each with its cause",
        .examples = "tavola dead-letters list\n"
                    "tavola dead-letters list people -o csv\n",
        .run = run_dead_letters_list,
    },
    {
        .words = "dead-letters redrive",
        .arguments = REDRIVE_ARGUMENTS,
        .help = "put dead letters back into work; --dry-run: only report what that would change",
        .run = run_dead_letters_redrive,
    },
    {
        .words = "dead-letters discard",
        .arguments = DISCARD_ARGUMENTS,
        .help = "set a dead letter aside with a reason; the work is not done, and the indexes of its key "
                "stay out of date",
        .run = run_dead_letters_discard,
    },
};

const struct command_group commands_dead_letters = { "Dead letters", commands, ARRAY_LEN(commands) };
