/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_watch.c - following a table's change feed.
 */
#include "client/command.h"

#include <string.h>

#include "api/codec.h"
#include "client/api_client.h"
#include "tavola/v1/entity_service.pb-c.h"

#define WATCH_PATH "/tavola.v1.EntityService/WatchEntities"
#define WATCH_ARGUMENTS "TABLE [--filter TEXT] [--token TOKEN] [--tokens]"

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

static void print_change(const Tavola__V1__Change *change)
{
    static const Tavola__V1__Entity no_entity = TAVOLA__V1__ENTITY__INIT;
    const Tavola__V1__Entity *entity = change->entity ? change->entity : &no_entity;
    const char *what = change->inserted ? "inserted" : change->deleted ? "deleted" : "updated";

    printf("%-8s\t%.*s\t%.*s\t%.*s\n", what, STR_ARG(codec_str(entity->partition_key)),
        STR_ARG(codec_str(entity->row_key)), STR_ARG(codec_str(entity->etag)));
}

/* False: the message cannot be read. */
static bool show_message(struct watch *watch, struct str bytes, struct arena *arena)
{
    const Tavola__V1__WatchEntitiesResponse *message = (const Tavola__V1__WatchEntitiesResponse *)codec_read(
        &tavola__v1__watch_entities_response__descriptor, bytes, arena);

    if (!message)
        return false;
    for (size_t i = 0; i < message->n_changes; i++)
        print_change(message->changes[i]);
    if (message->resume_token.len > 0 && message->resume_token.len <= TOKEN_BYTES)
        snprintf(
            watch->last_token, sizeof(watch->last_token), "%.*s", STR_ARG(codec_str(message->resume_token)));
    if (watch->shows_tokens)
        printf("token\t%s\n", watch->last_token);
    fflush(stdout);
    return true;
}

static struct str encode_request(const struct watch *watch, struct arena *arena)
{
    Tavola__V1__WatchEntitiesRequest request = TAVOLA__V1__WATCH_ENTITIES_REQUEST__INIT;
    struct buf out;

    request.table = codec_bytes(str_of(watch->table));
    if (watch->filter)
        request.filter = codec_bytes(str_of(watch->filter));
    if (watch->token)
        request.resume_token = codec_bytes(str_of(watch->token));
    buf_init(&out, arena);
    codec_pack(&out, 0, &request.base);
    return buf_str(&out);
}

/* Returns when the stream has ended, which is always a failure. */
static bool follow(struct watch *watch, struct api_client *client)
{
    struct rpc_stream *stream;
    struct rpc_status ended;
    struct error err = { 0 };
    struct str message;
    bool readable = true;

    if (rpc_stream_open(client->channel, WATCH_PATH, 0, &stream, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    if (rpc_stream_send(stream, encode_request(watch, &client->arena)))
        rpc_stream_half_close(stream);
    while (readable && rpc_stream_receive(stream, &client->arena, &message)) {
        readable = show_message(watch, message, &client->arena);
        arena_cleanup(&client->arena);
    }
    rpc_stream_finish(stream, &client->arena, &ended);
    if (!readable)
        fprintf(stderr, "tavola: a message of the server is not a well-formed WatchEntitiesResponse\n");
    else if (ended.code != 0)
        api_client_print_failure(&ended, &client->arena);
    return readable && ended.code == 0;
}

static int run_watch(const struct client_config *config, int argc, char **argv)
{
    struct watch watch = { 0 };
    struct api_client client;
    bool followed;

    if (!take_arguments(&watch, argc, argv))
        return command_misused("watch", WATCH_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    followed = follow(&watch, &client);
    if (!followed && watch.last_token[0])
        fprintf(stderr, "tavola: to go on from here: --token %s\n", watch.last_token);
    return api_client_close(&client, followed ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "watch",
        .arguments = WATCH_ARGUMENTS,
        .help = "print the changes of a table's entities, from now on or from a token, until Ctrl-C",
        .run = run_watch,
    },
};

const struct command_group commands_watch = { "Changes", commands, ARRAY_LEN(commands) };
