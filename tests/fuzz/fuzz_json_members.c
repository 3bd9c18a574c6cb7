/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json_members.c - any text as an object: what is read in one pass in plain form is what Jansson reads.
 */
#include "api/json/json_members.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_json_members;

static void require_equal(const struct json_scalar *a, const struct json_scalar *b)
{
    fuzz_require(a->kind == b->kind);
    switch (a->kind) {
    case JSON_KIND_TEXT:
        fuzz_require(str_equal(a->text, b->text));
        break;
    case JSON_KIND_REAL:
        fuzz_require(memcmp(&a->real, &b->real, sizeof(a->real)) == 0);
        break;
    case JSON_KIND_INTEGER:
    case JSON_KIND_BOOLEAN:
        fuzz_require(a->integer == b->integer);
        break;
    case JSON_KIND_NULL:
    case JSON_KIND_NESTED:
        break;
    }
}

void fuzz_json_members(struct str input)
{
    struct json_members plain, any;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena);
    if (json_members_scan(input, &arena, &plain)) {
        fuzz_require(json_members_parse(input, &arena, &any, &err) == STATUS_OK);
        fuzz_require(plain.count == any.count);
        for (size_t i = 0; i < plain.count; i++) {
            fuzz_require(str_equal(plain.list[i].name, any.list[i].name));
            require_equal(&plain.list[i].value, &any.list[i].value);
        }
    } else if (json_members_parse(input, &arena, &any, &err) != STATUS_OK) {
        fuzz_require(err.reason && err.message[0]);
    }
    arena_cleanup(&arena);
}
