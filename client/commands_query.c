/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_query.c - commands that read many entities: queries, counts, look-ups; and the commands that
 * declare indexes.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/arguments.h"
#include "client/calls.h"
#include "client/command.h"
#include "client/copy_arguments.h"
#include "client/index_violations.h"
#include "client/nothing_found.h"
#include "client/output.h"

#define QUERY_ARGUMENTS "TABLE [FILTER] [--select NAME,NAME...] [--limit N] [--explain] [-o FORM]"
#define COUNT_ARGUMENTS "TABLE [FILTER]"
#define LOOKUP_ARGUMENTS                                                                                     \
    "INDEX [VALUE | TYPE=VALUE]... [--latest] [--keys-only] [--select NAME,NAME...] [--descending] "         \
    "[--limit N] [-o FORM]"
#define INDEX_ARGUMENTS                                                                                      \
    "NAME TABLE [PROPERTY...] [--filter TEXT] [--select NAME,NAME...] [--keys-only] [--same-partition] "     \
    "[--strong] [--unique] [--on-violation skip|reject] [--no-wait] " COPY_ARGUMENTS

enum { MAX_VALUES = 16, BUILD_MS = 3600 * 1000 };

/* Print the entities of a cursor, up to a limit, and free the cursor. */
static int print_cursor(struct tavola_cursor *cursor, struct output *out, int64_t limit)
{
    const struct tavola_entity *entity;
    struct tavola_error error = { .code = TAVOLA_OK };
    bool printed = true;

    while (printed && out->count < limit && tavola_cursor_next(cursor, &entity, &error))
        printed = output_entity(out, entity);
    tavola_cursor_free(cursor);
    if (error.code != TAVOLA_OK) {
        (void)calls_failed(&error);
        if (strcmp(error.reason, "INDEX_NOT_FOUND") == 0)
            fprintf(stderr,
                "tavola: tavola query reads a table, tavola lookup an index; tavola index list TABLE lists "
                "those of a table\n");
        arena_cleanup(&out->arena);
        return COMMAND_FAILED;
    }
    return output_close(out) && printed ? COMMAND_OK : COMMAND_FAILED;
}

/* Split "A,B" in place into a list that ends with NULL. */
static void split_names(char *text, const char *out[static ARGUMENTS_MAX_WORDS])
{
    size_t count = 0;

    for (char *name = strtok(text, ","); name && count + 1 < ARGUMENTS_MAX_WORDS; name = strtok(NULL, ","))
        out[count++] = name;
    out[count] = NULL;
}

/* A request of ExplainQuery. */
static void write_explain_request(const struct tavola_query *query, struct request *request)
{
    struct request inner;

    request_begin(&inner);
    request_text(&inner, "table", query->table);
    request_text(&inner, "filter", query->filter);
    request_begin(request);
    request_json_member(request, "query", request_json(&inner));
    request_end(&inner);
}

/* The property of a suggested index: what stands between these words of the server's sentence; "PROPERTY" otherwise. */
static struct str suggested_property(const char *sentence)
{
    static const char before[] = "the property ", behind[] = " (CreateIndex)";
    const char *begin = strstr(sentence, before), *end = begin ? strstr(begin, behind) : NULL;

    if (!end)
        return STR_LITERAL("PROPERTY");
    begin += strlen(before);
    return str_of_bytes(begin, (size_t)(end - begin));
}

/* Print a command in place of the method's name with which the text begins. Returns the name's length; 0: none. */
static size_t print_command_of(const char *text, const char *line, const char *table)
{
    static const struct {
        const char *method, *command;
    } commands_of[] = { { "(LookupIndex)", "(tavola lookup NAME VALUE)" },
        { "LookupIndex in the index", "tavola lookup" }, { "LookupIndex", "tavola lookup" },
        { "ScanEntities", "tavola export" }, { "CreateIndex", NULL } };

    for (size_t i = 0; i < ARRAY_LEN(commands_of); i++) {
        size_t len = strlen(commands_of[i].method);

        if (strncmp(text, commands_of[i].method, len) != 0)
            continue;
        if (commands_of[i].command)
            printf("%s", commands_of[i].command);
        else
            printf("tavola index create NAME %s %.*s", table, STR_ARG(suggested_property(line)));
        return len;
    }
    return 0;
}

