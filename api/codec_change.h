/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_change.h - the change feed: what a watch asks for, and changes up to the size of a message.
 */
#ifndef API_CODEC_CHANGE_H
#define API_CODEC_CHANGE_H

#include "api/codec_read.h"
#include "domain/feed/feed_change.h"

/*
 * Table and filter. A filter may ask about the two keys only: a deleted entity has nothing else.
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: it asks about more, or is no plain range of keys
 */
MUST_USE enum status codec_change_watch_decode(const Tavola__V1__WatchEntitiesRequest *request,
    struct arena *arena, struct operation *out, struct error *err);

/* What makes a watch another one: its token does not fit then. */
struct str codec_change_watch_identity(
    const struct operation *operation, struct str filter, struct arena *arena);

/*
 * Append changes as repeated field `field` until LIMIT_REPLY_BYTES would be passed, but at least one. Returns how many
 * went in. Room for a token is left.
 */
size_t codec_change_write(struct buf *out, uint32_t field, const struct change *changes, size_t count,
    const struct selection *selection, struct arena *arena);

#endif
