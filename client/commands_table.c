/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_table.c - tables.
 */
#include "client/command.h"

#include <stdio.h>

#include "client/calls.h"
#include "client/field_lines.h"
#include "client/request.h"
#include "client/rows.h"
#include "domain/catalogue/table_periods.h"

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

/* ---- show ---- */

static void print_period_rule(const struct tavola_record *table)
{
    char *unit = tavola_record_text(table, "periods.unit");

    if (*unit)
        printf("%-16s %s, %lld ahead, %lld kept\n", "periods", unit,
            (long long)tavola_record_integer(table, "periods.ahead"),
            (long long)tavola_record_integer(table, "periods.kept"));
    tavola_free(unit);
}

static void print_policy(const struct tavola_record *policy)
{
    static const struct field_line parts[] = { { "permissions", "permissions" }, { "from", "start" },
        { "until", "expiry" } };
    char *id = tavola_record_text(policy, "id");
    bool is_first = true;

    printf("%-16s %s", "policy", id);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        char *text = tavola_record_text(policy, parts[i].path);

        if (*text)
            printf("%s %s %s", is_first ? ":" : ",", parts[i].title, text);
        is_first = is_first && !*text;
        tavola_free(text);
    }
    putchar('\n');
    tavola_free(id);
}

static void print_table(const struct tavola_record *reply)
{
    static const struct field_line lines[] = { { "table", "name" }, { "created", "created" },
        { "index", "index" }, { "change feed", "changeFeed" }, { "sample queries", "sampleQueries" },
        { "wide entities", "wideEntities" }, { "blob properties", "blobProperties" },
        { "default max plan", "defaultMaxPlan" } };
    struct tavola_record table = tavola_record_part(reply, "table"), policy;

    field_lines_print(&table, lines, ARRAY_LEN(lines));
    print_period_rule(&table);
    for (size_t position = 0; tavola_record_next(&table, "policies", &position, &policy);)
        print_policy(&policy);
}

static int run_show(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "table show" };
    struct request request;

    if (!command_arguments("NAME", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    return calls_show(config, "GetTable", &request, print_table);
}

/* ---- set ---- */

#define SET_ARGUMENTS                                                                                        \
    "NAME [--change-feed on|off] [--sample-queries on|off] [--blob-properties on|off] "                      \
    "[--default-max-plan any|point|row_range|index_lookup|partition_scan|table_scan] "                       \
    "[--periods off|hour|day|month|year] [--ahead N] [--kept N]"

/* The settings that the options change: as members of a table, and as their names for the update mask. */
struct settings {
    struct request table;
    struct buf mask;
};

static void add_to_mask(struct settings *settings, const char *field)
{
    buf_append(&settings->mask, str_of(settings->mask.len > 0 ? "," : ""));
    buf_append(&settings->mask, str_of(field));
}

static bool read_switches(const struct arguments *arguments, struct settings *out)
{
    static const struct {
        const char *option, *field;
    } switches[] = { { "--change-feed", "changeFeed" }, { "--sample-queries", "sampleQueries" },
        { "--blob-properties", "blobProperties" } };
    static const char *const states[] = { "on", "off", NULL };

    for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
        size_t state = 0;

        if (!arguments_value(arguments, switches[i].option))
            continue;
        if (!arguments_choice(arguments, switches[i].option, states, &state))
            return false;
        request_flag(&out->table, switches[i].field, state == 0);
        add_to_mask(out, switches[i].field);
    }
    return true;
}

static bool read_plan(const struct arguments *arguments, struct settings *out)
{
    static const char *const names[] = { "any", "point", "row_range", "index_lookup", "partition_scan",
        "table_scan", NULL };
    static const char *const paths[] = { "ACCESS_PATH_UNSPECIFIED", "ACCESS_PATH_POINT",
        "ACCESS_PATH_ROW_RANGE", "ACCESS_PATH_INDEX_LOOKUP", "ACCESS_PATH_PARTITION_SCAN",
        "ACCESS_PATH_TABLE_SCAN" };
    size_t plan = 0;

    if (!arguments_choice(arguments, "--default-max-plan", names, &plan))
        return false;
    if (!arguments_value(arguments, "--default-max-plan"))
        return true;
    request_text(&out->table, "defaultMaxPlan", paths[plan]);
    add_to_mask(out, "defaultMaxPlan");
    return true;
}

