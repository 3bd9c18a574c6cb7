/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_lookup.c - see the header.
 */
#include "store/short_reads/short_lookup.h"

#include "store/indexes/lookup_hits.h"
#include "store/queries/collect.h"
#include "store/queries/row_bounds.h"

enum {
    MAX_TOKENS = 4,          /* consistency tokens of a short look-up */
    MAX_TOKEN_BUCKETS = 16,  /* and buckets of the intents that they name */
    SOURCE_KEYS_BYTES = 512, /* of an entry that is checked: it is read for its source's keys alone */
};

/* ---- which ---- */

/* Tokens are asked about in one statement for all look-ups of a batch. */
static bool has_short_tokens(const struct freshness *freshness)
{
    size_t buckets = 0;

    for (size_t i = 0; i < freshness->at_least_count; i++) {
        if (freshness->at_least[i].id.len > 0)
            return false;
        for (size_t k = 0; k < freshness->at_least[i].block_count; k++)
            buckets += freshness->at_least[i].blocks[k].bucket_count;
    }
    return freshness->at_least_count <= MAX_TOKENS && buckets <= MAX_TOKEN_BUCKETS;
}

bool short_lookup_may_be(const struct operation *operation)
{
    const struct operation_lookup *in = &operation->in.lookup;

    /* Behind a full page of a long answer comes another one. */
    if (in->has_after && in->limit > SHORT_RANGES_MAX_ROWS)
        return false;
    return in->equal_count > 0 && has_short_tokens(&in->freshness);
}

/* ---- what it asks ---- */

enum status short_lookup_resolve(
    const struct session *session, struct operation *operation, struct short_lookup *out, struct error *err)
{
    *out = (struct short_lookup){ .operation = operation };
    TRY(lookup_hits_resolve(session, operation, &out->index, err));
    out->reads_around = operation->in.lookup.freshness.latest && !index_is_strong(out->index);
    out->needs_snapshot = out->reads_around || !operation->in.lookup.trust_index;
    return STATUS_OK;
}

static int64_t rows_of(const struct operation_lookup *in)
{
    return in->limit < SHORT_RANGES_MAX_ROWS ? in->limit : SHORT_RANGES_MAX_ROWS;
}

static void add_range(const struct session *session, struct short_lookup *lookup,
    const struct key_filter *keys, struct short_ranges *ranges)
{
    const struct operation_lookup *in = &lookup->operation->in.lookup;
    struct key_filter rest;
    struct short_range *range;

    if (!row_bounds_rest(
            keys, in->has_after ? &in->after : NULL, in->descending, lookup->operation->arena, &rest))
        return;
    range = short_ranges_add(ranges);
    *range = (struct short_range){ .table = catalogue_find_id(session->catalogue, lookup->index->index_id),
        .keys = rest,
        .descending = in->descending,
        .max_rows = rows_of(in) + 1 };
    range->max_bytes = in->trust_index
                           ? SHORT_RANGES_MAX_BYTES / (range->max_rows * (int64_t)lookup->range.count)
                           : SOURCE_KEYS_BYTES;
    lookup->count++;
}

bool short_lookup_plan(
    const struct session *session, struct short_lookup *lookup, struct short_ranges *ranges)
{
    struct operation *operation = lookup->operation;
    const struct operation_lookup *in = &operation->in.lookup;
    struct lookup_range *range = &lookup->range;
    struct error ignored;

    if (lookup_plan(lookup->index, in, operation->arena, range, &ignored) != STATUS_OK ||
        range->count > SHORT_RANGES_MAX_OF_READ)
        return false;
    lookup->first = ranges->count;
    for (size_t i = 0; i < range->count; i++)
        add_range(session, lookup, &range->keys[in->descending ? range->count - 1 - i : i], ranges);
    return lookup->count > 0;
}

/* ---- what it gets ---- */

static bool holds(const void *range, const struct entity *entity)
{
    return lookup_range_holds(range, &entity->key);
}

bool short_lookup_take_entries(
    struct short_lookup *lookup, const struct short_ranges *ranges, const struct lag_seen *lag)
{
    struct operation *operation = lookup->operation;
    const struct operation_lookup *in = &operation->in.lookup;
    struct outcome_lookup *out = &operation->out.lookup;
    struct entity_list list;
    struct short_answer answer = { .is_wanted = lookup->range.others ? holds : NULL,
        .context = &lookup->range,
        .sink = &list.sink,
        .limit = in->limit,
        .is_cut_right = !in->trust_index,
        .arena = operation->arena,
        .has_position = in->has_after,
        .position = in->after };

    collect_list_init(&list, lookup->count * (size_t)(rows_of(in) + 1), operation->arena);
    if (!short_ranges_collect(&ranges->items[lookup->first], lookup->count, &answer) ||
        list.count > SHORT_RANGES_MAX_ROWS)
        return false;
    *out = (struct outcome_lookup){ .entities = list.entities,
        .count = list.count,
        .more = answer.more,
        .position = answer.position,
        .table_id = lookup->index->index_id,
        .lag = index_is_strong(lookup->index) ? lag->strong : lag->behind,
        .stats = { .access_path = ACCESS_INDEX_LOOKUP,
            .rows_examined = answer.rows_examined,
            .bytes_examined = answer.bytes_examined } };
    if (!lookup_hits_name(lookup->index, operation))
        return false;
    if (!in->trust_index && out->count > 0)
        lookup_hits_ask(lookup->index, operation, &lookup->sources);
    return true;
}

bool short_lookup_finish(struct short_lookup *lookup)
{
    struct operation *operation = lookup->operation;
    const struct operation *sources = &lookup->sources;

    if (sources->in.get.count > 0) {
        if (sources->status != STATUS_OK || !sources->out.get.entities)
            return false;
        lookup_hits_replace(lookup->index, sources, operation);
    }
    operation->out.lookup.stats.rows_returned = (int64_t)operation->out.lookup.count;
    return true;
}
