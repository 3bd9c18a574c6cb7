/*
 * import_entities.c - EntityService.ImportEntities: insert-or-replace any number of entities.
 *
 *                message              store's done             sent, nothing left
 *   READING -----------------> WRITING ----------> ANSWERING ----------------------> READING
 *      |                          ^                    |  sent, message not done
 *      | half_closed, cancelled   '--------------------'
 *      '----> FINISHED <---- an error of the stream, cancelled (after `done` when WRITING)
 *
 * A message is written in chunks, each one non-atomic operation and each answered when it is committed; an
 * ordinary message is one chunk. The memory of a message goes when it is answered. Events come from queue
 * threads and `done` from one of the store, so every step runs under the lock; while WRITING only `done`
 * may end the call. The lock is not held across store_submit, which may call `done` at once.
 */
#include <assert.h>
#include <pthread.h>

#include "api/codec_error.h"
#include "api/codec_write.h"
#include "base/clock.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/table_name.h"
#include "domain/text.h"
#include "service/consistency.h"
#include "service/handlers/handlers.h"

enum {
    CHUNK_ENTITIES = 5000,
    CHUNK_REJECTIONS = 300, /* so that an answer stays under LIMIT_REPLY_BYTES */
};

enum import_state { IMPORT_READING, IMPORT_WRITING, IMPORT_ANSWERING, IMPORT_FINISHED };

/* An entity that is refused before the store sees it. */
struct rejection {
    int64_t position;
    const Tavola__V1__Entity *entity;
    struct error err;
};

struct import {
    struct rpc_call *call;
    struct service *service;
    struct caller caller;
    pthread_mutex_t lock;
    enum import_state state;
    bool was_cancelled;
    struct str table; /* in the call's arena */

    struct arena arena; /* of the message at hand */
    const Tavola__V1__ImportEntitiesRequest *request;
    size_t next;      /* the first entity of the next chunk */
    int64_t position; /* of the message's first entity in the stream */
    int64_t committed;

    struct operation operation; /* of the chunk at hand */
    size_t *sources;            /* writes[i] is entity sources[i] of the message */
    struct rejection *rejections;
    size_t rejection_count;
};

static void begin(struct rpc_call *call)
{
    struct import *import = ARENA_NEW(rpc_call_arena(call), struct import);

    import->call = call;
    import->service = rpc_call_context(call);
    import->table = STR_EMPTY;
    pthread_mutex_init(&import->lock, NULL);
    arena_init(&import->arena);
    rpc_call_set_state(call, import);
    rpc_read(call);
}

/* ---- lock held from here on ---- */

static void finish(struct import *import, const struct error *err)
{
    struct arena *arena = rpc_call_arena(import->call);

    import->state = IMPORT_FINISHED;
    if (err)
        call_fail(import->call, err, arena);
    else
        rpc_finish(import->call, codec_status_code(STATUS_OK), STR_EMPTY, STR_EMPTY);
}

static void finish_cancelled(struct import *import)
{
    import->state = IMPORT_FINISHED;
    rpc_finish(import->call, codec_status_code(STATUS_CANCELLED), STR_EMPTY, STR_EMPTY);
}

/* A key as it was sent, if it can stand in a reply. */
static Tavola__V1__EntityKey *rejected_key(const Tavola__V1__Entity *entity, struct arena *arena)
{
    struct entity_key key = { codec_str(entity->partition_key), codec_str(entity->row_key) };

    if (key.partition.len > LIMIT_KEY_BYTES || !text_check(key.partition, NULL, NULL) ||
        key.row.len > LIMIT_KEY_BYTES || !text_check(key.row, NULL, NULL))
        return NULL;
    return codec_key_message(&key, arena);
}

static void write_rejection(struct import *import, struct buf *out, int64_t position,
    const Tavola__V1__Entity *entity, const struct error *err)
{
    Tavola__V1__ImportRejection message = TAVOLA__V1__IMPORT_REJECTION__INIT;

    message.position = position;
    message.key = rejected_key(entity, &import->arena);
    message.error = codec_error_message(err, &import->arena);
    codec_pack(out, 2, &message.base);
}

