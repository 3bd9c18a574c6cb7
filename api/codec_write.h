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
 * One write of an entity. precondition is the request's, NULL when it has none: needed by replace and merge,
 * refused for insert and the upserts.
 */
MUST_USE enum status codec_write_decode(enum write_kind kind, const Tavola__V1__Entity *entity,
    const Tavola__V1__Precondition *precondition, struct arena *arena, struct write *out, struct error *err);

/* A delete: the precondition is needed. */
MUST_USE enum status codec_write_delete_decode(const Tavola__V1__EntityKey *key,
    const Tavola__V1__Precondition *precondition, struct arena *arena, struct write *out, struct error *err);

/* A precondition that may be absent (steps). */
MUST_USE enum status codec_write_condition_decode(const Tavola__V1__Precondition *precondition,
    struct arena *arena, struct condition *out, struct error *err);

/*
 * The writes of a batch: 1..LIMIT_BATCH_OPERATIONS, one partition, an entity once. An error's message begins
 * with "<i>:", its metadata has operation_index.
 */
MUST_USE enum status codec_write_batch_decode(const Tavola__V1__ExecuteBatchRequest *request,
    struct arena *arena, struct operation_write *out, struct error *err);

/* Fill an operation with one atomic write. */
void codec_write_operation(struct operation *operation, const struct write *write);

/* Append a WriteResult as field `field`. replayed: the answer comes from the record of a request. */
void codec_write_result(struct buf *out, uint32_t field, const struct write_result *result,
    struct str consistency_token, bool replayed);

#endif
