/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_odata_target.c - any bytes as the URL of a request: it is refused with a reason, or what it names, written as a
 * URL again, names the same.
 */
#include "odata/odata_action.h"
#include "odata/odata_link.h"
#include "odata/odata_selection.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_odata_target;

static void require_same_entity(const struct odata_target *target, struct arena *arena)
{
    struct entity_key key = { target->partition, target->row };
    struct odata_target again;
    struct error err = { 0 };
    struct buf url;

    buf_init(&url, arena);
    buf_append(&url, STR_LITERAL("/account/"));
    odata_link_write_entity(STR_LITERAL("T"), &key, &url);
    fuzz_require(odata_target_parse(STR_EMPTY, buf_str(&url), arena, &again, &err) == STATUS_OK);
    fuzz_require(again.resource == ODATA_RESOURCE_ENTITY);
    fuzz_require(str_equal(again.partition, key.partition) && str_equal(again.row, key.row));
}

void fuzz_odata_target(struct str input)
{
    struct odata_verb verb = { .method = STR_LITERAL("GET") };
    struct odata_selection selection;
    struct odata_target target;
    enum odata_action action;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena);
    if (odata_target_parse(STR_LITERAL("localhost"), input, &arena, &target, &err) != STATUS_OK) {
        fuzz_require(err.reason && err.message[0]);
    } else {
        if (target.resource == ODATA_RESOURCE_ENTITY)
            require_same_entity(&target, &arena);
        if (odata_action_find(&verb, &target, &action, &err) != STATUS_OK)
            fuzz_require(err.reason != NULL);
        if (odata_selection_parse(target.options.select, &arena, &selection, &err) != STATUS_OK)
            fuzz_require(err.reason != NULL);
    }
    arena_cleanup(&arena);
}
