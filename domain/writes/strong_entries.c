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

static bool is_ours(const struct index *index)
{
    return index_comes_with_write(index) && !index_has_manifest(index);
}

/* The most entries of a kind that these rows can have: one for each strong index. */
static size_t count_entries(const struct plan_row *rows, size_t count)
{
    size_t entries = 0;

    for (size_t i = 0; i < count; i++) {
        if (rows[i].table->index_count == 0 || !is_written(&rows[i]))
            continue;
        for (size_t k = 0; k < rows[i].table->index_count; k++)
            entries += is_ours(rows[i].table->indexes[k]);
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

static void add_row(const struct plan_row *row, struct arena *arena, struct strong_entries *out)
{
    for (size_t i = 0; i < row->table->index_count; i++) {
        const struct index *index = row->table->indexes[i];
        struct unique_standing standing;
        struct index_change change;
        bool was, is;

        if (!is_ours(index))
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
        if (rows[i].table->index_count > 0 && is_written(&rows[i]))
            add_row(&rows[i], arena, out);
    sort(out->upserts, out->upsert_count);
    sort(out->deletes, out->delete_count);
}
