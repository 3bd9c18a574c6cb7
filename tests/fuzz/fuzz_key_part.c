/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_key_part.c - any bytes as a part of an index's key, as entries and look-ups read them: what is accepted is
 * exactly what would be written for the value that was read. The first byte says of what kind the part is.
 */
#include "domain/properties/key_part.h"
#include "domain/text.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_key_part;

/* "last" and "inverted" are bits, then the width; the highest bit is "fold_case". */
static struct key_part part_of(unsigned char options)
{
    return (struct key_part){ .text = STR_LITERAL("Name"),
        .inverted = options & 2,
        .fold_case = options & 128,
        .width = (options >> 2) % (KEY_PART_WIDTH_MAX + 1) };
}

void fuzz_key_part(struct str input)
{
    struct str rest, part, end;
    struct key_part kind;
    struct value value;
    struct arena arena;
    struct buf again;
    bool last;

    if (input.len == 0)
        return;
    arena_init(&arena);
    kind = part_of((unsigned char)input.data[0]);
    last = input.data[0] & 1;
    rest = part = str_from(input, 1);
    if (key_part_decode(&kind, &rest, last, &arena, &value)) {
        buf_init(&again, &arena);
        fuzz_require(key_part_encode(&kind, &value, last, &again));
        fuzz_require(str_equal(buf_str(&again), str_of_bytes(part.data, part.len - rest.len)));
    }
    if (text_check(part, NULL, NULL)) {
        end = key_part_prefix_end(part, &arena);
        fuzz_require(end.len == 0 || (str_compare(part, end) < 0 && text_check(end, NULL, NULL)));
    }
    arena_cleanup(&arena);
}