/* Print a suggestion, which names methods, in terms of commands. Returns what stands behind its line. */
static const char *print_suggestion(const char *line, const char *table)
{
    const char *text = line;

    while (*text && *text != '\n') {
        size_t len = print_command_of(text, line, table);

        if (len == 0)
            putchar(*text);
        text += len > 0 ? len : 1;
    }
    putchar('\n');
    return *text ? text + 1 : text;
}

/* Print the access path, the rows that it examines at most where that is known, and what would help. */
static int explain(struct tavola *client, const struct tavola_query *query)
{
    struct tavola_record record;
    struct tavola_reply *reply;
    struct request request;
    char *path, *suggestions;

    write_explain_request(query, &request);
    reply = calls_ask(client, "ExplainQuery", &request);
    if (!reply)
        return COMMAND_FAILED;
    record = tavola_reply_record(reply);
    path = tavola_record_text(&record, "expected.accessPath");
    suggestions = tavola_record_text(&record, "suggestions");
    printf("access path  %s\n", path);
    if (tavola_record_integer(&record, "expected.rowsExamined") > 0)
        printf("examines     %lld rows at most\n",
            (long long)tavola_record_integer(&record, "expected.rowsExamined"));
    for (const char *rest = suggestions; *rest;)
        rest = print_suggestion(rest, query->table);
    tavola_free(path);
    tavola_free(suggestions);
    tavola_reply_free(reply);
    return COMMAND_OK;
}

static int run_query(const struct client_config *config, int argc, char **argv)
{
    static struct output out;
    struct arguments arguments = { .command = "query" };
    const char *names[ARGUMENTS_MAX_WORDS];
    struct tavola_query query = { .filter = NULL };
    struct request explain_request;
    struct tavola *client;
    int64_t limit = INT64_MAX;
    int code;

    if (!arguments_read(QUERY_ARGUMENTS, argc, argv, &arguments) ||
        !arguments_number(&arguments, "--limit", INT64_MAX, &limit))
        return COMMAND_MISUSED;
    if (arguments.count < 1 || arguments.count > 2)
        return command_misused("query", QUERY_ARGUMENTS);
    if (!output_open(&out, &arguments))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    query.table = arguments.words[0];
    query.filter = arguments.count > 1 ? arguments.words[1] : NULL;
    query.page_size = limit < 1000 ? (int)limit : 0;
    if (arguments_value(&arguments, "--explain"))
        return calls_close(client, explain(client, &query));
    if (arguments_value(&arguments, "--select")) {
        /* The words of the command line may be written into. */
        split_names((char *)(uintptr_t)arguments_value(&arguments, "--select"), names);
        query.read.select = names;
    }
    code = print_cursor(tavola_query(client, &query), &out, limit);
    if (code == COMMAND_OK && out.count == 0 && query.filter) {
        write_explain_request(&query, &explain_request);
        nothing_found_by_query(client, &explain_request);
    }
    return calls_close(client, code);
}

static int run_count(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "count" };
    struct tavola_error error;
    struct tavola *client;
    int64_t count;

    if (!arguments_read(COUNT_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count < 1 || arguments.count > 2)
        return command_misused("count", COUNT_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    if (tavola_count(client, arguments.words[0], arguments.count > 1 ? arguments.words[1] : NULL, &count,
            &error) != TAVOLA_OK) {
        (void)calls_failed(&error);
        return calls_close(client, COMMAND_FAILED);
    }
    printf("%lld\n", (long long)count);
    return calls_close(client, COMMAND_OK);
}

/* ---- look-ups ---- */

static bool is_type(const char *word, size_t len)
{
    static const char *const types[] = { "string", "boolean", "int32", "int64", "double", "datetime", "guid",
        "binary" };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strlen(types[i]) == len && strncasecmp(types[i], word, len) == 0)
            return true;
    return false;
}

