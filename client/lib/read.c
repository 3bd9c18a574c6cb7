/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - reads by key, and counts.
 */
#include <stdlib.h>

#include "api/codec.h"
#include "client/lib/call_error.h"
#include "client/lib/call_queue.h"
#include "client/lib/entity_parts.h"
#include "client/lib/read_options.h"
#include "client/lib/session.h"
#include "tavola/v1/entity_service.pb-c.h"

#define SERVICE "/tavola.v1.EntityService/"

static const struct tavola_read_options no_options;

Tavola__V1__ReadOptions *read_options_message(const struct tavola_read_options *options, struct arena *arena)
{
    Tavola__V1__ReadOptions *out = ARENA_NEW(arena, Tavola__V1__ReadOptions);
    size_t count = 0;

    tavola__v1__read_options__init(out);
    while (options->select && options->select[count])
        count++;
    out->select = ARENA_ARRAY(arena, ProtobufCBinaryData, count + 1);
    for (; out->n_select < count; out->n_select++)
        out->select[out->n_select] = codec_bytes(str_of(options->select[out->n_select]));
    if (options->wait_for_transaction)
        out->wait_for_transaction = codec_bytes(str_of(options->wait_for_transaction));
    return out;
}

/* ---- one entity ---- */

static void write_get(
    struct buf *out, const char *table, struct tavola_key key, const struct tavola_read_options *options)
{
    Tavola__V1__GetEntityRequest request = TAVOLA__V1__GET_ENTITY_REQUEST__INIT;

    request.table = codec_bytes(str_of(table));
    request.key = entity_key_of(key, out->arena);
    request.options = read_options_message(options, out->arena);
    codec_pack(out, 0, &request.base);
}

/* Read the reply to a Get. NULL: *error has the cause. */
static struct tavola_entity *read_get(struct str bytes, struct arena *arena, struct tavola_error *error)
{
    struct tavola_entity *entity;
    const Tavola__V1__GetEntityResponse *reply;
    const void *read;

    if (session_read(&tavola__v1__get_entity_response__descriptor, bytes, arena, &read, error) != TAVOLA_OK)
        return NULL;
    reply = read;
    entity = entity_make();
    if (entity_receive(entity, reply->entity, error) == TAVOLA_OK)
        return entity;
    tavola_entity_free(entity);
    return NULL;
}

enum tavola_code tavola_get(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_read_options *options, struct tavola_entity **out, struct tavola_error *error)
{
    struct tavola_entity *entity = NULL;
    struct session_call call;
    struct tavola_error own;
    struct arena arena;
    struct buf request;
    struct str reply;

    error = call_error_begin(error, &own);
    options = options ? options : &no_options;
    arena_init(&arena);
    buf_init(&request, &arena);
    write_get(&request, table, key, options);
    session_call_init(client, SERVICE "GetEntity", &request, options->timeout_ms, &call);
    if (session_run(client, &call, &arena, &reply, error) == TAVOLA_OK)
        entity = read_get(reply, &arena, error);
    if (entity)
        *out = entity;
    arena_cleanup(&arena);
    return error->code;
}

static void read_async(struct queued_call *call, struct str reply, struct tavola_answer *answer)
{
    call->entity = read_get(reply, &call->arena, &answer->error);
    answer->entity = call->entity;
}

void tavola_get_async(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_read_options *options, struct tavola_done done)
{
    struct queued_call *call = call_queue_new(client->queue);

    options = options ? options : &no_options;
    call->read = read_async;
    call->done = done;
    write_get(&call->request, table, key, options);
    call_queue_start(call, SERVICE "GetEntity", options->timeout_ms);
}

/* ---- many entities ---- */

