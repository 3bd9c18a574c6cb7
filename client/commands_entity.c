/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_entity.c - entities from the shell: as JSON in the form of tavola_entity_from_json, or as words.
 */
#include "client/command.h"

#include <stdlib.h>
#include <string.h>

#include "client/arguments.h"
#include "client/calls.h"
#include "client/output.h"

#define PUT_ARGUMENTS                                                                                        \
    "TABLE (JSON | - | PARTITION ROW [NAME[:TYPE]=VALUE]...) [--insert | --merge] [--if-match ETAG]"
#define GET_ARGUMENTS "TABLE PARTITION ROW [-o FORM]"
#define DELETE_ARGUMENTS "TABLE PARTITION ROW [--if-match ETAG]"

/* ---- writing ---- */

static int report_misuse(const struct tavola_error *error)
{
    fprintf(stderr, "tavola: %s\n", error->message);
    return COMMAND_MISUSED;
}

/* NAME=VALUE is text; NAME:TYPE=VALUE is of another type. The word is written into. */
static enum tavola_code add_property(struct tavola_entity *entity, char *word, struct tavola_error *error)
{
    char *equals = strchr(word, '='), *type = NULL;
    enum tavola_code code;

    if (!equals) {
        *error = (struct tavola_error){ .code = TAVOLA_INVALID_ARGUMENT };
        snprintf(error->message, sizeof(error->message),
            "\"%.200s\" is not a property: use NAME=VALUE or NAME:TYPE=VALUE", word);
        return error->code;
    }
    *equals = '\0';
    type = strchr(word, ':');
    if (type)
        *type++ = '\0';
    code = tavola_entity_set_text(entity, word, type, equals + 1, error);
    *equals = '=';
    return code;
}

static enum tavola_code read_words(
    char *const *words, int count, struct tavola_entity **out, struct tavola_error *error)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY(words[0], words[1]));

    for (int i = 2; i < count; i++)
        if (add_property(entity, words[i], error) != TAVOLA_OK) {
            tavola_entity_free(entity);
            return error->code;
        }
    *out = entity;
    return TAVOLA_OK;
}

static enum tavola_action action_of(const struct arguments *arguments)
{
    bool merges = arguments_value(arguments, "--merge") != NULL;

    if (arguments_value(arguments, "--if-match"))
        return merges ? TAVOLA_MERGE : TAVOLA_REPLACE;
    if (merges)
        return TAVOLA_INSERT_OR_MERGE;
    return arguments_value(arguments, "--insert") ? TAVOLA_INSERT : TAVOLA_INSERT_OR_REPLACE;
}

/* Writes one entity, ends it, and prints its ETag. */
static int put_entity(struct tavola *client, const struct arguments *arguments, struct tavola_entity *entity)
{
    const struct tavola_write_options options = { .if_match = arguments_value(arguments, "--if-match") };
    struct tavola_error error;
    int code = COMMAND_OK;

    if (tavola_write(client, arguments->words[0], action_of(arguments), entity, &options, &error) ==
        TAVOLA_OK)
        printf("%s\n", tavola_entity_etag(entity));
    else
        code = calls_failed(&error);
    tavola_entity_free(entity);
    return code;
}

/* Each line of standard input is an entity. */
static int put_lines(struct tavola *client, const struct arguments *arguments)
{
    struct tavola_entity *entity;
    struct tavola_error error;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    int code = COMMAND_OK;

    for (int number = 1; code == COMMAND_OK && (len = getline(&line, &capacity, stdin)) > 0; number++) {
        if (tavola_entity_from_json(line, (size_t)len, &entity, &error) != TAVOLA_OK) {
            fprintf(stderr, "tavola: line %d: %s\n", number, error.message);
            code = COMMAND_MISUSED;
        } else {
            code = put_entity(client, arguments, entity);
        }
    }
    free(line);
    return code;
}

static int put_given(struct tavola *client, const struct arguments *arguments)
{
    char *const *words = arguments->words + 1;
    struct tavola_entity *entity;
    struct tavola_error error;
    enum tavola_code code;

    if (arguments->count == 2 && strcmp(words[0], "-") == 0)
        return put_lines(client, arguments);
    if (arguments->count == 2)
        code = tavola_entity_from_json(words[0], strlen(words[0]), &entity, &error);
    else
        code = read_words(words, arguments->count - 1, &entity, &error);
    return code == TAVOLA_OK ? put_entity(client, arguments, entity) : report_misuse(&error);
}

