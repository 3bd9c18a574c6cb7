/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_change.h - a change of an entity as the change feed shows it, and a position in the feed.
 *
 * Pure.
 */
#ifndef DOMAIN_FEED_FEED_CHANGE_H
#define DOMAIN_FEED_FEED_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/entities/entity.h"

enum feed_change_kind {
    CHANGE_NONE,
    CHANGE_INSERTED,
    CHANGE_UPDATED,
    CHANGE_DELETED,
};

/*
 * Added to the stored kind of a change whose properties are left out, because the entity is a wide one with more than
 * the feed keeps. Only programs that know it may use a database that has such a change.
 */
enum { CHANGE_LEFT_OUT = 16 };

struct change {
    int64_t number; /* grows within the feed, with gaps */
    enum feed_change_kind kind;
    bool is_left_out;     /* the entity has properties, and they are not here */
    struct entity entity; /* after the change; if deleted: keys, ETag and timestamp only */
};

/*
 * A position: after the change with this number in this feed. A table that switches its feed off
 * and on again has another feed.
 */
struct feed_position {
    int64_t table_id;
    int64_t feed_id;
    /* of the catalogue; after a fail-over the same number may be that of another change */
    int64_t epoch;
    int64_t number;
};

/*
 * The position as bytes for a token, which carries the table id itself. false: the bytes are not a
 * position.
 */
struct str feed_position_encode(const struct feed_position *position, struct arena *arena);
bool feed_position_decode(struct str bytes, struct feed_position *out);

/*
 * Whether the feed still has all changes after `from`. now: the present feed; its number is the
 * highest that was removed. newest: the highest number in the feed, at least that one.
 *
 * STATUS_PRECONDITION  RESYNC_REQUIRED: the message says why
 */
MUST_USE enum status feed_position_check(
    const struct feed_position *from, const struct feed_position *now, int64_t newest, struct error *err);

#endif