/* Answer a chunk whose operation, if it had one, has succeeded. */
static void answer(struct import *import)
{
    const struct consistency *left_open = import->operation.out.write.left_open;
    const struct operation_write *in = &import->operation.in.write;
    struct error **errors = import->operation.out.write.errors;
    Tavola__V1__ImportEntitiesResponse head = TAVOLA__V1__IMPORT_ENTITIES_RESPONSE__INIT;
    struct buf rejected, out;
    struct str token;
    struct error err;

    if (consistency_write(import->service, left_open, &import->arena, &token, &err) != STATUS_OK) {
        finish(import, &err);
        return;
    }
    buf_init(&rejected, &import->arena);
    for (size_t i = 0; i < import->rejection_count; i++)
        write_rejection(import, &rejected, import->rejections[i].position, import->rejections[i].entity,
            &import->rejections[i].err);
    for (size_t i = 0; i < in->count; i++) {
        size_t source = import->sources[i];

        if (errors && errors[i])
            write_rejection(import, &rejected, import->position + (int64_t)source,
                import->request->entities[source], errors[i]);
        else
            import->committed++;
    }
    head.committed = import->committed;
    head.consistency_token = codec_bytes(token);
    buf_init(&out, &import->arena);
    codec_pack(&out, 0, &head.base);
    buf_append(&out, buf_str(&rejected));
    import->state = IMPORT_ANSWERING;
    rpc_send(import->call, buf_str(&out));
}

static void add_entity(struct import *import, size_t index)
{
    const Tavola__V1__Entity *entity = import->request->entities[index];
    struct operation_write *in = &import->operation.in.write;
    struct rejection *rejection = &import->rejections[import->rejection_count];

    *rejection = (struct rejection){ .position = import->position + (int64_t)index, .entity = entity };
    if (codec_write_decode(WRITE_INSERT_OR_REPLACE, entity, NULL, &import->arena, &in->writes[in->count],
            &rejection->err) != STATUS_OK ||
        access_check_write(&import->caller.access, &in->writes[in->count], &rejection->err) != STATUS_OK) {
        import->rejection_count++;
        return;
    }
    import->sources[in->count++] = index;
}

static void done(struct operation *operation);

/* Turn the next entities of the message into an operation. */
static void decode_chunk(struct import *import)
{
    size_t left = import->request->n_entities - import->next;
    size_t most = left < CHUNK_ENTITIES ? left : CHUNK_ENTITIES;
    struct operation *operation = &import->operation;

    operation->kind = OPERATION_WRITE;
    operation->account = import->caller.access.account;
    operation->table = import->table;
    operation->arena = &import->arena;
    operation->deadline_us = rpc_call_deadline_us(import->call);
    operation->status = STATUS_OK;
    operation->error = NULL;
    operation->out.write = (struct outcome_write){ 0 };
    operation->done = done;
    operation->in.write =
        (struct operation_write){ .writes = ARENA_ARRAY(&import->arena, struct write, most) };
    import->sources = ARENA_ARRAY(&import->arena, size_t, most);
    import->rejections =
        ARENA_ARRAY(&import->arena, struct rejection, most < CHUNK_REJECTIONS ? most : CHUNK_REJECTIONS);
    import->rejection_count = 0;
    for (size_t i = 0; i < most && import->rejection_count < CHUNK_REJECTIONS; i++)
        add_entity(import, import->next++);
}

static enum status admit_chunk(struct import *import, struct error *err)
{
    if (atomic_load(&import->service->draining))
        return error_reason(err, REASON_SERVER_DRAINING,
            "this server is stopping: what was answered is committed, send the rest to another");
    decode_chunk(import);
    TRY(caller_authorize(&import->caller, &import->operation, err));
    if (!import->service->rates || import->operation.in.write.count == 0)
        return STATUS_OK;
    return rates_admit(import->service->rates, &import->operation, clock_monotonic_us(), err);
}

