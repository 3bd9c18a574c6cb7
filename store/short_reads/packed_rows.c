/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_rows.c - see the header.
 */
#include "store/short_reads/packed_rows.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum { NUMBER_BYTES = 8 };

/* Take bytes from the front. The statement has written as many as it says. */
static struct str take_bytes(struct str *from, size_t count)
{
    struct str taken = str_of_bytes(from->data, count);

    assert(count <= from->len);
    *from = str_from(*from, count);
    return taken;
}

static int64_t take_number(struct str *from)
{
    uint64_t big;

    memcpy(&big, take_bytes(from, NUMBER_BYTES).data, sizeof(big));
    return (int64_t)be64toh(big);
}

struct packed_row packed_rows_next(struct packed_rows *rows)
{
    int64_t lengths = take_number(&rows->heads);
    struct packed_row row = { .size = lengths & UINT32_MAX };

    row.version = take_number(&rows->heads);
    row.ts = take_number(&rows->heads);
    row.expires = take_number(&rows->heads);
    row.row_key = take_bytes(&rows->heads, (size_t)(lengths >> 32));
    row.is_cut = row.size > rows->max_bytes;
    row.properties = row.is_cut ? STR_EMPTY : take_bytes(&rows->bodies, (size_t)row.size);
    return row;
}