/* Whether the argument is an entity as JSON, or "-", which means standard input. */
static bool is_json(const char *word)
{
    return word[0] == '{' || strcmp(word, "-") == 0;
}

static int run_put(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "entity put" };
    struct tavola *client;
    bool inserts;

    if (!arguments_read(PUT_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    inserts = arguments_value(&arguments, "--insert") != NULL;
    if (arguments.count < 2 ||
        (inserts && (arguments_value(&arguments, "--merge") || arguments_value(&arguments, "--if-match"))) ||
        (arguments.count == 2 && !is_json(arguments.words[1])))
        return command_misused("entity put", PUT_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, put_given(client, &arguments));
}

/* ---- one entity ---- */

static int get_entity(struct tavola *client, const struct arguments *arguments, struct output *out)
{
    struct tavola_key key = TAVOLA_KEY(arguments->words[1], arguments->words[2]);
    struct tavola_entity *entity;
    struct tavola_error error;
    bool printed;

    if (tavola_get(client, arguments->words[0], key, NULL, &entity, &error) != TAVOLA_OK) {
        arena_cleanup(&out->arena);
        return calls_failed(&error);
    }
    printed = output_entity(out, entity);
    printed = output_close(out) && printed;
    tavola_entity_free(entity);
    return printed ? COMMAND_OK : COMMAND_FAILED;
}

static int run_get(const struct client_config *config, int argc, char **argv)
{
    static struct output out;
    struct arguments arguments = { .command = "entity get" };
    struct tavola *client;

    if (!arguments_read(GET_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 3)
        return command_misused("entity get", GET_ARGUMENTS);
    if (!output_open(&out, &arguments))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, get_entity(client, &arguments, &out));
}

static int run_delete(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "entity delete" };
    struct tavola_write_options options;
    struct tavola_error error;
    struct tavola *client;
    int code = COMMAND_OK;

    if (!arguments_read(DELETE_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 3)
        return command_misused("entity delete", DELETE_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    options = (struct tavola_write_options){ .if_match = arguments_value(&arguments, "--if-match") };
    if (tavola_delete(client, arguments.words[0], TAVOLA_KEY(arguments.words[1], arguments.words[2]),
            &options, &error) != TAVOLA_OK)
        code = calls_failed(&error);
    return calls_close(client, code);
}

/* ---- the table of commands ---- */

static void print_forms(FILE *out)
{
    fprintf(out,
        "\n"
        "An entity as words, each property as text or with its type (int32, int64, double, boolean, "
        "datetime, guid, binary),\n"
        "or as JSON; - reads standard input, an entity on each line. It is inserted or replaced; --insert "
        "fails if it is there,\n"
        "--merge leaves its other properties as they are, --if-match writes only if it still has the ETag (* "
        ": if it is there).\n"
        "The new ETag is printed. tavola.expires=TIME, in JSON the member \"tavola.expires\", is when the "
        "entity expires:\n"
        "a write without it makes an entity that does not expire; --merge keeps the time.\n"
        "\n"
        "  tavola entity put people sales 0001 Name=Ada Age:int32=36\n"
        "  tavola entity put people guests 0001 Name=Bob tavola.expires=2026-12-31T12:00:00Z\n"
        "  tavola entity put people '{\"PartitionKey\": \"sales\", \"RowKey\": \"0002\", \"Age\": 41,\n"
        "      \"Id@odata.type\": \"Edm.Int64\", \"Id\": \"9007199254740993\"}'\n");
}

static const struct command commands[] = {
    { .words = "entity put",
        .arguments = PUT_ARGUMENTS,
        .help = "write an entity",
        .print_more = print_forms,
        .run = run_put },
    { .words = "entity get",
        .arguments = GET_ARGUMENTS,
        .help = "print an entity; FORM is jsonl, json, csv or table",
        .run = run_get },
    { .words = "entity delete",
        .arguments = DELETE_ARGUMENTS,
        .help = "delete an entity; with --if-match only if it still has the ETag",
        .run = run_delete },
};

const struct command_group commands_entity = { "Entities", commands, ARRAY_LEN(commands) };
