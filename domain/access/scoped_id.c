/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoped_id.c - see the header. Marks are stored as parts of ids: what they are computed from never
 * changes.
 */
#include "domain/access/scoped_id.h"

#include <inttypes.h>

#include "base/macros.h"
#include "domain/digest.h"
#include "domain/limits.h"

enum { MARK_LOW = 1, MARK_HIGH = 2, MARK_HIGH_ROW = 4 };

/* Each text with its length, so that no two ranges have one content. */
static uint64_t add_text(uint64_t digest, struct str text)
{
    uint64_t len = text.len;

    return digest_of(digest_of(digest, str_of_bytes((const char *)&len, sizeof(len))), text);
}

struct str scoped_id_mark(struct str table, const struct key_range *range, struct arena *arena)
{
    char parts = (char)((range->has_low ? MARK_LOW : 0) | (range->has_high ? MARK_HIGH : 0) |
                        (range->high_has_row ? MARK_HIGH_ROW : 0));
    const struct str texts[] = { str_of_bytes(&parts, 1), table,
        range->has_low ? range->low.partition : STR_EMPTY, range->has_low ? range->low.row : STR_EMPTY,
        range->has_high ? range->high.partition : STR_EMPTY,
        range->high_has_row ? range->high.row : STR_EMPTY };
    uint64_t digest = 0;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        digest = add_text(digest, texts[i]);
    return arena_format(arena, "~%016" PRIx64, digest);
}

struct str scoped_id_make(struct str id, struct str mark, struct arena *arena)
{
    if (id.len > mark.len && str_equal(str_from(id, id.len - mark.len), mark))
        return id;
    return arena_format(arena, "%.*s%.*s", STR_ARG(id), STR_ARG(mark));
}
