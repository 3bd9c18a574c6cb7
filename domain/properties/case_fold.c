/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case_fold.c - ASCII byte by byte, other characters by the table.
 */
#include "domain/properties/case_fold.h"

#include "domain/text.h"

enum { ASCII_END = 0x80 };

static uint32_t fold(uint32_t character)
{
    size_t low = 0, high = case_fold_pair_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct case_fold_pair *pair = &case_fold_pairs[middle];

        if (pair->from == character)
            return pair->to;
        if (pair->from < character)
            low = middle + 1;
        else
            high = middle;
    }
    return character;
}

void case_fold_append(struct str text, struct buf *out)
{
    buf_reserve(out, text.len);
    while (text.len > 0) {
        uint8_t c = (uint8_t)text.data[0];

        if (c >= ASCII_END) {
            text_append(out, fold(text_take(&text)));
            continue;
        }
        buf_append_byte(out, c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c);
        text = str_from(text, 1);
    }
}
