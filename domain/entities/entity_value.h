/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_value.h - a value of an entity by its name: keys of indexes and copy rules take keys and
 * the timestamp for properties.
 */
#ifndef DOMAIN_ENTITIES_ENTITY_VALUE_H
#define DOMAIN_ENTITIES_ENTITY_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "domain/keys/entity_key.h"
#include "domain/properties/property.h"

/* Find a property, PartitionKey, RowKey or Timestamp (ticks). false: it is missing or null. */
bool entity_value_find(const struct entity_key *key, int64_t timestamp, struct property_list properties,
    struct str name, struct value *out);

#endif
