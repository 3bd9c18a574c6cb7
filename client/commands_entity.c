/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_entity.c - tables and entities from the shell. Entities are JSON in the form of
 * api/json/entity_json.h, or words.
 */
#include "client/command.h"

#include <stdlib.h>
#include <string.h>

#include "api/codec.h"
#include "api/codec_entity.h"
#include "api/json/entity_json.h"
#include "api/json/schema.h"
#include "base/digits.h"
#include "base/wire.h"
#include "client/api_client.h"
#include "domain/limits.h"
#include "domain/properties/property.h"
#include "domain/ticks.h"
#include "tavola/v1/entity_service.pb-c.h"
#include "tavola/v1/table_service.pb-c.h"

#define PUT_ARGUMENTS                                                                                        \
    "TABLE (JSON | - | PARTITION ROW [NAME[:TYPE]=VALUE]...) [--insert | --merge] [--if-match ETAG]"
#define GET_ARGUMENTS "TABLE PARTITION ROW"
#define DELETE_ARGUMENTS "TABLE PARTITION ROW [--if-match ETAG]"
#define ENTITY_SERVICE "/tavola.v1.EntityService/"

enum { MAX_WORDS = LIMIT_PROPERTIES + 8 };

/* ---- arguments: words, and options with a value or without ---- */

struct options {
    bool insert, merge;
    const char *if_match;
    char *words[MAX_WORDS];
    int count;
};

/* Read the options of a command. false: an unknown option, an option without its value, or too many words. */
static bool take_options(struct options *out, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
        bool *flag;
    } known[] = { { "--insert", NULL, &out->insert }, { "--merge", NULL, &out->merge },
        { "--if-match", &out->if_match, NULL } };

    for (int i = 0; i < argc; i++) {
        size_t k = 0;

        while (k < ARRAY_LEN(known) && strcmp(argv[i], known[k].name) != 0)
            k++;
        if (k == ARRAY_LEN(known)) {
            if (out->count == MAX_WORDS || strncmp(argv[i], "--", 2) == 0)
                return false;
            out->words[out->count++] = argv[i];
        } else if (known[k].flag) {
            *known[k].flag = true;
        } else if (++i < argc) {
            *known[k].value = argv[i];
        } else {
            return false;
        }
    }
    return true;
}

/* ---- calls ---- */

/* Append a field of the request by its name: bytes, text or a message. */
static void add_field(struct buf *request, const char *method, const char *field, struct str value)
{
    const struct schema_method *found = schema_find_method(schema_of_api(), str_of(method));

    wire_write_bytes(request, schema_find_field(found->input, str_of(field))->number, value);
}

static struct str pack(const ProtobufCMessage *message, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    codec_pack(&out, 0, message);
    return buf_str(&out);
}

static int report_misuse(const struct error *err)
{
    fprintf(stderr, "tavola: %s\n", err->message);
    return COMMAND_MISUSED;
}

/* ---- writing ---- */

/* Read a property: NAME=VALUE is a string; NAME:TYPE=VALUE has another type. */
static enum status read_word(const char *word, struct arena *arena, struct str *slice, struct error *err)
{
    const char *equals = strchr(word, '=');
    struct str name = str_of_bytes(word, equals ? (size_t)(equals - word) : 0), type = STR_LITERAL("string");
    const char *colon = equals ? memchr(word, ':', name.len) : NULL;

    if (!equals)
        return error_set(err, STATUS_INVALID, "\"%s\" is no property: NAME=VALUE or NAME:TYPE=VALUE", word);
    if (colon) {
        type = str_of_bytes(colon + 1, (size_t)(equals - colon - 1));
        name.len = (size_t)(colon - word);
    }
    return entity_json_read_text(name, type, str_of(equals + 1), arena, slice, err);
}

static enum status read_words(
    char *const *words, int count, struct arena *arena, struct entity *out, struct error *err)
{
    struct str *slices = ARENA_ARRAY(arena, struct str, (size_t)count);
    size_t properties = 0;

    *out = (struct entity){ .expires = 0 };
    TRY(entity_key_parse(str_of(words[0]), str_of(words[1]), &out->key, err));
    for (int i = 2; i < count; i++)
        TRY(read_word(words[i], arena, &slices[properties++], err));
    return property_list_parse(slices, properties, &out->key, arena, &out->properties, err);
}

static const char *method_of(const struct options *options)
{
    if (options->if_match)
        return options->merge ? ENTITY_SERVICE "MergeEntity" : ENTITY_SERVICE "ReplaceEntity";
    if (options->merge)
        return ENTITY_SERVICE "InsertOrMergeEntity";
    return options->insert ? ENTITY_SERVICE "InsertEntity" : ENTITY_SERVICE "InsertOrReplaceEntity";
}

