/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - sends many entities through ImportEntities, in messages of some hundred entities. A few messages
 * are under way at a time.
 *
 * The service answers each message in one or more parts, when it is committed, in the order of the messages.
 * The import knows the number of entities in each message under way, so each answer tells how far the service
 * has come.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/codec.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/entity_parts.h"
#include "client/lib/session.h"
#include "tavola/v1/entity_service.pb-c.h"

enum {
    TABLE_FIELD = 1,
    ENTITIES_FIELD = 2,
    CONTINUES_FIELD = 3,
    MESSAGE_BYTES = 512 * 1024,   /* a message with so many bytes is sent */
    MESSAGE_ENTITIES = 1000,      /* a message with so many entities is sent */
    PART_BYTES = 2 * 1024 * 1024, /* of properties: an entity with more is sent in parts */
    MAX_UNDER_WAY = 4,            /* bound of the messages under way */
};

struct tavola_import {
    struct tavola *client;
    struct tavola_import_options options;
    struct str table;
    struct arena kept;  /* allocates the table's name */
    struct arena arena; /* allocates the message that is being filled, or the answer that is being read */
    struct rpc_stream *stream;
    struct buf message;
    int64_t message_entities;
    int64_t under_way
        /* number of entities sent up to the end of each message under way, the oldest first */
        [MAX_UNDER_WAY];
    int count_under_way;
    int64_t sent, committed, rejected;
    struct tavola_error ended; /* code TAVOLA_OK: the import has not ended */
};

struct tavola_import *tavola_import(struct tavola *client, const struct tavola_import_options *options)
{
    struct tavola_import *import = xcalloc(1, sizeof(*import));

    import->client = client;
    import->options = *options;
    arena_init(&import->kept);
    arena_init(&import->arena);
    import->table = arena_copy(&import->kept, str_of(options->table));
    buf_init(&import->message, NULL);
    (void)call_error_begin(&import->ended, NULL);
    return import;
}

void tavola_import_free(struct tavola_import *import)
{
    struct rpc_status ignored;

    if (!import)
        return;
    if (import->stream)
        rpc_stream_finish(import->stream, &import->arena, &ignored);
    arena_cleanup(&import->kept);
    arena_cleanup(&import->arena);
    buf_cleanup(&import->message);
    free(import);
}

int64_t tavola_import_committed(const struct tavola_import *import)
{
    return import->committed;
}

int64_t tavola_import_rejected(const struct tavola_import *import)
{
    return import->rejected;
}

int64_t tavola_import_settled(const struct tavola_import *import)
{
    return import->committed + import->rejected;
}

bool tavola_import_has_ended(const struct tavola_import *import)
{
    return import->ended.code != TAVOLA_OK;
}

/* ---- the stream ---- */

/* The stream has ended: its status ends the import. */
static enum tavola_code end_import(struct tavola_import *import)
{
    struct rpc_status status;

    rpc_stream_finish(import->stream, &import->arena, &status);
    import->stream = NULL;
    if (call_error_of_status(&status, &import->arena, &import->ended) == TAVOLA_OK)
        (void)call_error_set(
            &import->ended, TAVOLA_INTERNAL, "the service has ended the import before its last message");
    return import->ended.code;
}

static enum tavola_code open_stream(struct tavola_import *import)
{
    struct error err = { 0 };

    (void)token_source_prepare(&import->client->tokens);
    if (rpc_stream_open(import->client->channel, "/tavola.v1.EntityService/ImportEntities", 0,
            &import->stream, &err) != STATUS_OK)
        return call_error_of(&err, &import->ended);
    return TAVOLA_OK;
}

static void report_rejection(struct tavola_import *import, const Tavola__V1__ImportRejection *rejection)
{
    static const Tavola__V1__Error unknown = TAVOLA__V1__ERROR__INIT;
    const Tavola__V1__Error *error = rejection->error ? rejection->error : &unknown;
    struct tavola_key key = { "", "" };
    struct tavola_error why;

    (void)call_error_set(&why, (enum tavola_code)error->code, "%.*s", STR_ARG(codec_str(error->message)));
    snprintf(why.reason, sizeof(why.reason), "%.*s", STR_ARG(codec_str(error->reason)));
    if (rejection->key) {
        key.partition = arena_copy(&import->arena, codec_str(rejection->key->partition_key)).data;
        key.row = arena_copy(&import->arena, codec_str(rejection->key->row_key)).data;
    }
    import->rejected++;
    if (import->options.rejected)
        import->options.rejected(import->options.context, rejection->position, key, &why);
}

/* Wait for the next answer. */
static enum tavola_code receive_answer(struct tavola_import *import)
{
    const Tavola__V1__ImportEntitiesResponse *answer;
    struct str bytes;
    const void *read;

