/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - the one loop of all that reads entities in order: pass those that are wanted on to a sink until the
 * sink, or the answer, is full.
 */
#ifndef STORE_QUERIES_COLLECT_H
#define STORE_QUERIES_COLLECT_H

#include "domain/operations/operation.h"
#include "store/queries/row_scan.h"

struct collection {
    struct row_scan *scan; /* set up, not opened; finished and closed by collect_entities */
    /* NULL: all of them. */
    bool (*is_wanted)(const void *context, const struct entity *entity);
    const void *context;
    struct entity_sink *sink;
    int64_t limit; /* of entities */
};

/*
 * All of it is read in one snapshot: in one statement, or where that is not enough, in a transaction, which then is
 * left open for what else is to be read in it (guard G21). A snapshot that is open already is used.
 *
 * *count: the number of entities in the sink. scan->after is the position after the last row that was read;
 * scan->exhausted says whether there can be more.
 *
 * STATUS_STALE: see row_scan_next.
 */
MUST_USE enum status collect_entities(
    struct session *session, const struct collection *collection, int64_t *count, struct error *err);

/* A sink that keeps copies of up to LIMIT_REPLY_BYTES of properties in an arena. */
struct entity_list {
    struct entity_sink sink;
    struct arena *arena, before; /* before the first copy */
    struct entity *entities;
    size_t count;
    int64_t property_bytes;
};

/* Room for `max` entities. */
void collect_list_init(struct entity_list *list, size_t max, struct arena *arena);

#endif
