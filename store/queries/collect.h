/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - the one loop in which all queries read entities in order: it passes the wanted ones
 * on to a sink until the sink, or the answer, is full.
 */
#ifndef STORE_QUERIES_COLLECT_H
#define STORE_QUERIES_COLLECT_H

#include "domain/operations/operation.h"
#include "store/queries/row_scan.h"

struct collection {
    /* set up by the caller, not opened; collect_entities finishes and closes it */
    struct row_scan *scan;
    /* NULL: every entity is wanted. */
    bool (*is_wanted)(const void *context, const struct entity *entity);
    /* Of an entity that is wanted: whether it can be passed on. NULL: every one can. */
    enum status (*check)(const void *context, const struct entity *entity, struct error *err);
    const void *context;
    struct entity_sink *sink;
    int64_t limit; /* maximum number of entities */
};

/*
 * Read entities into the sink, all in one snapshot: one statement or, if that is not enough, a
 * transaction, which stays open for further reads (guard G21). If a snapshot is open already, it is
 * used.
 *
 * *count: the number of entities in the sink. scan->after is the position behind the last row that
 * was read; scan->exhausted tells whether more rows may exist.
 *
 * STATUS_STALE: see row_scan_next.
 */
MUST_USE enum status collect_entities(
    struct session *session, const struct collection *collection, int64_t *count, struct error *err);

/* A sink that keeps entities with up to LIMIT_REPLY_BYTES of properties in an arena. */
struct entity_list {
    struct entity_sink sink;
    bool borrows;                /* their bytes are in the arena already, so they are not copied */
    struct arena *arena, before; /* as the arena was before the first copy */
    struct entity *entities;
    size_t count;
    int64_t property_bytes;
};

/* Make room for `max` entities. */
void collect_list_init(struct entity_list *list, size_t max, struct arena *arena);

#endif
