/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_write.c - see the header.
 */
#include "api/codec_write.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/wire.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum { MAX_TOKEN_BYTES = 256 };

static bool needs_precondition(enum write_kind kind)
{
    return kind == WRITE_REPLACE || kind == WRITE_MERGE || kind == WRITE_DELETE;
}

/* Refuse a blank condition: it would match every entity, which the caller hardly intends. */
static enum status text_condition_decode(
    struct str text, struct arena *arena, struct condition *out, struct error *err)
{
    out->text = text;
    TRY(filter_compile(text, arena, &out->filter, err));
    if (text.len > 0 && !out->filter)
        return reason_set(err, REASON_INVALID_INPUT,
            "precondition.condition has only spaces: leave it empty, or set a condition");
    return STATUS_OK;
}

enum status codec_write_condition_decode(const Tavola__V1__Precondition *precondition, struct arena *arena,
    struct condition *out, struct error *err)
{
    struct condition condition = { .kind = CONDITION_NONE, .text = STR_EMPTY };

    if (precondition && precondition->if_match.len > 0 &&
        condition_parse(codec_str(precondition->if_match), &condition, err) != STATUS_OK)
        return error_in_field(err, "precondition.if_match");
    if (precondition &&
        text_condition_decode(codec_str(precondition->condition), arena, &condition, err) != STATUS_OK)
        return error_in_field(err, "precondition.condition");
    *out = condition;
    return STATUS_OK;
}

static enum status precondition_decode(enum write_kind kind, const Tavola__V1__Precondition *precondition,
    struct arena *arena, struct condition *out, struct error *err)
{
    if (precondition && !needs_precondition(kind))
        return reason_set(
            err, REASON_INVALID_INPUT, "precondition may be set for replace, merge and delete only");
    TRY(codec_write_condition_decode(precondition, arena, out, err));
    if (needs_precondition(kind) && !condition_is_set(out))
        return codec_missing(err, "precondition",
            "if_match with an ETag, or * to write whatever is there, or a condition on the entity");
    return STATUS_OK;
}

/* An entity to write, with the name of its field. */
struct put {
    enum write_kind kind;
    const char *field;
    const Tavola__V1__Entity *entity;
};

static enum status put_decode(const struct put *put, const Tavola__V1__Precondition *precondition,
    struct arena *arena, struct write *out, struct error *err)
{
    struct write write = { .kind = put->kind };
    struct entity entity;

    TRY(codec_entity_decode_wide(put->entity, put->field, arena, &entity, &write.excess, err));
    if (precondition_decode(put->kind, precondition, arena, &write.condition, err) != STATUS_OK) {
        if (write.excess) /* what is wrong with the entity is told first */
            *err = *write.excess->in_table;
        return err->status;
    }
    write.key = entity.key;
    write.properties = entity.properties;
    write.expires = entity.expires;
    *out = write;
    return STATUS_OK;
}

enum status codec_write_decode(enum write_kind kind, const Tavola__V1__Entity *entity,
    const Tavola__V1__Precondition *precondition, struct arena *arena, struct write *out, struct error *err)
{
    return put_decode(&(struct put){ kind, "entity", entity }, precondition, arena, out, err);
}

enum status codec_write_delete_decode(const Tavola__V1__EntityKey *key,
    const Tavola__V1__Precondition *precondition, struct arena *arena, struct write *out, struct error *err)
{
    struct write write = { .kind = WRITE_DELETE, .properties = { STR_EMPTY } };

    TRY(codec_entity_key_decode(key, "key", &write.key, err));
    TRY(precondition_decode(WRITE_DELETE, precondition, arena, &write.condition, err));
    *out = write;
    return STATUS_OK;
}

enum status codec_write_batch_operation_decode(
    const Tavola__V1__BatchOperation *operation, struct arena *arena, struct write *out, struct error *err)
{
    const Tavola__V1__Precondition *precondition = operation->precondition;
    struct put put = { .field = "action" };

    switch (operation->action_case) {
    case TAVOLA__V1__BATCH_OPERATION__ACTION_INSERT:
        put = (struct put){ WRITE_INSERT, "insert", operation->insert };
        break;
    case TAVOLA__V1__BATCH_OPERATION__ACTION_REPLACE:
        put = (struct put){ WRITE_REPLACE, "replace", operation->replace };
        break;
    case TAVOLA__V1__BATCH_OPERATION__ACTION_MERGE:
        put = (struct put){ WRITE_MERGE, "merge", operation->merge };
        break;
    case TAVOLA__V1__BATCH_OPERATION__ACTION_INSERT_OR_REPLACE:
        put = (struct put){ WRITE_INSERT_OR_REPLACE, "insert_or_replace", operation->insert_or_replace };
        break;
    case TAVOLA__V1__BATCH_OPERATION__ACTION_INSERT_OR_MERGE:
        put = (struct put){ WRITE_INSERT_OR_MERGE, "insert_or_merge", operation->insert_or_merge };
        break;
    case TAVOLA__V1__BATCH_OPERATION__ACTION_DELETE:
        return codec_write_delete_decode(operation->delete_, precondition, arena, out, err);
    case TAVOLA__V1__BATCH_OPERATION__ACTION__NOT_SET:
    case _TAVOLA__V1__BATCH_OPERATION__ACTION__CASE_IS_INT_SIZE:
        return codec_missing(err, "action", "exactly one of the six writes");
    }
    return put_decode(&put, precondition, arena, out, err);
}

