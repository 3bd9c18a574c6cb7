/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_reader.c - see the header. The table has a row for each shape whose entries are not
 * entities according to index_shape_rules.
 */
#include "store/queries/shape_reader.h"

#include <assert.h>

#include "domain/indexes/index_shape.h"
#include "store/queries/list_read.h"

static const struct shape_reader readers[INDEX_SHAPE_END] = {
    [INDEX_LIST] = { .get = list_read_get, .page = list_read_page },
};

const struct shape_reader *shape_reader_find(const struct table *table)
{
    const struct index *index = table->entries_of;

    if (!index || index_shape_rules(index->shape)->entries_are_entities)
        return NULL;
    assert(readers[index->shape].get && readers[index->shape].page && "a shape has a reader, or entities");
    return &readers[index->shape];
}
