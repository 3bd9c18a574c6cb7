/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_owners.c - see the header.
 *
 * Entities are locked only if the index has no manifests; then they are as they were read. Otherwise a write that takes
 * a value away from an entity, or changes anything else of it, locks the owner of that value before it commits. So once
 * the owners are locked, either the write has committed, and the versions that are read then show it (guard G49), or it
 * waits for the owners that this chunk commits.
 */
#include "store/builds/build_range_owners.h"

#include "store/entities/owner_rows.h"

static bool is_built_here(const struct build_walk_start *start, const struct index *index)
{
    if (start->job->index_id == index->index_id)
        return true;
    for (size_t i = 0; i < start->sibling_count; i++)
        if (start->siblings[i].index_id == index->index_id)
            return true;
    return false;
}

static void find_indexes(struct build_range *range, struct arena *arena)
{
    const struct table *table = range->table;

    range->unique = ARENA_ARRAY(arena, const struct index *, table->index_count);
    range->unique_count = 0;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];

        if (index->is_unique && index_has_manifest(index) != range->locks_entities &&
            index->state == INDEX_BUILDING && is_built_here(range->walk->start, index))
            range->unique[range->unique_count++] = index;
    }
}

void build_range_owners_note(struct build_range *range, struct arena *arena)
{
    find_indexes(range, arena);
    range->owners = (struct unique_owners){ .arena = arena };
    for (size_t i = 0; range->unique_count > 0 && i < range->count; i++) {
        struct walk_key *key = &range->keys[i];

        key->values = ARENA_ARRAY(arena, struct walk_value, range->unique_count);
        for (size_t k = 0; k < range->unique_count; k++) {
            struct walk_value *value = &key->values[k];

            value->is_asked = unique_value_of(
                range->unique[k], &key->source.key, &key->source.source, arena, &value->value);
            if (value->is_asked)
                unique_owners_note(&range->owners, range->unique[k], &value->value, &key->source.key);
        }
    }
    unique_owners_sort(&range->owners);
}

bool build_range_owners_may_plan(const struct build_range *range, int64_t index_id)
{
    const struct table *table = range->table;

    for (size_t k = 0; k < range->unique_count; k++)
        if (range->unique[k]->index_id == index_id)
            return true;
    for (size_t i = 0; i < table->index_count; i++)
        if (table->indexes[i]->index_id == index_id)
            return !table->indexes[i]->is_unique;
    return true;
}

enum status build_range_owners_await(const struct build_range *range, struct error *err)
{
    const struct build_walk *walk = range->walk;

    if (!walk->order || turn_await(walk->order, walk->number))
        return STATUS_OK;
    return error_set(err, STATUS_CANCELLED, "a chunk before this one has failed");
}

enum status build_range_owners_lock(struct session *session, struct build_range *range, struct error *err)
{
    return owner_rows_lock_new(session, &range->owners, err);
}

void build_range_owners_decide(struct build_range *range)
{
    for (size_t i = 0; i < range->count; i++) {
        struct walk_key *key = &range->keys[i];

        for (size_t k = 0; key->is_unchanged && k < range->unique_count; k++)
            if (key->values[k].is_asked && !unique_owners_claim(&range->owners, range->unique[k],
                                               &key->values[k].value, &key->source.key))
                key->is_unowned = true;
    }
}

enum status build_range_owners_send(
    struct session *session, const struct build_range *range, struct error *err)
{
    return owner_rows_send(session, &range->owners, err);
}
