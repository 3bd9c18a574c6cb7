/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etag.c - written by hand rather than with snprintf: every entity of every page gets one.
 */
#include "domain/entities/etag.h"

#include <string.h>

#include "base/digits.h"
#include "domain/digest.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum { KEY_DIGITS = 8 };

uint32_t etag_key(const struct entity_key *key)
{
    uint64_t digest = digest_of(digest_of(0, key->partition), key->row);
    uint32_t folded = (uint32_t)(digest ^ digest >> 32);

    return folded ? folded : 1;
}

static char *put_hex(char *out, uint64_t value)
{
    int digits = 1;

    while (digits < 16 && value >> (4 * digits) != 0)
        digits++;
    return digits_write_hex(out, value, digits);
}

size_t etag_format(struct etag etag, char out[static ETAG_BYTES])
{
    char *at = out;

    memcpy(at, "W/\"", 3);
    at = put_hex(at + 3, (uint64_t)etag.table_id);
    *at++ = '.';
    at = put_hex(at, (uint64_t)etag.version);
    if (etag.key != 0) {
        *at++ = '.';
        at = digits_write_hex(at, etag.key, KEY_DIGITS);
    }
    *at++ = '"';
    *at = '\0';
    return (size_t)(at - out);
}

/* Read up to 16 hexadecimal digits that fit an int64_t. */
static bool take_number(struct str *text, int64_t *out)
{
    uint64_t value;

    if (!digits_take_hex(text, 16, &value) || value > INT64_MAX)
        return false;
    *out = (int64_t)value;
    return true;
}

/* Read the last part, if there is one: eight digits. */
static bool take_key(struct str rest, uint32_t *out)
{
    int64_t key;

    if (rest.len == 0)
        return true;
    if (rest.len != 1 + KEY_DIGITS || rest.data[0] != '.')
        return false;
    rest = str_from(rest, 1);
    if (!take_number(&rest, &key))
        return false;
    *out = (uint32_t)key;
    return true;
}

/*
 * Read an opaque text as table id, version and digest; {0, 0} if we did not write it. ETags are
 * compared as texts, so only the exact output of etag_format is recognised: no upper case, no
 * leading zeros, nothing behind.
 */
static struct etag etag_of(struct str opaque)
{
    struct etag etag = { 0 };
    char text[ETAG_BYTES];
    struct str rest = opaque;
    size_t len;

    if (!take_number(&rest, &etag.table_id) || rest.len == 0 || rest.data[0] != '.')
        return (struct etag){ 0 };
    rest = str_from(rest, 1);
    if (!take_number(&rest, &etag.version) || !take_key(rest, &etag.key))
        return (struct etag){ 0 };
    len = etag_format(etag, text);
    if (!str_equal(opaque, str_of_bytes(text + 3, len - 4)))
        return (struct etag){ 0 };
    return etag;
}

static bool is_weak_etag(struct str text)
{
    if (text.len < 5 || text.len > LIMIT_ETAG_BYTES)
        return false;
    if ((text.data[0] != 'W' && text.data[0] != 'w') || text.data[1] != '/' || text.data[2] != '"' ||
        text.data[text.len - 1] != '"')
        return false;
    for (size_t i = 3; i < text.len - 1; i++)
        if (text.data[i] < 0x20 || text.data[i] > 0x7E || text.data[i] == '"')
            return false;
    return true;
}

enum status condition_parse(struct str if_match, struct condition *out, struct error *err)
{
    if (str_equal(if_match, STR_LITERAL("*"))) {
        *out = (struct condition){ .kind = CONDITION_EXISTS };
        return STATUS_OK;
    }
    if (!is_weak_etag(if_match)) {
        reason_set(err, REASON_INVALID_INPUT,
            "if_match is not valid: give \"*\" or exactly one ETag as it was returned, W/\"...\", of at most "
            "%d bytes",
            LIMIT_ETAG_BYTES);
        error_add_meta_int(err, "limit", LIMIT_ETAG_BYTES);
        error_add_meta_int(err, "actual", (int64_t)if_match.len);
        return STATUS_INVALID;
    }
    *out = (struct condition){
        .kind = CONDITION_MATCHES,
        .etag = etag_of(str_of_bytes(if_match.data + 3, if_match.len - 4)),
    };
    return STATUS_OK;
}
