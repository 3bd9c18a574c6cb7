/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_property_list.c - any bytes as an entity's properties. What is accepted must be canonical: parsing the
 * accepted records once more gives the same bytes, every record can be walked and found, and merging a
 * list with itself changes nothing. The input is cut into slices by one length byte each.
 */
#include "domain/keys/entity_key.h"
#include "domain/properties/property.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_SLICES = 512 };

fuzz_fn fuzz_property_list;

/* Take the slice of one record from the front of a canonical list: its content, without tag and length. */
static struct str content_of(struct str record)
{
    size_t header = 2;

    while ((unsigned char)record.data[header - 1] >= 0x80)
        header++;
    return str_from(record, header);
}

static void check_accepted(struct property_list list, const struct entity_key *key, struct arena *arena)
{
    struct str slices[MAX_SLICES], rest = list.bytes;
    struct property_list again;
    struct property property, found;
    size_t count = 0;

    while (property_next(&rest, &property)) {
        fuzz_require(property_find(list, property.name, &found));
        fuzz_require(str_equal(found.record, property.record));
        slices[count++] = content_of(property.record);
    }
    fuzz_require(rest.len == 0);
    fuzz_require(property_list_check(list, key, NULL) == STATUS_OK);
    fuzz_require(property_list_parse(slices, count, key, arena, &again, NULL) == STATUS_OK);
    fuzz_require(str_equal(list.bytes, again.bytes));
    fuzz_require(str_equal(list.bytes, property_list_merge(list, again, arena).bytes));
}

void fuzz_property_list(struct str input)
{
    const struct entity_key key = { .partition = STR_EMPTY, .row = STR_EMPTY };
    struct str slices[MAX_SLICES];
    struct property_list list;
    struct error err;
    struct arena arena;
    size_t count = 0;

    while (input.len > 0 && count < MAX_SLICES) {
        size_t len = (unsigned char)input.data[0];

        input = str_from(input, 1);
        if (len > input.len)
            len = input.len;
        slices[count++] = str_of_bytes(input.data, len);
        input = str_from(input, len);
    }
    arena_init(&arena);
    if (property_list_parse(slices, count, &key, &arena, &list, &err) == STATUS_OK)
        check_accepted(list, &key, &arena);
    arena_cleanup(&arena);
}