/*
 * Read a value: "Ada" is a string; "int32=36" has another type. The value lives as long as the entity. false:
 * the cause is on standard error.
 */
static bool read_value(const char *word, int number, struct tavola_entity *values, struct tavola_value *out)
{
    size_t len = strcspn(word, "=");
    bool is_typed = word[len] && is_type(word, len);
    char type[16] = "string", name[16];
    struct tavola_error error;

    if (is_typed)
        snprintf(type, sizeof(type), "%.*s", (int)len, word);
    snprintf(name, sizeof(name), "Value%d", number);
    if (tavola_entity_set_text(values, name, type, is_typed ? word + len + 1 : word, &error) != TAVOLA_OK) {
        fprintf(stderr, "tavola lookup: %s\n", error.message);
        return false;
    }
    *out = *tavola_entity_get(values, name);
    return true;
}

static int look_up(
    struct tavola *client, const struct arguments *arguments, struct tavola_entity *values, int64_t limit)
{
    static struct output out;
    const char *names[ARGUMENTS_MAX_WORDS];
    struct tavola_value equals[MAX_VALUES];
    struct tavola_lookup lookup = {
        .index = arguments->words[0],
        .equals = equals,
        .equals_count = (size_t)arguments->count - 1,
        .latest = arguments_value(arguments, "--latest") != NULL,
        .keys_only = arguments_value(arguments, "--keys-only") != NULL,
        .descending = arguments_value(arguments, "--descending") != NULL,
        .page_size = limit < 1000 ? (int)limit : 0,
    };
    int code;

    for (int i = 1; i < arguments->count; i++)
        if (!read_value(arguments->words[i], i, values, &equals[i - 1]))
            return COMMAND_MISUSED;
    if (arguments_value(arguments, "--select")) {
        split_names((char *)(uintptr_t)arguments_value(arguments, "--select"), names);
        lookup.select = names;
    }
    if (!output_open(&out, arguments))
        return COMMAND_MISUSED;
    code = print_cursor(tavola_lookup(client, &lookup), &out, limit);
    if (code == COMMAND_OK && out.count == 0)
        nothing_found_by_lookup(client, &lookup, &arguments->words[1]);
    return code;
}

static int run_lookup(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "lookup" };
    struct tavola_entity *values;
    struct tavola *client;
    int64_t limit = INT64_MAX;
    int code;

    if (!arguments_read(LOOKUP_ARGUMENTS, argc, argv, &arguments) ||
        !arguments_number(&arguments, "--limit", INT64_MAX, &limit))
        return COMMAND_MISUSED;
    if (arguments.count < 1 || arguments.count > MAX_VALUES)
        return command_misused("lookup", LOOKUP_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    values = tavola_entity_new(TAVOLA_KEY("", ""));
    code = look_up(client, &arguments, values, limit);
    tavola_entity_free(values);
    return calls_close(client, code);
}

static void print_lookup_values(FILE *out)
{
    fprintf(out,
        "\n"
        "The values are those of the parts of the index's key, in their order; the last ones may be left "
        "out.\n"
        "TYPE is one of string, boolean, int32, int64, double, datetime, guid and binary. Equal numbers are "
        "one value,\n"
        "whatever their types; a number and its text are not. If nothing is found, but the same value with "
        "another type\n"
        "finds an entity, the command says so.\n");
}

/* ---- indexes ---- */

