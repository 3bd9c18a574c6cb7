/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_write.h - single writes and the entity group transaction.
 */
#ifndef API_CODEC_WRITE_H
#define API_CODEC_WRITE_H

#include "api/codec_entity.h"
#include "domain/operations/operation.h"
#include "tavola/v1/entity_service.pb-c.h"

/*
 * Decode one write of an entity. precondition: the request's, or NULL; required for replace and merge, refused for
 * insert and upserts.
 */
MUST_USE enum status codec_write_decode(enum write_kind kind, const Tavola__V1__Entity *entity,
    const Tavola__V1__Precondition *precondition, struct arena *arena, struct write *out, struct error *err);

/* Decode a delete, which requires a precondition. */
MUST_USE enum status codec_write_delete_decode(const Tavola__V1__EntityKey *key,
    const Tavola__V1__Precondition *precondition, struct arena *arena, struct write *out, struct error *err);

/* Decode a precondition that may be absent, such as that of a step. */
MUST_USE enum status codec_write_condition_decode(const Tavola__V1__Precondition *precondition,
    struct arena *arena, struct condition *out, struct error *err);

/* Decode one write of a batch. */
MUST_USE enum status codec_write_batch_operation_decode(
    const Tavola__V1__BatchOperation *operation, struct arena *arena, struct write *out, struct error *err);

/*
 * Decode the writes of a batch: 1 to LIMIT_BATCH_OPERATIONS of them, in one partition, each entity once. The message
 * of an error begins with "<index>:", and its metadata has operation_index.
 */
MUST_USE enum status codec_write_batch_decode(const Tavola__V1__ExecuteBatchRequest *request,
    struct arena *arena, struct operation_write *out, struct error *err);

/*
 * Fill an operation with writes that are decoded already, 1 to LIMIT_BATCH_OPERATIONS of them: in one
 * partition, each entity once. arena: used for sorting.
 */
MUST_USE enum status codec_write_group(
    struct write *writes, size_t count, struct arena *arena, struct operation_write *out, struct error *err);

/* Put "<index>:" before the message of an error, and operation_index into its metadata. Returns the error's status. */
enum status codec_write_error_at(struct error *err, size_t index);

/* Fill an operation with one atomic write. */
void codec_write_operation(struct operation *operation, const struct write *write);

/* Append a WriteResult as the field `field`. replayed: whether the answer comes from a request record. */
void codec_write_result(struct buf *out, uint32_t field, const struct write_result *result,
    struct str consistency_token, bool replayed);

#endif
