/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_latest.c - see the header. The manifest, the entries and the removal of intents commit
 * together (guards G9, G10), so the entries of a key without an open intent are exactly right. Only
 * the keys with open intents have to be read at their source, and their number is bounded.
 */
#include "store/indexes/lookup_latest.h"

#include <stdlib.h>

#include "domain/indexes/index_names.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/entities/owner_rows.h"
#include "store/entities/read_batch.h"
#include "store/intents/freshness.h"
#include "store/session/session.h"
#include "store/sql.h"

enum {
    CHUNK = 32, /* sources in memory at the same time */
    /* a look-up comes here only if at most half of this number was open */
    MAX_OPEN_SOURCES = 2 * FRESHNESS_MAX_OPEN,
};

static int compare_keys(const void *a, const void *b)
{
    return entity_key_compare(a, b);
}

enum open_column { OPEN_PARTITION, OPEN_ROW };

enum status lookup_latest_begin(struct session *session, const struct index *index, struct arena *arena,
    struct open_sources *out, struct error *err)
{
    struct pg_params params;
    PG_RESULT keys = NULL;

    TRY(session_begin_snapshot(session, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->source_table_id);
    pg_add_int8(&params, MAX_OPEN_SOURCES + 1);
    TRY(pg_query(&session->pg, &sql_open_sources, &params, &keys, err));
    if (PQntuples(keys) > MAX_OPEN_SOURCES)
        return reason_set(err, REASON_NOT_FRESH_ENOUGH,
            "the index is behind with more than %d entities: an exact answer has to wait until it has caught "
            "up",
            FRESHNESS_MAX_OPEN);
    out->count = (size_t)PQntuples(keys);
    out->keys = ARENA_ARRAY(arena, struct entity_key, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->keys[i] = (struct entity_key){ arena_copy(arena, pg_bytes(keys, (int)i, OPEN_PARTITION)),
            arena_copy(arena, pg_bytes(keys, (int)i, OPEN_ROW)) };
    if (out->count > 0)
        qsort(out->keys, out->count, sizeof(out->keys[0]), compare_keys);
    return STATUS_OK;
}

enum status lookup_latest_is_behind(
    struct session *session, const struct index *index, bool *out, struct error *err)
{
    struct pg_params params;
    PG_RESULT keys = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->source_table_id);
    pg_add_int8(&params, 1);
    TRY(pg_query(&session->pg, &sql_open_sources, &params, &keys, err));
    *out = PQntuples(keys) > 0;
    return STATUS_OK;
}

bool lookup_latest_covers(const struct open_sources *open, const struct entity *entry)
{
    struct entity_key source;

    return open->count > 0 && index_entry_source(entry->properties, &source) &&
           bsearch(&source, open->keys, open->count, sizeof(open->keys[0]), compare_keys);
}

/* ---- the entries that open sources should have ---- */

struct merging {
    const struct index *index;
    const struct lookup_range *range;
    struct operation *operation;
    struct entity *found; /* under the keys of their entries */
    size_t count;
    struct arena arena; /* of the texts of what was found */
    size_t bytes;       /* of its properties */
};

/* Below 0 if a comes before b on the page, in the direction of the look-up. */
static int page_order(
    const struct operation *operation, const struct entity_key *a, const struct entity_key *b)
{
    int order = entity_key_compare(a, b);

    return operation->in.lookup.descending ? -order : order;
}

/* An entry before the page or behind its end belongs to another page. */
static bool is_on_page(const struct operation *operation, const struct entity_key *entry)
{
    const struct operation_lookup *in = &operation->in.lookup;
    const struct outcome_lookup *out = &operation->out.lookup;

    return (!in->has_after || page_order(operation, entry, &in->after) > 0) &&
           (!out->more || page_order(operation, entry, &out->position) <= 0);
}

static void copy_texts(struct entity *entity, struct arena *arena)
{
    entity->key.partition = arena_copy(arena, entity->key.partition);
    entity->key.row = arena_copy(arena, entity->key.row);
    entity->properties.bytes = arena_copy(arena, entity->properties.bytes);
}

static void add_source(struct merging *merging, const struct entity *source, struct arena *scratch)
{
    struct entity *found = &merging->found[merging->count];
    struct index_entry entry;
    const char *why;

    if (index_plan_project(merging->index, source, scratch, &entry, &why) != PROJECTED ||
        !lookup_range_holds(merging->range, &entry.key) || !is_on_page(merging->operation, &entry.key))
        return;
    *found = *source;
    found->key = entry.key;
    found->properties = entry.properties;
    copy_texts(found, &merging->arena);
    merging->bytes += found->properties.bytes.len;
    merging->count++;
}

/* In a unique index, an entity that does not own its value has no entry. */
static enum status drop_unowned(struct session *session, const struct index *index,
    struct outcome_get *sources, size_t count, struct error *err)
{
    struct owner_question *questions = ARENA_ARRAY(&session->arena, struct owner_question, count);

    if (!index->is_unique)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        const struct entity *source = &sources->entities[i];
        const struct row_state state = {
            .live = sources->found[i], .ts = source->timestamp, .properties = source->properties
        };

