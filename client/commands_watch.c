/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_watch.c - following a table's change feed.
 */
#include "client/command.h"

#include <string.h>

#include "base/wire.h"
#include "client/conversation.h"

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

static void print_change(struct str change)
{
    struct str entity = conversation_text(change, CHANGE_ENTITY);
    const char *what = conversation_number(change, CHANGE_INSERTED)  ? "inserted"
                       : conversation_number(change, CHANGE_DELETED) ? "deleted"
                                                                     : "updated";

    printf("%-8s\t%.*s\t%.*s\t%.*s\n", what, STR_ARG(conversation_text(entity, ENTITY_PARTITION_KEY)),
        STR_ARG(conversation_text(entity, ENTITY_ROW_KEY)), STR_ARG(conversation_text(entity, ENTITY_ETAG)));
}

static void take_message(struct watch *watch, struct str message)
{
    struct str token = conversation_text(message, MESSAGE_TOKEN), change;

    while (conversation_next(&message, MESSAGE_CHANGES, &change))
        print_change(change);
    if (token.len > 0 && token.len <= TOKEN_BYTES)
        snprintf(watch->last_token, sizeof(watch->last_token), "%.*s", STR_ARG(token));
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
static bool follow(struct watch *watch, struct conversation *talk)
{
    struct rpc_stream *stream;
    struct rpc_status ended;
    struct error err = { 0 };
    struct str message;

    if (rpc_stream_open(talk->channel, WATCH_PATH, 0, &stream, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    if (rpc_stream_send(stream, request_of(watch, &talk->arena)))
        rpc_stream_half_close(stream);
    while (rpc_stream_receive(stream, &talk->arena, &message)) {
        take_message(watch, message);
        arena_cleanup(&talk->arena);
    }
    rpc_stream_finish(stream, &talk->arena, &ended);
    if (ended.code != 0)
        conversation_complain(&ended);
    return ended.code == 0;
}

static int run_watch(const struct client_config *config, int argc, char **argv)
{
    struct watch watch = { 0 };
    struct conversation talk;
    bool followed;

    if (!take_arguments(&watch, argc, argv))
        return command_misused("watch", WATCH_ARGUMENTS);
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    followed = follow(&watch, &talk);
    if (!followed && watch.last_token[0])
        fprintf(stderr, "tavola: to go on from here: --token %s\n", watch.last_token);
    return conversation_end(&talk, followed ? COMMAND_OK : COMMAND_FAILED);
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