enum status codec_write_error_at(struct error *err, size_t index)
{
    char message[ERROR_MESSAGE_BYTES];
    int cut;

    memcpy(message, err->message, sizeof(message));
    cut = snprintf(err->message, sizeof(err->message), "%zu:", index);
    (void)snprintf(err->message + cut, sizeof(err->message) - (size_t)cut, "%.*s",
        (int)(sizeof(err->message) - (size_t)cut - 1), message);
    error_add_meta_int(err, "operation_index", (int64_t)index);
    return error_in_element(err, "operations", index);
}

/* A write with its index in the request. The writes are sorted, to find an entity that occurs twice. */
struct placed {
    const struct write *write;
    size_t index;
};

static int placed_compare(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    int order = entity_key_compare(&a->write->key, &b->write->key);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static enum status check_entities_once(
    const struct write *writes, size_t count, struct arena *arena, struct error *err)
{
    struct placed *sorted = ARENA_ARRAY(arena, struct placed, count);
    size_t twice = count;

    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct placed){ .write = &writes[i], .index = i };
    qsort(sorted, count, sizeof(*sorted), placed_compare);
    for (size_t i = 1; i < count; i++) {
        if (entity_key_compare(&sorted[i - 1].write->key, &sorted[i].write->key) == 0 &&
            sorted[i].index < twice)
            twice = sorted[i].index;
    }
    if (twice == count)
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_DUPLICATE_ROW,
        "the batch has two operations for the same entity: an entity may occur in it once");
    error_add_meta(err, "row_key", writes[twice].key.row);
    return codec_write_error_at(err, twice);
}

static enum status check_one_partition(const struct write *writes, size_t count, struct error *err)
{
    for (size_t i = 1; i < count; i++) {
        if (str_equal(writes[i].key.partition, writes[0].key.partition))
            continue;
        (void)reason_set(err, REASON_COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS,
            "all operations of a batch must have the partition key of the first");
        error_add_meta(err, "partition_key", writes[i].key.partition);
        return codec_write_error_at(err, i);
    }
    return STATUS_OK;
}

static enum status check_count(size_t count, struct error *err)
{
    if (count == 0)
        return codec_missing(err, "operations", "1 to 100 writes");
    if (count <= LIMIT_BATCH_OPERATIONS)
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT, "the batch has %zu operations, allowed are 100", count);
    error_add_meta_int(err, "limit", LIMIT_BATCH_OPERATIONS);
    error_add_meta_int(err, "actual", (int64_t)count);
    return codec_write_error_at(err, LIMIT_BATCH_OPERATIONS);
}

enum status codec_write_group(
    struct write *writes, size_t count, struct arena *arena, struct operation_write *out, struct error *err)
{
    TRY(check_one_partition(writes, count, err));
    TRY(check_entities_once(writes, count, arena, err));
    *out = (struct operation_write){ .writes = writes, .count = count, .atomic = true, .is_group = true };
    return STATUS_OK;
}

enum status codec_write_batch_decode(const Tavola__V1__ExecuteBatchRequest *request, struct arena *arena,
    struct operation_write *out, struct error *err)
{
    size_t count = request->n_operations;
    struct write *writes;

    TRY(check_count(count, err));
    writes = ARENA_ARRAY(arena, struct write, count);
    for (size_t i = 0; i < count; i++) {
        if (codec_write_batch_operation_decode(request->operations[i], arena, &writes[i], err) != STATUS_OK)
            return codec_write_error_at(err, i);
    }
    return codec_write_group(writes, count, arena, out, err);
}

void codec_write_operation(struct operation *operation, const struct write *write)
{
    struct write *copy = ARENA_NEW(operation->arena, struct write);

    *copy = *write;
    operation->kind = OPERATION_WRITE;
    operation->in.write = (struct operation_write){ .writes = copy, .count = 1, .atomic = true };
}

void codec_write_result(struct buf *out, uint32_t field, const struct write_result *result,
    struct str consistency_token, bool replayed)
{
    char etag[ETAG_BYTES];
    char bytes[ETAG_BYTES + 64 + MAX_TOKEN_BYTES];
    struct buf body = { .data = bytes, .capacity = sizeof(bytes) };

    assert(consistency_token.len <= MAX_TOKEN_BYTES && "writes of one partition have short tokens");
    if (result->etag.version != 0)
        wire_write_bytes(&body, 1, str_of_bytes(etag, etag_format(result->etag, etag)));
    codec_write_timestamp(&body, 2, result->timestamp);
    if (consistency_token.len > 0)
        wire_write_bytes(&body, 3, consistency_token);
    if (replayed)
        wire_write_scalar(&body, 4, 1);
    wire_write_bytes(out, field, buf_str(&body));
}
