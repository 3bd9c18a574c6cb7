/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_size.h - how much an entity and its parts count towards LIMIT_ENTITY_BYTES.
 */
#ifndef DOMAIN_PROPERTIES_PROPERTY_SIZE_H
#define DOMAIN_PROPERTIES_PROPERTY_SIZE_H

#include "domain/properties/property.h"

/* The share of a value in the entity's size; units as in struct value_draft. */
size_t property_size_of_value(const struct value *value, size_t units);

/* The size of an entity without its properties, and the share of one property's name. */
size_t property_size_of_entity(const struct entity_key *key);
size_t property_size_of_name(struct str name);

/* Fill err for an entity that exceeds one of the two limits; limit: of properties. */
enum status property_size_refuse_count(size_t count, int limit, struct error *err);
enum status property_size_refuse(size_t size, struct error *err);

#endif
