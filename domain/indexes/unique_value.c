/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique_value.c - see the header. The hashes are stored, so the form that is hashed must not
 * change.
 */
#include "domain/indexes/unique_value.h"

#include <assert.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "domain/entities/entity_value.h"
#include "domain/indexes/index_plan.h"
#include "domain/properties/property.h"

enum { FORM_INTEGER = 'i', FORM_DOUBLE = 'd', FORM_OTHER = 'o' };

static void append_number(struct buf *out, uint64_t bits)
{
    char *bytes = buf_extend(out, 8);

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(uint8_t)(bits >> (8 * i));
}

/* 2^63: a Double below it that has no fraction is an Int64. */
static bool is_integer(double number)
{
    return number >= -9223372036854775808.0 && number < 9223372036854775808.0 && number == floor(number);
}

static void append_double(struct buf *out, double number)
{
    uint64_t bits;

    if (is_integer(number)) { /* -0.0 becomes 0 */
        buf_append_byte(out, FORM_INTEGER);
        append_number(out, (uint64_t)(int64_t)number);
        return;
    }
    memcpy(&bits, &number, sizeof(bits));
    buf_append_byte(out, FORM_DOUBLE);
    append_number(out, bits);
}

static void append_value(struct buf *out, const struct value *value)
{
    if (value->type == PROPERTY_DOUBLE) {
        append_double(out, value->number);
    } else if (value->type == PROPERTY_INT32 || value->type == PROPERTY_INT64) {
        buf_append_byte(out, FORM_INTEGER);
        append_number(out, (uint64_t)value->integer);
    } else {
        buf_append_byte(out, FORM_OTHER);
        buf_append_byte(out, (uint8_t)value->type);
        append_number(out, (uint64_t)value->integer);
        append_number(out, value->bytes.len);
        buf_append(out, value->bytes);
    }
}

static void append_parts(const struct key_parts *parts, const struct entity_key *key,
    const struct row_state *state, struct buf *out)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct value value;
        bool is_there;

        if (parts->parts[i].is_literal)
            continue;
        is_there = entity_value_find(key, state->ts, state->properties, parts->parts[i].text, &value);
        assert(is_there && "an entity with an entry has the properties of its key");
        if (!is_there)
            continue;
        value = key_part_compared(&parts->parts[i], &value, out->arena);
        append_value(out, &value);
    }
}

bool unique_value_of(const struct index *index, const struct entity_key *key, const struct row_state *state,
    struct arena *arena, struct unique_value *out)
{
    struct entity_key ignored;
    struct buf form;

    if (index_plan_key(index, key, state, arena, &ignored) != PROJECTED)
        return false;
    buf_init(&form, arena);
    append_parts(&index->partition_key, key, state, &form);
    append_parts(&index->row_key, key, state, &form);
    if (EVP_Digest(form.data, form.len, out->bytes, NULL, EVP_sha256(), NULL) != 1)
        abort();
    return true;
}

int unique_value_compare(const struct unique_value *a, const struct unique_value *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static void append_names(const struct key_parts *parts, struct buf *out)
{
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->parts[i].is_literal)
            buf_format(out, "%s%.*s", out->len > 0 ? ", " : "", STR_ARG(parts->parts[i].text));
}

struct str unique_value_properties(const struct index *index, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    append_names(&index->partition_key, &out);
    append_names(&index->row_key, &out);
    return buf_str(&out);
}
