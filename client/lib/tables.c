/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - tables, indexes, and the operations that build indexes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/codec_copies.h"
#include "base/clock.h"
#include "client/lib/call_error.h"
#include "client/lib/session.h"
#include "tavola/v1/index_service.pb-c.h"
#include "tavola/v1/operation_service.pb-c.h"
#include "tavola/v1/table_service.pb-c.h"

enum { US_PER_MS = 1000, MAX_WAIT_MS = 30000 };

/* Make a call whose reply is not read. */
static enum tavola_code ask_only(
    struct tavola *client, const struct session_request *request, struct tavola_error *error)
{
    struct tavola_error own;
    struct arena arena;
    const void *reply;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    (void)session_ask(client, request, &arena, &reply, error);
    arena_cleanup(&arena);
    return error->code;
}

enum tavola_code tavola_create_table(struct tavola *client, const char *table, struct tavola_error *error)
{
    Tavola__V1__CreateTableRequest request = TAVOLA__V1__CREATE_TABLE_REQUEST__INIT;

    request.name = codec_bytes(str_of(table));
    return ask_only(client,
        &(struct session_request){ .path = "/tavola.v1.TableService/CreateTable",
            .message = &request.base,
            .reply_type = &tavola__v1__create_table_response__descriptor },
        error);
}

enum tavola_code tavola_delete_table(struct tavola *client, const char *table, struct tavola_error *error)
{
    Tavola__V1__DeleteTableRequest request = TAVOLA__V1__DELETE_TABLE_REQUEST__INIT;

    request.name = codec_bytes(str_of(table));
    return ask_only(client,
        &(struct session_request){ .path = "/tavola.v1.TableService/DeleteTable",
            .message = &request.base,
            .reply_type = &tavola__v1__delete_table_response__descriptor },
        error);
}

/* ---- operations ---- */

static enum tavola_code read_operation(const Tavola__V1__Operation *operation, struct tavola_error *error)
{
    if (operation->state == TAVOLA__V1__OPERATION_STATE__OPERATION_STATE_CANCELLED)
        return call_error_set(error, TAVOLA_CANCELLED, "the operation was cancelled");
    if (operation->state != TAVOLA__V1__OPERATION_STATE__OPERATION_STATE_FAILED)
        return TAVOLA_OK;
    if (!operation->error)
        return call_error_set(error, TAVOLA_INTERNAL, "the operation has failed");
    (void)call_error_set(error, (enum tavola_code)operation->error->code, "%.*s",
        STR_ARG(codec_str(operation->error->message)));
    snprintf(error->reason, sizeof(error->reason), "%.*s", STR_ARG(codec_str(operation->error->reason)));
    return error->code;
}

/* Wait once for an operation. *is_final: whether it has ended. */
static enum tavola_code wait_once(struct tavola *client, const char *operation_id, int64_t timeout_ms,
    bool *is_final, struct tavola_error *error)
{
    Tavola__V1__WaitOperationRequest request = TAVOLA__V1__WAIT_OPERATION_REQUEST__INIT;
    const Tavola__V1__WaitOperationResponse *answer;
    struct arena arena;
    const void *reply;

    arena_init(&arena);
    request.operation_id = codec_bytes(str_of(operation_id));
    if (session_ask(client,
            &(struct session_request){ .path = "/tavola.v1.OperationService/WaitOperation",
                .message = &request.base,
                .reply_type = &tavola__v1__wait_operation_response__descriptor,
                .timeout_ms = timeout_ms },
            &arena, &reply, error) == TAVOLA_OK) {
        answer = reply;
        *is_final = answer->operation &&
                    answer->operation->state >= TAVOLA__V1__OPERATION_STATE__OPERATION_STATE_DONE;
        if (*is_final)
            (void)read_operation(answer->operation, error);
    }
    arena_cleanup(&arena);
    return error->code;
}

enum tavola_code tavola_wait_operation(
    struct tavola *client, const char *operation_id, int64_t timeout_ms, struct tavola_error *error)
{
    int64_t until_us = clock_monotonic_us() + timeout_ms * US_PER_MS, left_ms = timeout_ms;
    struct tavola_error own;
    bool is_final = false;

    error = call_error_begin(error, &own);
    while (left_ms > 0 &&
           wait_once(client, operation_id, left_ms < MAX_WAIT_MS ? left_ms : MAX_WAIT_MS, &is_final, error) ==
               TAVOLA_OK &&
           !is_final)
        left_ms = (until_us - clock_monotonic_us()) / US_PER_MS;
    if (error->code == TAVOLA_OK && !is_final)
        return call_error_set(error, TAVOLA_DEADLINE_EXCEEDED,
            "the operation %s has not ended in time: wait for it again", operation_id);
    return error->code;
}

/* ---- indexes ---- */

static Tavola__V1__KeyPart *part_of(const char *property, struct arena *arena)
{
    Tavola__V1__KeyPart *part = ARENA_NEW(arena, Tavola__V1__KeyPart);

    tavola__v1__key_part__init(part);
    part->source_case = TAVOLA__V1__KEY_PART__SOURCE_PROPERTY;
    part->property = codec_bytes(str_of(property));
    return part;
}