    arena_cleanup(&import->arena);
    if (!rpc_stream_receive(import->stream, &import->arena, &bytes))
        return end_import(import);
    if (session_read(&tavola__v1__import_entities_response__descriptor, bytes, &import->arena, &read,
            &import->ended) != TAVOLA_OK)
        return import->ended.code;
    answer = read;
    for (size_t i = 0; i < answer->n_rejected; i++)
        report_rejection(import, answer->rejected[i]);
    import->committed = answer->committed;
    while (import->count_under_way > 0 && tavola_import_settled(import) >= import->under_way[0]) {
        import->count_under_way--;
        memmove(&import->under_way[0], &import->under_way[1],
            (size_t)import->count_under_way * sizeof(import->under_way[0]));
    }
    return TAVOLA_OK;
}

static enum tavola_code send_message(struct tavola_import *import)
{
    bool sent;

    if (import->message.len == 0)
        return TAVOLA_OK;
    if (!import->stream && open_stream(import) != TAVOLA_OK)
        return import->ended.code;
    while (import->count_under_way == MAX_UNDER_WAY)
        if (receive_answer(import) != TAVOLA_OK)
            return import->ended.code;
    sent = rpc_stream_send(import->stream, buf_str(&import->message));
    if (!sent)
        return end_import(import);
    import->sent += import->message_entities;
    import->under_way[import->count_under_way++] = import->sent;
    import->message.len = 0;
    import->message_entities = 0;
    return TAVOLA_OK;
}

/* ---- entities ---- */

static void append_message(struct tavola_import *import, const Tavola__V1__Entity *message)
{
    if (import->message.len == 0)
        wire_write_bytes(&import->message, TABLE_FIELD, import->table);
    codec_pack(&import->message, ENTITIES_FIELD, &message->base);
}

/* How many of the properties have about PART_BYTES; at least one. */
static size_t count_part(const Tavola__V1__Entity *rest)
{
    size_t count = 0, bytes = 0;

    while (count < rest->n_properties && (count == 0 || bytes + rest->properties[count].len <= PART_BYTES))
        bytes += rest->properties[count++].len;
    return count;
}

/* Send all parts of an entity but the last, each in a message of its own; *rest becomes the last one. */
static enum tavola_code send_parts(struct tavola_import *import, Tavola__V1__Entity *rest)
{
    Tavola__V1__Entity part = *rest;
    size_t count = count_part(rest);

    if (count < rest->n_properties && send_message(import) != TAVOLA_OK)
        return import->ended.code;
    while ((count = count_part(rest)) < rest->n_properties) {
        part = *rest;
        part.n_properties = count;
        rest->properties += count;
        rest->n_properties -= count;
        append_message(import, &part);
        wire_write_scalar(&import->message, CONTINUES_FIELD, true);
        if (send_message(import) != TAVOLA_OK)
            return import->ended.code;
    }
    return TAVOLA_OK;
}

static enum tavola_code append_entity(
    struct tavola_import *import, const struct tavola_entity *entity, struct tavola_error *error)
{
    Tavola__V1__Entity *message;
    struct arena arena;

    arena_init(&arena);
    if (entity_message(entity, &arena, &message, error) == TAVOLA_OK) {
        if (send_parts(import, message) == TAVOLA_OK) {
            append_message(import, message);
            import->message_entities++;
        }
    }
    arena_cleanup(&arena);
    return error->code;
}

enum tavola_code tavola_import_add(
    struct tavola_import *import, const struct tavola_entity *entity, struct tavola_error *error)
{
    struct tavola_error own;

    error = call_error_begin(error, &own);
    if (import->ended.code == TAVOLA_OK && append_entity(import, entity, error) != TAVOLA_OK)
        return error->code;
    if (import->ended.code == TAVOLA_OK &&
        (import->message.len >= MESSAGE_BYTES || import->message_entities >= MESSAGE_ENTITIES))
        (void)send_message(import);
    if (import->ended.code != TAVOLA_OK)
        *error = import->ended;
    return error->code;
}

/* Read the last answers. The service ends the stream after the last one. */
static enum tavola_code finish_stream(struct tavola_import *import)
{
    struct rpc_status status;
    struct str bytes;

    if (!import->stream)
        return TAVOLA_OK;
    rpc_stream_half_close(import->stream);
    while (rpc_stream_receive(import->stream, &import->arena, &bytes))
        continue;
    rpc_stream_finish(import->stream, &import->arena, &status);
    import->stream = NULL;
    return call_error_of_status(&status, &import->arena, &import->ended);
}

enum tavola_code tavola_import_finish(struct tavola_import *import, struct tavola_error *error)
{
    struct tavola_error own;

    error = call_error_begin(error, &own);
    if (import->ended.code == TAVOLA_OK)
        (void)send_message(import);
    while (import->ended.code == TAVOLA_OK && import->count_under_way > 0)
        (void)receive_answer(import);
    if (import->ended.code == TAVOLA_OK)
        (void)finish_stream(import);
    if (import->ended.code != TAVOLA_OK)
        *error = import->ended;
    return error->code;
}
