/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property.c - the canonical list. It is walked on every read, filter, projection and merge, so
 * nothing here allocates but for a new list, and names are compared before values are looked at.
 */
#include "domain/properties/property.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "domain/properties/property_value.h"

/* A record whose value has not been decoded. */
struct raw {
    struct str name;
    struct str value;
    struct str record;
};

static bool take_raw(struct str *rest, struct raw *out)
{
    struct str input = *rest, content;
    struct raw raw;

    if (!property_value_take_field(&input, RECORD_TAG, &content) ||
        !property_value_take_field(&content, NAME_TAG, &raw.name) ||
        !property_value_take_field(&content, VALUE_TAG, &raw.value) || content.len > 0)
        return false;
    raw.record = str_of_bytes(rest->data, rest->len - input.len);
    *rest = input;
    *out = raw;
    return true;
}

static bool read_raw(const struct raw *raw, struct property *out)
{
    struct property property = { .name = raw->name, .record = raw->record };

    if (!property_value_read_canonical(raw->value, &property.value))
        return false;
    *out = property;
    return true;
}

bool property_next(struct str *rest, struct property *out)
{
    struct str after = *rest;
    struct raw raw;

    if (!take_raw(&after, &raw) || !read_raw(&raw, out))
        return false;
    *rest = after;
    return true;
}

bool property_seek(struct str *rest, struct str name, struct property *out)
{
    struct str after = *rest;
    struct raw raw;

    while (take_raw(&after, &raw)) {
        int order = str_compare(raw.name, name);

        if (order > 0)
            return false;
        *rest = after;
        if (order == 0)
            return read_raw(&raw, out);
    }
    return false;
}

bool property_find(struct property_list list, struct str name, struct property *out)
{
    return property_seek(&list.bytes, name, out);
}

static char *put_bytes(char *out, struct str bytes)
{
    if (bytes.len > 0)
        memcpy(out, bytes.data, bytes.len);
    return out + bytes.len;
}

struct property_list property_list_merge(
    struct property_list base, struct property_list changes, struct arena *arena)
{
    struct raw old, new;
    bool has_old, has_new;
    char *merged, *at;

    if (base.bytes.len == 0)
        return changes;
    if (changes.bytes.len == 0)
        return base;
    at = merged = arena_alloc(arena, base.bytes.len + changes.bytes.len);
    has_old = take_raw(&base.bytes, &old);
    has_new = take_raw(&changes.bytes, &new);
    while (has_old || has_new) {
        int order = !has_old ? 1 : !has_new ? -1 : str_compare(old.name, new.name);

        at = put_bytes(at, order < 0 ? old.record : new.record);
        if (order <= 0)
            has_old = take_raw(&base.bytes, &old);
        if (order >= 0)
            has_new = take_raw(&changes.bytes, &new);
    }
    return (struct property_list){ .bytes = str_of_bytes(merged, (size_t)(at - merged)) };
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* The names in ascending order: the given array if it is sorted already, else a copy. */
static const struct str *sort_names(const struct str *names, size_t count, struct arena *arena)
{
    struct str *copy;
    size_t i = 1;

    while (i < count && str_compare(names[i - 1], names[i]) <= 0)
        i++;
    if (i >= count)
        return names;
    copy = ARENA_ARRAY(arena, struct str, count);
    memcpy(copy, names, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), compare_names);
    return copy;
}

struct property_list property_list_head(struct property_list list, size_t max_bytes)
{
    struct str rest = list.bytes;
    struct property property;
    size_t len = 0;

    while (property_next(&rest, &property)) {
        size_t next = list.bytes.len - rest.len;

        if (len > 0 && next > max_bytes)
            break;
        len = next;
    }
    return (struct property_list){ str_of_bytes(list.bytes.data, len) };
}

struct property_list property_list_select(
    struct property_list list, const struct str *names, size_t count, struct arena *arena)
{
    struct buf out;
    struct raw raw;
    size_t i = 0;

    buf_init(&out, arena);
    names = sort_names(names, count, arena);
    while (i < count && take_raw(&list.bytes, &raw)) {
        while (i < count && str_compare(names[i], raw.name) < 0)
            i++;
        if (i < count && str_equal(names[i], raw.name))
            buf_append(&out, raw.record);
    }
    return (struct property_list){ .bytes = buf_str(&out) };
}

void property_build(struct property_builder *builder, struct str name, const struct value *value)
{
    char *begin;

    assert(builder->last_name.len == 0 || str_compare(builder->last_name, name) < 0);
    if (value->type == PROPERTY_NULL)
        return;
    begin = buf_reserve(builder->out, property_value_record_bytes(name, value));
    builder->out->len += (size_t)(property_value_record_put(begin, name, value) - begin);
    builder->last_name = name;
}