static Tavola__V1__Projection *projection_of(const char *const *select, struct arena *arena)
{
    Tavola__V1__Projection *projection = ARENA_NEW(arena, Tavola__V1__Projection);
    Tavola__V1__PropertyNames *some = ARENA_NEW(arena, Tavola__V1__PropertyNames);
    size_t count = 0;

    while (select[count])
        count++;
    tavola__v1__projection__init(projection);
    tavola__v1__property_names__init(some);
    some->names = ARENA_ARRAY(arena, ProtobufCBinaryData, count);
    while (some->n_names < count) {
        some->names[some->n_names] = codec_bytes(str_of(select[some->n_names]));
        some->n_names++;
    }
    projection->columns_case =
        count > 0 ? TAVOLA__V1__PROJECTION__COLUMNS_SOME : TAVOLA__V1__PROJECTION__COLUMNS_KEYS_ONLY;
    if (count > 0)
        projection->some = some;
    else
        projection->keys_only = true;
    return projection;
}

static struct str text_of(const char *text)
{
    return str_of(text ? text : "");
}

static struct copy_name copy_name_of(const struct tavola_copy_key *key)
{
    return key->property ? (struct copy_name){ .text = str_of(key->property) }
                         : (struct copy_name){ .is_literal = true, .text = text_of(key->literal) };
}

static Tavola__V1__CopyRule *rule_of(const struct tavola_copies *copies, struct arena *arena)
{
    struct copy_rule rule = { .source_name = text_of(copies->source_table),
        .partition_key = copy_name_of(&copies->partition_key),
        .row_key = copy_name_of(&copies->row_key),
        .keep = copies->keep,
        .version_property = text_of(copies->version_property) };
    size_t count = 0;

    while (copies->properties && copies->properties[count].property)
        count++;
    rule.pairs = ARENA_ARRAY(arena, struct copy_pair, count);
    for (const struct tavola_copied *one = copies->properties; rule.pair_count < count; one++)
        rule.pairs[rule.pair_count++] = (struct copy_pair){ str_of(one->property), text_of(one->of) };
    return codec_copies_message(&rule, arena);
}

/*
 * Write the declaration. In other partitions the first property is the partition key of the entries, and the
 * further ones order them; in the same partition all of them do.
 */
static void write_index(const struct tavola_index *index, struct arena *arena, Tavola__V1__Index *out)
{
    size_t count = 0, partition_parts = index->in_same_partition ? 0 : 1;

    while (index->by && index->by[count])
        count++;
    out->name = codec_bytes(str_of(index->name));
    out->table = codec_bytes(str_of(index->table));
    out->filter = codec_bytes(str_of(index->filter ? index->filter : ""));
    out->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_COPY;
    out->place = index->in_same_partition ? TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_SAME_PARTITION
                                          : TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_OTHER_PARTITION;
    out->unique = index->unique;
    if (index->reject_violations)
        out->on_violation = TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_REJECT;
    if (index->select)
        out->projection = projection_of(index->select, arena);
    if (index->copies)
        out->copies = rule_of(index->copies, arena);
    if (index->strong)
        out->consistency = TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG;
    out->partition_key = ARENA_ARRAY(arena, Tavola__V1__KeyPart *, count + 1);
    out->row_key = ARENA_ARRAY(arena, Tavola__V1__KeyPart *, count + 1);
    if (index->in_same_partition)
        out->partition_key[out->n_partition_key++] = part_of("PartitionKey", arena);
    for (size_t i = 0; i < count; i++)
        if (i < partition_parts)
            out->partition_key[out->n_partition_key++] = part_of(index->by[i], arena);
        else
            out->row_key[out->n_row_key++] = part_of(index->by[i], arena);
}

static enum tavola_code create_index(struct tavola *client, const struct tavola_index *index,
    struct arena *arena, struct str *build, struct tavola_error *error)
{
    Tavola__V1__CreateIndexRequest request = TAVOLA__V1__CREATE_INDEX_REQUEST__INIT;
    Tavola__V1__Index declared = TAVOLA__V1__INDEX__INIT;
    const Tavola__V1__CreateIndexResponse *answer;
    const void *reply;

    write_index(index, arena, &declared);
    request.index = &declared;
    if (session_ask(client,
            &(struct session_request){ .path = "/tavola.v1.IndexService/CreateIndex",
                .message = &request.base,
                .reply_type = &tavola__v1__create_index_response__descriptor },
            arena, &reply, error) != TAVOLA_OK)
        return error->code;
    answer = reply;
    *build =
        answer->status && answer->status->build ? codec_str(answer->status->build->operation_id) : STR_EMPTY;
    return TAVOLA_OK;
}

enum tavola_code tavola_create_index(
    struct tavola *client, const struct tavola_index *index, int64_t timeout_ms, struct tavola_error *error)
{
    struct tavola_error own;
    struct arena arena;
    struct str build;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    if (create_index(client, index, &arena, &build, error) == TAVOLA_OK && timeout_ms > 0 && build.len > 0)
        (void)tavola_wait_operation(client, arena_copy(&arena, build).data, timeout_ms, error);
    arena_cleanup(&arena);
    return error->code;
}