/* The properties that the entries have: none with --keys-only; NULL: all. false: the options are wrong. */
static bool read_projection(
    const struct arguments *arguments, const char *names[static ARGUMENTS_MAX_WORDS], const char *const **out)
{
    const char *text = arguments_value(arguments, "--select");
    bool keys_only = arguments_value(arguments, "--keys-only") != NULL;

    names[0] = NULL;
    if (text)
        split_names((char *)(uintptr_t)text, names);
    *out = text || keys_only ? names : NULL;
    if (!text || (names[0] && !keys_only))
        return true;
    fprintf(stderr, "tavola index create: %s\n",
        keys_only ? "--select and --keys-only exclude each other"
                  : "--select NAME,NAME... names the properties that the entries have");
    return false;
}

/* Whether there are words behind NAME and TABLE, which is so unless the index is a copy rule's. */
static bool check_properties(const struct arguments *arguments, bool has_rule)
{
    if (has_rule == (arguments->count == 2))
        return true;
    fprintf(stderr, "tavola index create: %s\n",
        has_rule ? "the index of a copy rule finds by the properties of --named-by: leave PROPERTY out"
                 : "name a PROPERTY that the index finds by, or the source of a copy rule with --copy-from");
    return false;
}

/* false: another word; standard error says so. */
static bool read_on_violation(const struct arguments *arguments, bool *rejects)
{
    static const char *const words[] = { "skip", "reject", NULL };
    size_t chosen = 0;

    if (!arguments_choice(arguments, "--on-violation", words, &chosen))
        return false;
    *rejects = chosen == 1;
    return true;
}

static int run_create_index(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index create" };
    const char *names[ARGUMENTS_MAX_WORDS];
    const char *const *select;
    struct copy_arguments rule;
    struct tavola_index index;
    struct tavola_error error;
    struct tavola *client;
    int code = COMMAND_OK;
    bool has_rule, waits, rejects;

    if (!arguments_read(INDEX_ARGUMENTS, argc, argv, &arguments) ||
        !read_projection(&arguments, names, &select) || !read_on_violation(&arguments, &rejects) ||
        !copy_arguments_read(&arguments, &rule, &has_rule))
        return COMMAND_MISUSED;
    if (arguments.count < 2 || arguments.count == ARGUMENTS_MAX_WORDS)
        return command_misused("index create", INDEX_ARGUMENTS);
    if (!check_properties(&arguments, has_rule))
        return COMMAND_MISUSED;
    arguments.words[arguments.count] = NULL;
    index = (struct tavola_index){
        .name = arguments.words[0],
        .table = arguments.words[1],
        .by = (const char *const *)&arguments.words[2],
        .filter = arguments_value(&arguments, "--filter"),
        .in_same_partition = arguments_value(&arguments, "--same-partition") != NULL,
        .strong = arguments_value(&arguments, "--strong") != NULL,
        .unique = arguments_value(&arguments, "--unique") != NULL,
        .reject_violations = rejects,
        .select = select,
        .copies = has_rule ? &rule.copies : NULL,
    };
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    waits = arguments_value(&arguments, "--no-wait") == NULL;
    if (tavola_create_index(client, &index, waits ? BUILD_MS : 0, &error) != TAVOLA_OK)
        code = calls_failed(&error);
    else if (waits)
        code = index_violations_report(client, index.name, index.table);
    return calls_close(client, code);
}

