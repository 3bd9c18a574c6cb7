/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_api.c - calls any method of the API. Its messages are JSON, by the schema that reflection serves.
 */
#include "client/command.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/json_read.h"
#include "api/json/json_write.h"
#include "api/json/schema.h"
#include "client/api_comments.h"
#include "client/calls.h"
#include "client/interrupt.h"
#include "client/output.h"
#include "domain/limits.h"

#define FIELDS_ARGUMENTS "METHOD | TYPE"
#define API_ARGUMENTS "METHOD [JSON | -] [--help] [--timeout SECONDS] [--count N]"

enum {
    INDENT = 2,
    COMMENT_INDENT = 6,
    VALUE_INDENT = 35,
    MAX_COMMENT_WIDTH = 110, /* columns */
    /* The bound of one call's requests. All requests are sent before the first reply is read. */
    MAX_REQUESTS = 100,
    MS_PER_SECOND = 1000,
    UNARY_TIMEOUT_MS = 30000,
    NO_TIMEOUT_MS = INT32_MAX, /* three weeks: no time limit in practice */
    MAX_METHODS = 256,
};

static const struct str own_package = STR_LITERAL("/tavola.v1.");

/* ---- methods by name ---- */

/*
 * Whether the name means the method. "GetEntity", "EntityService/GetEntity" and "EntityService.GetEntity" are
 * the ends of a path.
 */
static bool is_named(const struct schema_method *method, const char *name)
{
    size_t len = strlen(name);
    const char *end = method->path.data + method->path.len - len;

    if (len == 0 || len >= method->path.len || (end[-1] != '/' && end[-1] != '.'))
        return *name == '/' && str_equal(method->path, str_of(name));
    for (size_t i = 0; i < len; i++)
        if (end[i] != name[i] && !(end[i] == '/' && name[i] == '.'))
            return false;
    return true;
}

static void complain_unknown(const char *name, const struct schema_method *methods, size_t count)
{
    const char *names[MAX_METHODS], *nearest;

    for (size_t i = 0; i < count && i < MAX_METHODS; i++)
        names[i] = strrchr(methods[i].path.data, '/') + 1;
    nearest = config_nearest(name, names, count < MAX_METHODS ? count : MAX_METHODS);
    fprintf(stderr, "tavola api: there is no method \"%s\"; ", name);
    fprintf(stderr, nearest ? "did you mean \"%s\"?\n" : "tavola api list shows them all\n", nearest);
}

/* Find a method. NULL: there is none, or more than one has the name; the cause is on standard error. */
static const struct schema_method *find_method(const char *name)
{
    const struct schema_method *found = NULL, *methods;
    size_t count;

    methods = schema_methods(schema_of_api(), &count);
    for (size_t i = 0; i < count; i++) {
        if (!is_named(&methods[i], name))
            continue;
        if (found) {
            fprintf(stderr, "tavola api: \"%s\" is %.*s or %.*s\n", name, STR_ARG(str_from(found->path, 1)),
                STR_ARG(str_from(methods[i].path, 1)));
            return NULL;
        }
        found = &methods[i];
    }
    if (!found)
        complain_unknown(name, methods, count);
    return found;
}

/* The path without the package, if the package is tavola.v1. */
static struct str short_path(const struct schema_method *method)
{
    return str_starts_with(method->path, own_package) ? str_from(method->path, own_package.len)
                                                      : str_from(method->path, 1);
}

