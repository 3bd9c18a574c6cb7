/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - see the header.
 */
#include "store/queries/collect.h"

#include "base/macros.h"
#include "domain/limits.h"

/*
 * Whether every row that is read will be passed on; then no more rows need to be read than the sink
 * has room for.
 */
static bool wants_all(const struct collection *collection)
{
    const struct row_scan *scan = collection->scan;

    return !collection->is_wanted && row_scan_is_exact(&scan->plan);
}

/* Ask for one row more than there is room for, which tells whether more rows exist. */
static void limit_next_rows(const struct collection *collection, int64_t count)
{
    if (wants_all(collection) && collection->limit < INT64_MAX)
        collection->scan->enough = collection->limit - count + 1;
}

static enum status fill_page(
    struct session *session, const struct collection *collection, int64_t *count, struct error *err)
{
    struct row_scan *scan = collection->scan;
    bool found = true;

    while (*count < collection->limit && !row_scan_has_searched_enough(scan)) {
        struct entity entity;

        limit_next_rows(collection, *count);
        TRY(row_scan_next(session, scan, &found, &entity, err));
        if (!found)
            break;
        if (!collection->is_wanted || collection->is_wanted(collection->context, &entity)) {
            if (collection->check)
                TRY(collection->check(collection->context, &entity, err));
            if (!collection->sink->add(collection->sink, &entity))
                break;
            ++*count;
        }
        row_scan_pass(scan, &entity.key);
    }
    return row_scan_finish(session, scan, err);
}

static enum status fill_from_start(
    struct session *session, const struct collection *collection, int64_t *count, struct error *err)
{
    enum status status;

    *count = 0;
    collection->sink->reset(collection->sink);
    status = fill_page(session, collection, count, err);
    row_scan_close(collection->scan);
    return status;
}

enum status collect_entities(
    struct session *session, const struct collection *collection, int64_t *count, struct error *err)
{
    struct row_scan *scan = collection->scan;

    scan->one_statement = !session_in_snapshot(session);
    limit_next_rows(collection, 0);
    row_scan_open(scan);
    TRY(fill_from_start(session, collection, count, err));
    if (!scan->needs_more)
        return STATUS_OK;
    TRY(session_begin_snapshot(session, err));
    row_scan_restart(scan);
    return fill_from_start(session, collection, count, err);
}

/* ---- the list ---- */

static void reset_entities(struct entity_sink *sink)
{
    struct entity_list *list = CONTAINER_OF(sink, struct entity_list, sink);

    if (list->count > 0)
        arena_rewind(list->arena, &list->before);
    list->before = *list->arena;
    list->count = 0;
    list->property_bytes = 0;
}

static bool add_entity(struct entity_sink *sink, const struct entity *entity)
{
    struct entity_list *list = CONTAINER_OF(sink, struct entity_list, sink);
    struct entity *copy = &list->entities[list->count];

    if (list->property_bytes >= LIMIT_REPLY_BYTES)
        return false;
    *copy = *entity;
    if (!list->borrows) {
        copy->key.partition = arena_copy(list->arena, entity->key.partition);
        copy->key.row = arena_copy(list->arena, entity->key.row);
        copy->properties.bytes = arena_copy(list->arena, entity->properties.bytes);
    }
    list->property_bytes += (int64_t)copy->properties.bytes.len;
    list->count++;
    return true;
}

void collect_list_init(struct entity_list *list, size_t max, struct arena *arena)
{
    *list = (struct entity_list){ .sink = { reset_entities, add_entity }, .arena = arena };
    list->entities = ARENA_ARRAY(arena, struct entity, max);
}
