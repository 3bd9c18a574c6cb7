/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.c - finding tables in a catalogue.
 */
#include "domain/catalogue/catalogue.h"

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

const struct table *catalogue_find(const struct catalogue *catalogue, struct str account, struct str name)
{
    size_t low = 0, high = catalogue->table_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct table *table = catalogue->tables[middle];
        int order = str_compare(account, table->account);

        if (order == 0)
            order = compare_folding(name, table->folded);
        if (order == 0)
            return table_is_hidden(table) ? NULL : table;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* The tables are sorted by name, so a search by id is linear; only workers search by id. */
const struct table *catalogue_find_id(const struct catalogue *catalogue, int64_t table_id)
{
    for (size_t i = 0; i < catalogue->table_count; i++)
        if (catalogue->tables[i]->table_id == table_id)
            return catalogue->tables[i];
    return NULL;
}

const struct index *catalogue_find_replacement(const struct catalogue *catalogue, const struct index *index)
{
    const struct table *source = catalogue_find_id(catalogue, index->source_table_id);

    for (size_t i = 0; source && i < source->index_count; i++)
        if (source->indexes[i]->replaces == index->index_id)
            return source->indexes[i];
    return NULL;
}