/* Complain unless both numbers stand beside a unit, and neither elsewhere. */
static bool check_periods(const struct arguments *arguments, bool has_unit)
{
    bool has_ahead = arguments_value(arguments, "--ahead") != NULL;
    bool has_kept = arguments_value(arguments, "--kept") != NULL;

    if (has_ahead == has_unit && has_kept == has_unit)
        return true;
    fprintf(stderr,
        "tavola table set: --periods hour, day, month or year needs --ahead N, the tables of coming periods, "
        "and --kept N, those of past periods; nothing else has them\n");
    return false;
}

static bool read_periods(const struct arguments *arguments, struct settings *out)
{
    static const char *const names[] = { "off", "hour", "day", "month", "year", NULL };
    static const char *const units[] = { NULL, "PERIOD_UNIT_HOUR", "PERIOD_UNIT_DAY", "PERIOD_UNIT_MONTH",
        "PERIOD_UNIT_YEAR" };
    int64_t ahead = 0, kept = 0;
    struct request rule;
    size_t unit = 0;

    if (!arguments_choice(arguments, "--periods", names, &unit) ||
        !check_periods(arguments, units[unit] != NULL) ||
        !arguments_number(arguments, "--ahead", MAX_PERIODS_AHEAD, &ahead) ||
        !arguments_number(arguments, "--kept", MAX_PERIODS_KEPT, &kept))
        return false;
    if (!arguments_value(arguments, "--periods"))
        return true;
    add_to_mask(out, "periods");
    if (!units[unit])
        return true;
    request_begin(&rule);
    request_text(&rule, "unit", units[unit]);
    request_number(&rule, "ahead", ahead);
    request_number(&rule, "kept", kept);
    request_json_member(&out->table, "periods", request_json(&rule));
    request_end(&rule);
    return true;
}

static bool read_settings(const struct arguments *arguments, struct settings *out)
{
    if (!read_switches(arguments, out) || !read_plan(arguments, out) || !read_periods(arguments, out))
        return false;
    if (out->mask.len > 0)
        return true;
    fprintf(stderr,
        "tavola table set: name what is to change: --change-feed, --sample-queries, --blob-properties, "
        "--default-max-plan or --periods\n");
    return false;
}

static int set(
    const struct client_config *config, const struct arguments *arguments, struct settings *settings)
{
    struct request request;

    request_text(&settings->table, "name", arguments->words[0]);
    if (!read_settings(arguments, settings))
        return COMMAND_MISUSED;
    buf_append_byte(&settings->mask, '\0');
    request_begin(&request);
    request_json_member(&request, "table", request_json(&settings->table));
    request_text(&request, "updateMask", settings->mask.data);
    return calls_show(config, "UpdateTable", &request, print_table);
}

static int run_set(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "table set" };
    struct settings settings;
    int code;

    if (!command_arguments(SET_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    request_begin(&settings.table);
    buf_init(&settings.mask, NULL);
    code = set(config, &arguments, &settings);
    buf_cleanup(&settings.mask);
    request_end(&settings.table);
    return code;
}

static void print_settings(FILE *out)
{
    fputs(
        "\n"
        "  --change-feed on|off      whether the table keeps its changes for tavola watch; off and on again "
        "begins a new feed\n"
        "  --sample-queries on|off   whether servers count the shapes of its queries for tavola advise\n"
        "  --blob-properties on|off  whether properties may hold blobs; not off while entities hold some\n"
        "  --default-max-plan PLAN   the costliest access path of queries that name none; any: no limit\n"
        "  --periods UNIT            keep tables of hours, days, months or years (UTC), whose names are that "
        "of the table\n"
        "                            with the period behind it; off: no longer\n"
        "  --ahead N                 how many tables of coming periods there are: 1 to 31\n"
        "  --kept N                  how many tables of past periods are kept: 1 to 1000; older ones are "
        "dropped\n"
        "\n"
        "Wide entities are chosen when the table is created. Stored access policies are changed as a whole, "
        "with tavola api\n"
        "UpdateTable (docs/security.md).\n",
        out);
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
    { .words = "table show",
        .arguments = "NAME",
        .help = "print what a table is: its settings, its access policies, the index that it holds",
        .run = run_show },
    { .words = "table set",
        .arguments = SET_ARGUMENTS,
        .help = "change settings of a table and print it; what is not named stays",
        .examples = "tavola table set people --change-feed on\n"
                    "tavola table set people --sample-queries on --default-max-plan partition_scan\n"
                    "tavola table set logins --periods day --ahead 7 --kept 30\n",
        .print_more = print_settings,
        .run = run_set },
    { .words = "table delete",
        .arguments = "NAME",
        .help = "delete a table with its entities and its indexes",
        .run = run_drop },
};

const struct command_group commands_table = { "Tables", commands, ARRAY_LEN(commands) };
