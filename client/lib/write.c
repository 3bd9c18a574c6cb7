/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - single writes and batches. The requests of the six methods have the same form: table 1, entity or
 * key 2, request_id 3, precondition 4; their replies have one form too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/codec.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/call_queue.h"
#include "client/lib/entity_parts.h"
#include "client/lib/session.h"
#include "domain/ticks.h"
#include "tavola/v1/entity_service.pb-c.h"

#define SERVICE "/tavola.v1.EntityService/"

enum request_field { FIELD_TABLE = 1, FIELD_ENTITY = 2, FIELD_REQUEST_ID = 3, FIELD_PRECONDITION = 4 };

/* In the order of enum tavola_action. */
static const struct action_form {
    const char *path;
    bool needs_condition;
    uint32_t batch_field; /* number of the action's field in BatchOperation */
} forms[] = {
    [TAVOLA_INSERT] = { SERVICE "InsertEntity", false, 1 },
    [TAVOLA_REPLACE] = { SERVICE "ReplaceEntity", true, 2 },
    [TAVOLA_MERGE] = { SERVICE "MergeEntity", true, 3 },
    [TAVOLA_INSERT_OR_REPLACE] = { SERVICE "InsertOrReplaceEntity", false, 4 },
    [TAVOLA_INSERT_OR_MERGE] = { SERVICE "InsertOrMergeEntity", false, 5 },
    [TAVOLA_DELETE] = { SERVICE "DeleteEntity", true, 6 },
};

static const struct tavola_write_options no_options;

/* ---- requests ---- */

static enum tavola_code write_subject(struct buf *out, uint32_t field, enum tavola_action action,
    const struct tavola_entity *entity, struct tavola_error *error)
{
    Tavola__V1__Entity *message;

    if (action == TAVOLA_DELETE) {
        codec_pack(out, field, &entity_key_of(tavola_entity_key(entity), out->arena)->base);
        return TAVOLA_OK;
    }
    if (entity_message(entity, out->arena, &message, error) == TAVOLA_OK)
        codec_pack(out, field, &message->base);
    return error->code;
}

/* Write the precondition; nothing if the action needs none and none is given. */
static void write_precondition(struct buf *out, uint32_t field, const struct action_form *form,
    const char *if_match, const char *condition)
{
    Tavola__V1__Precondition precondition = TAVOLA__V1__PRECONDITION__INIT;

    if (!if_match && !condition && !form->needs_condition)
        return;
    if (if_match || !condition)
        precondition.if_match = codec_bytes(str_of(if_match ? if_match : "*"));
    if (condition)
        precondition.condition = codec_bytes(str_of(condition));
    codec_pack(out, field, &precondition.base);
}

/* Refuse a condition of an insert or upsert: their requests have no field for it, so it would be lost. */
static enum tavola_code check_options(
    enum tavola_action action, const struct tavola_write_options *options, struct tavola_error *error)
{
    if (!forms[action].needs_condition && (options->if_match || options->condition))
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT,
            "if_match and condition go with TAVOLA_REPLACE, TAVOLA_MERGE and TAVOLA_DELETE only");
    return TAVOLA_OK;
}

static enum tavola_code write_request(struct buf *out, const char *table, enum tavola_action action,
    const struct tavola_entity *entity, const struct tavola_write_options *options,
    struct tavola_error *error)
{
    if (check_options(action, options, error) != TAVOLA_OK)
        return error->code;
    wire_write_bytes(out, FIELD_TABLE, str_of(table));
    if (write_subject(out, FIELD_ENTITY, action, entity, error) != TAVOLA_OK)
        return error->code;
    if (options->request_id)
        wire_write_bytes(out, FIELD_REQUEST_ID, str_of(options->request_id));
    write_precondition(out, FIELD_PRECONDITION, &forms[action], options->if_match, options->condition);
    return TAVOLA_OK;
}

/* ---- results ---- */

static void copy_text(char *out, size_t size, ProtobufCBinaryData text)
{
    snprintf(out, size, "%.*s", STR_ARG(codec_str(text)));
}

static void read_written(const Tavola__V1__WriteResult *result, struct tavola_written *out)
{
    *out = (struct tavola_written){ .replayed = result->replayed };
    copy_text(out->etag, sizeof(out->etag), result->etag);
    copy_text(out->consistency_token, sizeof(out->consistency_token), result->consistency_token);
    if (result->timestamp)
        out->timestamp = (struct tavola_time){ result->timestamp->seconds, result->timestamp->nanos };
}

static enum tavola_code read_reply(
    struct str bytes, struct arena *arena, const Tavola__V1__WriteResult **out, struct tavola_error *error)
{
    const void *read;
    const Tavola__V1__InsertEntityResponse *reply;

    if (session_read(&tavola__v1__insert_entity_response__descriptor, bytes, arena, &read, error) !=
        TAVOLA_OK)
        return error->code;
    reply = read;
    if (!reply->result)
        return call_error_set(error, TAVOLA_INTERNAL, "the reply of the service has no result");
    *out = reply->result;
    return TAVOLA_OK;
}

/* ---- single writes ---- */

static enum tavola_code run_write(struct tavola *client, const char *path, struct buf *request,
    int64_t timeout_ms, const Tavola__V1__WriteResult **out, struct tavola_error *error)
{
    struct session_call call;
    struct str reply;

    session_call_init(client, path, request, timeout_ms, &call);
    if (session_run(client, &call, request->arena, &reply, error) != TAVOLA_OK)
        return error->code;
    return read_reply(reply, request->arena, out, error);
}

enum tavola_code tavola_write(struct tavola *client, const char *table, enum tavola_action action,
    struct tavola_entity *entity, const struct tavola_write_options *options, struct tavola_error *error)
{
    const Tavola__V1__WriteResult *result = NULL;
    struct tavola_error own;
    struct arena arena;
    struct buf request;

