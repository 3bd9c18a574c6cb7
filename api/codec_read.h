/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_read.h - what the reads have in common: options, page sizes, entities up to the size of a reply,
 * statistics.
 */
#ifndef API_CODEC_READ_H
#define API_CODEC_READ_H

#include "api/codec_entity.h"
#include "domain/operations/operation.h"
#include "tavola/v1/entity_service.pb-c.h"

/* The properties wanted; count 0: all. */
struct selection {
    struct str *names;
    size_t count;
};

/* options may be NULL. */
MUST_USE enum status codec_read_selection_decode(
    const Tavola__V1__ReadOptions *options, struct arena *arena, struct selection *out, struct error *err);

/* The transaction whose end the read waits for; empty: none. options may be NULL. TRANSACTION_NOT_FOUND. */
MUST_USE enum status codec_read_wait_decode(
    const Tavola__V1__ReadOptions *options, struct str *out, struct error *err);

/* 0 means LIMIT_PAGE_ROWS, more is taken as that, negative is INVALID_INPUT. */
MUST_USE enum status codec_read_page_size(int32_t page_size, int32_t *out, struct error *err);

/* Which entities: table, filter and its plan, direction, max_plan. query may be NULL, which is refused. */
MUST_USE enum status codec_read_query_decode(
    const Tavola__V1__Query *query, struct arena *arena, struct operation *out, struct error *err);

/* What makes a query another one: its token does not fit then. */
struct str codec_read_query_identity(
    const Tavola__V1__Query *query, const struct selection *selection, struct arena *arena);

/* 1..LIMIT_BATCH_GET_KEYS keys. */
MUST_USE enum status codec_read_keys_decode(Tavola__V1__EntityKey *const *keys, size_t count,
    struct arena *arena, struct operation_get *out, struct error *err);

/* The entity with the properties wanted. */
struct entity codec_read_select(
    const struct entity *entity, const struct selection *selection, struct arena *arena);

/* What of a list of entities went into a reply. */
struct written {
    size_t count;
    int64_t property_bytes;
};

/*
 * Append entities as repeated field `field` until LIMIT_REPLY_BYTES would be passed, but at least one:
 * the page ends there. Room for a token and statistics is left.
 */
struct written codec_read_entities_write(struct buf *out, uint32_t field, const struct entity *entities,
    size_t count, const struct selection *selection, struct arena *arena);

/* The same as a sink, so that entities go into the reply while they are read. */
struct entity_writer {
    struct entity_sink sink;
    struct buf *out;
    size_t begin; /* bytes that were in `out` before */
    uint32_t field;
    struct selection selection;
    struct arena *arena;
    struct written written;
};
void entity_writer_init(struct entity_writer *writer, struct buf *out, uint32_t field,
    const struct selection *selection, struct arena *arena);

/* The same for the keys alone. */
struct written codec_read_keys_write(
    struct buf *out, uint32_t field, const struct entity *entities, size_t count);

/*
 * The reply to BatchGetEntities: an entity or a NOT_FOUND per key, as many as fit.
 */
void codec_read_batch_get_write(struct buf *out, const struct operation *operation,
    const struct selection *selection, struct arena *arena);

/* Append QueryStats as field `field`: what was examined, and what was returned. index may be empty. */
void codec_read_stats_write(struct buf *out, uint32_t field, const struct query_stats *stats,
    struct str index, const struct written *written);

#endif
