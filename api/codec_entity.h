/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_entity.h - keys, entities and values.
 *
 * An entity is written by splicing: keys, timestamp and ETag in front of the stored property bytes, which
 * are already in the form of the reply.
 */
#ifndef API_CODEC_ENTITY_H
#define API_CODEC_ENTITY_H

#include "api/codec.h"
#include "domain/keys/entity_key.h"
#include "domain/operations/operation.h"
#include "domain/properties/property.h"
#include "tavola/v1/entity.pb-c.h"

/* Decode a required key. field: its name in error messages. */
MUST_USE enum status codec_entity_key_decode(
    const Tavola__V1__EntityKey *message, const char *field, struct entity_key *out, struct error *err);

/* Decode a required entity: sets key, properties (in canonical form) and expires of *out. */
MUST_USE enum status codec_entity_decode(const Tavola__V1__Entity *message, const char *field,
    struct arena *arena, struct entity *out, struct error *err);

/* The same for an entity that may be too large for most tables, which *excess tells: property_list_parse_wide. */
MUST_USE enum status codec_entity_decode_wide(const Tavola__V1__Entity *message, const char *field,
    struct arena *arena, struct entity *out, struct property_excess **excess, struct error *err);

/* Decode a required value that is not null. */
MUST_USE enum status codec_entity_value_decode(const Tavola__V1__Value *message, const char *field,
    struct arena *arena, struct value *out, struct error *err);

/* The number of bytes that codec_entity_write appends for a field number below 16. */
size_t codec_entity_bytes(const struct entity *entity);

/* Append the entity as field `field` (below 16) of the message in out. */
void codec_entity_write(struct buf *out, uint32_t field, const struct entity *entity);

/* Append the key as field `field` (below 16) of the message in out. */
void codec_entity_key_write(struct buf *out, uint32_t field, const struct entity_key *key);
size_t codec_entity_key_bytes(const struct entity_key *key);

Tavola__V1__EntityKey *codec_entity_key_message(const struct entity_key *key, struct arena *arena);

/* An entity in the form in which the caller sent it, as the steps of a transaction are returned. */
Tavola__V1__Entity *codec_entity_message(
    const struct entity_key *key, struct property_list properties, int64_t expires, struct arena *arena);

#endif
