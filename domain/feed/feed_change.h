/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_change.h - what happened to an entity, as the change feed tells it, and a place in the feed.
 *
 * Pure.
 */
#ifndef DOMAIN_FEED_FEED_CHANGE_H
#define DOMAIN_FEED_FEED_CHANGE_H

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

struct change {
    int64_t number; /* grows within the feed, with gaps */
    enum feed_change_kind kind;
    struct entity entity; /* as it was after the change; deleted: keys, ETag and timestamp */
};

/* Behind the change of this number in this feed; the feed is one period of a table's having one. */
struct feed_place {
    int64_t table_id;
    int64_t feed_id;
    int64_t epoch; /* of the catalogue: after a fail-over numbers may stand for other changes */
    int64_t number;
};

/* As bytes for a token, which carries the table's id by itself. false: not such bytes. */
struct str feed_place_encode(const struct feed_place *place, struct arena *arena);
bool feed_place_decode(struct str bytes, struct feed_place *out);

/*
 * Whether everything that happened behind `from` can still be told. now: the feed as it is, its number the highest
 * that was removed. newest: the highest number there is, at least that one.
 *
 * STATUS_PRECONDITION  RESYNC_REQUIRED: the message says why
 */
MUST_USE enum status feed_place_check(
    const struct feed_place *from, const struct feed_place *now, int64_t newest, struct error *err);

#endif
