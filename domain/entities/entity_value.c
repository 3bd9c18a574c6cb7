/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_value.c - see the header.
 */
#include "domain/entities/entity_value.h"

static const struct str partition_key_name = { "PartitionKey", 12 };
static const struct str row_key_name = { "RowKey", 6 };
static const struct str timestamp_name = { "Timestamp", 9 };

bool entity_value_find(const struct entity_key *key, int64_t timestamp, struct property_list properties,
    struct str name, struct value *out)
{
    struct property property;

    if (str_equal(name, partition_key_name)) {
        *out = (struct value){ .type = PROPERTY_STRING, .bytes = key->partition };
        return true;
    }
    if (str_equal(name, row_key_name)) {
        *out = (struct value){ .type = PROPERTY_STRING, .bytes = key->row };
        return true;
    }
    if (str_equal(name, timestamp_name)) {
        *out = (struct value){ .type = PROPERTY_DATETIME, .integer = timestamp };
        return true;
    }
    if (!property_find(properties, name, &property) || property.value.type == PROPERTY_NULL)
        return false;
    *out = property.value;
    return true;
}
