/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_parts.h - an entity that arrives in parts, in several messages of an import: each part has the same key, and
 * properties whose names are behind those of the part before.
 *
 *     codec_parts_add, for the first part;  codec_parts_check, codec_parts_add, for each further one
 *     codec_parts_finish;  codec_parts_clear, when the write is done
 */
#ifndef API_CODEC_PARTS_H
#define API_CODEC_PARTS_H

#include "api/codec_write.h"

struct codec_parts {
    bool is_open; /* at least one part has arrived */
    struct buf keys, last_name;
    struct buf properties; /* on the heap, at most LIMIT_WIDE_BYTES */
    struct entity_key key;
    int64_t expires;
    size_t count;     /* of properties */
    struct error why; /* why the entity will be refused; STATUS_OK: nothing is wrong so far */
};

/* A struct of zeros has no part. Release the memory, and wait for the first part of another entity. */
void codec_parts_clear(struct codec_parts *parts);

/* The bytes of memory that the parts take. */
size_t codec_parts_bytes(const struct codec_parts *parts);

/* STATUS_INVALID  INVALID_INPUT: the part has another key than those before */
MUST_USE enum status codec_parts_check(
    const struct codec_parts *parts, const Tavola__V1__Entity *part, struct error *err);

/* Keep a part. What is wrong with it is told by codec_parts_finish. */
void codec_parts_add(struct codec_parts *parts, const Tavola__V1__Entity *part, struct arena *arena);

/*
 * The upsert of the whole entity, which borrows the parts.
 *
 * STATUS_INVALID, STATUS_OUT_OF_RANGE: as codec_write_decode; INVALID_INPUT: the names are not in order
 */
MUST_USE enum status codec_parts_finish(
    const struct codec_parts *parts, struct arena *arena, struct write *out, struct error *err);

#endif
