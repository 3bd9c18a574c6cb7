/*
 * fuzz_property.c - any bytes as an entity's properties. What is accepted must be canonical: parsing the
 * accepted records once more gives the same bytes, every record can be walked and found, and merging a
 * list with itself changes nothing. The input is cut into slices by one length byte each.
 */
#include <stdint.h>
#include <stdlib.h>

#include "domain/entity_key.h"
#include "domain/property.h"

enum { MOST_SLICES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

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
    struct str slices[MOST_SLICES], rest = list.bytes;
    struct property_list again;
    struct property property, found;
    size_t count = 0;

    while (property_next(&rest, &property)) {
        require(property_find(list, property.name, &found));
        require(str_equal(found.record, property.record));
        slices[count++] = content_of(property.record);
    }
    require(rest.len == 0);
    require(property_list_check(list, key, NULL) == STATUS_OK);
    require(property_list_parse(slices, count, key, arena, &again, NULL) == STATUS_OK);
    require(str_equal(list.bytes, again.bytes));
    require(str_equal(list.bytes, property_list_merge(list, again, arena).bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct entity_key key = { .partition = STR_EMPTY, .row = STR_EMPTY };
    struct str slices[MOST_SLICES];
    struct property_list list;
    struct error err;
    struct arena arena;
    size_t count = 0;

    while (size > 0 && count < MOST_SLICES) {
        size_t len = data[0] < size - 1 ? data[0] : size - 1;

        slices[count++] = str_of_bytes(data + 1, len);
        data += len + 1;
        size -= len + 1;
    }
    arena_init(&arena);
    if (property_list_parse(slices, count, &key, &arena, &list, &err) == STATUS_OK)
        check_accepted(list, &key, &arena);
    arena_cleanup(&arena);
    return 0;
}