static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "api list" };
    const struct schema_method *methods;
    size_t count;

    (void)config;
    if (!command_arguments("", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    methods = schema_methods(schema_of_api(), &count);
    for (size_t i = 0; i < count; i++)
        printf("%.*s%s\n", STR_ARG(short_path(&methods[i])),
            methods[i].streams_requests  ? "  (many requests, many replies)"
            : methods[i].streams_replies ? "  (many replies)"
                                         : "");
    return COMMAND_OK;
}

/* ---- fields ---- */

static struct str type_name(const struct schema_field *field, struct arena *arena)
{
    static const char *const names[SCHEMA_TYPES] = { "", "double", "float", "int64", "uint64", "int32",
        "fixed64", "fixed32", "bool", "string", "", "", "bytes", "uint32", "", "sfixed32", "sfixed64",
        "sint32", "sint64" };

    if (schema_is_map(field))
        return arena_format(arena, "map of %.*s", STR_ARG(type_name(schema_map_value(field), arena)));
    return field->of_type.len > 0 ? field->of_type : str_of(names[field->type]);
}

/* The form of a message that JSON has as text; NULL: the message is a JSON object. */
static const char *text_form(const struct schema_message *message)
{
    switch (message->form) {
    case SCHEMA_TIMESTAMP:
        return "text such as \"2026-11-22T18:30:00.5Z\"";
    case SCHEMA_DURATION:
        return "text such as \"1.5s\"";
    case SCHEMA_FIELD_MASK:
        return "text, names of fields with commas between them: \"changeFeed,sampleQueries\"";
    case SCHEMA_ANY:
        return "an object with \"@type\" and the fields of that type";
    case SCHEMA_PLAIN:
    case SCHEMA_MAP_ENTRY:
        break;
    }
    return NULL;
}

static void print_wrapped(struct str text, int indent)
{
    size_t width = output_width();

    if (width > MAX_COMMENT_WIDTH)
        width = MAX_COMMENT_WIDTH;
    if ((size_t)indent + COMMENT_INDENT > width) /* a narrow terminal */
        indent = COMMENT_INDENT;
    api_comments_print(text, indent, (int)width, stdout);
}

static void print_comment(struct str scope, struct str member, int indent, struct arena *arena)
{
    print_wrapped(api_comments_find(scope, member, arena), indent);
}

static void print_values(const struct schema_enum *values, struct arena *arena)
{
    for (size_t i = 0; i < values->count; i++) {
        printf("  %-28s   %.*s\n", "", STR_ARG(values->values[i].name));
        print_comment(values->name, values->values[i].name, VALUE_INDENT, arena);
    }
}

/* Whether the comment of a message only names its method: "See ScanEntities." */
static bool says_whose_it_is(const struct schema_message *message, struct arena *arena)
{
    struct str comment = api_comments_find(message->name, STR_EMPTY, arena);

    return str_starts_with(comment, STR_LITERAL("See ")) && !memchr(comment.data + 4, ' ', comment.len - 4);
}

static void print_message(const struct schema_message *message, struct arena *arena)
{
    printf("%.*s\n", STR_ARG(message->name));
    if (!says_whose_it_is(message, arena))
        print_comment(message->name, STR_EMPTY, INDENT, arena);
    if (text_form(message)) {
        printf("  %s\n", text_form(message));
        return;
    }
    for (size_t i = 0; i < message->count; i++) {
        const struct schema_field *field = &message->fields[i];

        printf("  %-28.*s %s%.*s%s\n", STR_ARG(field->json_name),
            field->is_repeated && !schema_is_map(field) ? "list of " : "", STR_ARG(type_name(field, arena)),
            field->oneof >= 0 ? " (one of a choice)" : "");
        if (field->message && text_form(field->message))
            print_wrapped(arena_format(arena, "in JSON: %s", text_form(field->message)), COMMENT_INDENT);
        print_comment(message->name, field->name, COMMENT_INDENT, arena);
        if (field->values)
            print_values(field->values, arena);
    }
}

/* The method with what it does, its request and its reply. */
static void print_method(const struct schema_method *method, struct arena *arena)
{
    struct str path = str_from(method->path, 1), service = str_take(&path, '/');

    printf("%.*s.%.*s\n", STR_ARG(service), STR_ARG(path));
    print_comment(service, path, INDENT, arena);
    printf("\n");
    print_message(method->input, arena);
    printf("\n");
    print_message(method->output, arena);
}

static int run_fields(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "api fields" };
    const struct schema_message *message;
    const struct schema_method *method = NULL;
    const char *name;
    struct arena arena;

    (void)config;
    if (!command_arguments(FIELDS_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    name = arguments.words[0];
    arena_init(&arena);
    message = schema_find_message(schema_of_api(), str_of(name));
    if (!message)
        message = schema_find_message(schema_of_api(), arena_format(&arena, "tavola.v1.%s", name));
    if (!message)
        message = schema_find_message(schema_of_api(), arena_format(&arena, "google.protobuf.%s", name));
    if (message)
        print_message(message, &arena);
    else
        method = find_method(name);
    if (method)
        print_method(method, &arena);
    arena_cleanup(&arena);
    return message || method ? COMMAND_OK : COMMAND_MISUSED;
}

/* ---- calls ---- */

struct api_call {
    const struct schema_method *method;
    const char *json;   /* "-": read standard input */
    int64_t timeout_ms; /* 0: no time limit; negative: not given */
    uint64_t max_replies;
    bool reads_input, asks_help;
    struct tavola *client;
    struct arena arena; /* of requests and replies */
};

/* Read an option's number. If it was not given, *out stays as it is. false: the cause is on standard error. */
static bool read_number(const struct arguments *arguments, const char *name, double *out)
{
    const char *value = arguments_value(arguments, name);
    char *end = NULL;
    double number;

    if (!value)
        return true;
    number = strtod(value, &end);
    if (end == value || *end || !(number >= 0) || number > 1e9) {
        fprintf(stderr, "tavola api: %s takes a number from 0 to 1000000000, not \"%s\"\n", name, value);
        return false;
    }
    *out = number;
    return true;
}

/* false: the cause is on standard error. */
static bool take_arguments(struct api_call *call, int argc, char **argv, const char **method)
{
    struct arguments arguments = { .command = "api" };
    double seconds = -1, count = -1;

    if (!arguments_read(API_ARGUMENTS, argc, argv, &arguments) ||
        !read_number(&arguments, "--timeout", &seconds) || !read_number(&arguments, "--count", &count))
        return false;
    if (arguments.count < 1 || arguments.count > 2) {
        (void)command_misused("api", API_ARGUMENTS);
        return false;
    }
    *method = arguments.words[0];
    call->json = arguments.count == 2 ? arguments.words[1] : NULL;
    call->asks_help = arguments_value(&arguments, "--help") != NULL;
    if (seconds >= 0)
        call->timeout_ms = (int64_t)(seconds * MS_PER_SECOND);
    if (count >= 0)
        call->max_replies = (uint64_t)count;
    return true;
}

/*
 * Turn JSON into a request. line: of standard input; 0: the JSON is an argument. false: the cause is on
 * standard error.
 */
static bool encode(struct api_call *call, struct str json, int line, struct buf *out)
{
    struct error err = { 0 };

    buf_init(out, &call->arena);
    if (json_read_message(schema_of_api(), call->method->input, json, out, &err) == STATUS_OK)
        return true;
    if (line > 0)
        fprintf(stderr, "tavola api: request %d: %s (each line is one request; nothing was sent)\n", line,
            err.message);
    else
        fprintf(stderr, "tavola api: %s\n", err.message);
    return false;
}

static bool print_reply(struct api_call *call, struct str bytes, int indent)
{
    struct error err = { 0 };
    struct buf text;

    buf_init(&text, &call->arena);
    if (json_write_message(schema_of_api(), call->method->output, bytes, indent, &text, &err) != STATUS_OK) {
        fprintf(stderr, "tavola api: %s\n", err.message);
        return false;
    }
    printf("%.*s\n", STR_ARG(buf_str(&text)));
    (void)fflush(stdout);
    return true;
}

/* Print the message of a failure, and its metadata, one per line: "  table: people". */
static int print_failure(const struct tavola_error *error)
{
    (void)calls_failed(error);
    if (error->field[0])
        fprintf(stderr, "  field: %s\n", error->field);
    for (size_t i = 0; i < error->metadata_count; i++)
        fprintf(stderr, "  %s: %s\n", error->metadata[i].key, error->metadata[i].value);
    return COMMAND_FAILED;
}

static int call_once(struct api_call *call, struct str json)
{
    struct tavola_error error;
    struct buf request;
    size_t size;
    char *reply;
    bool printed;

    if (!encode(call, json, 0, &request))
        return COMMAND_MISUSED;
    if (tavola_call(call->client,
            &(struct tavola_call){ .method = call->method->path.data,
                .request = request.data,
                .size = request.len,
                .timeout_ms = call->timeout_ms == 0 ? NO_TIMEOUT_MS : call->timeout_ms },
            &reply, &size, &error) != TAVOLA_OK)
        return print_failure(&error);
    printed = print_reply(call, str_of_bytes(reply, size), INDENT);
    tavola_free(reply);
    return printed ? COMMAND_OK : COMMAND_FAILED;
}

/* The requests of a call. */
struct requests {
    struct buf items[MAX_REQUESTS];
    int count;
};

/*
 * Read a request from each line of the text. All are read before the first one is sent. false: one of them is
 * wrong.
 */
static bool read_lines(struct api_call *call, struct str text, struct requests *out)
{
    for (out->count = 0; text.len > 0; out->count++) {
        if (out->count == MAX_REQUESTS) {
            fprintf(stderr,
                "tavola api: at most %d requests in a call, nothing was sent; a request may have several "
                "entities: {\"table\": ..., \"entities\": [...]}\n",
                MAX_REQUESTS);
            return false;
        }
        if (!encode(
                call, str_take(&text, '\n'), call->reads_input ? out->count + 1 : 0, &out->items[out->count]))
            return false;
    }
    return true;
}

static int call_stream(struct api_call *call, struct str json)
{
    struct tavola_stream *stream;
    struct requests requests;
    struct tavola_error error;
    const void *reply;
    size_t size;
    bool readable = true;
    uint64_t left = call->max_replies;

    if (!read_lines(call, json, &requests))
        return COMMAND_MISUSED;
    if (tavola_stream_open(call->client, call->method->path.data, call->timeout_ms > 0 ? call->timeout_ms : 0,
            &stream, &error) != TAVOLA_OK)
        return print_failure(&error);
    interrupt_on_closed_output();
    for (int i = 0;
         i < requests.count && tavola_stream_send(stream, requests.items[i].data, requests.items[i].len); i++)
        continue;
    tavola_stream_half_close(stream);
    while (left > 0 && readable && tavola_stream_receive(stream, &reply, &size)) {
        readable = print_reply(call, str_of_bytes(reply, size), 0);
        arena_cleanup(&call->arena);
        left--;
    }
    if (tavola_stream_end(stream, &error) != TAVOLA_OK && left > 0)
        return print_failure(&error);
    return readable ? COMMAND_OK : COMMAND_FAILED;
}

/* Read all of standard input. false: it is larger than a request may be. */
static bool read_input(struct buf *out)
{
    enum { PIECE = 65536, MAX_BYTES = 4 * LIMIT_REQUEST_BYTES };
    size_t got;

    buf_init(out, NULL);
    while ((got = fread(buf_reserve(out, PIECE), 1, PIECE, stdin)) > 0 && out->len <= MAX_BYTES)
        out->len += got;
    return out->len <= MAX_BYTES;
}

static int make_call(struct api_call *call)
{
    bool streams = call->method->streams_requests || call->method->streams_replies;
    struct str json = call->json ? str_of(call->json) : STR_LITERAL("{}");
    struct buf input = { 0 };
    int code = COMMAND_MISUSED;

    call->reads_input = str_equal(json, STR_LITERAL("-"));
    if (!call->reads_input)
        return (streams ? call_stream : call_once)(call, json);
    if (read_input(&input))
        code = (streams ? call_stream : call_once)(call, buf_str(&input));
    else
        fprintf(stderr, "tavola api: standard input has more than %d bytes\n", 4 * LIMIT_REQUEST_BYTES);
    buf_cleanup(&input);
    return code;
}

static int run_api(const struct client_config *config, int argc, char **argv)
{
    struct api_call call = { .timeout_ms = -1, .max_replies = UINT64_MAX };
    const char *name;
    int code;

    if (!take_arguments(&call, argc, argv, &name))
        return COMMAND_MISUSED;
    call.method = find_method(name);
    if (!call.method)
        return COMMAND_MISUSED;
    if (call.asks_help) {
        arena_init(&call.arena);
        print_method(call.method, &call.arena);
        arena_cleanup(&call.arena);
        return COMMAND_OK;
    }
    call.client = calls_open(config);
    if (!call.client)
        return COMMAND_FAILED;
    arena_init(&call.arena);
    code = calls_close(call.client, make_call(&call));
    arena_cleanup(&call.arena);
    return code;
}

static void print_examples(FILE *out)
{
    fprintf(out,
        "\n"
        "METHOD is a name such as GetEntity, EntityService/GetEntity or EntityService.GetEntity; tavola api "
        "METHOD --help says what\n"
        "it does, and shows its messages. JSON is the request, {} when it is left out; - reads standard "
        "input: one request, or, "
        "for a method of many\n"
        "requests, one on each line, at most %d. A reply is printed as JSON; many replies are printed one on "
        "each line, N of them at\n"
        "most with --count. Fields that are empty or 0 are left out of replies, binary values are base64, "
        "64-bit integers are\n"
        "text. A call takes %d seconds at most unless --timeout says otherwise (0: as long as it takes); a "
        "stream has no end.\n"
        "\n"
        "  tavola api CreateTable '{\"name\": \"people\"}'\n"
        "  tavola api InsertEntity '{\"table\": \"people\", \"entity\": {\"partitionKey\": \"sales\", "
        "\"rowKey\": \"1\",\n"
        "      \"properties\": {\"Age\": {\"int32Value\": 36}}}}'\n"
        "  tavola api QueryEntities '{\"query\": {\"table\": \"people\", \"filter\": \"Age ge 36\"}}'\n"
        "  jq -sc '{table: \"people\", entities: .}' entities.jsonl | tavola api ImportEntities -\n",
        MAX_REQUESTS, UNARY_TIMEOUT_MS / MS_PER_SECOND);
}

static const struct command commands[] = {
    {
        .words = "api list",
        .arguments = "",
        .help = "the methods of the API",
        .run = run_list,
    },
    {
        .words = "api fields",
        .arguments = FIELDS_ARGUMENTS,
        .help = "what a method does, and the fields of its request and reply; or those of a message",
        .run = run_fields,
    },
    {
        .words = "api",
        .arguments = API_ARGUMENTS,
        .help = "call a method with its request as JSON",
        .print_more = print_examples,
        .run = run_api,
    },
};

const struct command_group commands_api = { "The API", commands, ARRAY_LEN(commands) };
