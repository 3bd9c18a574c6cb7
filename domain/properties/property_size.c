/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_size.c - the size of an entity, by the formula that the Azure Table service publishes:
 *
 *   4 + 2 * (PartitionKey + RowKey) + sum over the properties of (8 + 2 * name + value)
 *
 * in UTF-16 code units for text and bytes for the rest.
 */
#include "domain/properties/property_size.h"

#include "domain/keys/entity_key.h"
#include "domain/limits.h"
#include "domain/properties/property_parts.h"
#include "domain/reason.h"
#include "domain/text.h"

size_t property_size_of_value(const struct value *value, size_t units)
{
    switch (value->type) {
    case PROPERTY_NULL:
        return 0;
    case PROPERTY_STRING:
        return 2 * units + 4;
    case PROPERTY_BOOLEAN:
        return 1;
    case PROPERTY_INT32:
        return 4;
    case PROPERTY_INT64:
    case PROPERTY_DOUBLE:
    case PROPERTY_DATETIME:
        return 8;
    case PROPERTY_GUID:
        return 16;
    case PROPERTY_BINARY:
        return value->bytes.len + 4;
    }
    return 0;
}

static size_t units_of(struct str text)
{
    size_t units;

    return text_check(text, &units, NULL) ? units : text.len;
}

size_t property_size_of_entity(const struct entity_key *key)
{
    return 4 + 2 * (units_of(key->partition) + units_of(key->row));
}

size_t property_size_of_name(struct str name)
{
    return 8 + 2 * units_of(name);
}

enum status property_size_refuse_count(size_t count, int limit, struct error *err)
{
    reason_set(err, REASON_TOO_MANY_PROPERTIES, "the entity has %zu properties, at most %d are allowed",
        count, limit);
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", (int64_t)count);
    return STATUS_INVALID;
}

enum status property_size_refuse(size_t size, struct error *err)
{
    reason_set(err, REASON_ENTITY_TOO_LARGE,
        "the entity's names and values have %zu bytes, at most %d are allowed", size, LIMIT_ENTITY_BYTES);
    error_add_meta_int(err, "limit", LIMIT_ENTITY_BYTES);
    error_add_meta_int(err, "actual", (int64_t)size);
    return STATUS_INVALID;
}

enum status property_list_check(struct property_list list, const struct entity_key *key, struct error *err)
{
    size_t count = 0, size = property_size_of_entity(key);
    struct property property;

    while (property_next(&list.bytes, &property)) {
        size_t units = property.value.type == PROPERTY_STRING ? units_of(property.value.bytes) : 0;

        size += property_size_of_name(property.name) + property_size_of_value(&property.value, units);
        count++;
    }
    if (count > LIMIT_PROPERTIES)
        return property_size_refuse_count(count, LIMIT_PROPERTIES, err);
    if (size > LIMIT_ENTITY_BYTES)
        return property_size_refuse(size, err);
    return STATUS_OK;
}

static enum status refuse_undivided(size_t bytes, struct error *err)
{
    reason_set(err, REASON_ENTITY_TOO_LARGE,
        "properties of the wide entity whose names agree in the first %d bytes take %zu bytes, at most %d "
        "are allowed",
        PART_MAX_NAME_BYTES, bytes, PART_MAX_UNDIVIDED_BYTES);
    error_add_meta_int(err, "limit", PART_MAX_UNDIVIDED_BYTES);
    error_add_meta_int(err, "actual", (int64_t)bytes);
    return STATUS_INVALID;
}

enum status property_list_check_wide(struct property_list list, struct property_rest rest, struct error *err)
{
    size_t count = rest.count, size = rest.bytes + list.bytes.len, undivided = 0, longest = 0;
    struct str before = STR_EMPTY;
    struct property property;

    while (property_next(&list.bytes, &property)) {
        undivided = property_parts_can_divide(before, property.name) ? 0 : undivided;
        undivided += property.record.len;
        longest = undivided > longest ? undivided : longest;
        before = property.name;
        count++;
    }
    if (count > LIMIT_WIDE_PROPERTIES)
        return property_size_refuse_count(count, LIMIT_WIDE_PROPERTIES, err);
    if (longest > PART_MAX_UNDIVIDED_BYTES)
        return refuse_undivided(longest, err);
    if (size <= LIMIT_WIDE_BYTES)
        return STATUS_OK;
    reason_set(err, REASON_ENTITY_TOO_LARGE,
        "the properties of the wide entity take %zu bytes, at most %d are allowed", size, LIMIT_WIDE_BYTES);
    error_add_meta_int(err, "limit", LIMIT_WIDE_BYTES);
    error_add_meta_int(err, "actual", (int64_t)size);
    return STATUS_INVALID;
}
