/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strong_entries.c - see the header.
 */
#include "domain/writes/strong_entries.h"

#include <stdlib.h>

#include "domain/indexes/index_plan.h"
#include "domain/writes/unique_owners.h"

static bool is_written(const struct plan_row *row)
{
    return row->now.version != row->stored.version;
}

static bool is_bare(const struct index *index)
{
    return index_comes_with_write(index) && !index_has_manifest(index);
}

static bool is_named(const struct index *index)
{
    return index_comes_with_write(index) && index_has_manifest(index);
}

bool strong_entries_have_states(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (is_named(table->indexes[i]))
            return true;
    return false;
}

/*
 * The maximum number of entries that these rows can have: one for each strong index, and those that
 * manifests name.
 */
static size_t count_entries(const struct plan_row *rows, size_t count)
{
    size_t entries = 0;

    for (size_t i = 0; i < count; i++) {
        if (rows[i].table->index_count == 0 || !is_written(&rows[i]))
            continue;
        for (size_t k = 0; k < rows[i].table->index_count; k++)
            entries += index_comes_with_write(rows[i].table->indexes[k]);
        if (rows[i].state)
            entries += rows[i].state->stored.count;
    }
    return entries;
}

static void add_upsert(
    const struct index *index, const struct plan_row *row, struct arena *arena, struct strong_entries *out)
{
    struct entry_change *change = &out->upserts[out->upsert_count];

    if (index_plan_project_state(index, &row->key, &row->now, arena, &change->entry) != PROJECTED)
        return;
    change->source = &row->now;
    out->upsert_count++;
}

static void add_delete(const struct index *index, const struct entity_key *key, struct strong_entries *out)
{
    out->deletes[out->delete_count++] =
        (struct entry_change){ .entry = { .index_id = index->index_id,
                                   .bucket = entity_key_bucket(index_plan_home_table(index), key->partition),
                                   .key = *key } };
}

static void add_bare(const struct plan_row *row, struct arena *arena, struct strong_entries *out)
{
    for (size_t i = 0; i < row->table->index_count; i++) {
        const struct index *index = row->table->indexes[i];
        struct unique_standing standing;
        struct index_change change;
        bool was, is;

        if (!is_bare(index))
            continue;
        change = index_plan_change(index, &row->key, &row->stored, &row->now, arena);
        standing = unique_owners_standing(index, row, arena);
        was = change.was == PROJECTED && standing.was_owner;
        is = change.is == PROJECTED && standing.is_owner;
        if (was && (change.moves || !is))
            add_delete(index, &change.old, out);
        if (is && (change.changes || !was))
            add_upsert(index, row, arena, out);
    }
}

/* ---- with manifests ---- */

static uint32_t unowned_of(const struct plan_row *row, struct arena *arena)
{
    uint32_t unowned = 0;

    for (size_t i = 0; i < row->table->index_count; i++)
        if (!unique_owners_standing(row->table->indexes[i], row, arena).is_owner)
            unowned |= UINT32_C(1) << i;
    return unowned;
}

/* Whether a worker that reads the entity as it was before the write would give it an entry. */
static bool asked_before(const struct plan_row *row, struct arena *arena)
{
    struct entity_key ignored;

    for (size_t i = 0; i < row->table->index_count; i++)
        if (is_named(row->table->indexes[i]) &&
            index_plan_key(row->table->indexes[i], &row->key, &row->stored, arena, &ignored) == PROJECTED)
            return true;
    return false;
}

static bool manifests_equal(const struct manifest *a, const struct manifest *b)
{
    bool equal = a->count == b->count;

    for (size_t i = 0; i < a->count && equal; i++)
        equal = a->items[i].index_id == b->items[i].index_id && a->items[i].digest == b->items[i].digest &&
                entity_key_compare(&a->items[i].key, &b->items[i].key) == 0;
    return equal;
}

static void plan_state(const struct plan_row *row, struct arena *arena)
{
    struct strong_state *state = row->state;
    bool is_empty = state->planned.count == 0;

    state->is_made = !state->is_held && (!is_empty || asked_before(row, arena));
    state->is_changed = state->is_held && !is_empty && !manifests_equal(&state->stored, &state->planned);
    state->is_removed = is_empty && (state->is_held || state->is_made);
}

/*
 * Guard G40: the entries that the manifest names are deleted, not those that the stored state asks
 * for.
 */
static void add_named(const struct plan_row *row, struct arena *arena, struct strong_entries *out)
{
    const struct reconcile_case facts = { .table = row->table,
        .key = &row->key,
        .source = &row->now,
        .stored = &row->state->stored,
        .unowned = unowned_of(row, arena),
        .is_write = true };
    struct reconcile_plan plan;

    reconcile_plan(&facts, arena, &plan);
    for (size_t i = 0; i < plan.upsert_count; i++)
        out->upserts[out->upsert_count++] =
            (struct entry_change){ .entry = plan.upserts[i], .source = &row->now };
    for (size_t i = 0; i < plan.delete_count; i++)
        out->deletes[out->delete_count++] = (struct entry_change){ .entry = plan.deletes[i] };
    row->state->planned = plan.manifest;
    plan_state(row, arena);
}

static void sort(struct entry_change *changes, size_t count)
{
    if (count > 1)
        qsort(changes, count, sizeof(changes[0]), reconcile_plan_compare_entries);
}

void strong_entries_plan(
    const struct plan_row *rows, size_t count, struct arena *arena, struct strong_entries *out)
{
    size_t max = count_entries(rows, count);

    *out = (struct strong_entries){ 0 };
    if (max == 0)
        return;
    out->upserts = ARENA_ARRAY(arena, struct entry_change, max);
    out->deletes = ARENA_ARRAY(arena, struct entry_change, max);
    for (size_t i = 0; i < count; i++)
        if (rows[i].table->index_count > 0 && is_written(&rows[i])) {
            add_bare(&rows[i], arena, out);
            if (rows[i].state)
                add_named(&rows[i], arena, out);
        }
    sort(out->upserts, out->upsert_count);
    sort(out->deletes, out->delete_count);
}
