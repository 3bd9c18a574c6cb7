/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_entities.c - EntityService.ImportEntities: insert-or-replace any number of entities.
 *
 * A message is written in chunks (domain/writes/import_chunk.h). Each chunk is one non-atomic operation. A message of
 * ordinary size is answered once, when its last chunk is committed; a larger one after every IMPORT_ANSWER_ENTITIES. If
 * a chunk fails, the import ends, and what was committed since the last answer is not told: the client sends it again.
 * The next message is read after the last answer to this one.
 *
 * An entity that continues in the next message is kept (api/codec_parts.h) until its last part has arrived; it is then
 * written alone. A message with a part is answered as any other, though the part is not committed.
 */
#include <assert.h>

#include "api/codec_error.h"
#include "api/codec_parts.h"
#include "api/codec_write.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"
#include "domain/writes/import_chunk.h"
#include "service/consistency.h"
#include "service/handlers/handlers.h"
#include "service/stream.h"

/* An entity that is refused before the store gets it. */
struct rejection {
    int64_t position;
    const Tavola__V1__Entity *entity;
    struct error err;
};

/* What the next answer tells; of the chunks so far since the last one. */
struct next_answer {
    size_t entities;
    size_t rejections;
    struct buf rejected;  /* the field of the message */
    struct buf left_open; /* struct consistency, encoded; empty: none */
};

struct import {
    struct str table;
    int64_t
        /*
         * the table's incarnation, from the first chunk; later chunks must write to the same one (guard G24);
         * 0: no chunk yet
         */
        table_id;
    int64_t committed;

    const Tavola__V1__ImportEntitiesRequest *request; /* NULL: all chunks of the message are answered */
    size_t next;                                      /* the first entity of the next chunk */
    /* position in the stream of the message's first entity */
    int64_t position;

    struct next_answer answer;
    int64_t others_us; /* store_foreground_us when the last chunk was made */

    /* The current chunk. */
    size_t *sources; /* writes[i] is entity sources[i] of the message */
    struct rejection *rejections;
    size_t rejection_count;

    struct codec_parts parts; /* the entity that continues in the next message */
    bool is_in_parts;         /* the current message has a part: its last entity */
    bool has_ended;           /* the client has sent its last message */
};

static enum status check_parts(const struct import *import, struct error *err)
{
    const Tavola__V1__ImportEntitiesRequest *request = import->request;

    if (request->continues && request->n_entities == 0)
        return reason_set(
            err, REASON_INVALID_INPUT, "continues is set, but the message has no entity that could");
    if (import->parts.is_open && request->n_entities != 1)
        return reason_set(err, REASON_INVALID_INPUT,
            "the entity of the last message continues, so this one must have its next part and nothing else");
    return import->parts.is_open ? codec_parts_check(&import->parts, request->entities[0], err) : STATUS_OK;
}

static enum status take_table(struct call_ctx *ctx, struct import *import, struct error *err)
{
    struct str table = codec_str(import->request->table);

    if (import->table.len > 0) {
        if (table.len == 0 || table_name_is(table, table_name_fold(import->table, ctx->arena)))
            return STATUS_OK;
        return reason_set(
            err, REASON_INVALID_INPUT, "table differs from the first message's: an import has one table");
    }
    TRY(table_name_check(table, err));
    import->table = arena_copy(ctx->arena, table);
    return STATUS_OK;
}

static enum status read_request(struct call_ctx *ctx, struct error *err)
{
    struct import *import;

    if (!ctx->state) {
        ctx->state = import = ARENA_NEW(ctx->arena, struct import);
        import->others_us = store_foreground_us(ctx->service->store);
    }
    import = ctx->state;
    import->request = (const Tavola__V1__ImportEntitiesRequest *)ctx->request;
    import->next = 0;
    TRY(check_parts(import, err));
    import->is_in_parts = import->parts.is_open || import->request->continues;
    return take_table(ctx, import, err);
}

/* The key of a refused entity; NULL: the key is not valid in a reply. */
static Tavola__V1__EntityKey *rejected_key(const Tavola__V1__Entity *entity, struct arena *arena)
{
    struct entity_key key = { codec_str(entity->partition_key), codec_str(entity->row_key) };

    if (key.partition.len > LIMIT_KEY_BYTES || !text_check(key.partition, NULL, NULL) ||
        key.row.len > LIMIT_KEY_BYTES || !text_check(key.row, NULL, NULL))
        return NULL;
    return codec_entity_key_message(&key, arena);
}