static void add_precondition(
    struct buf *request, const char *method, const char *if_match, struct arena *arena)
{
    Tavola__V1__Precondition precondition = TAVOLA__V1__PRECONDITION__INIT;

    precondition.if_match = codec_bytes(str_of(if_match));
    add_field(request, method, "precondition", pack(&precondition.base, arena));
}

/* Write one entity and print its ETag. */
static bool put_entity(struct api_client *client, const struct options *options, const struct entity *entity)
{
    const char *method = method_of(options);
    const Tavola__V1__Entity *message =
        codec_entity_message(&entity->key, entity->properties, entity->expires, &client->arena);
    /* The replies of all writes have the same form. */
    const Tavola__V1__InsertOrReplaceEntityResponse *reply;
    struct buf request;

    buf_init(&request, &client->arena);
    add_field(&request, method, "table", str_of(options->words[0]));
    add_field(&request, method, "entity", pack(&message->base, &client->arena));
    if (options->if_match)
        add_precondition(&request, method, options->if_match, &client->arena);
    reply = api_client_call_bytes(
        client, method, buf_str(&request), &tavola__v1__insert_or_replace_entity_response__descriptor);
    if (!reply)
        return false;
    printf("%.*s\n", STR_ARG(codec_str(reply->result->etag)));
    return true;
}

/* Write the entity of each line of standard input. */
static int put_lines(struct api_client *client, const struct options *options)
{
    struct error err = { 0 };
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    int code = COMMAND_OK;

    for (int number = 1; code == COMMAND_OK && (len = getline(&line, &capacity, stdin)) > 0; number++) {
        struct entity entity;

        if (entity_json_read(str_of_bytes(line, (size_t)len), &client->arena, &entity, &err) != STATUS_OK) {
            fprintf(stderr, "tavola: line %d: %s\n", number, err.message);
            code = COMMAND_MISUSED;
        } else if (!put_entity(client, options, &entity)) {
            code = COMMAND_FAILED;
        }
        arena_cleanup(&client->arena);
    }
    free(line);
    return code;
}

static int put_given(struct api_client *client, const struct options *options)
{
    struct error err = { 0 };
    struct entity entity;
    enum status status;

    if (options->count == 2 && strcmp(options->words[1], "-") == 0)
        return put_lines(client, options);
    if (options->count == 2)
        status = entity_json_read(str_of(options->words[1]), &client->arena, &entity, &err);
    else
        status = read_words(&options->words[1], options->count - 1, &client->arena, &entity, &err);
    if (status != STATUS_OK)
        return report_misuse(&err);
    return put_entity(client, options, &entity) ? COMMAND_OK : COMMAND_FAILED;
}

/* Whether the argument is an entity as JSON, or "-", which means standard input. */
static bool is_json(const char *word)
{
    return word[0] == '{' || strcmp(word, "-") == 0;
}

static int run_put(const struct client_config *config, int argc, char **argv)
{
    struct options options = { .count = 0 };
    struct api_client client;

    if (!take_options(&options, argc, argv) || options.count < 2 ||
        (options.insert && (options.merge || options.if_match)) ||
        (options.count == 2 && !is_json(options.words[1])))
        return command_misused("entity put", PUT_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, put_given(&client, &options));
}

/* ---- reading ---- */

