/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile_plan.c - see the header.
 */
#include "domain/indexes/reconcile_plan.h"

#include "domain/indexes/unique_value.h"

static const struct index *find_live_index(const struct table *table, int64_t index_id)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (table->indexes[i]->index_id == index_id)
            return table->indexes[i];
    return NULL;
}

/*
 * The source asks for this entry: add it to the manifest, and write it unless the manifest had it
 * with the same content.
 */
static void want_entry(
    const struct index_entry *entry, const struct manifest *stored, struct reconcile_plan *out)
{
    const struct manifest_item *known = manifest_find(stored, entry->index_id, &entry->key);

    if (known && known->digest == entry->digest) {
        out->manifest.items[out->manifest.count++] = *known;
        return;
    }
    out->manifest.items[out->manifest.count++] =
        (struct manifest_item){ .index_id = entry->index_id, .key = entry->key, .digest = entry->digest };
    out->upserts[out->upsert_count++] = *entry;
}

/* Violations are counted by the text before the first ':'. */
static const char *explain_owner(const struct index *index, struct arena *arena)
{
    struct str properties = unique_value_properties(index, arena);

    return arena_format(
        arena, "another entity has the same value in the unique index: %.*s", STR_ARG(properties))
        .data;
}

/* Plan the entry of the i-th index of the table. */
static void plan_wanted(
    const struct reconcile_case *facts, size_t i, struct arena *arena, struct reconcile_plan *out)
{
    const struct index *index = facts->table->indexes[i];
    const struct row_state *source = facts->source;
    struct index_entry entry;
    const char *why = NULL;

    switch (index_plan_project(index,
        &(struct entity){ .key = *facts->key, .timestamp = source->ts, .properties = source->properties },
        arena, &entry, &why)) {
    case PROJECTED:
        index_plan_set_digest(index, source, &entry);
        if (facts->unowned >> i & 1)
            out->violations[out->violation_count++] =
                (struct reconcile_violation){ index->index_id, explain_owner(index, arena) };
        else if (index_has_manifest(index))
            want_entry(&entry, facts->stored, out);
        break;
    case PROJECTED_NOTHING:
        break;
    case PROJECTED_VIOLATION:
        out->violations[out->violation_count++] = (struct reconcile_violation){ index->index_id, why };
        break;
    }
}

/* Keep the manifest's items of an index whose entries are not written with the source. */
static void keep_entries(const struct reconcile_case *facts, int64_t index_id, struct reconcile_plan *out)
{
    for (size_t i = 0; i < facts->stored->count; i++)
        if (facts->stored->items[i].index_id == index_id)
            out->manifest.items[out->manifest.count++] = facts->stored->items[i];
}

static void plan_indexes(const struct reconcile_case *facts, struct arena *arena, struct reconcile_plan *out)
{
    for (size_t i = 0; i < facts->table->index_count; i++) {
        const struct index *index = facts->table->indexes[i];

        if (facts->is_write && !index_comes_with_write(index))
            keep_entries(facts, index->index_id, out);
        else if (facts->source->live && (!facts->is_write || index_has_manifest(index)))
            plan_wanted(facts, i, arena, out);
    }
}

static void plan_deletes(const struct table *table, const struct manifest *stored, struct reconcile_plan *out)
{
    for (size_t i = 0; i < stored->count; i++) {
        const struct manifest_item *item = &stored->items[i];
        const struct index *index = find_live_index(table, item->index_id);

        if (!index || manifest_find(&out->manifest, item->index_id, &item->key))
            continue;
        out->deletes[out->delete_count++] = (struct index_entry){ .index_id = item->index_id,
            .bucket = entity_key_bucket(index_plan_home_table(index), item->key.partition),
            .key = item->key };
    }
}

void reconcile_plan(const struct reconcile_case *facts, struct arena *arena, struct reconcile_plan *out)
{
    *out = (struct reconcile_plan){ 0 };
    if (!facts->table)
        return;
    out->upserts = ARENA_ARRAY(arena, struct index_entry, facts->table->index_count);
    out->manifest.items =
        ARENA_ARRAY(arena, struct manifest_item, facts->table->index_count + facts->stored->count);
    out->violations = ARENA_ARRAY(arena, struct reconcile_violation, facts->table->index_count);
    out->deletes = ARENA_ARRAY(arena, struct index_entry, facts->stored->count);
    plan_indexes(facts, arena, out);
    plan_deletes(facts->table, facts->stored, out);
}

int reconcile_plan_compare_entries(const void *a, const void *b)
{
    const struct index_entry *x = &((const struct entry_change *)a)->entry;
    const struct index_entry *y = &((const struct entry_change *)b)->entry;

    if (x->index_id != y->index_id)
        return x->index_id < y->index_id ? -1 : 1;
    return entity_key_compare(&x->key, &y->key);
}