static enum tavola_code read_many(const Tavola__V1__BatchGetEntitiesResponse *reply, size_t count,
    struct tavola_entity **out, struct tavola_error *error)
{
    if (reply->n_results != count)
        return call_error_set(
            error, TAVOLA_INTERNAL, "the reply has %zu results for %zu keys", reply->n_results, count);
    for (size_t i = 0; i < count; i++) {
        if (reply->results[i]->outcome_case != TAVOLA__V1__BATCH_GET_RESULT__OUTCOME_ENTITY)
            continue;
        out[i] = entity_make();
        if (entity_receive(out[i], reply->results[i]->entity, error) != TAVOLA_OK)
            return error->code;
    }
    return TAVOLA_OK;
}

static enum tavola_code ask_many(struct tavola *client, const Tavola__V1__BatchGetEntitiesRequest *request,
    struct arena *arena, struct tavola_entity **out, struct tavola_error *error)
{
    const void *reply;

    if (session_ask(client,
            &(struct session_request){ .path = SERVICE "BatchGetEntities",
                .message = &request->base,
                .reply_type = &tavola__v1__batch_get_entities_response__descriptor },
            arena, &reply, error) != TAVOLA_OK)
        return error->code;
    return read_many(reply, request->n_keys, out, error);
}

enum tavola_code tavola_get_many(struct tavola *client, const char *table, const struct tavola_key *keys,
    size_t count, struct tavola_entity **out, struct tavola_error *error)
{
    Tavola__V1__BatchGetEntitiesRequest request = TAVOLA__V1__BATCH_GET_ENTITIES_REQUEST__INIT;
    struct tavola_entity **read;
    struct tavola_error own;
    struct arena arena;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    request.table = codec_bytes(str_of(table));
    request.keys = ARENA_ARRAY(&arena, Tavola__V1__EntityKey *, count + 1);
    for (; request.n_keys < count; request.n_keys++)
        request.keys[request.n_keys] = entity_key_of(keys[request.n_keys], &arena);
    read = ARENA_ARRAY(&arena, struct tavola_entity *, count + 1);
    if (ask_many(client, &request, &arena, read, error) == TAVOLA_OK)
        memcpy(out, read, count * sizeof(*out));
    for (size_t i = 0; error->code != TAVOLA_OK && i < count; i++)
        tavola_entity_free(read[i]);
    arena_cleanup(&arena);
    return error->code;
}

/* ---- counts ---- */

/* Count the entities of one page. *token: that of the next page, in the arena. */
static enum tavola_code count_page(struct tavola *client, const Tavola__V1__Query *query, struct arena *arena,
    struct str *token, int64_t *count, struct tavola_error *error)
{
    Tavola__V1__CountEntitiesRequest request = TAVOLA__V1__COUNT_ENTITIES_REQUEST__INIT;
    const Tavola__V1__CountEntitiesResponse *page;
    const void *reply;

    request.query = (Tavola__V1__Query *)(uintptr_t)query;
    request.page_token = codec_bytes(*token);
    if (session_ask(client,
            &(struct session_request){ .path = SERVICE "CountEntities",
                .message = &request.base,
                .reply_type = &tavola__v1__count_entities_response__descriptor },
            arena, &reply, error) != TAVOLA_OK)
        return error->code;
    page = reply;
    *count += page->count;
    *token = codec_str(page->next_page_token);
    return TAVOLA_OK;
}

enum tavola_code tavola_count(
    struct tavola *client, const char *table, const char *filter, int64_t *out, struct tavola_error *error)
{
    Tavola__V1__Query query = TAVOLA__V1__QUERY__INIT;
    struct str token = STR_EMPTY;
    struct tavola_error own;
    struct arena arena;
    int64_t count = 0;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    query.table = codec_bytes(str_of(table));
    query.filter = codec_bytes(str_of(filter ? filter : ""));
    while (count_page(client, &query, &arena, &token, &count, error) == TAVOLA_OK && token.len > 0)
        continue;
    if (error->code == TAVOLA_OK)
        *out = count;
    arena_cleanup(&arena);
    return error->code;
}