        questions[i] = owner_rows_question(index, &source->key, &state, &session->arena);
    }
    TRY(owner_rows_ask(session, questions, count, err));
    for (size_t i = 0; i < count; i++)
        sources->found[i] = sources->found[i] && (!questions[i].index || questions[i].is_owner);
    return STATUS_OK;
}

/* Of wide entities, what the entry is made from, and no more of them together than a reply may have. */
static void ask_wide(const struct index *index, struct arena *arena, struct operation_get *out)
{
    out->select_count = index_names_to_read(index, arena, &out->select);
    out->may_be_large = true;
    out->enough_bytes = LIMIT_REPLY_BYTES;
}

/* *read: the number of keys, from the first, that were read. */
static enum status read_chunk(struct session *session, struct merging *merging, struct entity_key *keys,
    size_t count, size_t *read, struct error *err)
{
    struct operation sources = { .kind = OPERATION_GET,
        .account = merging->operation->account,
        .table = merging->index->source_name,
        .in.get = { .keys = keys, .count = count } };
    struct arena scratch;
    enum status status;

    arena_init(&scratch);
    sources.arena = &scratch;
    if (catalogue_has_wide_source(session->catalogue, merging->index))
        ask_wide(merging->index, &scratch, &sources.in.get);
    status = read_batch_within(session, &sources, err);
    if (status == STATUS_OK && sources.error) {
        *err = *sources.error;
        status = sources.status;
    }
    *read = sources.out.get.count;
    if (status == STATUS_OK)
        status = drop_unowned(session, merging->index, &sources.out.get, *read, err);
    for (size_t i = 0; i < *read && status == STATUS_OK; i++)
        if (sources.out.get.found[i])
            add_source(merging, &sources.out.get.entities[i], &scratch);
    arena_cleanup(&scratch);
    return status;
}

/* ---- the page ---- */

static int ascending(const void *a, const void *b)
{
    return entity_key_compare(&((const struct entity *)a)->key, &((const struct entity *)b)->key);
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

static void sort_page(const struct operation *operation, struct entity *entities, size_t count)
{
    qsort(entities, count, sizeof(*entities), operation->in.lookup.descending ? descending : ascending);
}

/* The page ends with this entry: the others belong to the next one. */
static void end_page(struct operation *operation, const struct entity_key *last)
{
    struct outcome_lookup *out = &operation->out.lookup;

    out->more = true;
    out->position = (struct entity_key){ arena_copy(operation->arena, last->partition),
        arena_copy(operation->arena, last->row) };
    while (out->count > 0 && !is_on_page(operation, &out->entities[out->count - 1].key))
        out->count--;
}

/* If more was found than a page may examine, keep what a reply may have, and end the page there. */
static void drop_excess(struct merging *merging)
{
    struct arena all = merging->arena;
    size_t kept = 0;

    if (merging->bytes <= LIMIT_PAGE_EXAMINED_BYTES)
        return;
    sort_page(merging->operation, merging->found, merging->count);
    arena_init(&merging->arena);
    merging->bytes = 0;
    while (merging->bytes < LIMIT_REPLY_BYTES) {
        copy_texts(&merging->found[kept], &merging->arena);
        merging->bytes += merging->found[kept++].properties.bytes.len;
    }
    merging->count = kept;
    end_page(merging->operation, &merging->found[kept - 1].key);
    arena_cleanup(&all);
}

static enum status find_open(
    struct session *session, struct merging *merging, const struct open_sources *open, struct error *err)
{
    for (size_t at = 0, read; at < open->count; at += read) {
        size_t left = open->count - at;

        TRY(read_chunk(session, merging, open->keys + at, left < CHUNK ? left : CHUNK, &read, err));
        drop_excess(merging);
    }
    return STATUS_OK;
}

static void merge(struct merging *merging)
{
    struct operation *operation = merging->operation;
    struct outcome_lookup *out = &operation->out.lookup;
    size_t count = out->count + merging->count, limit = (size_t)operation->in.lookup.limit;
    struct entity *all = ARENA_ARRAY(operation->arena, struct entity, count);

    if (merging->count == 0)
        return;
    for (size_t i = 0; i < merging->count; i++)
        copy_texts(&merging->found[i], operation->arena);
    memcpy(all, out->entities, out->count * sizeof(*all));
    memcpy(all + out->count, merging->found, merging->count * sizeof(*all));
    sort_page(operation, all, count);
    out->entities = all;
    out->count = count;
    if (count <= limit)
        return;
    out->count = limit;
    out->more = true;
    out->position = all[limit - 1].key;
}

enum status lookup_latest_merge(struct session *session, const struct index *index,
    const struct lookup_range *range, const struct open_sources *open, struct operation *operation,
    struct error *err)
{
    struct merging merging = { .index = index,
        .range = range,
        .operation = operation,
        .found = ARENA_ARRAY(operation->arena, struct entity, open->count) };
    enum status status;

    arena_init(&merging.arena);
    status = find_open(session, &merging, open, err);
    operation->out.lookup.stats.rows_examined += (int64_t)open->count;
    if (status == STATUS_OK)
        merge(&merging);
    arena_cleanup(&merging.arena);
    return status;
}