static int run_drop_index(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "index drop" };
    struct tavola_reply *reply;
    struct request request;
    struct tavola *client;

    if (!command_arguments("NAME", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    reply = calls_ask(client, "DropIndex", &request);
    tavola_reply_free(reply);
    return calls_close(client, reply ? COMMAND_OK : COMMAND_FAILED);
}

static void print_index_options(FILE *out)
{
    fprintf(out,
        "\n"
        "An index finds the entities of TABLE by the values of properties, within milliseconds of a write.\n"
        "\n"
        "  --filter TEXT             only entities that match have an entry\n"
        "  --select NAME,NAME...     an entry has these properties of its entity; by default it has all\n"
        "  --keys-only               an entry has the keys of its entity alone; an index of a table with "
        "wide entities\n"
        "                            needs this option or --select\n"
        "  --same-partition          the entries lie in the partition of their entity, and commit with its "
        "writes\n"
        "  --strong                  the entries commit with the writes, in other partitions\n"
        "  --unique                  a value has at most one entity; of entities that have the same value "
        "already only the\n"
        "                            first one in the order of keys has an entry\n"
        "  --on-violation WORD       skip, the default: an entity that cannot have its entry has none and is "
        "counted; reject:\n"
        "                            its write is refused, and a build that finds one fails\n"
        "  --no-wait                 do not wait until the index is built\n"
        "\n"
        "If entities cannot have an entry (duplicates in a unique index, values that are too long or of a "
        "wrong type), the\n"
        "index is built without them; the command says how many, why, and how to find them, and ends with "
        "exit code 3. With\n"
        "--no-wait, tavola index show says so once the index is built.\n"
        "\n"
        "A copy rule: the workers keep copies of properties of the entity that an entity of TABLE names, its "
        "source.\n"
        "The index finds the entities by what names their source, so there is no PROPERTY.\n"
        "\n"
        "  --copy-from TABLE         the table of the sources\n"
        "  --named-by PART,PART      the partition key and the row key of the source, each as a property of "
        "the\n"
        "                            entities of TABLE, or as =TEXT, which is the same for all\n"
        "  --copy NAME=PROPERTY,...  NAME, a property of the entities of TABLE, is a copy of PROPERTY of "
        "their source;\n"
        "                            NAME alone: the source's property has that name too\n"
        "  --keep                    the copies of a source that does not exist stay; by default they are "
        "removed\n"
        "  --version-to NAME         NAME, a property of the entities of TABLE, gets the ETag of their "
        "source\n");
}

static const struct command commands[] = {
    {
        .words = "query",
        .arguments = QUERY_ARGUMENTS,
        .help = "print the entities of a table that match a filter; FORM is jsonl, json, csv or table; "
                "--explain: print how they would be found instead, what would help, and literals of a "
                "doubtful type (Age ge '36' compares with text and finds no number)",
        .examples = "tavola query people 'Age ge 36' -o table\n"
                    "tavola query people 'Age ge 36' --explain\n"
                    "tavola query people \"PartitionKey eq 'sales'\" --select Name,Age --limit 10\n",
        .run = run_query,
    },
    {
        .words = "entity query",
        .arguments = QUERY_ARGUMENTS,
        .help = "the same",
        .run = run_query,
    },
    {
        .words = "count",
        .arguments = COUNT_ARGUMENTS,
        .help = "print how many entities match a filter, or how many there are",
        .examples = "tavola count people 'Age ge 36'\n",
        .run = run_count,
    },
    {
        .words = "lookup",
        .arguments = LOOKUP_ARGUMENTS,
        .help = "print the entities that an index finds by values, which are text unless their type stands "
                "in front; without a value all that the index has, in its order",
        .examples = "tavola lookup PeopleByName Ada --latest\n"
                    "tavola lookup PeopleByAge int32=36 -o table\n"
                    "tavola lookup PeopleByAge --descending --limit 10\n",
        .print_more = print_lookup_values,
        .run = run_lookup,
    },
    {
        .words = "index create",
        .arguments = INDEX_ARGUMENTS,
        .help =
            "declare an index that finds entities by properties, or with --copy-from a copy rule, and wait "
            "until it is built",
        .examples = "tavola index create PeopleByName people Name\n"
                    "tavola index create PeopleByAge people Age --select Name,Mail\n"
                    "tavola index create ManagerOfDepartment departments --copy-from managers "
                    "--named-by =company,Manager --copy ManagerName=Name\n",
        .print_more = print_index_options,
        .run = run_create_index,
    },
    {
        .words = "index drop",
        .arguments = "NAME",
        .help = "drop an index",
        .run = run_drop_index,
    },
};

const struct command_group commands_query = { "Queries and look-ups", commands, ARRAY_LEN(commands) };
