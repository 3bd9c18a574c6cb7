/* SPDX-License-Identifier: Apache-2.0 */
/* copy_world.c - see the header. */
#include "tests/support/copy_world.h"

#include <string.h>

#include "domain/copies/copy_plan.h"
#include "tests/support/builders.h"

void copy_world_open(struct world *world)
{
    world_open(world);
    world_change(world,
        "insert into tables (table_id, account, name, folded, created, live) "
        "values (%d, 'acme', 'Managers', 'managers', 1, true)",
        MANAGERS);
}

struct copy_rule copy_world_rule(void)
{
    static struct copy_pair pairs[] = { { { "Boss", 4 }, { "Name", 4 } } };

    return (struct copy_rule){ .source_table_id = MANAGERS,
        .source_name = STR_LITERAL("Managers"),
        .partition_key = { .is_literal = true, .text = STR_LITERAL("acme") },
        .row_key = { .text = STR_LITERAL("Manager") },
        .pairs = pairs,
        .pair_count = 1 };
}

void copy_world_add_rule(struct world *world, int64_t index_id, const struct copy_rule *rule)
{
    const struct copy_naming_properties naming = copy_plan_naming(rule);
    struct key_part parts[ARRAY_LEN(naming.names)] = { { .text = naming.names[0] },
        { .text = naming.names[1] } };

    world_add_index(world, index_id,
        (struct index){ .shape = INDEX_COPY,
            .place = PLACE_OTHER_PARTITION,
            .consistency = INDEX_STRONG,
            .partition_key = { parts, naming.count },
            .projection = PROJECT_KEYS_ONLY,
            .copies = rule });
}

struct property_list copy_world_ballast(struct world *world)
{
    struct property_list list = { 0 };
    char text[60001] = { 0 };

    memset(text, 'x', sizeof(text) - 1);
    for (int i = 0; i < 16; i++)
        list = property_list_merge(list,
            some_texts(&world->arena, arena_format(&world->arena, "Part%02d", i).data, text, NULL),
            &world->arena);
    return list;
}
