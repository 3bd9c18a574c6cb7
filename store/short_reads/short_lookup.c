/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_lookup.c - see the header.
 */
#include "store/short_reads/short_lookup.h"

#include "domain/indexes/index_plan.h"
#include "store/queries/collect.h"
#include "store/queries/lookup_hits.h"
#include "store/queries/row_bounds.h"

enum {
    MAX_TOKENS = 4,         /* consistency tokens of a short look-up */
    MAX_TOKEN_BUCKETS = 16, /* of the intents that these tokens name */
};

/* ---- which ---- */

/*
 * One statement asks for the tokens of all look-ups of a batch, so each look-up may have a few
 * only.
 */
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

    /* A page that follows a full page is seldom the last one. */
    if (in->has_after && in->limit > SHORT_RANGES_MAX_ROWS)
        return false;
    return in->equal_count > 0 && has_short_tokens(&in->freshness);
}

/* ---- planning ---- */

/*
 * Entries stand for their entities only while nothing of the table is open (guard G58). A statement
 * that reads rows or hits, whichever is right, costs more than each of them. So a session expects
 * of a table what it has seen last. If it expected rows wrongly, the look-up is asked again.
 */
static bool *expects_hits(struct session *session, const struct index *index)
{
    return &session->expects_hits[(uint64_t)index->source_table_id % ARRAY_LEN(session->expects_hits)];
}

static enum short_form form_of(struct session *session, const struct short_lookup *lookup)
{
    if (lookup->operation->in.lookup.trust_index)
        return SHORT_ROWS;
    return lookup->stands && (index_is_strong(lookup->index) || !*expects_hits(session, lookup->index))
               ? SHORT_ROWS
               : SHORT_HITS;
}

enum status short_lookup_resolve(
    struct session *session, struct operation *operation, struct short_lookup *out, struct error *err)
{
    const struct operation_lookup *in = &operation->in.lookup;

    *out = (struct short_lookup){ .operation = operation };
    TRY(lookup_hits_resolve(session, operation, &out->index, err));
    out->reads_around = in->freshness.latest && !index_is_strong(out->index);
    out->stands = out->index->keeps_versions && !in->trust_index && !in->read_sources;
    out->form = form_of(session, out);
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
    range = short_ranges_add(ranges, lookup->first, lookup->form, in->descending);
    if (!lookup->first)
        lookup->first = range;
    range->table = catalogue_find_id(session->catalogue, lookup->index->index_id);
    range->keys = rest;
    range->source_table_id = lookup->index->source_table_id;
    range->asks_behind = lookup->reads_around || (lookup->stands && !index_is_strong(lookup->index));
    range->max_rows = rows_of(in) + 1;
    range->max_bytes = (lookup->form == SHORT_ROWS ? SHORT_RANGES_MAX_BYTES : SHORT_RANGES_MAX_HIT_BYTES) /
                       (range->max_rows * (int64_t)lookup->range.count);
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
        range->count > SHORT_RANGES_MAX_OF_READ ||
        (lookup->form == SHORT_HITS && catalogue_has_wide_source(session->catalogue, lookup->index)))
        return false;
    lookup->first = NULL;
    lookup->count = 0;
    for (size_t i = 0; i < range->count; i++)
        add_range(session, lookup, &range->keys[in->descending ? range->count - 1 - i : i], ranges);
    return lookup->count > 0;
}

/* ---- taking the rows ---- */

static bool holds(const void *range, const struct entity *entity)
{
    return lookup_range_holds(range, &entity->key);
}

static struct short_answer answer_of(const struct short_lookup *lookup)
{
    const struct operation_lookup *in = &lookup->operation->in.lookup;

    return (struct short_answer){ .is_wanted = lookup->range.others ? holds : NULL,
        .context = &lookup->range,
        .limit = in->limit,
        .arena = lookup->operation->arena,
        .has_position = in->has_after,
        .position = in->after };
}

static void set_outcome(
    struct short_lookup *lookup, const struct short_answer *answer, const struct lag_seen *lag)
{
    struct outcome_lookup *out = &lookup->operation->out.lookup;

