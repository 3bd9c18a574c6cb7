/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_parts.c - see the header.
 *
 * The parts are ascending, so each is appended as it is, and adding a small part to a large entity costs little.
 */
#include "api/codec_parts.h"

#include "domain/limits.h"
#include "domain/reason.h"

void codec_parts_clear(struct codec_parts *parts)
{
    buf_cleanup(&parts->keys);
    buf_cleanup(&parts->last_name);
    buf_cleanup(&parts->properties);
    *parts = (struct codec_parts){ .is_open = false };
}

size_t codec_parts_bytes(const struct codec_parts *parts)
{
    return parts->keys.capacity + parts->last_name.capacity + parts->properties.capacity;
}

static void begin_entity(struct codec_parts *parts, const Tavola__V1__Entity *first)
{
    struct str partition = codec_str(first->partition_key), row = codec_str(first->row_key);

    buf_append(&parts->keys, partition);
    buf_append(&parts->keys, row);
    parts->key.partition = str_of_bytes(parts->keys.data, partition.len);
    parts->key.row = str_from(buf_str(&parts->keys), partition.len);
    parts->is_open = true;
}

enum status codec_parts_check(
    const struct codec_parts *parts, const Tavola__V1__Entity *part, struct error *err)
{
    if (str_equal(parts->key.partition, codec_str(part->partition_key)) &&
        str_equal(parts->key.row, codec_str(part->row_key)))
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "the entity of the last message continues, so the first entity of this one must have its key");
}

/* Refuse names that are not behind those that arrived; last: becomes the last name of the part. */
static enum status check_names(const struct codec_parts *parts, struct property_list list, struct str *last,
    size_t *count, struct error *err)
{
    struct str rest = list.bytes;
    struct property property;

    *count = 0;
    while (property_next(&rest, &property)) {
        if (*count == 0 && parts->count > 0 && str_compare(property.name, buf_str(&parts->last_name)) <= 0)
            return reason_set(err, REASON_INVALID_INPUT,
                "a part of the entity has names that are not behind those of the part before");
        *last = property.name;
        ++*count;
    }
    return STATUS_OK;
}

static enum status append_part(
    struct codec_parts *parts, const Tavola__V1__Entity *part, struct arena *arena, struct error *err)
{
    struct property_rest before = { .bytes = parts->properties.len, .count = parts->count };
    struct property_excess *excess;
    struct entity entity;
    struct str last = STR_EMPTY;
    size_t count;

    TRY(codec_entity_decode_wide(part, "entity", arena, &entity, &excess, err));
    if (excess && excess->in_wide_table) {
        *err = *excess->in_wide_table;
        return err->status;
    }
    TRY(check_names(parts, entity.properties, &last, &count, err));
    TRY(property_list_check_wide(entity.properties, before, err));
    if (parts->count == 0)
        parts->expires = entity.expires;
    if (count > 0) {
        parts->last_name.len = 0;
        buf_append(&parts->last_name, last);
    }
    buf_append(&parts->properties, entity.properties.bytes);
    parts->count += count;
    return STATUS_OK;
}

void codec_parts_add(struct codec_parts *parts, const Tavola__V1__Entity *part, struct arena *arena)
{
    struct error why = { 0 };

    if (!parts->is_open)
        begin_entity(parts, part);
    if (parts->why.status != STATUS_OK || append_part(parts, part, arena, &why) == STATUS_OK)
        return;
    parts->why = why;
    buf_cleanup(&parts->properties);
    buf_init(&parts->properties, NULL);
}

enum status codec_parts_finish(
    const struct codec_parts *parts, struct arena *arena, struct write *out, struct error *err)
{
    struct property_list list = { buf_str(&parts->properties) };
    struct error in_table = { 0 };

    if (parts->why.status != STATUS_OK) {
        *err = parts->why;
        return err->status;
    }
    *out = (struct write){
        .kind = WRITE_INSERT_OR_REPLACE, .key = parts->key, .properties = list, .expires = parts->expires
    };
    if (property_list_check(list, &parts->key, &in_table) != STATUS_OK) {
        out->excess = ARENA_NEW(arena, struct property_excess);
        *out->excess = (struct property_excess){ .in_table = ARENA_NEW(arena, struct error) };
        *out->excess->in_table = in_table;
    }
    return STATUS_OK;
}
