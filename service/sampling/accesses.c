/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses.c - see the header. The catalogue may be a little older or newer than the one that the operation
 * has used: then one sample is missing, or one too many is counted.
 */
#include "service/sampling/accesses.h"

#include "domain/indexes/index_plan.h"
#include "domain/indexes/lookup_plan.h"
#include "domain/limits.h"

struct gathering {
    const struct operation *operation;
    const struct catalogue *catalogue;
    const struct table *table;
    struct sampled_access *out;
    size_t count;
};

static void add(struct gathering *gathering, const struct table *table, const struct key_access *key)
{
    gathering->out[gathering->count++] = (struct sampled_access){ table, *key };
}

/* If an operation has many keys, every n-th key is sampled and counts n times. Returns n. */
static size_t stride_of(size_t keys)
{
    return (keys + MAX_SAMPLED_KEYS - 1) / MAX_SAMPLED_KEYS;
}

static struct key_access access_of_key(const struct entity_key *key, bool is_write, int64_t weight)
{
    return (struct key_access){ key->partition, key->row, true, is_write, weight };
}

static void add_gets(struct gathering *gathering, int64_t weight)
{
    const struct operation_get *in = &gathering->operation->in.get;
    size_t stride = stride_of(in->count);

    for (size_t i = 0; i < in->count; i += stride) {
        struct key_access access = access_of_key(&in->keys[i], false, weight * (int64_t)stride);

        add(gathering, gathering->table, &access);
    }
}

/* ---- writes ---- */

/* Whether the write has all properties that the entity has afterwards. */
static bool is_whole(const struct write *write)
{
    return write->kind == WRITE_INSERT || write->kind == WRITE_REPLACE ||
           write->kind == WRITE_INSERT_OR_REPLACE;
}

static void add_entries(struct gathering *gathering, const struct write *write, int64_t weight)
{
    const struct entity entity = { .key = write->key, .properties = write->properties };
    struct index_entry entry;
    const char *why;

    for (size_t i = 0; i < gathering->table->index_count; i++) {
        const struct index *index = gathering->table->indexes[i];
        const struct table *entries = catalogue_find(gathering->catalogue, index->account, index->name);

        if (entries && entries->table_id == index->index_id &&
            index_plan_project(index, &entity, gathering->operation->arena, &entry, &why) == PROJECTED) {
            struct key_access access = access_of_key(&entry.key, true, weight);

            add(gathering, entries, &access);
        }
    }
}

static void add_writes(struct gathering *gathering, int64_t weight)
{
    const struct operation_write *in = &gathering->operation->in.write;
    size_t stride = stride_of(in->count);

    for (size_t i = 0; i < in->count; i += stride) {
        struct key_access access = access_of_key(&in->writes[i].key, true, weight * (int64_t)stride);

        add(gathering, gathering->table, &access);
        if (is_whole(&in->writes[i]))
            add_entries(gathering, &in->writes[i], weight * (int64_t)stride);
    }
}

/* ---- queries ---- */

static void add_partition(struct gathering *gathering, const struct interval *partition, int64_t weight)
{
    if (interval_is_point(partition))
        add(gathering, gathering->table,
            &(struct key_access){ .partition = partition->low, .weight = weight });
}

static void add_page(struct gathering *gathering, int64_t weight)
{
    const struct key_plan *plan = &gathering->operation->in.page.plan;

    if (!plan->range.nothing)
        add_partition(gathering, &plan->range.partition, weight);
}

static void add_lookup(struct gathering *gathering, int64_t weight)
{
    const struct operation *operation = gathering->operation;
    const struct index *index = gathering->table->entries_of;
    struct lookup_range range;
    struct error ignored;

    if (index && lookup_plan(index, &operation->in.lookup, operation->arena, &range, &ignored) == STATUS_OK &&
        range.count > 0)
        add_partition(gathering, &range.keys[0].partition, weight);
}

void accesses_of(const struct operation *operation, const struct catalogue *catalogue, int64_t weight,
    struct sampled_access **out, size_t *count)
{
    struct gathering gathering = { .operation = operation, .catalogue = catalogue };

    *count = 0;
    gathering.table = catalogue_find(catalogue, operation->account, operation->table);
    if (!gathering.table)
        return;
    gathering.out = ARENA_ARRAY(
        operation->arena, struct sampled_access, MAX_SAMPLED_KEYS * (1 + gathering.table->index_count));
    if (operation->kind == OPERATION_GET)
        add_gets(&gathering, weight);
    else if (operation->kind == OPERATION_WRITE)
        add_writes(&gathering, weight);
    else if (operation->kind == OPERATION_PAGE || operation->kind == OPERATION_COUNT)
        add_page(&gathering, weight);
    else if (operation->kind == OPERATION_LOOKUP)
        add_lookup(&gathering, weight);
    *out = gathering.out;
    *count = gathering.count;
}