    out->more = answer->more;
    out->position = answer->position;
    out->table_id = lookup->index->index_id;
    out->lag = index_is_strong(lookup->index) ? lag->strong : lag->behind;
    out->stats = (struct query_stats){ .access_path = ACCESS_INDEX_LOOKUP,
        .rows_examined = answer->rows_examined,
        .bytes_examined = answer->bytes_examined,
        .rows_returned = (int64_t)out->count };
}

/* Make the outcome from the entries alone. */
static bool take_entries(struct short_lookup *lookup, const struct lag_seen *lag)
{
    struct operation *operation = lookup->operation;
    struct short_answer answer = answer_of(lookup);
    struct entity_list list;

    collect_list_init(&list, lookup->count * (size_t)lookup->first->max_rows, operation->arena);
    list.borrows = true;
    answer.sink = &list.sink;
    if (!short_ranges_collect(lookup->first, lookup->count, &answer) || list.count > SHORT_RANGES_MAX_ROWS)
        return false;
    operation->out.lookup = (struct outcome_lookup){ .entities = list.entities, .count = list.count };
    set_outcome(lookup, &answer, lag);
    return lookup_hits_name(lookup->index, operation);
}

/* Put the entity of a hit into the outcome, if it still has the entry. */
static bool take_hit(void *taker, const struct short_hit *hit)
{
    const struct short_lookup *lookup = taker;
    struct arena *arena = lookup->operation->arena;
    struct outcome_lookup *out = &lookup->operation->out.lookup;
    struct entity entity = hit->entity;

    if (!index_entry_source(hit->named, &entity.key) || hit->is_cut)
        return false;
    if (!hit->found || !lookup_hits_holds(lookup->index, &entity, &hit->entry, arena))
        return true;
    entity.etag.table_id = lookup->index->source_table_id;
    entity.key.partition = arena_copy(arena, entity.key.partition);
    entity.key.row = arena_copy(arena, entity.key.row);
    entity.properties.bytes = arena_copy(arena, entity.properties.bytes);
    out->entries[out->count] =
        (struct entity_key){ arena_copy(arena, hit->entry.partition), arena_copy(arena, hit->entry.row) };
    out->entities[out->count++] = entity;
    return true;
}

static size_t rows_that_came(const struct short_lookup *lookup)
{
    size_t rows = 0;

    for (size_t i = 0; i < lookup->count; i++)
        rows += (size_t)lookup->first[i].hits;
    return rows;
}

/* Make the outcome from the entities of the entries. */
static bool take_hits(struct short_lookup *lookup, const struct lag_seen *lag)
{
    struct operation *operation = lookup->operation;
    struct short_answer answer = answer_of(lookup);
    size_t rows = rows_that_came(lookup);

    operation->out.lookup =
        (struct outcome_lookup){ .entities = ARENA_ARRAY(operation->arena, struct entity, rows),
            .entries = ARENA_ARRAY(operation->arena, struct entity_key, rows) };
    answer.take_hit = take_hit;
    answer.taker = lookup;
    if (!short_ranges_collect(lookup->first, lookup->count, &answer) || answer.count > SHORT_RANGES_MAX_ROWS)
        return false;
    set_outcome(lookup, &answer, lag);
    return true;
}

bool short_lookup_asks_again(struct session *session, struct short_lookup *lookup)
{
    if (!lookup->stands || !lookup->first->asks_behind)
        return false;
    *expects_hits(session, lookup->index) = lookup->first->is_behind;
    if (!lookup->first->is_behind || lookup->form == SHORT_HITS || lookup->reads_around)
        return false;
    lookup->form = SHORT_HITS;
    return true;
}

bool short_lookup_take(struct short_lookup *lookup, const struct lag_seen *lag)
{
    /*
     * Some source key is open, so the sources have to be read one after the other, which is not
     * done here.
     */
    if (lookup->reads_around && lookup->first->is_behind)
        return false;
    return lookup->form == SHORT_HITS ? take_hits(lookup, lag) : take_entries(lookup, lag);
}
