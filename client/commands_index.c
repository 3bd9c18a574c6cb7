/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_index.c - indexes: list, show, verify, repair, report.
 */
#include "client/command.h"

#include <stdlib.h>

#include "client/calls.h"
#include "client/field_lines.h"
#include "client/index_rows.h"
#include "client/operation_wait.h"

#define LIST_ARGUMENTS "[TABLE] " ROWS_FORM
#define SHOW_ARGUMENTS "INDEX"
#define VERIFY_ARGUMENTS "INDEX [--fast]"
#define REPAIR_ARGUMENTS "INDEX [--dry-run]"
#define REPORT_ARGUMENTS "OPERATION " ROWS_FORM

/* ---- list and show ---- */

static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index list" };
    struct tavola *client;
    struct rows rows;
    bool listed;

    if (!arguments_read(LIST_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count > 1)
        return command_misused("index list", LIST_ARGUMENTS);
    if (!rows_open(&rows, &arguments, index_rows_columns))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    listed = index_rows_list(client, &rows, arguments.count > 0 ? arguments.words[0] : NULL);
    return calls_close(client, listed ? COMMAND_OK : COMMAND_FAILED);
}

/* A part of a key: a property, or a text in quotes. */
static void print_part(const struct tavola_record *part)
{
    char *property = tavola_record_text(part, "property"), *literal = tavola_record_text(part, "literal");

    printf("%s%s%s%s%s", property, *property ? "" : "'", *property ? "" : literal, *property ? "" : "'",
        tavola_record_integer(part, "inverted") ? " (inverted)" : "");
    tavola_free(property);
    tavola_free(literal);
}

static void print_parts(const struct tavola_record *record, const char *title, const char *path)
{
    struct tavola_record part;
    size_t position = 0;

    printf("%-16s ", title);
    for (size_t i = 0; tavola_record_next(record, path, &position, &part); i++) {
        printf("%s", i > 0 ? ", " : "");
        print_part(&part);
    }
    printf("\n");
}

static void print_named_by(const struct tavola_record *rule)
{
    struct tavola_record partition = tavola_record_part(rule, "sourcePartitionKey");
    struct tavola_record row = tavola_record_part(rule, "sourceRowKey");

    printf("%-16s ", "named by");
    print_part(&partition);
    printf(", ");
    print_part(&row);
    printf("\n");
}

static void print_pairs(const struct tavola_record *rule)
{
    const char *title = "copies";
    struct tavola_record pair;
    size_t position = 0;

    for (; tavola_record_next(rule, "properties", &position, &pair); title = "") {
        char *copy = tavola_record_text(&pair, "key"), *property = tavola_record_text(&pair, "value");

        printf("%-16s %s=%s\n", title, copy, property);
        tavola_free(copy);
        tavola_free(property);
    }
}

static void print_copies(const struct tavola_record *view)
{
    static const struct field_line lines[] = { { "keep", "index.copies.keep" },
        { "version to", "index.copies.versionProperty" },
        { "waiting sources", "status.copies.waitingSources" }, { "visited", "status.copies.visited" },
        { "waiting copies", "status.copies.waitingDependents" },
        { "refused copies", "status.copies.refused" } };
    struct tavola_record rule = tavola_record_part(view, "index.copies");

    if (!rule.type)
        return;
    field_lines_print_one(&rule, "copies from", "sourceTable");
    print_named_by(&rule);
    print_pairs(&rule);
    field_lines_print(view, lines, ARRAY_LEN(lines));
}

static void print_index(const struct tavola_record *view)
{
    static const struct field_line lines[] = { { "index", "index.name" }, { "table", "index.table" },
        { "shape", "index.shape" }, { "place", "index.place" }, { "consistency", "index.consistency" },
        { "unique", "index.unique" }, { "on violation", "index.onViolation" }, { "filter", "index.filter" },
        { "state", "status.state" }, { "entries", "status.entries" }, { "behind", "status.keysBehind" },
        { "lag", "status.lag.age" }, { "build", "status.build.operationId" },
        { "build state", "status.build.state" }, { "build error", "status.build.error.message" },
        { "violations", "status.violations" }, { "causes", "status.violationCauses" },
        { "replacement", "status.replacement.operationId" } };

    field_lines_print(view, lines, ARRAY_LEN(lines));
    print_parts(view, "partition key", "index.partitionKey");
    print_parts(view, "row key", "index.rowKey");
    print_copies(view);
}