    error = call_error_begin(error, &own);
    options = options ? options : &no_options;
    arena_init(&arena);
    buf_init(&request, &arena);
    if (write_request(&request, table, action, entity, options, error) == TAVOLA_OK &&
        run_write(client, forms[action].path, &request, options->timeout_ms, &result, error) == TAVOLA_OK) {
        entity_note_written(entity, result);
        if (options->written)
            read_written(result, options->written);
    }
    arena_cleanup(&arena);
    return error->code;
}

enum tavola_code tavola_delete(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_write_options *options, struct tavola_error *error)
{
    struct tavola_entity *entity = tavola_entity_new(key);
    enum tavola_code code = tavola_write(client, table, TAVOLA_DELETE, entity, options, error);

    tavola_entity_free(entity);
    return code;
}

static void read_async(struct queued_call *call, struct str reply, struct tavola_answer *answer)
{
    const Tavola__V1__WriteResult *result = NULL;

    if (read_reply(reply, &call->arena, &result, &answer->error) != TAVOLA_OK)
        return;
    read_written(result, &call->written);
    answer->written = &call->written;
}

void tavola_write_async(struct tavola *client, const char *table, enum tavola_action action,
    const struct tavola_entity *entity, const struct tavola_write_options *options, struct tavola_done done)
{
    struct queued_call *call = call_queue_new(client->queue);
    struct tavola_error error;

    options = options ? options : &no_options;
    call->read = read_async;
    call->done = done;
    (void)call_error_begin(&error, NULL);
    if (write_request(&call->request, table, action, entity, options, &error) == TAVOLA_OK)
        call_queue_start(call, forms[action].path, options->timeout_ms);
    else
        call_queue_refuse(call, &error);
}

/* ---- batches ---- */

struct tavola_batch {
    struct arena arena;
    struct str table;
    struct buf operations; /* the serialized field `operations` of ExecuteBatchRequest, once per write */
    size_t count;
    struct tavola_error mistake; /* error of the first write that cannot be sent; code TAVOLA_OK: none */
};

struct tavola_batch *tavola_batch_new(const char *table)
{
    struct tavola_batch *batch = xcalloc(1, sizeof(*batch));

    arena_init(&batch->arena);
    batch->table = arena_copy(&batch->arena, str_of(table));
    buf_init(&batch->operations, &batch->arena);
    (void)call_error_begin(&batch->mistake, NULL);
    return batch;
}

void tavola_batch_free(struct tavola_batch *batch)
{
    if (!batch)
        return;
    arena_cleanup(&batch->arena);
    free(batch);
}

void tavola_batch_add(struct tavola_batch *batch, enum tavola_action action,
    const struct tavola_entity *entity, const char *if_match)
{
    enum { OPERATIONS = 2, PRECONDITION = 7 };
    const struct action_form *form = &forms[action];
    struct tavola_error error;
    struct buf operation;

    (void)call_error_begin(&error, NULL);
    buf_init(&operation, &batch->arena);
    if (write_subject(&operation, form->batch_field, action, entity, &error) == TAVOLA_OK) {
        write_precondition(&operation, PRECONDITION, form, if_match, NULL);
        wire_write_bytes(&batch->operations, OPERATIONS, buf_str(&operation));
    } else if (batch->mistake.code == TAVOLA_OK) {
        batch->mistake = error;
        snprintf(batch->mistake.field, sizeof(batch->mistake.field), "operations[%zu]", batch->count);
    }
    batch->count++;
}

static enum tavola_code run_batch(struct tavola *client, struct tavola_batch *batch,
    const struct tavola_write_options *options, struct arena *arena,
    const Tavola__V1__ExecuteBatchResponse **out, struct tavola_error *error)
{
    struct session_call call;
    struct buf request;
    struct str reply;
    const void *read;

    buf_init(&request, arena);
    wire_write_bytes(&request, FIELD_TABLE, batch->table);
    buf_append(&request, buf_str(&batch->operations));
    if (options->request_id)
        wire_write_bytes(&request, FIELD_REQUEST_ID, str_of(options->request_id));
    session_call_init(client, SERVICE "ExecuteBatch", &request, options->timeout_ms, &call);
    if (session_run(client, &call, arena, &reply, error) != TAVOLA_OK ||
        session_read(&tavola__v1__execute_batch_response__descriptor, reply, arena, &read, error) !=
            TAVOLA_OK)
        return error->code;
    *out = read;
    if ((*out)->n_results != batch->count)
        return call_error_set(error, TAVOLA_INTERNAL, "the reply has %zu results for %zu writes",
            (*out)->n_results, batch->count);
    return TAVOLA_OK;
}

enum tavola_code tavola_batch_execute(struct tavola *client, struct tavola_batch *batch,
    const struct tavola_write_options *options, char (*etags)[72], struct tavola_error *error)
{
    const Tavola__V1__ExecuteBatchResponse *reply = NULL;
    struct tavola_error own;
    struct arena arena;

    error = call_error_begin(error, &own);
    options = options ? options : &no_options;
    if (batch->mistake.code != TAVOLA_OK) {
        *error = batch->mistake;
        return error->code;
    }
    arena_init(&arena);
    if (run_batch(client, batch, options, &arena, &reply, error) == TAVOLA_OK) {
        for (size_t i = 0; etags && i < batch->count; i++)
            copy_text(etags[i], sizeof(etags[i]), reply->results[i]->etag);
        if (options->written && batch->count > 0)
            read_written(reply->results[batch->count - 1], options->written);
    }
    arena_cleanup(&arena);
    return error->code;
}
