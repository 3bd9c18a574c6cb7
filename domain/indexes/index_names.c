/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_names.c - see the header.
 */
#include "domain/indexes/index_names.h"

#include <stdlib.h>

#include "domain/filter/filter.h"

/* What an entity has beside its properties. */
static const struct str fixed_names[] = { STR_LITERAL("PartitionKey"), STR_LITERAL("RowKey"),
    STR_LITERAL("Timestamp") };

struct name_list {
    struct str *names;
    size_t count;
};

static size_t room_for(const struct index *index, struct arena *arena)
{
    const struct str *tested;

    return index->partition_key.count + index->row_key.count + filter_names(index->filter, arena, &tested) +
           index->name_count;
}

static bool is_fixed(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed_names); i++)
        if (str_equal(name, fixed_names[i]))
            return true;
    return false;
}

static void add_name(struct name_list *list, struct str name)
{
    if (!is_fixed(name))
        list->names[list->count++] = name;
}

static void add_parts(struct name_list *list, const struct key_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->parts[i].is_literal)
            add_name(list, parts->parts[i].text);
}

static void add_key(struct name_list *list, const struct index *index, struct arena *arena)
{
    const struct str *tested;
    size_t tested_count = filter_names(index->filter, arena, &tested);

    add_parts(list, &index->partition_key);
    add_parts(list, &index->row_key);
    for (size_t i = 0; i < tested_count; i++)
        add_name(list, tested[i]);
}

static void add_index(struct name_list *list, const struct index *index, struct arena *arena)
{
    add_key(list, index, arena);
    for (size_t i = 0; index->projection == PROJECT_SOME && i < index->name_count; i++)
        add_name(list, index->names[i]);
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static size_t finish(struct name_list *list, const struct str **names)
{
    size_t kept = 0;

    if (list->count > 1)
        qsort(list->names, list->count, sizeof(list->names[0]), compare_names);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || !str_equal(list->names[kept - 1], list->names[i]))
            list->names[kept++] = list->names[i];
    *names = list->names;
    return kept;
}

size_t index_names_of(const struct index *index, struct arena *arena, const struct str **names)
{
    struct name_list list = { .names = ARENA_ARRAY(arena, struct str, room_for(index, arena)) };

    add_index(&list, index, arena);
    return finish(&list, names);
}

static size_t at_least_one(size_t count, const struct str **names)
{
    if (count > 0)
        return count;
    *names = fixed_names;
    return 1;
}

size_t index_names_to_read(const struct index *index, struct arena *arena, const struct str **names)
{
    return at_least_one(index_names_of(index, arena, names), names);
}

size_t index_names_of_key(const struct index *index, struct arena *arena, const struct str **names)
{
    struct name_list list = { .names = ARENA_ARRAY(arena, struct str, room_for(index, arena)) };

    add_key(&list, index, arena);
    return at_least_one(finish(&list, names), names);
}

size_t index_names_of_table(const struct table *table, struct arena *arena, const struct str **names)
{
    struct name_list list = { 0 };
    size_t room = 0;

    for (size_t i = 0; i < table->index_count; i++)
        room += room_for(table->indexes[i], arena);
    list.names = ARENA_ARRAY(arena, struct str, room);
    for (size_t i = 0; i < table->index_count; i++)
        add_index(&list, table->indexes[i], arena);
    return finish(&list, names);
}