static int run_show(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index show" };
    struct request request;

    if (!command_arguments(SHOW_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    return calls_show(config, "GetIndex", &request, print_index);
}

/* ---- reports ---- */

static void print_report(const struct tavola_record *report)
{
    static const char *const counts[] = { "sources", "entries", "in_flight", "missing", "dangling",
        "mismatched", "manifests", "copies", "mended", "remaining" };
    char *operation = tavola_record_text(report, "operationId"), *index = tavola_record_text(report, "index");
    char *state = tavola_record_text(report, "state");

    printf("%s of %s: %s, %s\n", operation, index,
        tavola_record_integer(report, "repairs") ? "repair" : "verification", state);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        printf("%s%s=%lld", i > 0 ? " " : "", counts[i], (long long)tavola_record_integer(report, counts[i]));
    printf("\n");
    tavola_free(operation);
    tavola_free(index);
    tavola_free(state);
}

static void write_key(const char *what, const struct tavola_record *key, struct buf *out)
{
    char *partition = tavola_record_text(key, "partitionKey"), *row = tavola_record_text(key, "rowKey");

    if (key->type)
        buf_format(out, "%s%s=(%s, %s)", *what == 'e' && out->len > 0 ? " " : "", what, partition, row);
    tavola_free(partition);
    tavola_free(row);
}

/* Of a copy that differs. */
static void write_property(const struct tavola_record *difference, struct buf *out)
{
    char *property = tavola_record_text(difference, "property");

    if (*property)
        buf_format(out, " property=%s", property);
    tavola_free(property);
}

static void write_keys(const struct tavola_record *difference, bool human, struct buf *out)
{
    struct tavola_record source = tavola_record_part(difference, "source");
    struct tavola_record entry = tavola_record_part(difference, "entry");

    (void)human;
    write_key("source", &source, out);
    write_key("entry", &entry, out);
    write_property(difference, out);
}

static const struct rows_column differences[] = {
    { "number", "number", CELL_NUMBER, false, NULL, NULL },
    { "kind", "kind", CELL_TEXT, false, NULL, NULL },
    { "state", "state", CELL_TEXT, false, NULL, NULL },
    { "keys", NULL, CELL_TEXT, false, "keys", write_keys },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

/* How many differences are left. */
static int64_t count_left(const struct tavola_record *report)
{
    return tavola_record_integer(report, "missing") + tavola_record_integer(report, "dangling") +
           tavola_record_integer(report, "mismatched") + tavola_record_integer(report, "manifests") +
           tavola_record_integer(report, "copies") - tavola_record_integer(report, "mended");
}

/*
 * The report of an operation with all its differences; COMMAND_FAILED if differences are left, so that
 * scripts see it.
 */
static int show_report(struct tavola *client, struct rows *rows, const char *operation_id)
{
    const struct calls_list list = { "GetIndexReport", "differences", rows_element, rows };
    struct tavola_record record, report;
    struct tavola_reply *reply;
    struct request request;
    int64_t left;

    request_begin(&request);
    request_text(&request, "operationId", operation_id);
    reply = calls_ask(client, list.method, &request);
    if (!reply)
        return COMMAND_FAILED;
    record = tavola_reply_record(reply);
    report = tavola_record_part(&record, "report");
    if (rows->form == OUTPUT_TABLE)
        print_report(&report);
    left = count_left(&report);
    tavola_reply_free(reply);
    request_begin(&request);
    request_text(&request, "operationId", operation_id);
    if (!calls_each(client, &list, &request))
        return COMMAND_FAILED;
    if (rows->form != OUTPUT_TABLE || rows->printed > 0)
        rows_close(rows);
    return left > 0 ? COMMAND_FAILED : COMMAND_OK;
}

static int run_report(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index report" };
    struct tavola *client;
    struct rows rows;

    if (!arguments_read(REPORT_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 1)
        return command_misused("index report", REPORT_ARGUMENTS);
    if (!rows_open(&rows, &arguments, differences))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, show_report(client, &rows, arguments.words[0]));
}

/* ---- operations ---- */

/* Begin an operation, wait for its end, and show its report. */
static int carry_out(const struct client_config *config, const char *method, struct request *request)
{
    struct tavola *client = calls_open(config);
    struct tavola_reply *reply = operation_wait(client, calls_ask(client, method, request), 0);
    struct tavola_record record;
    int code = COMMAND_FAILED;
    struct rows rows;
    char *operation_id;

    rows_open_table(&rows, differences);
    if (reply) {
        record = tavola_reply_record(reply);
        operation_id = tavola_record_text(&record, "operation.operationId");
        code = show_report(client, &rows, operation_id);
        tavola_free(operation_id);
    }
    tavola_reply_free(reply);
    return calls_close(client, code);
}

static int run_verify(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index verify" };
    struct request request;

    if (!command_arguments(VERIFY_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    request_text(&request, "mode", arguments_value(&arguments, "--fast") ? "VERIFY_MODE_FAST" : NULL);
    return carry_out(config, "VerifyIndex", &request);
}

static int run_repair(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index repair" };
    struct request request;

    if (!command_arguments(REPAIR_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    request_flag(&request, "dryRun", arguments_value(&arguments, "--dry-run") != NULL);
    return carry_out(config, "RepairIndex", &request);
}

static const struct command commands[] = {
    {
        .words = "index list",
        .arguments = LIST_ARGUMENTS,
        .help = "list the indexes of all tables or of one: state, open work, lag, violations",
        .examples = "tavola index list\n"
                    "tavola index list people -o json\n",
        .run = run_list,
    },
    {
        .words = "index show",
        .arguments = SHOW_ARGUMENTS,
        .help = "print the declaration and the state of an index",
        .run = run_show,
    },
    {
        .words = "index verify",
        .arguments = VERIFY_ARGUMENTS,
        .help = "compare an index with its source, wait for the end and print the report; --fast: by "
                "versions; exit code 1 if "
                "they differ",
        .run = run_verify,
    },
    {
        .words = "index repair",
        .arguments = REPAIR_ARGUMENTS,
        .help = "repair the differences, wait for the end and print the report; --dry-run: change nothing",
        .run = run_repair,
    },
    {
        .words = "index report",
        .arguments = REPORT_ARGUMENTS,
        .help = "print the report of an operation that verifies or repairs an index, with its differences",
        .run = run_report,
    },
};

const struct command_group commands_index = { "Indexes", commands, ARRAY_LEN(commands) };
