/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.c - see the header. Only the map of families holds references to them: a node of the
 * other maps is in a catalogue only if its table's family is.
 */
#include "domain/catalogue/catalogue.h"

#include <stdlib.h>

/* Compare a name in any case with a folded one, by bytes; a prefix comes first. */
static int compare_folding(struct str name, struct str folded)
{
    for (size_t i = 0; i < name.len && i < folded.len; i++) {
        unsigned char a = (unsigned char)name.data[i], b = (unsigned char)folded.data[i];

        if (a >= 'A' && a <= 'Z')
            a = (unsigned char)(a - 'A' + 'a');
        if (a != b)
            return a < b ? -1 : 1;
    }
    return (name.len > folded.len) - (name.len < folded.len);
}

/* ---- the maps ---- */

struct table_key {
    struct str account;
    struct str name; /* in any case */
};

static int by_name(const void *key, const void *item)
{
    const struct table_key *wanted = key;
    const struct table *table = item;
    int order = str_compare(wanted->account, table->account);

    return order != 0 ? order : compare_folding(wanted->name, table->folded);
}

static int compare_ids(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_id(const void *key, const void *item)
{
    const int64_t *wanted = key;
    const struct table *table = item;

    return compare_ids(*wanted, table->table_id);
}

static int by_family_id(const void *key, const void *item)
{
    const int64_t *wanted = key;
    const struct table_family *family = item;

    return compare_ids(*wanted, family->family_id);
}

struct follower_key {
    int64_t source_table_id;
    int64_t index_id;
};

static int by_follower(const void *key, const void *item)
{
    const struct follower_key *wanted = key;
    const struct index *index = item;
    int order = compare_ids(wanted->source_table_id, index->copies->source_table_id);

    return order != 0 ? order : compare_ids(wanted->index_id, index->index_id);
}

static void retain_family(void *item)
{
    struct table_family *family = item;

    atomic_fetch_add_explicit(&family->references, 1, memory_order_relaxed);
}

static void release_family(void *item)
{
    table_family_release(item);
}

static const struct shared_map_type names_type = { .order = by_name };
static const struct shared_map_type ids_type = { .order = by_id };
static const struct shared_map_type followers_type = { .order = by_follower };
static const struct shared_map_type families_type = { by_family_id, retain_family, release_family };

/* ---- making and changing ---- */

struct table_family *table_family_new(int64_t family_id)
{
    struct table_family *family = xcalloc(1, sizeof(*family));

    atomic_init(&family->references, 1);
    family->family_id = family_id;
    arena_init(&family->arena);
    return family;
}

void table_family_release(struct table_family *family)
{
    if (atomic_fetch_sub_explicit(&family->references, 1, memory_order_acq_rel) > 1)
        return;
    arena_cleanup(&family->arena);
    free(family);
}

struct catalogue *catalogue_new(void)
{
    struct catalogue *catalogue = xcalloc(1, sizeof(*catalogue));

    atomic_init(&catalogue->references, 1);
    return catalogue;
}

struct catalogue *catalogue_copy(const struct catalogue *of)
{
    struct catalogue *catalogue = catalogue_new();

    catalogue->version = of->version;
    catalogue->floor = of->floor;
    catalogue->epoch = of->epoch;
    catalogue->origin = of->origin;
    catalogue->accounts_version = of->accounts_version;
    catalogue->sampled_tables = of->sampled_tables;
    catalogue->names = shared_map_copy(&of->names);
    catalogue->ids = shared_map_copy(&of->ids);
    catalogue->families = shared_map_copy(&of->families);
    catalogue->followers = shared_map_copy(&of->followers);
    catalogue->copy_rules = of->copy_rules;
    return catalogue;
}

struct catalogue *catalogue_retain(const struct catalogue *catalogue)
{
    /* the reference count is not part of the value */
    struct catalogue *shared = (struct catalogue *)catalogue;

    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    return shared;
}

void catalogue_release(struct catalogue *catalogue)
{
    if (!catalogue || atomic_fetch_sub_explicit(&catalogue->references, 1, memory_order_acq_rel) > 1)
        return;
    shared_map_clear(&catalogue->names, &names_type);
    shared_map_clear(&catalogue->ids, &ids_type);
    shared_map_clear(&catalogue->followers, &followers_type);
    shared_map_clear(&catalogue->families, &families_type);
    free(catalogue);
}

static void put_followers(struct catalogue *catalogue, const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        struct index *index = table->indexes[i];

        if (!index->copies)
            continue;
        shared_map_put(&catalogue->followers, &followers_type,
            &(struct follower_key){ index->copies->source_table_id, index->index_id }, index);
        catalogue->copy_rules++;
    }
}

