/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_shape.c - see the header.
 */
#include "domain/indexes/index_shape.h"

#include "base/buf.h"

/* ---- properties of entries ---- */

static struct str select_projected(
    const struct index *index, struct property_list properties, struct arena *arena)
{
    switch (index->projection) {
    case PROJECT_ALL:
        return properties.bytes;
    case PROJECT_KEYS_ONLY:
        return STR_EMPTY;
    case PROJECT_SOME:
        return property_list_select(properties, index->names, index->name_count, arena).bytes;
    }
    return STR_EMPTY;
}

static struct str select_none(const struct index *index, struct property_list properties, struct arena *arena)
{
    (void)index;
    (void)properties;
    (void)arena;
    return STR_EMPTY;
}

/* ---- the table ---- */

const struct index_shape_rules index_shape_table[INDEX_SHAPE_END] = {
    [INDEX_COPY] = {
        .name = "COPY",
        .may_project = true,
        .may_be_unique = true,
        .select_records = select_projected,
        .entries_are_entities = true,
        .keys_divide_entities = true,
    },
    /*
     * An entry is a member; list_page.h makes pages of members, which can have any keys, by reading
     * from the first on.
     */
    [INDEX_LIST] = {
        .name = "LIST",
        .needs_property = true,
        .repeats_source_keys = true,
        .select_records = select_none,
    },
};

bool index_shape_is_known(int64_t number)
{
    return number > 0 && number < INDEX_SHAPE_END;
}

const char *index_shape_names(struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    for (int shape = 1; shape < INDEX_SHAPE_END; shape++)
        buf_format(&out, "%s%s", shape == 1 ? "" : " or ", index_shape_table[shape].name);
    buf_append_byte(&out, '\0');
    return out.data;
}
