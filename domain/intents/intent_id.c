/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_id.c - see the header.
 */
#include "domain/intents/intent_id.h"

#include "base/digits.h"

enum { PART_DIGITS = INTENT_ID_DIGITS / 2 };

const char *intent_id_format(struct intent_id id, char out[static INTENT_ID_TEXT_BYTES])
{
    char *end = digits_write_hex(out, id.us, PART_DIGITS);

    *digits_write_hex(end, id.low, PART_DIGITS) = '\0';
    return out;
}

bool intent_id_parse(struct str text, struct intent_id *out)
{
    struct intent_id id;

    if (text.len != INTENT_ID_DIGITS || !digits_are_lower_hex(text) ||
        !digits_take_hex(&text, PART_DIGITS, &id.us) || !digits_take_hex(&text, PART_DIGITS, &id.low))
        return false;
    *out = id;
    return true;
}