static void write_rejection(struct buf *out, int64_t position, const Tavola__V1__Entity *entity,
    const struct error *err, struct arena *arena)
{
    Tavola__V1__ImportRejection message = TAVOLA__V1__IMPORT_REJECTION__INIT;

    message.position = position;
    message.key = rejected_key(entity, arena);
    message.error = codec_error_message(err, arena);
    codec_pack(out, 2, &message.base);
}

/* Write the chunk's rejections, and count the other entities as committed. */
static void add_rejections(struct import *import, const struct operation *operation, struct arena *arena)
{
    struct error **errors = operation->out.write.errors;
    struct next_answer *answer = &import->answer;

    for (size_t i = 0; i < import->rejection_count; i++)
        write_rejection(&answer->rejected, import->rejections[i].position, import->rejections[i].entity,
            &import->rejections[i].err, arena);
    answer->rejections += import->rejection_count;
    for (size_t i = 0; i < operation->in.write.count; i++) {
        size_t source = import->sources[i];

        if (errors && errors[i]) {
            write_rejection(&answer->rejected, import->position + (int64_t)source,
                import->request->entities[source], errors[i], arena);
            answer->rejections++;
        } else {
            import->committed++;
        }
    }
}

static struct consistency kept_left_open(const struct next_answer *answer, struct arena *arena)
{
    struct consistency kept = { 0 };
    bool is_whole = consistency_decode(buf_str(&answer->left_open), arena, &kept);

    assert(is_whole && "add_left_open has encoded it");
    (void)is_whole;
    return kept;
}

static void add_left_open(struct next_answer *answer, const struct consistency *more, struct arena *arena)
{
    struct consistency sum;

    if (!more)
        return;
    sum = *more;
    if (answer->left_open.len > 0) {
        struct consistency kept = kept_left_open(answer, arena);

        sum = consistency_add(&kept, more, arena);
    }
    answer->left_open.len = 0;
    buf_append(&answer->left_open, consistency_encode(&sum, arena));
}

static void forget_answer(struct next_answer *answer)
{
    buf_cleanup(&answer->rejected);
    buf_cleanup(&answer->left_open);
    *answer = (struct next_answer){ .entities = 0 };
}

static bool is_answer_due(const struct import *import)
{
    return import->next == import->request->n_entities || import->answer.entities >= IMPORT_ANSWER_ENTITIES ||
           import->answer.rejections >= IMPORT_ANSWER_REJECTIONS;
}

static enum status write_answer(struct call_ctx *ctx, struct import *import, struct error *err)
{
    Tavola__V1__ImportEntitiesResponse head = TAVOLA__V1__IMPORT_ENTITIES_RESPONSE__INIT;
    struct next_answer *answer = &import->answer;
    struct consistency left_open;
    struct str token;

    if (answer->left_open.len > 0)
        left_open = kept_left_open(answer, ctx->arena);
    TRY(consistency_write(
        ctx->service, answer->left_open.len > 0 ? &left_open : NULL, ctx->arena, &token, err));
    head.committed = import->committed;
    head.consistency_token = codec_bytes(token);
    codec_pack(&ctx->reply, 0, &head.base);
    buf_append(&ctx->reply, buf_str(&answer->rejected));
    forget_answer(answer);
    return STATUS_OK;
}

static void end_message(struct import *import)
{
    if (import->next < import->request->n_entities)
        return;
    /* an entity counts with its last part */
    import->position += (int64_t)import->request->n_entities - (import->request->continues ? 1 : 0);
    if (!import->request->continues)
        codec_parts_clear(&import->parts);
    import->request = NULL;
}

/* Answer a chunk whose operation has succeeded, or that has no operation because all its entities were refused. */
static enum status write_message(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    struct import *import = ctx->state;

    if (operation->out.write.table_id != 0)
        import->table_id = operation->out.write.table_id;
    add_rejections(import, operation, ctx->arena);
    add_left_open(&import->answer, operation->out.write.left_open, ctx->arena);
    if (is_answer_due(import))
        TRY(write_answer(ctx, import, err));
    else
        *step = STREAM_NEXT;
    end_message(import);
    ctx->state_bytes = codec_parts_bytes(&import->parts) + import->answer.rejected.capacity +
                       import->answer.left_open.capacity;
    return STATUS_OK;
}