/* Print an entity of a reply. false: it cannot be read. */
static bool print_entity(const Tavola__V1__Entity *message, struct arena *arena)
{
    struct error err = { 0 };
    struct entity entity;
    struct buf line;

    if (codec_entity_decode(message, "entity", arena, &entity, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    if (message->timestamp &&
        !ticks_from_timestamp(message->timestamp->seconds, message->timestamp->nanos, &entity.timestamp))
        entity.timestamp = 0;
    buf_init(&line, arena);
    entity_json_write(&entity, codec_str(message->etag), &line);
    printf("%.*s\n", STR_ARG(buf_str(&line)));
    return true;
}

static void add_key(struct buf *request, const char *method, char *const *words, struct arena *arena)
{
    Tavola__V1__EntityKey key = TAVOLA__V1__ENTITY_KEY__INIT;

    key.partition_key = codec_bytes(str_of(words[1]));
    key.row_key = codec_bytes(str_of(words[2]));
    add_field(request, method, "table", str_of(words[0]));
    add_field(request, method, "key", pack(&key.base, arena));
}

static bool get(struct api_client *client, const struct options *options)
{
    const Tavola__V1__GetEntityResponse *reply;
    struct buf request;

    buf_init(&request, &client->arena);
    add_key(&request, ENTITY_SERVICE "GetEntity", options->words, &client->arena);
    reply = api_client_call_bytes(
        client, ENTITY_SERVICE "GetEntity", buf_str(&request), &tavola__v1__get_entity_response__descriptor);
    return reply && print_entity(reply->entity, &client->arena);
}

static int run_get(const struct client_config *config, int argc, char **argv)
{
    struct options options = { .count = 0 };
    struct api_client client;

    if (!take_options(&options, argc, argv) || options.count != 3 || argc != 3)
        return command_misused("entity get", GET_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, get(&client, &options) ? COMMAND_OK : COMMAND_FAILED);
}

static bool delete_one(struct api_client *client, const struct options *options)
{
    struct buf request;

    buf_init(&request, &client->arena);
    add_key(&request, ENTITY_SERVICE "DeleteEntity", options->words, &client->arena);
    add_precondition(
        &request, ENTITY_SERVICE "DeleteEntity", options->if_match ? options->if_match : "*", &client->arena);
    return api_client_call_bytes(client, ENTITY_SERVICE "DeleteEntity", buf_str(&request),
               &tavola__v1__delete_entity_response__descriptor) != NULL;
}

static int run_delete(const struct client_config *config, int argc, char **argv)
{
    struct options options = { .count = 0 };
    struct api_client client;

    if (!take_options(&options, argc, argv) || options.count != 3 || argc != (options.if_match ? 5 : 3))
        return command_misused("entity delete", DELETE_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, delete_one(&client, &options) ? COMMAND_OK : COMMAND_FAILED);
}

/* ---- tables ---- */

static bool create_table(struct api_client *client, const char *name)
{
    Tavola__V1__CreateTableRequest request = TAVOLA__V1__CREATE_TABLE_REQUEST__INIT;

    request.name = codec_bytes(str_of(name));
    return api_client_call(client, "/tavola.v1.TableService/CreateTable", &request.base,
               &tavola__v1__create_table_response__descriptor) != NULL;
}

static bool delete_table(struct api_client *client, const char *name)
{
    Tavola__V1__DeleteTableRequest request = TAVOLA__V1__DELETE_TABLE_REQUEST__INIT;

    request.name = codec_bytes(str_of(name));
    return api_client_call(client, "/tavola.v1.TableService/DeleteTable", &request.base,
               &tavola__v1__delete_table_response__descriptor) != NULL;
}

static bool print_tables(struct api_client *client)
{
    struct str token = STR_EMPTY;

    do {
        Tavola__V1__ListTablesRequest request = TAVOLA__V1__LIST_TABLES_REQUEST__INIT;
        const Tavola__V1__ListTablesResponse *page;

        request.page_token = codec_bytes(token);
        page = api_client_call(client, "/tavola.v1.TableService/ListTables", &request.base,
            &tavola__v1__list_tables_response__descriptor);
        if (!page)
            return false;
        for (size_t i = 0; i < page->n_tables; i++)
            printf("%.*s\n", STR_ARG(codec_str(page->tables[i]->name)));
        token = codec_str(page->next_page_token);
    } while (token.len > 0);
    return true;
}

static int run_table(const struct client_config *config, int argc, char **argv, const char *words,
    bool (*change)(struct api_client *client, const char *name))
{
    struct api_client client;

    if (argc != 1)
        return command_misused(words, "NAME");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, change(&client, argv[0]) ? COMMAND_OK : COMMAND_FAILED);
}

static int run_create(const struct client_config *config, int argc, char **argv)
{
    return run_table(config, argc, argv, "table create", create_table);
}

static int run_drop(const struct client_config *config, int argc, char **argv)
{
    return run_table(config, argc, argv, "table delete", delete_table);
}

static int run_tables(const struct client_config *config, int argc, char **argv)
{
    struct api_client client;

    (void)argv;
    if (argc != 0)
        return command_misused("table list", "");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, print_tables(&client) ? COMMAND_OK : COMMAND_FAILED);
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
        "The new ETag is printed.\n"
        "\n"
        "  tavola entity put people sales 0001 Name=Ada Age:int32=36\n"
        "  tavola entity put people '{\"PartitionKey\": \"sales\", \"RowKey\": \"0002\", \"Age\": 41,\n"
        "      \"Id@odata.type\": \"Edm.Int64\", \"Id\": \"9007199254740993\"}'\n");
}

static const struct command commands[] = {
    { .words = "table create", .arguments = "NAME", .help = "create a table", .run = run_create },
    { .words = "table list", .arguments = "", .help = "the names of the tables", .run = run_tables },
    { .words = "table delete",
        .arguments = "NAME",
        .help = "delete a table with its entities and its indexes",
        .run = run_drop },
    { .words = "entity put",
        .arguments = PUT_ARGUMENTS,
        .help = "write an entity",
        .print_more = print_forms,
        .run = run_put },
    { .words = "entity get", .arguments = GET_ARGUMENTS, .help = "print an entity as JSON", .run = run_get },
    { .words = "entity delete",
        .arguments = DELETE_ARGUMENTS,
        .help = "delete an entity, whatever it is or only if it still has the ETag",
        .run = run_delete },
};

const struct command_group commands_entity = { "Tables and entities", commands, ARRAY_LEN(commands) };
