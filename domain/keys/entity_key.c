/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_key.c - the rules for keys, and the bucket function.
 *
 * Characters are checked before lengths, so a key that violates both rules is refused for its
 * characters.
 */
#include "domain/keys/entity_key.h"

#include <stdbool.h>

#include "base/hash.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"

#define ALLOWED "any character but / \\ # ? and the controls U+0000-U+001F, U+007F-U+009F"

/* Whether a forbidden character begins at this byte of well-formed UTF-8. */
static bool is_forbidden(const unsigned char *at, size_t left)
{
    switch (*at) {
    case '/':
    case '\\':
    case '#':
    case '?':
    case 0x7F:
        return true;
    case 0xC2: /* U+0080-U+00BF */
        return left > 1 && at[1] < 0xA0;
    default:
        return *at < 0x20;
    }
}

static enum status refuse_length(
    const char *name, size_t actual, int limit, const char *unit, struct error *err)
{
    reason_set(err, REASON_PROPERTY_VALUE_TOO_LARGE, "%s has %zu %s, at most %d are allowed", name, actual,
        unit, limit);
    error_add_meta(err, "property", str_of(name));
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", (int64_t)actual);
    return STATUS_INVALID;
}

static enum status key_check(const char *name, struct str key, struct error *err)
{
    const unsigned char *data = (const unsigned char *)key.data;
    size_t units, bad;

    if (!text_check(key, &units, &bad)) {
        reason_set(err, REASON_INVALID_INPUT, "%s is not UTF-8 at byte %zu", name, bad);
        error_add_meta(err, "property", str_of(name));
        error_add_meta_int(err, "position", (int64_t)bad);
        return STATUS_INVALID;
    }
    for (size_t i = 0; i < key.len; i++) {
        if (!is_forbidden(data + i, key.len - i))
            continue;
        reason_set(err, REASON_OUT_OF_RANGE_INPUT,
            "%s holds a forbidden character at byte %zu; allowed is " ALLOWED, name, i);
        error_add_meta(err, "property", str_of(name));
        error_add_meta_int(err, "position", (int64_t)i);
        error_add_meta(err, "allowed", STR_LITERAL(ALLOWED));
        return STATUS_OUT_OF_RANGE;
    }
    if (units > LIMIT_KEY_UNITS)
        return refuse_length(name, units, LIMIT_KEY_UNITS, "UTF-16 code units", err);
    if (key.len > LIMIT_KEY_BYTES)
        return refuse_length(name, key.len, LIMIT_KEY_BYTES, "bytes of UTF-8", err);
    return STATUS_OK;
}

enum status entity_key_parse(struct str partition, struct str row, struct entity_key *out, struct error *err)
{
    TRY(key_check("PartitionKey", partition, err));
    TRY(key_check("RowKey", row, err));
    *out = (struct entity_key){ .partition = partition, .row = row };
    return STATUS_OK;
}

int entity_key_compare(const struct entity_key *a, const struct entity_key *b)
{
    int order = str_compare(a->partition, b->partition);

    return order != 0 ? order : str_compare(a->row, b->row);
}

int16_t entity_key_bucket(int64_t home_table_id, struct str partition_key)
{
    uint64_t hash = hash_bytes(hash_number(HASH_EMPTY, (uint64_t)home_table_id), partition_key);

    /* Fold the hash, so that all of its bits count. */
    hash ^= hash >> 40;
    hash ^= hash >> 20;
    hash ^= hash >> 10;
    return (int16_t)(hash & (BUCKETS - 1));
}

_Static_assert(BUCKETS == 1024, "the fold yields ten bits");