static void remove_followers(struct catalogue *catalogue, const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];

        if (!index->copies)
            continue;
        shared_map_remove(&catalogue->followers, &followers_type,
            &(struct follower_key){ index->copies->source_table_id, index->index_id });
        catalogue->copy_rules--;
    }
}

void catalogue_put(struct catalogue *catalogue, struct table_family *family)
{
    for (size_t i = 0; i < family->table_count; i++) {
        struct table *table = family->tables[i];
        const struct table_key name = { table->account, table->folded };

        shared_map_put(&catalogue->names, &names_type, &name, table);
        shared_map_put(&catalogue->ids, &ids_type, &table->table_id, table);
        catalogue->sampled_tables += table->samples_queries;
        put_followers(catalogue, table);
    }
    shared_map_put(&catalogue->families, &families_type, &family->family_id, family);
}

void catalogue_remove(struct catalogue *catalogue, int64_t family_id)
{
    const struct table_family *family = shared_map_find(&catalogue->families, &families_type, &family_id);

    if (!family)
        return;
    for (size_t i = 0; i < family->table_count; i++) {
        const struct table *table = family->tables[i];
        const struct table_key name = { table->account, table->folded };

        shared_map_remove(&catalogue->names, &names_type, &name);
        shared_map_remove(&catalogue->ids, &ids_type, &table->table_id);
        catalogue->sampled_tables -= table->samples_queries;
        remove_followers(catalogue, table);
    }
    shared_map_remove(&catalogue->families, &families_type, &family_id);
}

/* ---- finding ---- */

const struct table *catalogue_find(const struct catalogue *catalogue, struct str account, struct str name)
{
    const struct table_key key = { account, name };
    const struct table *table = shared_map_find(&catalogue->names, &names_type, &key);

    return table && !table_is_hidden(table) ? table : NULL;
}

const struct table *catalogue_find_id(const struct catalogue *catalogue, int64_t table_id)
{
    return shared_map_find(&catalogue->ids, &ids_type, &table_id);
}

const struct table *catalogue_after(const struct catalogue *catalogue, struct str account, struct str folded)
{
    const struct table_key key = { account, folded };
    const struct table *table = shared_map_after(&catalogue->names, &names_type, &key);

    return table && str_equal(table->account, account) ? table : NULL;
}

bool catalogue_has_wide_source(const struct catalogue *catalogue, const struct index *index)
{
    const struct table *source = catalogue_find_id(catalogue, index->source_table_id);

    return source && source->is_wide;
}

const struct index *catalogue_find_follower(
    const struct catalogue *catalogue, int64_t source_table_id, int64_t behind)
{
    const struct follower_key key = { source_table_id, behind };
    const struct index *index = shared_map_after(&catalogue->followers, &followers_type, &key);

    return index && index->copies->source_table_id == source_table_id ? index : NULL;
}

const struct index *catalogue_find_replacement(const struct catalogue *catalogue, const struct index *index)
{
    const struct table *source = catalogue_find_id(catalogue, index->source_table_id);

    for (size_t i = 0; source && i < source->index_count; i++)
        if (source->indexes[i]->replaces == index->index_id)
            return source->indexes[i];
    return NULL;
}
