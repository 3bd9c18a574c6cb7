/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_reference.c - see the header.
 */
#include "domain/blobs/blob_reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/digits.h"
#include "domain/limits.h"
#include "domain/reason.h"

static const struct str reference_prefix = STR_LITERAL("tavola-blob:");

enum { HEX_BYTES = 2 * BLOB_ID_BYTES };

struct str blob_reference_format(const struct blob_id *id, struct arena *arena)
{
    char *text = arena_alloc(arena, reference_prefix.len + HEX_BYTES);

    memcpy(text, reference_prefix.data, reference_prefix.len);
    digits_encode_hex(blob_id_str(id), text + reference_prefix.len);
    return str_of_bytes(text, reference_prefix.len + HEX_BYTES);
}

static bool begins_like_reference(struct str text)
{
    return text.len >= reference_prefix.len &&
           memcmp(text.data, reference_prefix.data, reference_prefix.len) == 0;
}

bool blob_reference_parse(struct str text, struct blob_id *out)
{
    struct str hex;

    if (!begins_like_reference(text) || text.len != reference_prefix.len + HEX_BYTES)
        return false;
    hex = str_from(text, reference_prefix.len);
    return digits_are_lower_hex(hex) && digits_decode_hex(hex, (char *)out->bytes);
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct blob_id));
}

static bool is_reference(const struct property *property, struct blob_id *out)
{
    return property->value.type == PROPERTY_STRING && blob_reference_parse(property->value.bytes, out);
}

struct blob_id_list blob_reference_list(
    struct property_list properties, struct property_rest rest, struct arena *arena)
{
    size_t beside = rest.contents.len / BLOB_ID_BYTES, different = 0;
    struct blob_id_list out = { .items = ARENA_ARRAY(arena, struct blob_id, LIMIT_ENTITY_BLOBS + beside) };
    struct property property;

    while (out.count < LIMIT_ENTITY_BLOBS && property_next(&properties.bytes, &property))
        out.count += is_reference(&property, &out.items[out.count]);
    for (size_t i = 0; i < beside; i++)
        memcpy(out.items[out.count++].bytes, rest.contents.data + i * BLOB_ID_BYTES, BLOB_ID_BYTES);
    qsort(out.items, out.count, sizeof(out.items[0]), compare_ids);
    for (size_t i = 0; i < out.count; i++)
        if (i == 0 || compare_ids(&out.items[i], &out.items[i - 1]) != 0)
            out.items[different++] = out.items[i];
    out.count = different;
    return out;
}

bool blob_id_list_has(const struct blob_id_list *list, const struct blob_id *id)
{
    return list->count > 0 &&
           bsearch(id, list->items, list->count, sizeof(list->items[0]), compare_ids) != NULL;
}

struct str blob_reference_ids(struct property_list part, struct arena *arena)
{
    struct property property;
    struct blob_id id;
    struct buf out;

    buf_init(&out, arena);
    while (property_next(&part.bytes, &property))
        if (is_reference(&property, &id))
            buf_append(&out, blob_id_str(&id));
    return buf_str(&out);
}

enum status blob_reference_check(
    struct property_list properties, struct property_rest rest, struct error *err)
{
    struct property property;
    struct blob_id id;
    size_t count = rest.contents.len / BLOB_ID_BYTES;

    while (property_next(&properties.bytes, &property)) {
        if (property.value.type != PROPERTY_STRING || !begins_like_reference(property.value.bytes))
            continue;
        if (blob_reference_parse(property.value.bytes, &id) && ++count <= LIMIT_ENTITY_BLOBS)
            continue;
        if (count > LIMIT_ENTITY_BLOBS)
            (void)reason_set(
                err, REASON_INVALID_INPUT, "an entity holds at most %d blobs", LIMIT_ENTITY_BLOBS);
        else
            (void)reason_set(err, REASON_INVALID_INPUT,
                "the table has blob_properties, so a string that begins with tavola-blob: is the reference "
                "of a "
                "blob: 32 lower-case hexadecimal digits follow");
        error_add_meta(err, "property", property.name);
        return err->status;
    }
    return STATUS_OK;
}
