/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_read.h - functions that all reads share: options, page sizes, entities up to the size of a reply,
 * statistics.
 */
#ifndef API_CODEC_READ_H
#define API_CODEC_READ_H

#include "api/codec_entity.h"
#include "domain/operations/operation.h"
#include "tavola/v1/entity_service.pb-c.h"

/* The properties that the caller asks for; count 0: all. */
struct selection {
    struct str *names;
    size_t count;
};

/* Decode the names of the selected properties: the field `select` of a request. */
MUST_USE enum status codec_read_names_decode(const ProtobufCBinaryData *names, size_t count,
    struct arena *arena, struct selection *out, struct error *err);

/* Decode the selected properties. options may be NULL. */
MUST_USE enum status codec_read_selection_decode(
    const Tavola__V1__ReadOptions *options, struct arena *arena, struct selection *out, struct error *err);

/*
 * Decode the id of the transaction that the read waits for; empty if there is none. options may be NULL.
 * TRANSACTION_NOT_FOUND: no transaction can have the id.
 */
MUST_USE enum status codec_read_wait_decode(
    const Tavola__V1__ReadOptions *options, struct str *out, struct error *err);

/* Decode a page size: 0 and values above LIMIT_PAGE_ROWS mean LIMIT_PAGE_ROWS; INVALID_INPUT if it is negative. */
MUST_USE enum status codec_read_page_size(int32_t page_size, int32_t *out, struct error *err);

/* Decode a query: table, filter with its plan, direction and max_plan. INVALID_INPUT if query is NULL. */
MUST_USE enum status codec_read_query_decode(
    const Tavola__V1__Query *query, struct arena *arena, struct operation *out, struct error *err);

/* The bytes that identify the query. A page token is valid only for a query with equal bytes. */
struct str codec_read_query_identity(
    const Tavola__V1__Query *query, const struct selection *selection, struct arena *arena);

/* Decode 1 to LIMIT_BATCH_GET_KEYS keys. */
MUST_USE enum status codec_read_keys_decode(Tavola__V1__EntityKey *const *keys, size_t count,
    struct arena *arena, struct operation_get *out, struct error *err);

/* The entity with the selected properties only; the result borrows the entity and lies in the arena. */
struct entity codec_read_select(
    const struct entity *entity, const struct selection *selection, struct arena *arena);

/* Which part of a list of entities a reply holds. */
struct written {
    size_t count;
    int64_t property_bytes;
};

/*
 * Append entities as the repeated field `field` until the reply would exceed LIMIT_REPLY_BYTES; the first entity is
 * always appended, and the page ends with the last one. Room for a token and statistics is left.
 */
struct written codec_read_entities_write(struct buf *out, uint32_t field, const struct entity *entities,
    size_t count, const struct selection *selection, struct arena *arena);

enum { ENTITY_PART_BYTES = 2 * 1024 * 1024 }; /* of the properties of a large entity, in one message */

/* A sink with the same rules, so that entities are written into the reply while they are read. */
struct entity_writer {
    struct entity_sink sink;
    struct buf *out;
    size_t begin; /* the length of `out` before the first entity */
    uint32_t field;
    struct selection selection;
    struct arena *arena;
    struct written written;
    /*
     * NULL: a large entity is written whole. Otherwise one with more than LIMIT_REPLY_BYTES is written alone, with
     * its first properties; `large` is the entity, its properties are the others, and these bytes are in `rest`.
     */
    struct buf *rest;
    struct entity large;
};
void entity_writer_init(struct entity_writer *writer, struct buf *out, uint32_t field,
    const struct selection *selection, struct arena *arena);

/* Append the keys of the entities in the same way. */
struct written codec_read_keys_write(
    struct buf *out, uint32_t field, const struct entity *entities, size_t count);

/* Append the results of BatchGetEntities: for each key the entity or NOT_FOUND, as many as fit. */
void codec_read_batch_get_write(struct buf *out, const struct operation *operation,
    const struct selection *selection, struct arena *arena);

/* Append QueryStats as the field `field`. index: the name of the index that was used, or empty. */
void codec_read_stats_write(struct buf *out, uint32_t field, const struct query_stats *stats,
    struct str index, const struct written *written);

#endif
