/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_odata_entity.c - any text as the body of a write: it is refused with a reason, or it is an entity, which comes
 * back the same from the body of a reply at both levels that have types.
 */
#include "odata/odata_entity.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_odata_entity;

static void require_same(const struct entity *entity, enum odata_level level, struct arena *arena)
{
    struct odata_view view = {
        .level = level,
        .base = STR_LITERAL("http://localhost"),
        .account = STR_LITERAL("account"),
        .table = STR_LITERAL("T"),
        .selection = { .partition = true, .row = true, .timestamp = true },
        .with_expires = true,
    };
    struct error err = { 0 };
    struct entity again;
    struct buf out;

    buf_init(&out, arena);
    odata_entity_write(&view, entity, &out);
    fuzz_require(odata_entity_read(buf_str(&out), NULL, arena, &again, NULL, &err) == STATUS_OK);
    fuzz_require(str_equal(again.key.partition, entity->key.partition));
    fuzz_require(str_equal(again.key.row, entity->key.row));
    fuzz_require(str_equal(again.properties.bytes, entity->properties.bytes));
    fuzz_require(again.expires == entity->expires);
}

void fuzz_odata_entity(struct str input)
{
    struct error err = { 0 };
    struct entity entity;
    struct arena arena;

    arena_init(&arena);
    if (odata_entity_read(input, NULL, &arena, &entity, NULL, &err) == STATUS_OK) {
        require_same(&entity, ODATA_LEVEL_MINIMAL, &arena);
        require_same(&entity, ODATA_LEVEL_FULL, &arena);
    } else {
        fuzz_require(err.reason && err.message[0]);
    }
    arena_cleanup(&arena);
}
