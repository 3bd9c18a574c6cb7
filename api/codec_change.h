/* SPDX-License-Identifier: Apache-2.0 */
/* codec_change.h - the change feed: decode the request of a watch, and encode changes up to the size of a message. */
#ifndef API_CODEC_CHANGE_H
#define API_CODEC_CHANGE_H

#include "api/codec_read.h"
#include "domain/feed/feed_change.h"

/*
 * Decode the table and the filter of a watch. The filter may name the two keys only, because nothing else is known of
 * a deleted entity.
 *
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: the filter names a property, or does not describe one range of keys
 */
MUST_USE enum status codec_change_watch_decode(const Tavola__V1__WatchEntitiesRequest *request,
    struct arena *arena, struct operation *out, struct error *err);

/* The bytes that identify the watch. A resume token is valid only for a request with equal bytes. */
struct str codec_change_watch_identity(
    const struct operation *operation, struct str filter, struct arena *arena);

/*
 * Append changes as the repeated field `field` until the reply would exceed LIMIT_REPLY_BYTES; the first change is
 * always appended. Returns the number of appended changes. Room for a token is left.
 */
size_t codec_change_write(struct buf *out, uint32_t field, const struct change *changes, size_t count,
    const struct selection *selection, struct arena *arena);

#endif
