/*
 * commands_watch.c - following a table's change feed. Messages are read by hand, field by field.
 */
#include "client/command.h"

#include <string.h>

#include "base/arena.h"
#include "base/wire.h"
#include "client/connect.h"

#define WATCH_PATH "/tavola.v1.EntityService/WatchEntities"
#define WATCH_ARGUMENTS "TABLE [--filter TEXT] [--token TOKEN] [--tokens]"

enum request_field { REQUEST_TABLE = 1, REQUEST_FILTER = 2, REQUEST_TOKEN = 3 };
enum message_field { MESSAGE_CHANGES = 1, MESSAGE_TOKEN = 2 };
enum change_field { CHANGE_ENTITY = 1, CHANGE_DELETED = 2, CHANGE_INSERTED = 3 };
enum entity_field { ENTITY_PARTITION_KEY = 1, ENTITY_ROW_KEY = 2, ENTITY_ETAG = 4 };

enum { TOKEN_BYTES = 4096 };

struct watch {
    const char *table, *filter, *token;
    bool shows_tokens;
    char last_token[TOKEN_BYTES + 1]; /* of the last message; empty: none came */
};

static bool take_arguments(struct watch *watch, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char **value = NULL;

        if (strcmp(argv[i], "--tokens") == 0)
            watch->shows_tokens = true;
        else if (strcmp(argv[i], "--filter") == 0)
            value = &watch->filter;
        else if (strcmp(argv[i], "--token") == 0)
            value = &watch->token;
        else if (!watch->table)
            watch->table = argv[i];
        else
            return false;
        if (value && ++i == argc)
            return false;
        if (value)
            *value = argv[i];
    }
    return watch->table != NULL;
}

static void print_entity(const char *what, struct str entity)
{
    struct str partition = STR_EMPTY, row = STR_EMPTY, etag = STR_EMPTY;
    struct wire_field field;

    while (wire_read_field(&entity, &field) == WIRE_FIELD) {
        if (field.number == ENTITY_PARTITION_KEY)
            partition = field.bytes;
        else if (field.number == ENTITY_ROW_KEY)
            row = field.bytes;
        else if (field.number == ENTITY_ETAG)
            etag = field.bytes;
    }
    printf("%-8s\t%.*s\t%.*s\t%.*s\n", what, STR_ARG(partition), STR_ARG(row), STR_ARG(etag));
}

static void print_change(struct str change)
{
    const char *what = "updated";
    struct str entity = STR_EMPTY;
    struct wire_field field;

    while (wire_read_field(&change, &field) == WIRE_FIELD) {
        if (field.number == CHANGE_ENTITY)
            entity = field.bytes;
        else if (field.number == CHANGE_DELETED && field.scalar)
            what = "deleted";
        else if (field.number == CHANGE_INSERTED && field.scalar)
            what = "inserted";
    }
    print_entity(what, entity);
}

static void take_message(struct watch *watch, struct str message)
{
    struct wire_field field;

    while (wire_read_field(&message, &field) == WIRE_FIELD) {
        if (field.number == MESSAGE_CHANGES)
            print_change(field.bytes);
        else if (field.number == MESSAGE_TOKEN && field.bytes.len <= TOKEN_BYTES)
            snprintf(watch->last_token, sizeof(watch->last_token), "%.*s", STR_ARG(field.bytes));
    }
    if (watch->shows_tokens)
        printf("token\t%s\n", watch->last_token);
    fflush(stdout);
}

static struct str request_of(const struct watch *watch, struct arena *arena)
{
    struct buf request;

    buf_init(&request, arena);
    wire_write_bytes(&request, REQUEST_TABLE, str_of(watch->table));
    if (watch->filter)
        wire_write_bytes(&request, REQUEST_FILTER, str_of(watch->filter));
    if (watch->token)
        wire_write_bytes(&request, REQUEST_TOKEN, str_of(watch->token));
    return buf_str(&request);
}

/* Until the stream ends, which it does only by a failure. */
static enum status follow(struct watch *watch, struct rpc_channel *channel, struct error *err)
{
    struct rpc_status ended;
    struct rpc_stream *stream;
    struct arena arena;
    struct str message;

    TRY(rpc_stream_open(channel, WATCH_PATH, 0, &stream, err));
    arena_init(&arena);
    if (rpc_stream_send(stream, request_of(watch, &arena)))
        rpc_stream_half_close(stream);
    while (rpc_stream_receive(stream, &arena, &message)) {
        take_message(watch, message);
        arena_cleanup(&arena);
    }
    rpc_stream_finish(stream, &arena, &ended);
    if (ended.code != 0)
        (void)error_set(err, STATUS_UNAVAILABLE, "code %d: %.*s", ended.code, STR_ARG(ended.message));
    arena_cleanup(&arena);
    return ended.code == 0 ? STATUS_OK : STATUS_UNAVAILABLE;
}

static int run_watch(const struct client_config *config, int argc, char **argv)
{
    struct watch watch = { 0 };
    struct rpc_channel *channel;
    struct error err = { 0 };
    enum status status;

    if (!take_arguments(&watch, argc, argv))
        return command_misused("watch", WATCH_ARGUMENTS);
    status = client_connect(config, &channel, &err);
    if (status == STATUS_OK) {
        status = follow(&watch, channel, &err);
        rpc_channel_close(channel);
    }
    if (status == STATUS_OK)
        return COMMAND_OK;
    fprintf(stderr, "tavola: %s\n", err.message);
    if (watch.last_token[0])
        fprintf(stderr, "tavola: to go on from here: --token %s\n", watch.last_token);
    return COMMAND_FAILED;
}

static const struct command commands[] = {
    {
        .words = "watch",
        .arguments = WATCH_ARGUMENTS,
        .help = "show what happens to a table's entities, from now or from a token, until Ctrl-C",
        .run = run_watch,
    },
};

const struct command_group commands_watch = { "Changes", commands, ARRAY_LEN(commands) };