/* Keep a part; *write is the whole entity with its last one. */
static enum status decode_entity(struct call_ctx *ctx, struct import *import, size_t index, bool *is_kept,
    struct write *write, struct error *err)
{
    const Tavola__V1__Entity *entity = import->request->entities[index];

    *is_kept = false;
    if (!import->is_in_parts || index + 1 < import->request->n_entities)
        return codec_write_decode(WRITE_INSERT_OR_REPLACE, entity, NULL, ctx->arena, write, err);
    *is_kept = import->request->continues;
    codec_parts_add(&import->parts, entity, ctx->arena);
    return *is_kept ? STATUS_OK : codec_parts_finish(&import->parts, ctx->arena, write, err);
}

static void add_entity(struct call_ctx *ctx, struct import *import, size_t index, struct operation_write *in)
{
    const Tavola__V1__Entity *entity = import->request->entities[index];
    struct rejection *rejection = &import->rejections[import->rejection_count];
    struct write *write = &in->writes[in->count];
    bool is_kept;

    *rejection = (struct rejection){ .position = import->position + (int64_t)index, .entity = entity };
    if (decode_entity(ctx, import, index, &is_kept, write, &rejection->err) != STATUS_OK ||
        (!is_kept && access_check_write(&ctx->caller.access, write, &rejection->err) != STATUS_OK))
        import->rejection_count++;
    else if (!is_kept)
        import->sources[in->count++] = index;
}

/* Whether others were at work since the last chunk. */
static bool is_beside_others(struct call_ctx *ctx, struct import *import)
{
    int64_t others_us = store_foreground_us(ctx->service->store);
    bool out = others_us > import->others_us;

    import->others_us = others_us;
    return out;
}

/* Turn the next entities of the message into an operation. */
static void decode_chunk(struct call_ctx *ctx, struct import *import, struct operation *out)
{
    size_t left = import->request->n_entities - import->next;
    size_t unanswered = IMPORT_ANSWER_ENTITIES - import->answer.entities;
    size_t max = import_chunk_entities(left < unanswered ? left : unanswered, is_beside_others(ctx, import));
    size_t max_rejections = IMPORT_ANSWER_REJECTIONS - import->answer.rejections;

    out->kind = OPERATION_WRITE;
    out->table = import->table;
    out->in.write.table_id = import->table_id;
    out->in.write.writes = ARENA_ARRAY(ctx->arena, struct write, max);
    import->sources = ARENA_ARRAY(ctx->arena, size_t, max);
    import->rejections =
        ARENA_ARRAY(ctx->arena, struct rejection, max < max_rejections ? max : max_rejections);
    import->rejection_count = 0;
    for (size_t i = 0; i < max && import->rejection_count < max_rejections; i++) {
        add_entity(ctx, import, import->next++, &out->in.write);
        import->answer.entities++;
    }
}

static enum status check_end(const struct import *import, struct error *err)
{
    if (!import || !import->parts.is_open)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "the import has ended within an entity, which is not written: its last part is missing");
}

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    struct import *import = ctx->state;

    if (!import || !import->request) {
        *step = !import || import->has_ended ? STREAM_END : STREAM_READ;
        return *step == STREAM_END ? check_end(import, err) : STATUS_OK;
    }
    decode_chunk(ctx, import, out);
    TRY(stream_admit(
        ctx, out, "the answered entities are committed, send the others to another server", err));
    if (out->in.write.count == 0) {
        *step = STREAM_SEND;
        return write_message(ctx, out, step, err);
    }
    return STATUS_OK;
}

static void end_requests(struct call_ctx *ctx)
{
    struct import *import = ctx->state;

    if (import)
        import->has_ended = true;
}

static void release_import(struct call_ctx *ctx)
{
    struct import *import = ctx->state;

    codec_parts_clear(&import->parts);
    forget_answer(&import->answer);
}

static const struct stream_method stream = {
    .read_request = read_request,
    .fill_operation = fill_operation,
    .write_message = write_message,
    .end_requests = end_requests,
    .release = release_import,
};

const struct method import_entities_method = {
    .path = "/tavola.v1.EntityService/ImportEntities",
    .kind = RPC_BIDI,
    .events = &stream_events,
    .operation = OPERATION_WRITE,
    .request = &tavola__v1__import_entities_request__descriptor,
    .stream = &stream,
};
