/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_list.c - see the header.
 */
#include "domain/sampling/hot_list.h"

#include <stdlib.h>

static struct hot_partition describe(
    const struct hot_table *table, const struct hot_subject *subject, struct arena *arena)
{
    const struct key_sketch *sketch = subject->sketch;
    const struct key_counter *counter = subject->counter;
    const struct sampled_text *key = counter ? &counter->partition : &sketch->last_partition;
    int64_t all = sketch->reads + sketch->writes;
    struct hot_partition out = { .account = table->account,
        .table = table->name,
        .is_index = table->is_index,
        .partition = sampled_text_str(key),
        .is_cut = key->kept < key->length,
        .is_order = !counter,
        .reads = counter ? counter->reads : sketch->reads,
        .writes = counter ? counter->writes : sketch->writes,
        .pattern = hot_pattern_of(subject) };

    out.share = all > 0 ? (double)(out.reads + out.writes) / (double)all : 0;
    if (out.pattern == HOT_SINGLE_KEY)
        out.row = sampled_text_str(&counter->top_row);
    out.remedy = hot_pattern_remedy(out.pattern, table->is_index);
    out.example = hot_pattern_example(out.pattern, subject, arena);
    return out;
}

static int by_accesses(const void *a, const void *b)
{
    const struct hot_partition *one = a, *other = b;
    int64_t difference = other->reads + other->writes - one->reads - one->writes;

    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

/* The order of the partitions becomes a row of its own only if it shows a pattern. */
static size_t add_table(const struct hot_table *table, struct arena *arena, struct hot_partition *out)
{
    struct hot_subject order = { &table->sketch, NULL, table->is_index };
    size_t count = 0;

    if (hot_pattern_of(&order) != HOT_NONE)
        out[count++] = describe(table, &order, arena);
    for (size_t i = 0; i < table->sketch.count; i++) {
        struct hot_subject subject = { &table->sketch, &table->sketch.keys[i], table->is_index };

        out[count++] = describe(table, &subject, arena);
    }
    return count;
}

void hot_list_make(const struct hot_table *tables, size_t table_count, size_t limit, struct arena *arena,
    struct hot_partition **out, size_t *count)
{
    size_t room = 0;

    for (size_t i = 0; i < table_count; i++)
        room += tables[i].sketch.count + 1;
    *out = ARENA_ARRAY(arena, struct hot_partition, room);
    *count = 0;
    for (size_t i = 0; i < table_count; i++)
        *count += add_table(&tables[i], arena, *out + *count);
    qsort(*out, *count, sizeof(**out), by_accesses);
    if (*count > limit)
        *count = limit;
}
