/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.c - see the header.
 */
#include "tests/support/golden.h"

#include <check.h>

#include "base/buf.h"

void require_bytes(struct str actual, const char *expected)
{
    struct arena arena;
    struct buf hex;

    arena_init(&arena);
    buf_init(&hex, &arena);
    for (size_t i = 0; i < actual.len; i++)
        buf_format(&hex, "%02x", (unsigned char)actual.data[i]);
    buf_append_byte(&hex, '\0');
    ck_assert_str_eq(hex.data, expected);
    arena_cleanup(&arena);
}