/* Start the next chunk; true: the caller submits the operation once it has released the lock. */
static bool start_chunk(struct import *import)
{
    struct error err = { 0 };

    if (admit_chunk(import, &err) != STATUS_OK) {
        finish(import, &err);
        return false;
    }
    if (import->operation.in.write.count == 0) {
        answer(import);
        return false;
    }
    import->state = IMPORT_WRITING;
    return true;
}

static void done(struct operation *operation)
{
    struct import *import = CONTAINER_OF(operation, struct import, operation);

    pthread_mutex_lock(&import->lock);
    assert(import->state == IMPORT_WRITING);
    if (import->was_cancelled)
        finish_cancelled(import);
    else if (operation->status != STATUS_OK)
        finish(import, operation->error);
    else
        answer(import);
    pthread_mutex_unlock(&import->lock);
}

/* ---- a message ---- */

static enum status take_table(struct import *import, struct error *err)
{
    struct str table = codec_str(import->request->table);

    if (import->table.len > 0) {
        if (table.len == 0 || str_equal(table, import->table))
            return STATUS_OK;
        return error_reason(
            err, REASON_INVALID_INPUT, "table differs from the first message's: an import has one table");
    }
    TRY(table_name_check(table, err));
    import->table = arena_copy(rpc_call_arena(import->call), table);
    return STATUS_OK;
}

static enum status take_message(struct import *import, struct str message, struct error *err)
{
    ProtobufCMessage *request;

    if (import->table.len == 0)
        TRY(caller_identify(&import->caller, import->call, err));
    TRY(codec_unpack(
        &tavola__v1__import_entities_request__descriptor, message, &import->arena, &request, err));
    import->request = (const Tavola__V1__ImportEntitiesRequest *)request;
    import->next = 0;
    return take_table(import, err);
}

static void on_message(struct rpc_call *call, struct str message)
{
    struct import *import = rpc_call_state(call);
    struct error err = { 0 };
    bool submit = false;

    pthread_mutex_lock(&import->lock);
    if (take_message(import, message, &err) != STATUS_OK)
        finish(import, &err);
    else
        submit = start_chunk(import);
    pthread_mutex_unlock(&import->lock);
    if (submit)
        store_submit(import->service->store, &import->operation);
}

static void on_sent(struct rpc_call *call)
{
    struct import *import = rpc_call_state(call);
    bool submit = false;

    pthread_mutex_lock(&import->lock);
    if (import->state == IMPORT_ANSWERING) {
        if (import->next < import->request->n_entities) {
            submit = start_chunk(import);
        } else {
            import->position += (int64_t)import->request->n_entities;
            import->state = IMPORT_READING;
            arena_cleanup(&import->arena);
            rpc_read(call);
        }
    }
    pthread_mutex_unlock(&import->lock);
    if (submit)
        store_submit(import->service->store, &import->operation);
}

static void on_half_closed(struct rpc_call *call)
{
    struct import *import = rpc_call_state(call);

    pthread_mutex_lock(&import->lock);
    assert(import->state == IMPORT_READING);
    finish(import, NULL);
    pthread_mutex_unlock(&import->lock);
}

static void on_cancelled(struct rpc_call *call)
{
    struct import *import = rpc_call_state(call);

    pthread_mutex_lock(&import->lock);
    import->was_cancelled = true;
    if (import->state == IMPORT_WRITING)
        atomic_store(&import->operation.cancelled, true);
    else if (import->state != IMPORT_FINISHED)
        finish_cancelled(import);
    pthread_mutex_unlock(&import->lock);
}

static void on_ended(struct rpc_call *call)
{
    struct import *import = rpc_call_state(call);

    /* Whoever finished the call may still be on the way out of the lock. */
    pthread_mutex_lock(&import->lock);
    pthread_mutex_unlock(&import->lock);
    pthread_mutex_destroy(&import->lock);
    arena_cleanup(&import->arena);
}

const struct call_events import_entities_events = {
    .begin = begin,
    .message = on_message,
    .half_closed = on_half_closed,
    .sent = on_sent,
    .cancelled = on_cancelled,
    .ended = on_ended,
};
